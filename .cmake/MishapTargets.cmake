# The few functions with which each room lists its files.
include(GNUInstallDirs)
set_property(GLOBAL PROPERTY MISHAP_EXPORTED "")

# What is shipped as source: LibTorch's operators as points, compiled against
# the LibTorch of the program that is swept.
set(MISHAP_TORCH_PART
    trainer/harness/preload/torch_door.h
    trainer/harness/torch/program/libtorch_versions.h
    trainer/harness/torch/program/operator_points.cpp)

function(_mishap_compile target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wconversion -Wnon-virtual-dtor
    # In a batch a source's names shadow those of its neighbours.
    $<IF:$<BOOL:${MISHAP_UNITY}>,-Wno-shadow,-Wshadow> -Woverloaded-virtual $<$<BOOL:${MISHAP_WERROR}>:-Werror>)
  if(MISHAP_NO_FAULT_POINTS)
    target_compile_definitions(${target} PUBLIC MISHAP_NO_FAULT_POINTS)
  endif()
endfunction()

# Leaves header-only libraries of others out of what is exported: who links the
# installed library needs neither them nor their packages.
function(_mishap_build_only result)
  set(libraries "")
  foreach(library ${ARGN})
    set(header_only FALSE)
    if(TARGET ${library})
      get_target_property(type ${library} TYPE)
      get_target_property(imported ${library} IMPORTED)
      if(imported AND type STREQUAL "INTERFACE_LIBRARY")
        set(header_only TRUE)
      endif()
    endif()
    if(header_only)
      list(APPEND libraries $<BUILD_INTERFACE:${library}>)
    else()
      list(APPEND libraries ${library})
    endif()
  endforeach()
  set(${result} ${libraries} PARENT_SCOPE)
endfunction()

# Compiles the sources of a target in batches of that size (0: all in one), since
# reading the headers is most of their cost. A source whose helpers have the same
# names as another's has SKIP_UNITY_BUILD_INCLUSION.
function(mishap_unity target batch)
  set_target_properties(${target} PROPERTIES
    UNITY_BUILD ${MISHAP_UNITY} UNITY_BUILD_BATCH_SIZE ${batch})
endfunction()

# mishap_library(NAME SOURCES... [PUBLIC libs...] [PRIVATE libs...]
#                [COMPONENT c] [TORCH])
# A static library mishap_NAME with the alias mishap::NAME. TORCH links LibTorch
# and compiles in unity batches; a library without it cannot see torch/torch.h.
function(mishap_library name)
  cmake_parse_arguments(arg "TORCH" "COMPONENT" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  set(target mishap_${name})
  add_library(${target} STATIC ${arg_SOURCES})
  add_library(mishap::${name} ALIAS ${target})
  _mishap_compile(${target})
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  _mishap_build_only(private ${arg_PRIVATE})
  target_link_libraries(${target} PUBLIC ${arg_PUBLIC} PRIVATE ${private})
  if(arg_TORCH)
    mishap_use_torch(${target})
  else()
    mishap_unity(${target} 12)
  endif()
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  if(arg_COMPONENT)
    set_property(GLOBAL APPEND PROPERTY
                 MISHAP_COMPONENT_${arg_COMPONENT} ${target})
  endif()
endfunction()

# mishap_executable(NAME SOURCES... LINK libs... [TORCH])
function(mishap_executable name)
  cmake_parse_arguments(arg "TORCH" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  _mishap_compile(${name})
  target_include_directories(${name} PRIVATE ${PROJECT_BINARY_DIR}/include)
  target_link_libraries(${name} PRIVATE ${arg_LINK})
  if(arg_TORCH)
    mishap_use_torch(${name})
  endif()
endfunction()

# Links LibTorch, whose headers are system headers. A library hands it on: its
# own headers show tensors.
function(mishap_use_torch target)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "STATIC_LIBRARY")
    target_link_libraries(${target} PUBLIC mishap_torch)
  else()
    target_link_libraries(${target} PRIVATE mishap_torch)
  endif()
  # Debian's headers trip these two in our own translation units.
  target_compile_options(${target} PRIVATE
    -Wno-conversion -Wno-sign-conversion)
  # Parsing LibTorch's headers is most of the cost of a source: one batch a
  # target.
  mishap_unity(${target} 0)
endfunction()

# Debug information with functions and lines only: describing LibTorch's types
# costs a third of the time of a source, and nobody debugs them in a test.
function(mishap_describe_lines_only target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:RelWithDebInfo>:-g1>)
endfunction()

# mishap_test(NAME SOURCES... LINK libs... [TORCH] [LABELS l...] [TIMEOUT s])
# One GoogleTest binary. A torch-free one is registered test by test; a torch
# one suite by suite, since each start of a LibTorch process costs 0.7 s.
function(mishap_test name)
  cmake_parse_arguments(arg "TORCH" "TIMEOUT" "SOURCES;LINK;LABELS" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  mishap_executable(${name} SOURCES ${arg_SOURCES} LINK ${arg_LINK}
                    GTest::gmock_main)
  mishap_describe_lines_only(${name})
  if(NOT arg_TORCH)
    mishap_unity(${name} 6)
  endif()
  if(arg_TORCH)
    mishap_use_torch(${name})
    set(suites "")
    foreach(source ${arg_SOURCES})
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
      file(STRINGS ${source} lines REGEX "^TEST(_F|_P)?\\(")
      foreach(line ${lines})
        string(REGEX REPLACE "^TEST(_F|_P)?\\(([A-Za-z0-9]+),.*" "\\2"
               suite "${line}")
        list(APPEND suites ${suite})
      endforeach()
    endforeach()
    list(REMOVE_DUPLICATES suites)
    foreach(suite ${suites})
      add_test(NAME ${name}.${suite} COMMAND ${name}
               "--gtest_filter=${suite}.*:*/${suite}.*")
      set_tests_properties(${name}.${suite} PROPERTIES
        TIMEOUT ${arg_TIMEOUT} LABELS "torch;${arg_LABELS}")
    endforeach()
  else()
    include(GoogleTest)
    gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST
      DISCOVERY_TIMEOUT 60
      PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "unit;${arg_LABELS}")
  endif()
endfunction()

# Here, so that every room sees the same imported targets.
find_package(nlohmann_json 3.9 QUIET)
if(NOT nlohmann_json_FOUND)
  message(FATAL_ERROR "nlohmann_json was not found: install "
                      "nlohmann-json3-dev, or run ./dev setup.")
endif()
find_path(MISHAP_XXHASH_INCLUDE xxhash.h)
mark_as_advanced(MISHAP_XXHASH_INCLUDE)
if(NOT MISHAP_XXHASH_INCLUDE)
  message(FATAL_ERROR "xxhash.h was not found: install libxxhash-dev, or run "
                      "./dev setup.")
endif()
if(MISHAP_WITH_TORCH)
  # A project that includes ours links these targets from its own folder.
  set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)
  find_package(Torch QUIET)
  unset(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL)
  if(NOT Torch_FOUND)
    message(FATAL_ERROR
      "LibTorch was not found: install libtorch-dev, or point "
      "CMAKE_PREFIX_PATH at an unpacked LibTorch (or at the folder that "
      "python3 -c 'import torch; print(torch.utils.cmake_prefix_path)' "
      "prints), or configure with -DMISHAP_WITH_TORCH=OFF.")
  endif()
  add_library(mishap_torch INTERFACE)
  target_link_libraries(mishap_torch INTERFACE torch)
  separate_arguments(mishap_torch_flags UNIX_COMMAND "${TORCH_CXX_FLAGS}")
  target_compile_options(mishap_torch INTERFACE ${mishap_torch_flags})
endif()
if(MISHAP_BUILD_TESTS)
  find_package(GTest REQUIRED)
endif()
