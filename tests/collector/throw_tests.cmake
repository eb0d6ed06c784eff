# Tests of throw sites, chains, modules and names. They need the throw hook in
# the test's executable.
set(THROW_TESTS
    chain_memory_test.cpp
    chain_test.cpp
    chain_translator_test.cpp
    frames_in_app_test.cpp
    frames_test.cpp
    modules_test.cpp
    resolve_name_test.cpp
    resolve_walk_test.cpp
    throw_anywhere_test.cpp
    throw_hook_test.cpp
    throw_site_test.cpp
    throw_store_test.cpp)

set(THROW_TORCH_TESTS
    torch_errors_test.cpp
    torch_memory_test.cpp
    torch_state_test.cpp
    torch_summary_test.cpp)
if(MISHAP_WITH_TORCH)
  list(TRANSFORM THROW_TORCH_TESTS PREPEND ${CMAKE_CURRENT_LIST_DIR}/)
  mishap_test(collector_torch_tests SOURCES ${THROW_TORCH_TESTS}
              LINK mishap::collector_torch mishap::throw_hook TORCH)
endif()
