# Every option of the build, in one place.
option(MISHAP_WITH_TORCH "Build the trainer and all that needs LibTorch" ON)
option(MISHAP_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(MISHAP_TEST_CORE
       "Build the tests of what needs no LibTorch too (presets core, asan, tsan)"
       ON)
option(MISHAP_BUILD_EXAMPLES "Build trainer/examples" ${PROJECT_IS_TOP_LEVEL})
option(MISHAP_BUILD_BENCHMARKS "Build the benchmarks" ${PROJECT_IS_TOP_LEVEL})
option(MISHAP_INSTALL "Create the install rules" ${PROJECT_IS_TOP_LEVEL})
option(MISHAP_WERROR "Turn compiler warnings into errors" ${PROJECT_IS_TOP_LEVEL})
option(MISHAP_UNITY "Compile the sources of a target in few batches" ON)
option(MISHAP_NO_FAULT_POINTS "Compile every fault point out" OFF)
set(MISHAP_SANITIZE "" CACHE STRING
    "Sanitizers of -fsanitize=, for example address,undefined or thread")

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

find_program(MISHAP_CCACHE ccache)
mark_as_advanced(MISHAP_CCACHE)
if(PROJECT_IS_TOP_LEVEL AND MISHAP_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${MISHAP_CCACHE})
endif()

if(MISHAP_SANITIZE)
  add_compile_options(-fsanitize=${MISHAP_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${MISHAP_SANITIZE})
  # What is only printed fails no test. The C library ends a cancelled thread
  # with a null abi::__forced_unwind&, so that one check stays a message.
  if(MISHAP_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=undefined -fsanitize-recover=null)
  endif()
endif()

# The throw hook forwards to the next __cxa_throw: a static libstdc++ defines
# the symbol twice and the link fails with a message that names neither cause.
string(FIND "${CMAKE_EXE_LINKER_FLAGS} ${CMAKE_CXX_FLAGS}"
       "-static-libstdc++" mishap_static_libstdcxx)
if(NOT mishap_static_libstdcxx EQUAL -1)
  message(FATAL_ERROR "Mishap's throw hook needs the shared libstdc++: "
                      "remove -static-libstdc++ from the linker flags.")
endif()
