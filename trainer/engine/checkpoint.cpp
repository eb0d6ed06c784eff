#include <mishap/trainer/engine/checkpoint.h>
#include <mishap/trainer/guard/read_file.h>
#include <torch/torch.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <cstring>
#include <vector>

namespace mishap {
namespace {

// Behind the pickled state: mark, number of bytes, checksum, both big-endian.
constexpr std::string_view kMark = "MISHAP\x01\n";
constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kTrailerBytes =
    kMark.size() + kLengthBytes + sizeof(XXH128_canonical_t);

std::string trailer_of(std::string_view pickled) {
  std::string trailer(kMark);
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    const std::size_t shift = 8 * (kLengthBytes - 1 - i);
    trailer += static_cast<char>(pickled.size() >> shift & 0xFF);
  }
  XXH128_canonical_t checksum;
  XXH128_canonicalFromHash(&checksum,
                           XXH3_128bits(pickled.data(), pickled.size()));
  trailer.append(reinterpret_cast<const char*>(checksum.digest),
                 sizeof(checksum.digest));
  return trailer;
}

[[noreturn]] void refuse(const std::string& path, std::string_view bytes,
                         const std::string& what) {
  throw CheckpointError(path + " (" + std::to_string(bytes.size()) +
                        " bytes) " + what + "; go on from another one");
}

// What was pickled, if it is whole.
std::string_view whole_part(std::string_view bytes, const std::string& path) {
  const std::size_t size =
      bytes.size() < kTrailerBytes ? 0 : bytes.size() - kTrailerBytes;
  const std::string_view trailer = bytes.substr(size);
  if (!trailer.starts_with(kMark)) {
    refuse(path, bytes,
           "is no checkpoint of Mishap, or was cut off: the mark at its end is "
           "missing");
  }
  const std::string_view pickled = bytes.substr(0, size);
  if (trailer != trailer_of(pickled)) {
    refuse(path, bytes, "is damaged: its checksum does not match");
  }
  return pickled;
}

}  // namespace

std::string to_checkpoint(const State& state) {
  const std::vector<char> pickled = torch::pickle_save(state.to_value());
  std::string bytes(pickled.begin(), pickled.end());
  bytes += trailer_of(bytes);
  return bytes;
}

void check_whole(std::string_view bytes, const std::string& path) {
  whole_part(bytes, path);
}

State from_checkpoint(std::string_view bytes, const std::string& path) {
  const std::string_view pickled = whole_part(bytes, path);
  try {
    return State::from_value(
        torch::pickle_load(std::vector<char>(pickled.begin(), pickled.end())));
  } catch (const c10::Error& error) {
    refuse(path, bytes,
           std::string("can't be read by this LibTorch (") +
               error.what_without_backtrace() + ')');
  }
}

std::string checksum_of(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text = "xxh3-128:";
  for (const char byte :
       bytes.substr(bytes.size() - sizeof(XXH128_canonical_t))) {
    const auto value = static_cast<unsigned char>(byte);
    text += kDigits[value >> 4U];
    text += kDigits[value & 0xFU];
  }
  return text;
}

State read_checkpoint(const std::filesystem::path& path, FileStore& store,
                      std::string* checksum) {
  const std::string bytes = read_file(path.native(), store);
  State state = from_checkpoint(bytes, path.native());
  if (checksum != nullptr) {
    *checksum = checksum_of(bytes);
  }
  return state;
}

}  // namespace mishap
