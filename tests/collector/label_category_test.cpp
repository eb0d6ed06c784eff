#include <gtest/gtest.h>
#include <mishap/collector/label/category.h>
#include <mishap/collector/label/label.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "allocation_counter.h"

namespace mishap::collector {
namespace {

std::string name_of(const CategoryInput& input) {
  Category category;
  category.judge(input);
  return std::string(category.view().name);
}

std::string evidence_of(const CategoryInput& input) {
  Category category;
  category.judge(input);
  return std::string(category.view().evidence);
}

std::string name_of(std::vector<CategoryException> chain) {
  CategoryInput input;
  input.exceptions = chain;
  return name_of(input);
}

TEST(Category, TypeAndCodeOfTheInnermostCauseDecide) {
  EXPECT_EQ(name_of({{"std::bad_alloc", "std::bad_alloc", {}}}),
            "out_of_memory");
  EXPECT_EQ(name_of({{"mishap::FileError", "disk?", ENOSPC}}), "disk_full");
  EXPECT_EQ(name_of({{"std::system_error", "", ETIMEDOUT}}), "timeout");
  EXPECT_EQ(name_of({{"std::ios_base::failure[abi:cxx11]", "", {}}}),
            "io_error");
  EXPECT_EQ(name_of({{"std::runtime_error", "cannot go on", {}},
                     {"std::out_of_range", "", {}}}),
            "index_out_of_range");
  // An outer word that fits worse than the cause.
  EXPECT_EQ(
      name_of({{"std::invalid_argument", "", {}}, {"std::bad_alloc", "", {}}}),
      "out_of_memory");
}

TEST(Category, FaultDecidesWhereTheTypeSaysNothing) {
  const std::vector<CategoryException> chain = {
      {"std::runtime_error", "connection refused", {}}};
  CategoryInput input;
  input.exceptions = chain;
  EXPECT_EQ(name_of(input), "network");
  EXPECT_EQ(evidence_of(input), "text: connection refused");
  input.fault_point = "alloc/cpu";
  input.fault_action = "throw(c10, \"x\")";
  EXPECT_EQ(name_of(input), "out_of_memory");
  EXPECT_EQ(evidence_of(input), "fault: alloc/cpu = throw(c10, \"x\")");
  input.fault_point = "io/checkpoint/write";
  input.fault_action = "errno(EROFS)";
  EXPECT_EQ(name_of(input), "permission_denied");
  input.fault_action = "torn(7)";
  EXPECT_EQ(name_of(input), "io_error");
  input.fault_point = "hook/training_step/module";
  input.fault_action = "nan";
  EXPECT_EQ(name_of(input), "non_finite");
  // A fault of a hook says nothing of the sort of error.
  input.fault_action = "throw(runtime)";
  EXPECT_EQ(name_of(input), "network");
}

TEST(Category, TypeIsStrongerThanAFaultThatFiredBefore) {
  const std::vector<CategoryException> chain = {{"std::out_of_range", "", {}}};
  CategoryInput input;
  input.exceptions = chain;
  input.fault_point = "alloc/cpu";
  input.fault_action = "throw(c10)";
  EXPECT_EQ(name_of(input), "index_out_of_range");
  EXPECT_EQ(evidence_of(input), "type: std::out_of_range");
}

TEST(Category, KindAndSignalDecideFirst) {
  const std::vector<CategoryException> chain = {{"std::bad_alloc", "", {}}};
  CategoryInput input;
  input.exceptions = chain;
  input.kind = RecordKind::kInterrupt;
  EXPECT_EQ(name_of(input), "interrupted");
  input.kind = RecordKind::kHang;
  EXPECT_EQ(name_of(input), "hang");
  input.kind = RecordKind::kCrash;
  input.signal = "SIGSEGV";
  EXPECT_EQ(name_of(input), "crash");
  // std::terminate: the exception is why.
  input.signal = "SIGABRT";
  EXPECT_EQ(name_of(input), "out_of_memory");
  input.exceptions = {};
  EXPECT_EQ(name_of(input), "aborted");
  input.kind = RecordKind::kKilled;
  input.signal = {};
  EXPECT_EQ(name_of(input), "killed");
  input.was_out_of_memory = true;
  EXPECT_EQ(name_of(input), "out_of_memory");
}

// What LibTorch 1.13 says, word for word.
TEST(Category, ReadsLibTorchsMessagesLast) {
  for (const auto& [message, expected] :
       std::vector<std::pair<std::string_view, std::string_view>>{
           {"mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)",
            "shape_mismatch"},
           {"The size of tensor a (3) must match the size of tensor b (4) at "
            "non-singleton dimension 0",
            "shape_mismatch"},
           {"Expected input batch_size (4) to match target batch_size (3).",
            "shape_mismatch"},
           {"expected scalar type Long but found Float", "dtype_mismatch"},
           {"Target 10 is out of bounds.", "index_out_of_range"},
           {"ZeroDivisionError", "arithmetic"},
           {"element 0 of tensors does not require grad and does not have a "
            "grad_fn",
            "autograd_misuse"},
           {"[enforce fail at alloc_cpu.cpp:66] . DefaultCPUAllocator: can't "
            "allocate memory: you tried to allocate 8 bytes.",
            "out_of_memory"},
           {"PytorchStreamReader failed reading zip archive: failed finding "
            "central directory",
            "corrupt_data"},
           {"Function 'MulBackward0' returned nan values in its 0th output.",
            "non_finite"},
           {"Expected one of cpu, cuda, ipu, xpu, mkldnn device type at start "
            "of device string: gpu",
            "device_error"},
           {"something else", "unclassified"}}) {
    EXPECT_EQ(name_of({{"c10::Error", message, {}}}), expected) << message;
  }
}

// Every name that can come out stands in the table that maps it.
TEST(Category, TableOfTheRoomHoldsEveryName) {
  std::ifstream source(MISHAP_SOURCE_FOLDER "/collector/label/README.md");
  std::set<std::string> documented;
  for (std::string line; std::getline(source, line);) {
    if (line.starts_with("| `")) {
      documented.insert(line.substr(3, line.find('`', 3) - 3));
    }
  }
  std::set<std::string> used = {"crash", "unclassified"};
  for (const char* file : {"category.cpp", "category_rules.cpp"}) {
    std::ifstream code(std::string(MISHAP_SOURCE_FOLDER "/collector/label/") +
                       file);
    for (std::string line; std::getline(code, line);) {
      const std::size_t end = line.rfind("\"},");
      if (end == std::string::npos) continue;
      const std::size_t begin = line.rfind('"', end - 1) + 1;
      used.insert(line.substr(begin, end - begin));
    }
  }
  EXPECT_GT(used.size(), 20U);
  for (const std::string& name : used) {
    EXPECT_TRUE(documented.contains(name)) << name;
  }
}

TEST(Labels, CostNoAllocation) {
  std::array<RecordFrame, 2> frames;
  frames[0].address = 0x1000;
  frames[0].function = "app::f(int)";
  frames[1].address = 0x2000;
  std::array<RecordException, 1> exceptions;
  exceptions[0].type = "std::runtime_error";
  exceptions[0].message = "connection refused";
  exceptions[0].stack.frames = frames;
  Record record;
  record.exceptions = exceptions;
  Labels labels;
  const std::size_t before = allocations();
  labels.put_on(record);
  EXPECT_EQ(allocations(), before);
  EXPECT_EQ(record.category.name, "network");
  EXPECT_EQ(record.fingerprint.hash.size(), 32U);
}

}  // namespace
}  // namespace mishap::collector
