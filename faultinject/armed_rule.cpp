#include <mishap/faultinject/armed_rule.h>
#include <mishap/faultinject/stable_hash.h>
#include <mishap/faultinject/throw_type.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <limits>
#include <string_view>

namespace mishap::faultinject {
namespace {

constexpr std::uint64_t kEndless = std::numeric_limits<std::uint64_t>::max();

bool is_this_thread(std::string_view name, const HitContext& context) noexcept {
  if (!context.thread.empty()) return context.thread == name;
  if (::syscall(SYS_gettid) == ::getpid()) return name == "main";
  char buffer[16] = {};
  ::pthread_getname_np(::pthread_self(), buffer, sizeof buffer);
  return name == buffer;
}

bool is_within(const Filter& filter, std::int64_t value) noexcept {
  return value >= 0 && filter.first <= value && value <= filter.last;
}

bool lets_pass(const Filter& filter, const HitContext& context) noexcept {
  switch (filter.key) {
    case FilterKey::kEntry:
      return context.entry_point == filter.text;
    case FilterKey::kStage:
      return context.stage == filter.text;
    case FilterKey::kEpoch:
      return is_within(filter, context.epoch);
    case FilterKey::kBatch:
      return is_within(filter, context.batch);
    case FilterKey::kStep:
      return is_within(filter, context.step);
    case FilterKey::kRank:
      return is_within(filter, context.rank);
    case FilterKey::kThread:
      return is_this_thread(filter.text, context);
    case FilterKey::kEvery:
      break;
  }
  return true;
}

}  // namespace

ArmedTerm::ArmedTerm(const Term& term)
    : term_(&term),
      action_(&faultinject::action(term.action)),
      read_(action_->read(term.arguments)),
      action_text_(faultinject::action_text(term)),
      left_(term.count.value_or(kEndless)) {
  for (const Filter& filter : term.filters) {
    if (filter.key == FilterKey::kEvery) {
      every_ = static_cast<std::uint64_t>(filter.first);
    }
  }
}

bool ArmedTerm::accepts(const HitContext& context) noexcept {
  for (const Filter& filter : term_->filters) {
    if (!lets_pass(filter, context)) return false;
  }
  if (every_ == 0) return true;
  // Of the hits that the other filters let pass.
  return (seen_.fetch_add(1, std::memory_order_relaxed) + 1) % every_ == 0;
}

bool ArmedTerm::take_one() noexcept {
  if (!term_->count) return true;
  std::uint64_t left = left_.load(std::memory_order_relaxed);
  while (left > 0) {
    if (left_.compare_exchange_weak(left, left - 1,
                                    std::memory_order_relaxed)) {
      return true;
    }
  }
  return false;
}

std::string ArmedTerm::text_at(std::string_view point) const {
  const ThrowType* type = read_.throw_type;
  const std::size_t index = type == nullptr ? 0 : 1;
  if (term_->arguments.size() > index) return term_->arguments[index];
  if (term_->action == ActionKind::kReturn) return "";
  if (type == nullptr) return "injected " + std::string(action_->word);
  switch (type->text) {
    case ThrowText::kNone:
      return "";
    case ThrowText::kInteger:
      return "1";
    case ThrowText::kAny:
      break;
  }
  return "injected " + type->name + " error at " + std::string(point);
}

ArmedRule::ArmedRule(const Rule& rule, std::uint64_t seed)
    : name_(&rule.name), seed_(seed) {
  if (rule.name.has_glob()) {
    matched_ = std::make_unique<Chunked<std::atomic<std::uint8_t>>>();
  } else {
    point_ = intern(rule.name.text());
  }
  for (const Term& term : rule.terms) terms_.emplace_back(term);
}

bool ArmedRule::matches(PointId point) noexcept {
  if (matched_ == nullptr) return point == point_;
  constexpr std::uint8_t kUnknown = 0;
  constexpr std::uint8_t kYes = 1;
  constexpr std::uint8_t kNo = 2;
  std::atomic<std::uint8_t>* kept = matched_->make(point.value);
  std::uint8_t answer =
      kept == nullptr ? kUnknown : kept->load(std::memory_order_relaxed);
  if (answer == kUnknown) {
    answer = name_->matches(name_of(point)) ? kYes : kNo;
    if (kept != nullptr) kept->store(answer, std::memory_order_relaxed);
  }
  return answer == kYes;
}

ArmedTerm* ArmedRule::choose(const HitContext& context) noexcept {
  for (ArmedTerm& term : terms_) {
    if (!term.accepts(context)) continue;
    if (term.term().percent && !toss(*term.term().percent)) continue;
    if (term.take_one()) return &term;
  }
  return nullptr;
}

bool ArmedRule::toss(double percent) noexcept {
  const std::uint64_t n = tosses_.fetch_add(1, std::memory_order_relaxed) + 1;
  const std::uint64_t bits = mix(seed_ + n * kMixStep);
  // The upper 53 bits as a fraction of 1.
  const double fraction = static_cast<double>(bits >> 11) * 0x1p-53;
  return fraction < percent / 100;
}

}  // namespace mishap::faultinject
