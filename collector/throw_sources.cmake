# Throw sites, exception chains, modules and names: THROW_SOURCES and
# THROW_LIBRARIES belong to mishap_collector; mishap_throw_hook is a library of
# its own, since linking it replaces __cxa_throw.
execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libbacktrace.a
                OUTPUT_VARIABLE backtrace_library OUTPUT_STRIP_TRAILING_WHITESPACE)
execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=include/backtrace.h
                OUTPUT_VARIABLE backtrace_header OUTPUT_STRIP_TRAILING_WHITESPACE)
find_library(MISHAP_BOOST_BACKTRACE boost_stacktrace_backtrace)
mark_as_advanced(MISHAP_BOOST_BACKTRACE)
if(EXISTS ${backtrace_library} AND EXISTS ${backtrace_header})
  set(resolver libbacktrace)
elseif(MISHAP_BOOST_BACKTRACE)
  set(resolver boost)
else()
  set(resolver none)
endif()
set(MISHAP_RESOLVER ${resolver} CACHE STRING
    "Names and lines of stacks: libbacktrace, boost or none")
set_property(CACHE MISHAP_RESOLVER PROPERTY STRINGS libbacktrace boost none)

if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$" AND
   CMAKE_SIZEOF_VOID_P EQUAL 8)
  set(walk_sources resolve/stack_walk_x86_64.cpp resolve/unwind_rule.cpp)
else()
  set(walk_sources resolve/stack_walk_none.cpp)
endif()

set(THROW_SOURCES
    demangle.cpp
    exception_chain.cpp
    exception_object.cpp
    exception_translator.cpp
    modules.cpp
    throw_site.cpp
    resolve/capture.cpp
    resolve/in_app.cpp
    resolve/interrupted_stack.cpp
    resolve/name_cache.cpp
    resolve/resolver.cpp
    resolve/resolver_${MISHAP_RESOLVER}.cpp
    resolve/symbolize.cpp
    ${walk_sources})
set(THROW_LIBRARIES ${CMAKE_DL_LIBS})
if(MISHAP_RESOLVER STREQUAL "libbacktrace")
  list(APPEND THROW_LIBRARIES backtrace)
elseif(MISHAP_RESOLVER STREQUAL "boost")
  list(APPEND THROW_LIBRARIES boost_stacktrace_backtrace)
endif()

mishap_library(throw_hook SOURCES ${CMAKE_CURRENT_LIST_DIR}/throw_hook.cpp PUBLIC mishap::collector
               COMPONENT collector)
