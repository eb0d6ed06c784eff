#pragma once

#include <mishap/trainer/guard/errors.h>

#include <string>
#include <string_view>

namespace mishap {

/// Writes a file so that every reader sees the old one or the complete new one,
/// also after a crash or a loss of power; when it throws, what was there is
/// there still. Each call of the system is a fault point `io/<kind>/<call>`,
/// such as `io/checkpoint/fsync`; see replace_file() and FaultStore.
///
///     std::ostringstream bytes;
///     torch::save(model, bytes);
///     mishap::save_file("model.pt", bytes.str());
///
/// `kind` is a word of letters, digits and _ . : # -.
/// @throws FileError with the call, the path and the errno
void save_file(const std::string& path, std::string_view bytes,
               std::string_view kind = "file");

}  // namespace mishap
