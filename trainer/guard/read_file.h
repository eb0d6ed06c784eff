#pragma once

#include <mishap/trainer/guard/errors.h>
#include <mishap/trainer/guard/file_store.h>

#include <string>

namespace mishap {

/// The whole file. Reads until nothing more comes, however short each read is.
/// @throws FileError with the call, the path and the errno
std::string read_file(const std::string& path,
                      FileStore& store = FileStore::system());

}  // namespace mishap
