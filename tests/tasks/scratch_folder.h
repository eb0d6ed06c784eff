#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace mishap::tasks {

/// A folder of its own for one test, removed with all it holds.
class ScratchFolder : public testing::Test {
 protected:
  ScratchFolder() {
    std::string name = testing::TempDir() + "mishap-XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  ~ScratchFolder() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path write(const std::filesystem::path& name,
                              std::string_view text) const {
    const auto file = folder_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return file;
  }

  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

}  // namespace mishap::tasks
