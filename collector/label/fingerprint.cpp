#include <mishap/collector/label/fingerprint.h>
#include <mishap/collector/label/fold.h>
#include <mishap/collector/label/plain_name.h>

// In the header alone: no library is linked, and nothing is allocated.
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace mishap::collector {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";

void write_hex(std::span<const unsigned char> bytes, char* out) {
  for (const unsigned char byte : bytes) {
    *out++ = kHexDigits[byte >> 4U];
    *out++ = kHexDigits[byte & 15U];
  }
}

void add_offset(PlainName& out, const FingerprintFrame& frame) {
  out.add(frame.module);
  out.add("+0x");
  std::array<char, 16> digits;
  std::size_t size = 0;
  std::uint64_t left = frame.offset;
  do {
    digits[size++] = kHexDigits[left & 15U];
    left >>= 4U;
  } while (left > 0);
  while (size > 0) out.add(digits[--size]);
}

// How a frame stands in the parts.
bool name_frame(const FingerprintFrame& frame, PlainName& out) {
  if (!frame.function.empty()) {
    plain_name(frame.function, out);
    if (out.size() > 0) return true;
  }
  out.clear();
  add_offset(out, frame);
  return false;
}

// One frame that counts; to compare names by their hashes spares making them
// anew for every pair.
struct Chosen {
  const FingerprintFrame* frame = nullptr;
  std::uint64_t key = 0;
};

}  // namespace

void Fingerprint::compute(const FingerprintInput& input) noexcept {
  text_.clear();
  parts_size_ = 0;
  add_types(input.types);
  add_part("stage", input.stage);
  add_part("hook", input.hook);
  add_part("component", input.component);
  const auto frames =
      input.frames.first(std::min(input.frames.size(), kMaxInputFrames));
  if (!add_frames(frames, true) && !add_frames(frames, false)) {
    PlainMessage message;
    plain_message(input.message, message);
    add_part("message", message.view());
  }
  hash_parts();
}

RecordFingerprint Fingerprint::view() const noexcept {
  RecordFingerprint out;
  if (parts_size_ > 0) {
    out.version = kFingerprintVersion;
    out.hash = {hash_.data(), hash_.size()};
    out.parts = {parts_.data(), parts_size_};
  }
  return out;
}

void Fingerprint::add_part(std::string_view name,
                           std::string_view value) noexcept {
  if (value.empty() || parts_size_ == kMaxParts) return;
  const std::size_t begin = text_.size();
  text_.add(name);
  text_.add(": ");
  text_.add(value);
  parts_[parts_size_++] = text_.view().substr(begin);
}

void Fingerprint::add_types(std::span<const std::string_view> types) noexcept {
  detail::LabelText<512> all;
  PlainName name;
  for (const std::string_view type : types) {
    plain_type(type, name);
    if (all.size() > 0) all.add(" < ");
    all.add(name.view());
  }
  add_part("type", all.view());
}

bool Fingerprint::add_frames(std::span<const FingerprintFrame> frames,
                             bool only_in_app) noexcept {
  std::array<Chosen, kMaxChosen> chosen;
  std::size_t size = 0;
  PlainName name;
  for (const FingerprintFrame& frame : frames) {
    if (size < kMaxChosen && (frame.in_app || !only_in_app)) {
      name_frame(frame, name);
      chosen[size++] = {&frame,
                        XXH3_64bits(name.view().data(), name.view().size())};
    }
  }
  const auto same = [&](std::size_t i, std::size_t j) {
    return chosen[i].key == chosen[j].key;
  };
  // Until nothing is left to fold: a record's frames may be folded already.
  for (std::size_t before = size + 1; size < before;) {
    before = size;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < before;) {
      const Fold fold = fold_at(i, before, same);
      for (std::size_t j = 0; j < fold.size; ++j) {
        chosen[kept++] = chosen[i + j];
      }
      i += fold.size * fold.times;
    }
    size = kept;
  }
  for (std::size_t i = 0; i < size && i < kMaxFrames; ++i) {
    const bool is_name = name_frame(*chosen[i].frame, name);
    add_part(is_name ? "frame" : "offset", name.view());
  }
  return size > 0;
}

void Fingerprint::hash_parts() noexcept {
  XXH3_state_t state;
  XXH3_128bits_reset(&state);
  const auto update = [&state](std::string_view text) {
    XXH3_128bits_update(&state, text.data(), text.size());
  };
  update("1\n");
  for (std::size_t i = 0; i < parts_size_; ++i) {
    update(parts_[i]);
    update("\n");
  }
  XXH128_canonical_t digest;
  XXH128_canonicalFromHash(&digest, XXH3_128bits_digest(&state));
  write_hex(digest.digest, hash_.data());
}

}  // namespace mishap::collector
