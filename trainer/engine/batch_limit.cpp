#include <mishap/trainer/engine/batch_limit.h>
#include <mishap/trainer/guard/errors.h>

#include <array>
#include <charconv>
#include <cmath>

namespace mishap {

bool BatchLimit::is_none() const noexcept {
  return is_share() ? std::get<double>(value_) == 0
                    : std::get<std::int64_t>(value_) == 0;
}

std::string BatchLimit::problem() const {
  if (is_share()) {
    const double share = std::get<double>(value_);
    if (!(share >= 0 && share <= 1)) {
      return "is " + text() +
             "; give a share from 0.0 to 1.0, or a whole number of batches";
    }
  } else if (std::get<std::int64_t>(value_) < 0) {
    return "is " + text() + "; give 0 or more, or leave it unset for no limit";
  }
  return {};
}

std::string BatchLimit::text() const {
  std::array<char, 32> buffer{};
  char* const end = buffer.data() + buffer.size();
  const auto result =
      is_share()
          ? std::to_chars(buffer.data(), end, std::get<double>(value_))
          : std::to_chars(buffer.data(), end, std::get<std::int64_t>(value_));
  std::string text(buffer.data(), result.ptr);
  if (is_share() && text.find_first_not_of("-0123456789") == text.npos) {
    text += ".0";
  }
  return text;
}

std::int64_t BatchLimit::batches_of(std::optional<std::int64_t> size,
                                    std::string_view option) const {
  if (size == 0) {
    // So that the loader is asked, and its emptiness noticed.
    return is_none() ? 0 : 1;
  }
  if (!is_share()) {
    return std::get<std::int64_t>(value_);
  }
  if (!size) {
    throw InputError("TrainerOptions." + std::string(option) + " is " + text() +
                     ", but the loader does not know its size; give a whole "
                     "number of batches");
  }
  const double share = std::get<double>(value_);
  const auto batches =
      static_cast<std::int64_t>(std::floor(share * static_cast<double>(*size)));
  if (batches == 0 && share > 0) {
    throw InputError("TrainerOptions." + std::string(option) + " is " + text() +
                     " of " + std::to_string(*size) +
                     " batches, which is less than one; give a larger share, "
                     "or a whole number of batches");
  }
  return batches;
}

}  // namespace mishap
