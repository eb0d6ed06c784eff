#include <gtest/gtest.h>
#include <mishap/trainer/harness/program/libtorch_layout.h>
#include <mishap/trainer/harness/program/torch_part.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "../temp_folder.h"

namespace mishap::program {
namespace {

namespace fs = std::filesystem;

void write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class TorchPartTest : public ::testing::Test {
 protected:
  TorchPartTest() {
    setenv("XDG_CACHE_HOME", (root() / "cache").c_str(), 1);
    write(library(), "no ELF file");
    write(root() / "torch/lib/libc10.so", "");
    write(root() / "torch/include/ATen/core/dispatch/Dispatcher.h", "");
  }
  ~TorchPartTest() override {
    unsetenv("XDG_CACHE_HOME");
    unsetenv("CXX");
  }

  fs::path root() const { return folder_.path(); }
  fs::path library() const { return root() / "torch/lib/libtorch_cpu.so"; }

  // A compiler that writes its words down and then does `then`, where "$out" is
  // what it is to make.
  void use_compiler(const std::string& then) {
    const fs::path compiler = root() / "compiler";
    write(compiler,
          "#!/bin/sh\necho \"$@\" >> " + (root() / "words").string() +
              "\nprevious=\nfor word do\n"
              "  [ \"$previous\" = -o ] && out=$word\n  previous=$word\n"
              "done\n" +
              then + '\n');
    fs::permissions(compiler, fs::perms::owner_all);
    setenv("CXX", compiler.c_str(), 1);
  }

  std::size_t compilations() const {
    const std::string words = read(root() / "words");
    return static_cast<std::size_t>(
        std::count(words.begin(), words.end(), '\n'));
  }
  std::size_t kept() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(root() / "cache/mishap"),
                      fs::directory_iterator()));
  }
  std::string part() { return torch_part_for(library().string(), problem_); }

  std::string problem_;

 private:
  mishap::testing::TempFolder folder_;
};

TEST_F(TorchPartTest, HeadersAreFoundBesidePipsLibraries) {
  const LibtorchLayout layout = libtorch_layout(library());
  EXPECT_EQ(layout.include, root() / "torch/include");
  EXPECT_EQ(layout.c10, root() / "torch/lib/libc10.so");
}

TEST_F(TorchPartTest, HeadersAreFoundAboveDebiansFolderAndLinksAreFollowed) {
  const fs::path lib = root() / "usr/lib/x86_64-linux-gnu";
  write(lib / "libtorch_cpu.so.1.13.0", "");
  fs::create_symlink("libtorch_cpu.so.1.13.0", lib / "libtorch_cpu.so.1.13");
  write(root() / "usr/include/ATen/core/dispatch/Dispatcher.h", "");
  const LibtorchLayout layout = libtorch_layout(lib / "libtorch_cpu.so.1.13");
  EXPECT_EQ(layout.include, root() / "usr/include");
  EXPECT_EQ(layout.cpu, lib / "libtorch_cpu.so.1.13.0");
  EXPECT_EQ(layout.c10, lib / "libc10.so.1.13.0");
}

TEST_F(TorchPartTest, TheOldStringIsKnownByTheSymbolThatTakesOne) {
  EXPECT_TRUE(libtorch_layout(library()).has_new_string);
  write(root() / "torch/lib/libc10.so",
        std::string("_ZN3c106detail14torchCheckFailEPKcS2_jRKSs\0", 43));
  EXPECT_FALSE(libtorch_layout(library()).has_new_string);
}

TEST_F(TorchPartTest, ItIsCompiledOnceForEachBuildOfLibTorch) {
  use_compiler("echo library > \"$out\"");
  const std::string first = part();
  EXPECT_EQ(read(first), "library\n") << problem_;
  EXPECT_EQ(part(), first);
  EXPECT_EQ(compilations(), 1u);
  EXPECT_EQ(kept(), 1u);
  write(library(), "another build");
  EXPECT_NE(part(), first);
  EXPECT_EQ(compilations(), 2u);
}

TEST_F(TorchPartTest, TheCompilerIsToldWhereLibTorchIsAndWhichString) {
  use_compiler("echo > \"$out\"");
  part();
  const std::string words = read(root() / "words");
  for (const std::string& word :
       {"-I" + (root() / "torch/include").string(), library().string(),
        std::string("-D_GLIBCXX_USE_CXX11_ABI=1"),
        std::string("operator_points.cpp")}) {
    EXPECT_NE(words.find(word), std::string::npos) << word << " in " << words;
  }
}

TEST_F(TorchPartTest, ANewerStandardIsTriedWhereTheUsualOneFails) {
  use_compiler("case \"$*\" in *c++20*) echo > \"$out\";; *) exit 1;; esac");
  EXPECT_FALSE(part().empty()) << problem_;
  EXPECT_EQ(compilations(), 2u);
}

TEST_F(TorchPartTest, AFailureIsOneSentenceWithTheCompilersAndLeavesNothing) {
  use_compiler(
      "echo half > \"$out\"; echo \"a.h:3: error: no such thing\" >&2; "
      "exit 1");
  EXPECT_EQ(part(), "");
  EXPECT_TRUE(problem_.starts_with("operators are left out: ")) << problem_;
  EXPECT_NE(problem_.find("a.h:3: error: no such thing"), std::string::npos)
      << problem_;
  EXPECT_EQ(problem_.find('\n'), std::string::npos);
  EXPECT_EQ(kept(), 0u);
}

TEST_F(TorchPartTest, WhatIsMissingIsNamed) {
  setenv("CXX", "/no/such/compiler", 1);
  EXPECT_EQ(part(), "");
  EXPECT_NE(problem_.find("/no/such/compiler can't be started; install g++"),
            std::string::npos)
      << problem_;
  fs::remove_all(root() / "torch/include");
  EXPECT_EQ(part(), "");
  EXPECT_NE(problem_.find("libtorch-dev"), std::string::npos) << problem_;
  setenv("XDG_CACHE_HOME", "/proc/none", 1);
  write(root() / "torch/include/ATen/core/dispatch/Dispatcher.h", "");
  EXPECT_EQ(part(), "");
  EXPECT_NE(problem_.find("set XDG_CACHE_HOME"), std::string::npos) << problem_;
}

TEST_F(TorchPartTest, ProcessesThatCompileAtOnceLeaveOneWholeLibrary) {
  use_compiler("echo first >> \"$out\"; sleep 0.2; echo second >> \"$out\"");
  for (int i = 0; i < 4; ++i) {
    if (fork() == 0) {
      _exit(read(part()) == "first\nsecond\n" ? 0 : 1);
    }
  }
  int status = 0;
  while (wait(&status) > 0) {
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(kept(), 1u);
}

}  // namespace
}  // namespace mishap::program
