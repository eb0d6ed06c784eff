#include <mishap/trainer/harness/scratch_folder.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace mishap {

ScratchFolder::ScratchFolder()
    : ScratchFolder(std::filesystem::temp_directory_path()) {}

ScratchFolder::ScratchFolder(const std::filesystem::path& parent)
    : path_((parent / "mishap-XXXXXX").string()) {
  if (mkdtemp(path_.data()) == nullptr) {
    throw std::system_error(errno, std::generic_category(),
                            "no temporary folder can be made as " + path_);
  }
}

ScratchFolder::~ScratchFolder() {
  if (!is_kept_) {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
}

}  // namespace mishap
