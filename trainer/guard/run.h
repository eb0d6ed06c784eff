#pragma once

#include <mishap/trainer/guard/checkpoint_note.h>
#include <mishap/trainer/guard/cleanup_note.h>
#include <mishap/trainer/guard/cleanup_watch.h>
#include <mishap/trainer/guard/errors.h>
#include <mishap/trainer/guard/event.h>
#include <mishap/trainer/guard/observer.h>
#include <mishap/trainer/guard/place.h>
#include <mishap/trainer/guard/process_state.h>
#include <mishap/trainer/guard/signals.h>
#include <mishap/trainer/guard/telemetry.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace mishap {

struct GuardOptions;

/// The first error of a run, as the guard saw it.
struct Failure {
  std::exception_ptr error;
  /// Where it left the code of a component.
  Place place;
};

/// Whether the parameters can be trusted after a failure.
enum class Weights : std::uint8_t { kNone, kConsistent, kPartial };

/// What the guard owes to a component once it takes part in a run.
enum class DutyKind : std::uint8_t {
  /// on_exception: on a failure, in ascending order().
  kTell,
  /// Loops, loaders, strategy: at the end of every run, last taken first.
  kRelease,
  /// teardown: at the end of every run, last taken first.
  kTeardown,
  /// finalize of a logger: at the end of every run, in the order taken.
  kFinalize,
};

/// One call of an entry point, from its first line to its last: where it is,
/// who takes part, what is owed to them. Made by guarded_call() only; used by
/// one thread.
class Run {
 public:
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  /// The innermost run of this thread, or null.
  static Run* current() noexcept;

  std::string_view entry_point() const noexcept { return entry_point_; }
  Status status() const noexcept { return status_; }
  const Place& place() const noexcept { return place_; }
  /// The run that this one is nested in, or null.
  const Run* parent() const noexcept { return parent_; }

  // -- for own loops --------------------------------------------------------

  /// Marks the start of step `step` (zero-based): a breadcrumb, a safe point
  /// and the fault point `hook/step/loop`.
  void step(std::int64_t step);

  /// Marks the start of epoch `epoch` (zero-based), fault point
  /// `hook/epoch/loop`.
  void epoch(std::int64_t epoch);

  /// Runs `cleanup` exactly once when the run ends, however it ends; the last
  /// one registered runs first. `name` is its component in records.
  void on_teardown(std::string_view name, std::function<void()> cleanup);

  /// Calls `handler` exactly once if the run fails, before any cleanup.
  void on_exception(std::string_view name,
                    std::function<void(const ErrorEvent&)> handler);

  /// Throws NonFinite when `value` is NaN or infinite.
  void check_finite(double value, std::string_view what);

  /// The loss of this step, for the record of a run that fails. Costs a
  /// nanosecond, and nothing else is done with it.
  void note_loss(double loss) noexcept { telemetry_.set_loss(loss); }

  /// A checkpoint of this run is whole and in its place, or was loaded: what a
  /// record names as the one to go on from.
  void note_checkpoint(const CheckpointNote& checkpoint) noexcept;

  // -- for engines ----------------------------------------------------------

  /// Runs `body` as hook `hook` of `component`: breadcrumb, safe point, fault
  /// point, body, fault point `:after`, safe point. Returns what body returns.
  template <class Body>
  decltype(auto) call(Hook hook, Component component, Body&& body) {
    const Hook outer_hook = place_.hook;
    const Component outer_component = place_.component;
    try {
      enter(hook, component);
      if constexpr (std::is_void_v<std::invoke_result_t<Body>>) {
        std::forward<Body>(body)();
        leave(outer_hook, outer_component);
      } else {
        decltype(auto) result = std::forward<Body>(body)();
        leave(outer_hook, outer_component);
        return result;
      }
    } catch (...) {
      note_throw();
      return_to(outer_hook, outer_component);
      throw;
    }
  }

  /// Throws Interrupted when a signal waits; once the run has failed it is
  /// noted for the record instead.
  void safe_point() {
    if (seat_.pending()) [[unlikely]] {
      honour_signal();
    }
  }

  void set_stage(Stage stage) noexcept { place_.stage = stage; }
  void set_epoch(std::int64_t epoch) noexcept { place_.epoch = epoch; }
  void set_batch(std::int64_t batch) noexcept { place_.batch = batch; }
  void set_step(std::int64_t step) noexcept { place_.step = step; }

  /// Marks the start of a step for the record's telemetry. step() does it by
  /// itself.
  void begin_step(std::int64_t step) noexcept { telemetry_.begin(step); }

  /// Says whether a failure from now on leaves the parameters half updated.
  void set_weights(Weights weights) noexcept { weights_ = weights; }
  Weights weights() const noexcept { return weights_; }

  /// Registers a duty. `order` sorts the duties of kind kTell (callbacks 0,
  /// data 1, module 2, strategy 3); others ignore it. A duty to no component
  /// is work of the engine's own: it is no hook and no fault can hit it.
  void owe(DutyKind kind, Component component, std::function<void(Run&)> duty,
           int order = 0);

  /// Has the duty of that kind to this component been done?
  bool done(DutyKind kind, Component component) const noexcept;

  /// Name and value of an option, for the run's row. Both are copied.
  void set_option(std::string_view name, std::string value);
  void set_seed(std::uint64_t seed) noexcept { seed_ = seed; }

  // -- for observers and steps ----------------------------------------------

  const Failure* failure() const noexcept {
    return failure_ ? &*failure_ : nullptr;
  }
  /// Why the step list is being walked: the word for loggers.
  FinalWord final_word() const noexcept;
  /// The event for `on_exception` of this component.
  ErrorEvent event_for(Component component) const;

  const std::vector<CleanupNote>& cleanup() const noexcept { return cleanup_; }
  const std::vector<SecondaryError>& secondary() const noexcept {
    return secondary_;
  }
  /// How many there were: more than there are notes when memory ran out.
  std::size_t cleanup_total() const noexcept { return cleanup_total_; }
  std::size_t secondary_total() const noexcept { return secondary_total_; }
  /// How the cleanup would stand if the process ended now. From any thread,
  /// from the first observer's on_enter() to its on_close() or on_abandoned();
  /// another thread than the run's learns nothing before the cleanup begins.
  /// Throws std::bad_alloc.
  UnfinishedCleanup unfinished_cleanup() const;
  const std::optional<InterruptNote>& interrupt() const noexcept {
    return interrupt_;
  }
  const std::vector<std::pair<std::string, std::string>>& options()
      const noexcept {
    return options_;
  }
  std::optional<std::uint64_t> seed() const noexcept { return seed_; }
  const Telemetry& telemetry() const noexcept { return telemetry_; }
  signals::Seat& seat() noexcept { return seat_; }
  const signals::Seat& seat() const noexcept { return seat_; }
  /// Identifies the object on which the entry point was called, for faults that
  /// are limited to one trainer; null for own loops.
  const void* owner() const noexcept { return owner_; }

  void set_status(Status status) noexcept { status_ = status; }

  /// Does what is owed of that kind and not done yet, each piece once, and
  /// notes what became of it. Before the first failure an error leaves at once;
  /// after it each piece is isolated and its error noted.
  void fulfil(std::string_view step, DutyKind kind);

  /// Runs one piece of cleanup under that rule; with Hook::kNone it is no hook.
  void isolate(std::string_view step, Component component, Hook hook,
               const std::function<void()>& piece);

  void freeze();
  void restore_process_state();
  void close();

 private:
  friend void guarded_call(std::string_view, const GuardOptions&,
                           const std::function<void(Run&)>&);

  struct Duty {
    DutyKind kind;
    Component component;
    std::function<void(Run&)> action;
    int order;
    bool done;
  };

  Run(std::string_view entry_point, const GuardOptions& options);
  ~Run();

  void open();
  void fail(std::exception_ptr error);
  void abandon() noexcept;
  void enter(Hook hook, Component component);
  /// The hook returned, and the run is at the outer one again.
  void leave(Hook outer_hook, Component outer_component);
  void return_to(Hook hook, Component component) noexcept;
  [[gnu::noinline]] void call_before(std::span<Observer* const> observers);
  [[gnu::noinline]] void call_after(std::span<Observer* const> observers);
  /// An interceptor has something to do at hooks. One relaxed load.
  bool intercepts() const noexcept {
    return intercept_ == nullptr ||
           intercept_->load(std::memory_order_relaxed) != 0;
  }
  /// Does `piece` of what opens the run; its error waits for throw_refusal().
  template <class Piece>
  void attempt(Piece piece);
  /// Throws what kept the run from opening, if anything did.
  void throw_refusal();
  void note_throw() noexcept;
  void honour_signal();
  Duty* next_due(DutyKind kind) noexcept;
  void do_duty(std::string_view step, Duty& duty);
  void note(const CleanupNote& done, CleanupWatch::Piece& piece) noexcept;
  /// Its index, or nothing when there was no memory for it.
  std::optional<std::size_t> note(const SecondaryError& error) noexcept;
  Place place_of(const std::exception_ptr& error) const noexcept;
  /// call(), but the piece runs also when a fault or an observer throws in
  /// front of it; that error leaves afterwards, one of the piece is noted.
  void call_owed(std::string_view step, Hook hook, Component component,
                 const std::function<void()>& piece);

  std::string entry_point_;
  const GuardOptions& options_in_;
  const void* owner_;
  Run* parent_;
  Status status_ = Status::kInitializing;
  Weights weights_ = Weights::kNone;
  Place place_;
  signals::Seat seat_;
  bool closed_ = false;
  // Those that have entered: they alone hear of the run.
  std::span<Observer* const> observers_;
  std::span<Observer* const> interceptors_;
  // The one that there is as a rule, null when there are more: a hook goes
  // through here a million times.
  Observer* only_observer_ = nullptr;
  // What the only interceptor says of its calls, null where there are more.
  const std::atomic<std::uint32_t>* intercept_ = nullptr;

  std::exception_ptr refusal_;
  std::exception_ptr thrown_;
  Place thrown_place_;
  std::optional<Failure> failure_;
  std::optional<InterruptNote> interrupt_;
  std::vector<Duty> duties_;
  // Changed under the watch's lock once the cleanup has begun, with duties_,
  // interrupt_ and keepers_.
  std::vector<CleanupNote> cleanup_;
  std::vector<SecondaryError> secondary_;
  std::size_t cleanup_total_ = 0;
  std::size_t secondary_total_ = 0;
  std::vector<std::unique_ptr<StateKeeper>> keepers_;
  std::vector<std::pair<std::string, std::string>> options_;
  std::optional<std::uint64_t> seed_;
  Telemetry telemetry_;
  const pthread_t thread_;
  CleanupWatch watch_;
};

}  // namespace mishap
