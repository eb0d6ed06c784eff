#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace mishap::program {

/// A hash of the whole content of a file, fed piece by piece; the same in every
/// process, however the pieces were cut. Signal-safe.
class ContentHash {
 public:
  void feed(const void* bytes, std::size_t size) noexcept {
    const auto* from = static_cast<const unsigned char*>(bytes);
    size_ += size;
    while (size > 0) {
      if (held_ == 0 && size >= kWord) {
        std::uint64_t word;
        std::memcpy(&word, from, kWord);
        mix(word);
        from += kWord;
        size -= kWord;
        continue;
      }
      pending_ |= std::uint64_t{*from++} << (8 * held_);
      --size;
      if (++held_ == kWord) {
        mix(pending_);
        pending_ = 0;
        held_ = 0;
      }
    }
  }

  std::uint64_t value() const noexcept {
    ContentHash end = *this;
    end.mix(pending_);
    end.mix(size_);
    return end.state_;
  }

 private:
  static constexpr std::size_t kWord = sizeof(std::uint64_t);

  void mix(std::uint64_t word) noexcept {
    std::uint64_t x = state_ ^ word;
    x *= 0x9fb21c651e98df25;
    x ^= x >> 32;
    state_ = x * 0xd6e8feb86659fd93 + 0x9e3779b97f4a7c15;
  }

  std::uint64_t state_ = 0x6d697368617021;
  std::uint64_t pending_ = 0;
  std::size_t held_ = 0;
  std::uint64_t size_ = 0;
};

}  // namespace mishap::program
