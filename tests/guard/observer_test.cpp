#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mishap/trainer/guard/guarded_call.h>

#include <csignal>
#include <stdexcept>
#include <string>
#include <vector>

namespace mishap {
namespace {

using ::testing::ElementsAre;

Component module() { return Component::named("module"); }

// Writes what it hears into a common journal.
struct Listener final : Observer {
  Listener(std::string name, std::vector<std::string>& heard)
      : name_(std::move(name)), heard_(heard) {}

  void on_enter(mishap::Run&) override {
    hear("enter");
    if (refuses) {
      throw InputError(name_);
    }
  }
  void before(mishap::Run&) override { hear("before"); }
  void after(mishap::Run&) override { hear("after"); }
  void on_failure(mishap::Run&, const Failure& failure) noexcept override {
    hear("failure");
    place = failure.place;
  }
  void on_close(mishap::Run& run, const Failure*) noexcept override {
    hear("close");
    for (const SecondaryError& error : run.secondary()) {
      secondary.push_back(error.error);
    }
  }

  bool refuses = false;
  Place place;
  std::vector<std::exception_ptr> secondary;

 private:
  void hear(const char* what) { heard_.push_back(name_ + ' ' + what); }

  std::string name_;
  std::vector<std::string>& heard_;
};

class ObserverThatThrowsAtEntry : public ::testing::Test {
 protected:
  ObserverThatThrowsAtEntry() {
    second_.refuses = true;
    options_.observers = {&first_, &second_, &third_};
    options_.interceptors = {&fault_};
  }

  std::exception_ptr fail(const std::function<void(mishap::Run&)>& body) {
    try {
      guarded_call("fit", options_, body);
    } catch (...) {
      return std::current_exception();
    }
    return nullptr;
  }

  std::vector<std::string> heard_;
  Listener first_{"first", heard_};
  Listener second_{"second", heard_};
  Listener third_{"third", heard_};
  Listener fault_{"fault", heard_};
  GuardOptions options_;
};

// C3
TEST_F(ObserverThatThrowsAtEntry, FailsTheRunWhenTheBodyHasSaidWhoIsToBeTold) {
  ErrorEvent told;
  bool went_on = false;
  std::vector<std::string> torn_down;
  const std::exception_ptr caught = fail([&](mishap::Run& run) {
    run.on_exception("spy", [&](const ErrorEvent& event) { told = event; });
    run.on_teardown("data", [&] { torn_down.push_back("data"); });
    run.set_stage(Stage::kSetup);
    run.call(Hook::kSetup, module(), [&] { went_on = true; });
  });
  EXPECT_NE(caught, nullptr);
  EXPECT_EQ(told.error, caught);
  EXPECT_THROW(std::rethrow_exception(caught), InputError);
  EXPECT_EQ(told.place.stage, Stage::kConfigure);
  EXPECT_EQ(told.place.hook, Hook::kNone);
  EXPECT_FALSE(went_on);
  EXPECT_THAT(torn_down, ElementsAre("data"));
}

TEST_F(ObserverThatThrowsAtEntry, IsLeftOutWithAllThatComeBehindIt) {
  fail([](mishap::Run& run) { run.step(0); });
  EXPECT_THAT(heard_, ElementsAre("first enter", "second enter",
                                  "first failure", "first close"));
  EXPECT_EQ(first_.place.stage, Stage::kConfigure);
}

TEST_F(ObserverThatThrowsAtEntry, FailsABodyWithoutHooksAtItsEnd) {
  bool ran = false;
  EXPECT_THROW(std::rethrow_exception(fail([&](mishap::Run&) { ran = true; })),
               InputError);
  EXPECT_TRUE(ran);
}

// C1
TEST_F(ObserverThatThrowsAtEntry, ComesBeforeWhatTheBodyThrows) {
  const std::exception_ptr caught =
      fail([](mishap::Run&) { throw std::out_of_range("of the body"); });
  EXPECT_THROW(std::rethrow_exception(caught), InputError);
  ASSERT_EQ(first_.secondary.size(), 1U);
  EXPECT_THROW(std::rethrow_exception(first_.secondary[0]), std::out_of_range);
}

// Where the signal came that ended the run.
struct PlaceOfSignal final : Observer {
  void on_close(mishap::Run& run, const Failure*) noexcept override {
    place = run.interrupt() ? run.interrupt()->at : Place{};
  }
  void resumed(mishap::Run& run) noexcept override {
    resumed_hooks.push_back(run.place().hook);
  }

  Place place;
  std::vector<Hook> resumed_hooks;
};

class HookAroundAnother : public ::testing::Test {
 protected:
  HookAroundAnother() {
    options_.observers = {&watch_};
    before_ = std::signal(SIGINT, SIG_DFL);
  }
  ~HookAroundAnother() override { std::signal(SIGINT, before_); }

  void raise_behind(const std::function<void()>& nested) {
    EXPECT_THROW(guarded_call("fit", options_,
                              [&](mishap::Run& run) {
                                run.call(Hook::kOptimizerStep, module(), [&] {
                                  try {
                                    run.call(Hook::kTrainingStep, module(),
                                             nested);
                                  } catch (const std::runtime_error&) {
                                  }
                                  std::raise(SIGINT);
                                });
                              }),
                 Interrupted);
  }

  PlaceOfSignal watch_;
  GuardOptions options_;

 private:
  void (*before_)(int);
};

TEST_F(HookAroundAnother, IsThePlaceOfASignalThatComesWhenTheOtherReturned) {
  raise_behind([] {});
  EXPECT_EQ(watch_.place.hook, Hook::kOptimizerStep);
  EXPECT_THAT(watch_.resumed_hooks, ElementsAre(Hook::kOptimizerStep));
}

TEST_F(HookAroundAnother, IsThePlaceOfASignalThatComesWhenTheOtherThrew) {
  raise_behind([] { throw std::runtime_error("handled"); });
  EXPECT_EQ(watch_.place.hook, Hook::kOptimizerStep);
  EXPECT_THAT(watch_.resumed_hooks, ElementsAre(Hook::kOptimizerStep));
}

}  // namespace
}  // namespace mishap
