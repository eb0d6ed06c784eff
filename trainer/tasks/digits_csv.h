#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

namespace mishap::tasks {

/// The part of a data set that a row belongs to.
enum class Split : std::uint8_t { kTrain, kValidation, kTest };

/// Images of handwritten digits, one row each.
struct DigitRows {
  /// Pixels of one image: 8×8, row by row from the top left.
  static constexpr std::size_t kPixels = 64;

  /// size() × kPixels values, scaled from the file's 0–16 to 0–1.
  std::vector<float> pixels;
  /// size() digits, 0–9.
  std::vector<std::int64_t> labels;

  std::size_t size() const { return labels.size(); }
};

/// Reads the rows of `split` from a file laid out like
/// datasets/digits/digits.csv: a header line, then p0…p63, label and split.
///
/// Every row is checked, those of the other splits too, so that a damaged file
/// is found whichever entry point reads it first. Lines may end in CR LF.
///
/// Throws InputError in one sentence that names the file, the row (counted from
/// 1 with the header, as editors do) and the column, and says what to do.
DigitRows load_digits(const std::filesystem::path& file, Split split);

}  // namespace mishap::tasks
