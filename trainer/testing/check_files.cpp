#include <mishap/trainer/engine/checkpoint.h>
#include <mishap/trainer/guard/read_file.h>
#include <mishap/trainer/testing/check_files.h>

#include <fstream>
#include <string>
#include <utility>

namespace mishap {
namespace {

class FilesWhole final : public Checker {
 public:
  explicit FilesWhole(std::filesystem::path folder)
      : folder_(std::move(folder)), last_(folder_ / "last.ckpt") {}

  Clause clause() const noexcept override { return Clause::kC10; }

  void after() override { problem_ = look(); }

  std::optional<std::string> judge(const Observation&) override {
    return problem_;
  }

 private:
  std::optional<std::string> look() const {
    bool has_last = false;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      const std::filesystem::path& path = entry.path();
      if (path.extension() != ".ckpt" ||
          path.filename().native().starts_with('.')) {
        return path.filename().native() + " was left beside the checkpoints";
      }
      has_last |= path == last_;
      try {
        check_whole(read_file(path.native()), path.filename().native());
      } catch (const std::exception& error) {
        return error.what();
      }
    }
    if (!has_last) {
      return "the last.ckpt that was there before is gone";
    }
    return std::nullopt;
  }

  std::filesystem::path folder_;
  std::filesystem::path last_;
  std::optional<std::string> problem_;
};

}  // namespace

void put_old_checkpoint(const std::filesystem::path& folder) {
  static const std::string bytes = to_checkpoint(State());
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "last.ckpt", std::ios::binary) << bytes;
}

std::unique_ptr<Checker> check_files(std::filesystem::path folder) {
  return std::make_unique<FilesWhole>(std::move(folder));
}

}  // namespace mishap
