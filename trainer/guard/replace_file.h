#pragma once

#include <mishap/trainer/guard/errors.h>
#include <mishap/trainer/guard/file_store.h>

#include <string>
#include <string_view>

namespace mishap {

/// Writes a file so that every reader sees the old one or the complete new one,
/// never anything between, also after a crash or a loss of power: a temporary
/// file in the same folder, synced, renamed over the old one, the folder
/// synced.
///
///     std::ostringstream bytes;
///     torch::save(model, bytes);
///     mishap::replace_file("model.pt", bytes.view());
///
/// When it throws, what was there is there still. Temporary files that a killed
/// save of the same file left are removed. Of a symbolic link the target is
/// replaced. A file-size limit is an error here, not the end of the process.
/// Linux; one save at a time for one path.
/// @throws FileError
void replace_file(const std::string& path, std::string_view bytes,
                  FileStore& store = FileStore::system());

/// Removes what killed saves of any file have left in a folder; what a process
/// that lives is writing stays. Best effort.
void remove_stale_files(const std::string& folder,
                        FileStore& store = FileStore::system());

}  // namespace mishap
