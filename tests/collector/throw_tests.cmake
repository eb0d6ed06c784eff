# Tests of throw sites, chains, modules and names. They need the throw hook in
# the test's executable.
set(THROW_TESTS
    chain_test.cpp
    chain_translator_test.cpp
    frames_in_app_test.cpp
    frames_test.cpp
    modules_test.cpp
    resolve_name_test.cpp
    throw_hook_test.cpp
    throw_site_test.cpp
    throw_store_test.cpp)
