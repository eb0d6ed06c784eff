#include <mishap/collector/hash.h>
#include <mishap/trainer/harness/preload/agent.h>
#include <mishap/trainer/harness/preload/control_texts.h>
#include <mishap/trainer/harness/preload/private_table.h>

namespace mishap::preload {
namespace {

NumberTable<1 << 18>& numbers() noexcept {
  static constinit NumberTable<1 << 18> table;
  static const bool is_made = table.make();
  static_cast<void>(is_made);
  return table;
}

}  // namespace

std::uint32_t keep_text(std::string_view text) noexcept {
  if (text.empty()) {
    return program::kNoText;
  }
  const std::uint64_t key = collector::fnv1a(text);
  const std::uint32_t known = numbers().find(key, program::kNoText);
  if (known != program::kNoText) {
    return known;
  }
  program::Control& control = *agent.control;
  const auto size = static_cast<std::uint32_t>(text.size() + 1);
  const std::uint32_t at = control.text_size.fetch_add(size);
  if (at + size > program::kTextBytes) {
    control.text_size.fetch_sub(size);
    control.overflows.fetch_add(1);
    return program::kNoText;
  }
  std::copy_n(text.data(), text.size(), control.text.data() + at);
  control.text[at + text.size()] = '\0';
  numbers().add(key, at);
  return at;
}

std::string_view text_at(std::uint32_t text) noexcept {
  return text == program::kNoText ? std::string_view()
                                  : agent.control->text.data() + text;
}

}  // namespace mishap::preload
