#include <fcntl.h>
#include <mishap/trainer/harness/cli/debug_files.h>
#include <mishap/trainer/harness/program/libtorch_layout.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <string_view>
#include <system_error>

namespace mishap::program {
namespace {

namespace fs = std::filesystem;

// c10::detail::torchCheckFail(…, const std::string&), which every LibTorch has;
// only the type of the string differs.
constexpr std::string_view kWithOldString =
    "_ZN3c106detail14torchCheckFailEPKcS2_jRKSs";

constexpr std::string_view kCpu = "libtorch_cpu";

/// A file as it lies on the disk; empty when it can't be read.
class MappedFile {
 public:
  explicit MappedFile(const fs::path& path) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status {};
    if (file >= 0 && fstat(file, &status) == 0 && status.st_size > 0) {
      size_ = static_cast<std::size_t>(status.st_size);
      bytes_ = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
    }
    if (file >= 0) {
      close(file);
    }
  }
  ~MappedFile() {
    if (bytes_ != MAP_FAILED) {
      munmap(bytes_, size_);
    }
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  bool holds(std::string_view text) const {
    return bytes_ != MAP_FAILED &&
           memmem(bytes_, size_, text.data(), text.size()) != nullptr;
  }

 private:
  std::size_t size_ = 0;
  void* bytes_ = MAP_FAILED;
};

std::string build_of(const fs::path& library) {
  const std::string id = cli::build_id_of(library.string());
  if (!id.empty()) {
    return id;
  }
  // pip's libraries have none: another file has another size or time.
  std::error_code error;
  const auto time = fs::last_write_time(library, error);
  return "size" + std::to_string(fs::file_size(library, error)) + "-time" +
         std::to_string(time.time_since_epoch().count());
}

}  // namespace

LibtorchLayout libtorch_layout(const fs::path& libtorch_cpu) {
  LibtorchLayout layout;
  std::error_code error;
  layout.cpu = fs::canonical(libtorch_cpu, error);
  if (error) {
    layout.cpu = libtorch_cpu;
  }
  const fs::path folder = layout.cpu.parent_path();
  // libtorch_cpu.so.1.13.0 has libc10.so.1.13.0 beside it; the links without a
  // version are there only where one can compile.
  std::string name = layout.cpu.filename().string();
  if (name.starts_with(kCpu)) {
    name.replace(0, kCpu.size(), "libc10");
  }
  layout.c10 = folder / name;
  layout.searched = {(folder / "../include").lexically_normal(),
                     (folder / "../../include").lexically_normal()};
  for (const fs::path& include : layout.searched) {
    if (fs::exists(include / "ATen/core/dispatch/Dispatcher.h", error)) {
      layout.include = include;
      break;
    }
  }
  layout.has_new_string =
      !MappedFile(layout.c10).holds(std::string(kWithOldString) + '\0');
  layout.build = build_of(layout.cpu);
  return layout;
}

}  // namespace mishap::program
