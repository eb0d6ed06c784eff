#include <mishap/collector/crash/alternate_stack.h>
#include <mishap/collector/crash/thread_registry.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

namespace mishap::collector {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::size_t kSanitizerFactor = 5;
#else
constexpr std::size_t kSanitizerFactor = 1;
#endif

// Writing a record takes half of it, the caller's registers a few KiB.
constexpr std::size_t kHandlerBytes = std::size_t{128} * 1024;

std::size_t page_bytes() noexcept {
  return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

std::size_t alternate_stack_bytes() noexcept {
  // Wide vector registers: the kernel says what it saves of them.
  const std::size_t frame = getauxval(AT_MINSIGSTKSZ);
  const std::size_t page = page_bytes();
  const std::size_t bytes = kHandlerBytes * kSanitizerFactor + frame;
  return (bytes + page - 1) / page * page;
}

namespace detail {

void AlternateStack::install() noexcept {
  stack_t current{};
  if (mapping_ != nullptr || sigaltstack(nullptr, &current) != 0) {
    return;
  }
  const std::size_t bytes = alternate_stack_bytes();
  const bool has_one = (current.ss_flags & SS_DISABLE) == 0;
  if (has_one && ((current.ss_flags & SS_ONSTACK) != 0 ||
                  current.ss_size >= std::min(bytes, kHandlerBytes / 2))) {
    return;
  }
  const std::size_t page = page_bytes();
  void* const mapping =
      mmap(nullptr, bytes + page, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) {
    return;
  }
  mprotect(mapping, page, PROT_NONE);
  stack_t ours{};
  ours.ss_sp = static_cast<char*>(mapping) + page;
  ours.ss_size = bytes;
  if (sigaltstack(&ours, &previous_) != 0) {
    munmap(mapping, bytes + page);
    return;
  }
  mapping_ = mapping;
  mapped_ = bytes + page;
}

void AlternateStack::remove() noexcept {
  if (mapping_ == nullptr) {
    return;
  }
  stack_t current{};
  if (sigaltstack(nullptr, &current) != 0 ||
      (current.ss_flags & SS_ONSTACK) != 0) {
    return;
  }
  const char* const begin = static_cast<const char*>(mapping_);
  const auto* const in_place = static_cast<const char*>(current.ss_sp);
  if ((current.ss_flags & SS_DISABLE) == 0 && in_place >= begin &&
      in_place < begin + mapped_) {
    // The kernel refuses a size in a disabled one that it would check.
    stack_t disabled{};
    disabled.ss_flags = SS_DISABLE;
    const bool had_one = (previous_.ss_flags & SS_DISABLE) == 0;
    sigaltstack(had_one ? &previous_ : &disabled, nullptr);
  }
  munmap(mapping_, mapped_);
  mapping_ = nullptr;
}

}  // namespace detail
}  // namespace mishap::collector
