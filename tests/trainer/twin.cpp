#include "twin.h"

#include <fcntl.h>
#include <mishap/fault_point.h>
#include <mishap/trainer/engine/session.h>
#include <mishap/trainer/guard/process_state.h>
#include <mishap/trainer/tasks/digits_task.h>
#include <torch/torch.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

namespace mishap::testing {
namespace {

using StepFunction = void (*)(Run&);

constexpr std::chrono::milliseconds kShortLimit{20};

StepList::iterator find(StepList& steps, std::string_view name) {
  const auto found =
      std::find_if(steps.begin(), steps.end(),
                   [&](const GuardStep& step) { return step.name == name; });
  if (found == steps.end()) {
    throw std::logic_error("the guard has no step " + std::string(name));
  }
  return found;
}

StepList without(std::string_view name) {
  StepList steps = standard_steps();
  steps.erase(find(steps, name));
  return steps;
}

StepList with_instead(std::string_view name, StepFunction run) {
  StepList steps = standard_steps();
  find(steps, name)->run = run;
  return steps;
}

StepList with_after(std::string_view name, StepFunction run) {
  StepList steps = standard_steps();
  steps.insert(find(steps, name) + 1, {"twin", GuardStep::On::kFailure, run});
  return steps;
}

// A guard's steps are plain functions: here is what those of a twin need.
TrainerWorld* current_world = nullptr;

class TwinWorld final : public TrainerWorld {
 public:
  using TrainerWorld::TrainerWorld;
  void call(std::string_view entry_point,
            const HarnessOptions& options) override {
    current_world = this;
    TrainerWorld::call(entry_point, options);
  }
};

template <class Callback>
std::shared_ptr<SpyCallback> make(Journal& journal) {
  return std::make_shared<Callback>(journal);
}

WorldFactory worlds(std::vector<CallbackFactory> more = {}) {
  auto kind = std::make_shared<WorldKind>(tiny_parts, std::move(more));
  trainer_worlds(kind);
  return [kind]() -> std::unique_ptr<World> {
    return std::make_unique<TwinWorld>(kind);
  };
}

void rethrow_a_copy(Run& run) {
  try {
    std::rethrow_exception(run.failure()->error);
  } catch (const Interrupted& interrupted) {
    throw Interrupted(interrupted.signal(), interrupted.what());
  } catch (const std::exception& error) {
    throw std::runtime_error(error.what());
  }
}

void append_the_last_line_again(Run&) {
  const std::string path = std::string(std::getenv("MISHAP_TWIN_RECORDS"));
  std::ifstream in(path);
  std::string line;
  std::string last;
  while (std::getline(in, line)) {
    last = line;
  }
  std::ofstream(path, std::ios::app) << last << '\n';
}

void tell_the_first_again(Run& run) {
  SpyCallback& callback = current_world->first_callback();
  callback.on_exception(run.event_for(callback.component()));
}

void tear_down_the_first_again(Run&) {
  if (Session* session = Session::current()) {
    current_world->first_callback().teardown(*session);
  }
}

void run_an_end_hook(Run&) {
  if (Session* session = Session::current()) {
    current_world->first_callback().on_train_end(*session);
  }
}

void finalize_as_success(Run& run) {
  const Status status = run.status();
  run.set_status(Status::kRunning);
  run.fulfil("finalize", DutyKind::kFinalize);
  run.set_status(status);
}

void leave_the_model_in_eval_mode(Run&) { current_world->module().eval(); }

void leak_a_descriptor(Run&) { open("/dev/null", O_RDONLY | O_CLOEXEC); }

void leak_a_thread(Run&) {
  std::thread([] {
    std::this_thread::sleep_for(std::chrono::minutes(5));
  }).detach();
}

void leak_a_tensor(Run&) {
  static auto* const leaked = new std::vector<torch::Tensor>;
  leaked->push_back(torch::ones({64}));
}

void leak_a_file(Run&) {
  std::ofstream(std::string(std::getenv("MISHAP_TWIN_RECORDS")) + ".tmp");
}

class LeavesHandler final : public SpyCallback {
 public:
  explicit LeavesHandler(Journal& journal)
      : SpyCallback(journal, "LeavesHandler") {}
  ~LeavesHandler() override { std::signal(SIGUSR2, SIG_DFL); }

 protected:
  void note(Hook hook) override {
    SpyCallback::note(hook);
    if (hook == Hook::kTeardown) {
      std::signal(SIGUSR2, [](int) {});
    }
  }
};

// Draws when the sanity check has failed and its random numbers are back.
class TakesRandomNumbers final : public SpyCallback {
 public:
  explicit TakesRandomNumbers(Journal& journal)
      : SpyCallback(journal, "TakesRandomNumbers") {}
  void on_exception(const ErrorEvent& event) override {
    SpyCallback::on_exception(event);
    if (event.place.stage == Stage::kSanityCheck) {
      torch::rand({1});
    }
  }
};

// Like a profiler that a failure left running.
class StartsOnce final : public SpyCallback {
 public:
  explicit StartsOnce(Journal& journal) : SpyCallback(journal, "StartsOnce") {}
  void on_exception(const ErrorEvent& event) override {
    SpyCallback::on_exception(event);
    stuck_ = true;
  }

 protected:
  void note(Hook hook) override {
    SpyCallback::note(hook);
    if (hook == Hook::kSetup && stuck_) {
      throw std::runtime_error("already started");
    }
  }

 private:
  bool stuck_ = false;
};

// As a save does that writes into the file itself.
class TearsCheckpoint final : public SpyCallback {
 public:
  explicit TearsCheckpoint(Journal& journal)
      : SpyCallback(journal, "TearsCheckpoint") {}
  void on_exception(const ErrorEvent& event) override {
    SpyCallback::on_exception(event);
    if (const Session* session = Session::current()) {
      const auto last =
          session->options().root_dir / "checkpoints" / "last.ckpt";
      std::filesystem::resize_file(last, std::filesystem::file_size(last) / 2);
    }
  }
};

// Takes longer than the limit, and says so.
class SlowTeardown final : public SpyCallback {
 public:
  explicit SlowTeardown(Journal& journal) : SpyCallback(journal, "Slow") {}

 protected:
  void note(Hook hook) override {
    SpyCallback::note(hook);
    if (hook != Hook::kTeardown) {
      return;
    }
    const auto start = std::chrono::steady_clock::now();
    std::this_thread::sleep_for(2 * kShortLimit);
    journal().note_took(component(), hook,
                        std::chrono::steady_clock::now() - start);
  }
};

// A guard that does not look at the clock.
class TimelessWorld final : public TrainerWorld {
 public:
  using TrainerWorld::TrainerWorld;
  void call(std::string_view entry_point,
            const HarnessOptions& options) override {
    HarnessOptions timeless = options;
    timeless.guard.cleanup_limit = std::chrono::milliseconds::zero();
    TrainerWorld::call(entry_point, timeless);
  }
};

template <class World>
WorldFactory slow_worlds() {
  auto kind = std::make_shared<WorldKind>(
      tiny_parts, std::vector<CallbackFactory>{make<SlowTeardown>});
  trainer_worlds(kind);
  return [kind]() -> std::unique_ptr<mishap::World> {
    return std::make_unique<World>(kind);
  };
}

// A signal that comes while the guard hands process state back.
class LateSignal final : public StateKeeper {
 public:
  void restore() override { MISHAP_FAULT_POINT("twins/restoring"); }
};

void let_signals_come_late() {
  register_state_keeper([]() -> std::unique_ptr<StateKeeper> {
    return std::make_unique<LateSignal>();
  });
}

Twin twin(std::string name, std::set<std::string> clauses, StepList steps,
          WorldFactory factory = worlds()) {
  Twin made;
  made.name = std::move(name);
  made.clauses = std::move(clauses);
  made.steps = std::move(steps);
  made.worlds = std::move(factory);
  return made;
}

Twin late_signal_twin(std::string name, std::set<std::string> clauses,
                      StepList steps) {
  Twin made = twin(std::move(name), std::move(clauses), std::move(steps));
  made.prepare = let_signals_come_late;
  made.points = "user/twins/**";
  made.actions = {"interrupt(SIGINT)"};
  return made;
}

// Slow by its own design: few cases are enough.
Twin slow_twin(std::string name, std::set<std::string> clauses,
               WorldFactory factory) {
  Twin made = twin(std::move(name), std::move(clauses), standard_steps(),
                   std::move(factory));
  made.cleanup_limit = kShortLimit;
  made.points = "hook/training_step/**";
  made.actions = {"throw(runtime)"};
  return made;
}

}  // namespace

TaskParts tiny_parts(Journal& journal) {
  const Task task = tasks::digits_task();
  return task.make_world(journal, TaskSettings(task.settings));
}

std::vector<Twin> clause_twins() {
  const StepList& real = standard_steps();
  return {
      twin("the real thing", {}, real),
      late_signal_twin("the real thing, signal during restore", {}, real),
      slow_twin("the real thing, slow teardown", {},
                slow_worlds<TrainerWorld>()),
      twin("rethrows a copy", {"C1"}, with_instead("rethrow", rethrow_a_copy)),
      twin("appends the record twice", {"C2"},
           with_after("append_record", append_the_last_line_again)),
      twin("tells a callback twice", {"C3"},
           with_after("tell", tell_the_first_again)),
      twin("tears a callback down twice", {"C4"},
           with_after("teardown", tear_down_the_first_again)),
      twin("runs on_train_end after the error", {"C5"},
           with_after("tell", run_an_end_hook)),
      twin("finalises a failed run with success", {"C6"},
           with_instead("finalize", finalize_as_success)),
      twin("leaves a signal handler", {"C7"}, real,
           worlds({make<LeavesHandler>})),
      twin("takes random numbers in the sanity check", {"C7"}, real,
           worlds({make<TakesRandomNumbers>})),
      twin("leaves the model in eval mode", {"C8"},
           with_after("release", leave_the_model_in_eval_mode)),
      twin("leaks a thread", {"C9"}, with_after("release", leak_a_thread)),
      twin("leaks a descriptor", {"C9"},
           with_after("release", leak_a_descriptor)),
      twin("leaks a tensor", {"C9"}, with_after("release", leak_a_tensor)),
      twin("leaves a temporary file", {"C9"},
           with_after("release", leak_a_file)),
      twin("tears its last checkpoint", {"C10"}, real,
           worlds({make<TearsCheckpoint>})),
      slow_twin("does not look at the clock", {"C13"},
                slow_worlds<TimelessWorld>()),
      twin("has a callback that starts only once", {"C11"}, real,
           worlds({make<StartsOnce>})),
      late_signal_twin("swallows a late signal", {"C12"},
                       without("last_safe_point")),
  };
}

std::vector<Twin> twins_without_a_step() {
  const std::vector<std::pair<std::string, std::set<std::string>>> expected = {
      {"set_status", {"C6", "C12"}},
      {"freeze", {"C2"}},
      {"tell", {"C3"}},
      {"release", {"C4", "C8", "C9"}},
      {"teardown", {"C4"}},
      {"finalize", {"C6"}},
      {"restore_process_state", {"C7"}},
      {"last_safe_point", {"C12"}},
      {"append_record", {"C2"}},
      // The handlers stay counted as installed, so the next run is not told.
      {"leave_signals", {"C12"}},
      {"rethrow", {"C1", "C12"}},
  };
  std::vector<Twin> twins;
  for (const auto& [step, clauses] : expected) {
    const std::string name = "without the step " + step;
    twins.push_back(step == "last_safe_point"
                        ? late_signal_twin(name, clauses, without(step))
                        : twin(name, clauses, without(step)));
  }
  return twins;
}

}  // namespace mishap::testing
