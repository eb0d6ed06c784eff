#include <mishap/faultinject/sweep/options.h>

#include <charconv>
#include <system_error>

namespace mishap::faultinject::sweep {
namespace {

bool read(std::string_view text, std::uint32_t& number) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end;
}

}  // namespace

Shard Shard::parse(std::string_view text) {
  const std::size_t slash = text.find('/');
  Shard shard;
  if (slash == std::string_view::npos ||
      !read(text.substr(0, slash), shard.index) ||
      !read(text.substr(slash + 1), shard.count) || shard.index < 1 ||
      shard.index > shard.count) {
    throw SweepError("'" + std::string(text) +
                     "' is no shard; write such as 2/8, from 1/8 to 8/8");
  }
  return shard;
}

}  // namespace mishap::faultinject::sweep
