#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mishap/trainer/guard/errors.h>
#include <mishap/trainer/harness/program/path_pattern.h>
#include <mishap/trainer/harness/program/plan_cases.h>

#include <string>
#include <vector>

#include "../temp_folder.h"

namespace mishap::program {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
namespace sweep = faultinject::sweep;

Sightings seen() {
  Sightings seen;
  seen.points = {{"alloc/new", 5}, {"io/read", 1}, {"io/write", 4}};
  seen.stacks = {{"alloc/new", {}, "", "", 1, 3},
                 {"io/read", {}, "", "in", 1, 1},
                 {"io/write", {}, "", "out", 1, 3},
                 {"alloc/new", {}, "", "", 4, 2},
                 {"io/write", {}, "", "out", 4, 1}};
  return seen;
}

ProgramOptions options(std::vector<std::string> actions = {}) {
  ProgramOptions options;
  options.words = {"./train"};
  options.sweep.actions = std::move(actions);
  return options;
}

std::vector<std::string> ids(const ProgramOptions& options,
                             const StackMemory& memory = {}) {
  std::vector<std::string> ids;
  for (const PlannedCase& planned :
       plan_cases(seen(), options, memory, {"a", "b", "c", "d", "e"}).cases) {
    ids.push_back(planned.failing.id);
  }
  return ids;
}

TEST(ProgramPlan, FailsEachStackOnceAtItsFirstHitByThePointsOwnAction) {
  EXPECT_THAT(ids(options()),
              ElementsAre("program:alloc/new:1:throw(bad_alloc):transient",
                          "program:io/read:1:errno(EIO):transient",
                          "program:io/write:1:errno(ENOSPC):transient",
                          "program:alloc/new:4:throw(bad_alloc):transient",
                          "program:io/write:4:errno(ENOSPC):transient"));
}

TEST(ProgramPlan, EveryHitIsACaseWhenAskedFor) {
  ProgramOptions every = options();
  every.every_hit = true;
  EXPECT_EQ(ids(every).size(), 10U);
}

TEST(ProgramPlan, LoadingTheSourcesOfPythonIsNotFailed) {
  Sightings python = seen();
  python.stacks[1].path = "/a/train.py";
  EXPECT_EQ(plan_cases(python, options(), {}, {}).cases.size(), 5U);
  python.has_python = true;
  EXPECT_EQ(plan_cases(python, options(), {}, {}).cases.size(), 4U);
}

TEST(ProgramPlan, AnActionIsTriedWhereItMeansSomething) {
  EXPECT_THAT(ids(options({"torn(2)", "short(1)"})),
              ElementsAre("program:io/read:1:short(1):transient",
                          "program:io/write:1:torn(2):transient",
                          "program:io/write:1:short(1):transient",
                          "program:io/write:4:torn(2):transient",
                          "program:io/write:4:short(1):transient"));
  EXPECT_EQ(ids(options({"signal(SIGKILL)"})).size(), 5U);
}

TEST(ProgramPlan, SaysWhenNothingIsLeftToTry) {
  try {
    ids(options({"nan"}));
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("none of --actions"));
  }
  ProgramOptions none = options();
  none.sweep.points = {faultinject::NamePattern("op/**")};
  EXPECT_THROW(ids(none), InputError);
  ProgramOptions one = options({"errno(EIO)"});
  one.sweep.only = sweep::HitName{"io/write", 5};
  EXPECT_THROW(ids(one), InputError);
}

TEST(ProgramPlan, PartsAreDisjointAndTogetherComplete) {
  std::vector<std::string> all;
  for (const std::uint32_t part : {1, 2}) {
    ProgramOptions half = options();
    half.sweep.shard = {part, 2};
    const auto ids_of_part = ids(half);
    all.insert(all.end(), ids_of_part.begin(), ids_of_part.end());
  }
  EXPECT_THAT(all, ::testing::UnorderedElementsAreArray(ids(options())));
}

TEST(ProgramPlan, WhatAnEarlierSweepTriedIsLeftOutByActionAndMode) {
  const testing::TempFolder folder;
  StackMemory memory(folder.path() + "/stacks.jsonl");
  const CasePlan plan = plan_cases(seen(), options(), memory, {"a", "b"});
  memory.add("a", plan.cases[0].failing);
  memory.save();
  const StackMemory again(folder.path() + "/stacks.jsonl");
  EXPECT_EQ(ids(options(), again).size(), 4U);
  EXPECT_EQ(plan_cases(seen(), options(), again, {"a"}).remembered, 1U);
  EXPECT_EQ(ids(options({"abort"}), again).size(), 5U);
}

TEST(ProgramPlan, APathIsChosenByItsNameOrFromTheCurrentFolder) {
  EXPECT_TRUE(path_matches("*.pt", "/a/b/model.pt", "/x"));
  EXPECT_FALSE(path_matches("*.pt", "/a/b/model.pt.next", "/x"));
  EXPECT_TRUE(path_matches("out/*", "/x/out/a", "/x"));
  EXPECT_FALSE(path_matches("out/*", "/x/out/a/b", "/x"));
  EXPECT_TRUE(path_matches("out/**", "/x/out/a/b", "/x"));
  EXPECT_TRUE(path_matches("/x/**/b", "/x/b", "/y"));
  EXPECT_EQ(folder_of_glob("out/*.pt", "/x"), "/x/out");
}

}  // namespace
}  // namespace mishap::program
