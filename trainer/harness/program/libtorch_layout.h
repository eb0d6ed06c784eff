#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace mishap::program {

/// What has to be known of a LibTorch to compile against it.
struct LibtorchLayout {
  /// libtorch_cpu.so and libc10.so, links followed.
  std::filesystem::path cpu;
  std::filesystem::path c10;
  /// Where ATen/ATen.h lies; empty where it was not found.
  std::filesystem::path include;
  /// The folders that were searched for it.
  std::vector<std::filesystem::path> searched;
  /// Its std::string is the one of GCC 5 and later.
  bool has_new_string = true;
  /// Names the build of the library: its build-id, or what its file is like.
  std::string build;
};

/// Looks around the library: Debian (/usr/lib/<machine> and /usr/include), pip
/// (torch/lib and torch/include), the unpacked archive (lib and include). Never
/// throws but std::bad_alloc.
LibtorchLayout libtorch_layout(const std::filesystem::path& libtorch_cpu);

}  // namespace mishap::program
