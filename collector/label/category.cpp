#include <mishap/collector/label/category.h>
#include <mishap/collector/label/category_rules.h>

#include <array>
#include <charconv>

namespace mishap::collector {
namespace {

constexpr std::string_view kUnclassified = "unclassified";

}  // namespace

void Category::judge(const CategoryInput& input) noexcept {
  if (by_kind(input) || by_chain(input.exceptions) || by_fault(input) ||
      by_text(input.exceptions) || by_signal(input.signal)) {
    return;
  }
  if (input.kind == RecordKind::kCrash) {
    set("crash", "kind", "crash");
  } else {
    set(kUnclassified, "", "");
  }
}

bool Category::by_kind(const CategoryInput& input) noexcept {
  switch (input.kind) {
    case RecordKind::kInterrupt:
      return set("interrupted", "kind", "interrupt");
    case RecordKind::kHang:
      return set("hang", "kind", "hang");
    case RecordKind::kKilled:
      return input.was_out_of_memory
                 ? set("out_of_memory", "kind",
                       "killed, and the control group ran out of memory")
                 : set("killed", "kind", "killed");
    case RecordKind::kExit:
      return input.exceptions.empty() && by_fault(input)
                 ? true
                 : input.exceptions.empty() && set("exited", "kind", "exit");
    case RecordKind::kCrash:
      // An abort says only that somebody gave up; the chain says why.
      return input.signal != "SIGABRT" && by_signal(input.signal);
    case RecordKind::kError:
      break;
  }
  return false;
}

bool Category::by_signal(std::string_view signal) noexcept {
  return set(detail::category_of_signal(signal), "signal", signal);
}

bool Category::by_chain(std::span<const CategoryException> chain) noexcept {
  for (std::size_t i = chain.size(); i-- > 0;) {
    const CategoryException& exception = chain[i];
    if (exception.code &&
        set(detail::category_of_errno(*exception.code), "code", "")) {
      std::array<char, 24> digits;
      const auto end = std::to_chars(
          digits.data(), digits.data() + digits.size(), *exception.code);
      evidence_.add(std::string_view(digits.data(), end.ptr));
      evidence_.add(" of ");
      evidence_.add(exception.type);
      return true;
    }
    if (set(detail::category_of_type(exception.type),
            i == 0 ? "type" : "type of a cause", exception.type)) {
      return true;
    }
    if (detail::tells_by_code(exception.type)) {
      return set("io_error", "type", exception.type);
    }
  }
  return false;
}

bool Category::by_fault(const CategoryInput& input) noexcept {
  if (!set(detail::category_of_fault(input.fault_point, input.fault_action),
           "fault", input.fault_point)) {
    return false;
  }
  evidence_.add(" = ");
  evidence_.add(input.fault_action);
  return true;
}

bool Category::by_text(std::span<const CategoryException> chain) noexcept {
  for (std::size_t i = chain.size(); i-- > 0;) {
    std::string_view phrase;
    const std::string_view name =
        detail::category_of_text(chain[i].message, phrase);
    if (set(name, i == 0 ? "text" : "text of a cause", phrase)) return true;
  }
  return false;
}

bool Category::set(std::string_view name, std::string_view source,
                   std::string_view detail) noexcept {
  if (name.empty()) return false;
  name_ = name;
  evidence_.clear();
  if (!source.empty()) {
    evidence_.add(source);
    evidence_.add(": ");
    evidence_.add(detail);
  }
  return true;
}

}  // namespace mishap::collector
