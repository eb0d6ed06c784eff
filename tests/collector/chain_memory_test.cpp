#include <gtest/gtest.h>
#include <mishap/collector/exception_chain.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <new>
#include <stdexcept>
#include <vector>

#include "throw_helpers.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MISHAP_TEST_OWNS_MEMORY 0
#else
#define MISHAP_TEST_OWNS_MEMORY 1
#endif

namespace mishap::collector {
namespace {

constexpr int kDescribed = 0;
constexpr int kWrongType = 1;
constexpr int kWrongMessage = 2;
constexpr int kNoThrowSite = 3;
constexpr int kStillMemory = 4;

void exhaust_memory() {
  const rlimit none{0, 0};
  setrlimit(RLIMIT_AS, &none);
  for (std::size_t size = std::size_t{1} << 30U; size > 0; size /= 2) {
    void* volatile block = nullptr;
    do {
      block = std::malloc(size);
    } while (block != nullptr);
  }
}

int describe_without_memory(ExceptionChain& chain) {
  exhaust_memory();
  const std::exception_ptr error =
      sample::caught([] { static_cast<void>(std::vector<int>(1000)); });
  if (!error) {
    return kStillMemory;
  }
  chain.describe(error);
  const ChainEntry& entry = chain.entries()[0];
  const bool is_bad_alloc =
      entry.type == "std::bad_alloc" || entry.type == "St9bad_alloc";
  if (!is_bad_alloc) {
    return kWrongType;
  }
  if (entry.message != "std::bad_alloc") {
    return kWrongMessage;
  }
  return entry.site && entry.site->trace.size > 3 ? kDescribed : kNoThrowSite;
}

TEST(ExceptionChainMemory, IsDescribedWithThrowSiteWhenMemoryIsExhausted) {
  if (!MISHAP_TEST_OWNS_MEMORY) {
    GTEST_SKIP() << "a sanitizer ends the process when memory is exhausted";
  }
  const auto chain = std::make_unique<ExceptionChain>();
  const ThrowCaptureScope scope;
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    _exit(describe_without_memory(*chain));
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << status;
  EXPECT_EQ(WEXITSTATUS(status), kDescribed);
}

}  // namespace
}  // namespace mishap::collector
