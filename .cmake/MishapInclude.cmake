# Makes ${PROJECT_BINARY_DIR}/include/mishap: a link to each room and a door for
# each of the four headers that users include. The link goes to the rooms, not
# to the source root: that would make a loop, and would put the source root on
# every consumer's include path.
set(mishap_include ${PROJECT_BINARY_DIR}/include/mishap)
file(MAKE_DIRECTORY ${mishap_include})
foreach(room faultinject collector trainer)
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${room} ${mishap_include}/${room}
       SYMBOLIC)
endforeach()

set(MISHAP_DOORS
    guard.h=trainer/harness/guard.h
    fault_point.h=faultinject/fault_point.h
    trainer.h=trainer/trainer.h
    testing.h=trainer/testing/testing.h)
foreach(door ${MISHAP_DOORS})
  string(REPLACE "=" ";" pair ${door})
  list(GET pair 0 name)
  list(GET pair 1 target)
  set(text "#pragma once\n#include <mishap/${target}>\n")
  file(CONFIGURE OUTPUT ${mishap_include}/${name} CONTENT "${text}" @ONLY)
endforeach()

# What is compiled when a program with LibTorch is swept: found beside the
# command, laid out as an include folder.
foreach(file ${MISHAP_TORCH_PART})
  set(link ${PROJECT_BINARY_DIR}/share/mishap/torch_part/mishap/${file})
  cmake_path(GET link PARENT_PATH folder)
  file(MAKE_DIRECTORY ${folder})
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${file} ${link} SYMBOLIC)
endforeach()
