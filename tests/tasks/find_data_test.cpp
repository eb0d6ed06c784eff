#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mishap/trainer/guard/errors.h>
#include <mishap/trainer/tasks/find_data.h>
#include <stdlib.h>

#include <string>

#include "scratch_folder.h"

namespace mishap::tasks {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class FindData : public ScratchFolder {
 protected:
  FindData() { ::unsetenv("MISHAP_DATASETS"); }
  ~FindData() override { ::unsetenv("MISHAP_DATASETS"); }

  static std::string problem_of(std::string_view name,
                                const std::filesystem::path& folder = {}) {
    try {
      find_data(name, folder);
    } catch (const InputError& error) {
      return error.what();
    }
    ADD_FAILURE() << "no error was reported";
    return {};
  }
};

TEST_F(FindData, FindsTheSourceTreeFromAnyFolder) {
  const auto previous = std::filesystem::current_path();
  std::filesystem::current_path(folder());
  const auto found = find_data("digits/digits.csv");
  std::filesystem::current_path(previous);
  EXPECT_TRUE(std::filesystem::equivalent(found, DIGITS_CSV));
}

TEST_F(FindData, PrefersTheVariable) {
  const auto file = write("digits/digits.csv", "x");
  ::setenv("MISHAP_DATASETS", folder().c_str(), 1);
  EXPECT_EQ(find_data("digits/digits.csv"), file);
}

TEST_F(FindData, PrefersTheGivenFolderToTheVariable) {
  const auto file = write("mine/digits.csv", "x");
  ::setenv("MISHAP_DATASETS", "/nonexistent", 1);
  EXPECT_EQ(find_data("digits.csv", folder() / "mine"), file);
}

TEST_F(FindData, NeverFallsBackFromAFolderThatWasNamed) {
  EXPECT_THAT(problem_of("digits/digits.csv", folder()),
              AllOf(HasSubstr(folder().string()), HasSubstr("--data"),
                    HasSubstr("holds no digits/digits.csv")));
  ::setenv("MISHAP_DATASETS", folder().c_str(), 1);
  EXPECT_THAT(
      problem_of("digits/digits.csv"),
      AllOf(HasSubstr(folder().string()), HasSubstr("MISHAP_DATASETS")));
}

TEST_F(FindData, ListsTheFoldersItSearched) {
  EXPECT_THAT(
      problem_of("absent.csv"),
      AllOf(HasSubstr("absent.csv was not found in "),
            HasSubstr("share/mishap/datasets"), HasSubstr("MISHAP_DATASETS")));
}

}  // namespace
}  // namespace mishap::tasks
