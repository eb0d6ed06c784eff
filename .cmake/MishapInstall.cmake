# Installs every component as an export set of its own, so that who asks for
# the guard never searches for LibTorch.
include(CMakePackageConfigHelpers)

set(mishap_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/mishap)
set(mishap_headers ${CMAKE_INSTALL_INCLUDEDIR}/mishap)

# mishap_install_headers(FOLDER... [EXCEPT folder...]): folders of the tree,
# which keep their paths.
function(mishap_install_headers)
  cmake_parse_arguments(arg "" "" "EXCEPT" ${ARGN})
  set(except "")
  foreach(folder ${arg_EXCEPT})
    list(APPEND except PATTERN ${folder} EXCLUDE)
  endforeach()
  foreach(folder ${arg_UNPARSED_ARGUMENTS})
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder}/
            DESTINATION ${mishap_headers}/${folder}
            FILES_MATCHING PATTERN "*.h" ${except})
  endforeach()
endfunction()

if(MISHAP_WITH_TORCH)
  set_target_properties(mishap_torch PROPERTIES EXPORT_NAME torch)
  set_property(GLOBAL APPEND PROPERTY MISHAP_COMPONENT_trainer mishap_torch)
endif()

# Builds what the install rules need, and no test.
add_custom_target(mishap_package)

set(mishap_installed "")
foreach(component collector faultinject guard trainer testing)
  get_property(targets GLOBAL PROPERTY MISHAP_COMPONENT_${component})
  if(NOT targets)
    continue()
  endif()
  foreach(target ${targets})
    get_target_property(libraries ${target} LINK_LIBRARIES)
    if(component MATCHES "collector|faultinject|guard" AND
       "mishap_torch" IN_LIST libraries)
      message(FATAL_ERROR "${target} links LibTorch: its COMPONENT is trainer "
                          "or testing, not ${component}.")
    endif()
  endforeach()
  install(TARGETS ${targets} EXPORT mishap-${component}
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT mishap-${component} NAMESPACE mishap::
          DESTINATION ${mishap_package_dir})
  add_dependencies(mishap_package ${targets})
  list(APPEND mishap_installed ${component})
endforeach()

mishap_install_headers(collector faultinject trainer/guard EXCEPT torch)
mishap_install_headers(trainer/harness EXCEPT torch cli preload program)
set(doors guard fault_point)
if(MISHAP_WITH_TORCH)
  mishap_install_headers(collector/torch faultinject/torch
    trainer/harness/torch trainer/engine trainer/testing)
  file(GLOB top_row CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/trainer/*.h)
  install(FILES ${top_row} DESTINATION ${mishap_headers}/trainer)
  install(FILES ${PROJECT_SOURCE_DIR}/trainer/cli_torch/app.h
          DESTINATION ${mishap_headers}/trainer/cli_torch)
  list(APPEND doors trainer testing)
endif()
foreach(door ${doors})
  install(FILES ${PROJECT_BINARY_DIR}/include/mishap/${door}.h
          DESTINATION ${mishap_headers})
endforeach()

foreach(command mishap mishap-torch)
  if(TARGET ${command})
    set_target_properties(${command} PROPERTIES
      INSTALL_RPATH_USE_LINK_PATH ON)
    install(TARGETS ${command} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
    add_dependencies(mishap_package ${command})
  endif()
endforeach()
if(TARGET mishap_preload)
  install(TARGETS mishap_preload
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/mishap)
  add_dependencies(mishap_package mishap_preload)
endif()
foreach(file ${MISHAP_TORCH_PART})
  cmake_path(GET file PARENT_PATH folder)
  install(FILES ${PROJECT_SOURCE_DIR}/${file}
          DESTINATION ${CMAKE_INSTALL_DATADIR}/mishap/torch_part/mishap/${folder})
endforeach()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/datasets
        DESTINATION ${CMAKE_INSTALL_DATADIR}/mishap
        PATTERN "make.py" EXCLUDE PATTERN "__pycache__" EXCLUDE)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE
        DESTINATION ${CMAKE_INSTALL_DOCDIR})

configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/.cmake/mishapConfig.cmake.in
  ${PROJECT_BINARY_DIR}/mishapConfig.cmake
  INSTALL_DESTINATION ${mishap_package_dir}
  NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/mishapConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/mishapConfig.cmake
              ${PROJECT_BINARY_DIR}/mishapConfigVersion.cmake
        DESTINATION ${mishap_package_dir})
