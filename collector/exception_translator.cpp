#include <mishap/collector/exception_translator.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>

namespace mishap::collector::detail {
namespace {

constexpr std::size_t kCapacity = 32;

constinit std::array<Translator, kCapacity> translators{};
constinit std::atomic<std::size_t> translator_count = 0;
constinit std::mutex registration;

bool translate_by(const Translator& translator, const std::exception_ptr& error,
                  Translation& out) noexcept {
  const void* object = exception_as(error, *translator.type);
  if (object == nullptr) {
    return false;
  }
  try {
    translator.invoke(translator.function, object, out);
    return true;
  } catch (...) {
    out = Translation{};
    return false;
  }
}

}  // namespace

bool add_translator(const Translator& translator) noexcept {
  const std::lock_guard lock(registration);
  const std::size_t count = translator_count.load(std::memory_order_relaxed);
  for (std::size_t i = 0; i < count; ++i) {
    if (translators[i].function == translator.function &&
        *translators[i].type == *translator.type) {
      return true;
    }
  }
  if (count == kCapacity) {
    return false;
  }
  translators[count] = translator;
  translator_count.store(count + 1, std::memory_order_release);
  return true;
}

bool translate(const std::exception_ptr& error, Translation& out) noexcept {
  const std::size_t count = translator_count.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count; ++i) {
    if (translate_by(translators[i], error, out)) {
      return true;
    }
  }
  return false;
}

}  // namespace mishap::collector::detail
