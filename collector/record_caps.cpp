#include <mishap/collector/hash.h>
#include <mishap/collector/record_caps.h>

#include <algorithm>
#include <bit>

namespace mishap::collector {
namespace {

bool is_kept(std::uint64_t number, std::uint64_t cap) noexcept {
  if (number <= cap) return true;
  return cap > 0 && number % cap == 0 && std::has_single_bit(number / cap);
}

}  // namespace

RecordCount RecordCounter::count(std::string_view key,
                                 const RecordCaps& caps) noexcept {
  // 0 is the mark of a free place.
  const std::uint64_t hash = std::max<std::uint64_t>(fnv1a(key), 1);
  RecordCount result;
  result.of_the_key = place_of(hash).count.fetch_add(1) + 1;
  const std::uint64_t all = all_.fetch_add(1) + 1;
  result.is_kept =
      is_kept(result.of_the_key, caps.of_a_key) && is_kept(all, caps.in_all);
  result.is_first_left_out =
      result.of_the_key == caps.of_a_key + 1 || all == caps.in_all + 1;
  result.left_out =
      result.is_kept ? left_out_.load() : left_out_.fetch_add(1) + 1;
  return result;
}

RecordCounter::Place& RecordCounter::place_of(std::uint64_t key) noexcept {
  constexpr std::size_t kProbes = 16;
  for (std::size_t i = 0; i < kProbes; ++i) {
    Place& place = places_[(key + i) % (kKeys - 1)];
    std::uint64_t found = 0;
    if (place.key.compare_exchange_strong(found, key) || found == key) {
      return place;
    }
  }
  return places_.back();
}

}  // namespace mishap::collector
