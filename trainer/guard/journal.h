#pragma once

#include <mishap/trainer/guard/event.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace mishap {

/// One call of a user's hook, as the user's own code saw it.
struct JournalEntry {
  Component component;
  Hook hook = Hook::kNone;
  /// Of on_exception.
  std::exception_ptr error;
  std::string entry_point;
  Place place;
  Status status = Status::kRunning;
  bool late = false;
  /// Of finalize.
  FinalWord word = FinalWord::kSuccess;
  /// How long the hook ran, where the spy says so.
  std::chrono::nanoseconds took{0};
};

/// What spies write down, in order. They are ordinary components of a run.
class Journal {
 public:
  void note(Component component, Hook hook) {
    JournalEntry entry;
    entry.component = component;
    entry.hook = hook;
    entries_.push_back(std::move(entry));
    if (listener_) {
      listener_(component, hook);
    }
  }

  /// Calls `listener` at each note(), when the hook has just been entered.
  void listen(std::function<void(Component, Hook)> listener) {
    listener_ = std::move(listener);
  }

  void note_exception(Component component, const ErrorEvent& event) {
    JournalEntry entry;
    entry.component = component;
    entry.hook = Hook::kOnException;
    entry.error = event.error;
    entry.entry_point = event.entry_point;
    entry.place = event.place;
    entry.status = event.status;
    entry.late = event.late;
    entries_.push_back(std::move(entry));
  }

  void note_final(Component component, FinalWord word) {
    JournalEntry entry;
    entry.component = component;
    entry.hook = Hook::kFinalize;
    entry.word = word;
    entries_.push_back(std::move(entry));
  }

  /// The hook of the component that was noted last ran so long.
  void note_took(Component component, Hook hook,
                 std::chrono::nanoseconds took) {
    const auto last = std::find_if(
        entries_.rbegin(), entries_.rend(), [&](const JournalEntry& entry) {
          return entry.component == component && entry.hook == hook;
        });
    if (last != entries_.rend()) {
      last->took = took;
    }
  }

  const std::vector<JournalEntry>& entries() const noexcept { return entries_; }
  /// Also lets go of the exceptions that were noted.
  void clear() noexcept { entries_.clear(); }

 private:
  std::vector<JournalEntry> entries_;
  std::function<void(Component, Hook)> listener_;
};

}  // namespace mishap
