#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace mishap::faultinject {

/// How many letters have to be added, removed, replaced or swapped with their
/// neighbour to make one word of the other.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate nearest to `word`, if it is near enough to be what was meant;
/// else empty.
std::string_view nearest(std::string_view word,
                         std::span<const std::string_view> candidates);

/// `did you mean 'throw'?`, or `otherwise` when nothing is near.
std::string did_you_mean(std::string_view word,
                         std::span<const std::string_view> candidates,
                         std::string_view otherwise);

/// `a, b and c`.
std::string join(std::span<const std::string_view> words);

}  // namespace mishap::faultinject
