#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mishap/trainer/guard/guarded_call.h>
#include <pthread.h>
#include <signal.h>

#include <cmath>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace mishap {
namespace {

using ::testing::ElementsAre;

Component part(const char* name) { return Component::named(name); }

TEST(GuardedCall, RethrowsTheVeryObjectThatWasThrown) {
  std::exception_ptr told;
  std::exception_ptr caught;
  try {
    guarded_call("fit", {}, [&](mishap::Run& run) {
      run.on_exception("spy",
                       [&](const ErrorEvent& event) { told = event.error; });
      throw 42;
    });
  } catch (...) {
    caught = std::current_exception();
  }
  EXPECT_NE(caught, nullptr);
  EXPECT_EQ(told, caught);
}

TEST(GuardedCall, TellsWhereTheErrorLeftAComponent) {
  Place place;
  try {
    guarded_call("fit", {}, [&](mishap::Run& run) {
      run.on_exception("spy",
                       [&](const ErrorEvent& event) { place = event.place; });
      run.set_stage(Stage::kTrain);
      run.set_batch(3);
      run.call(Hook::kOptimizerStep, part("module"), [&] {
        run.call(Hook::kTrainingStep, part("module"),
                 [] { throw std::runtime_error("inner"); });
      });
    });
  } catch (const std::runtime_error&) {
  }
  EXPECT_EQ(place.hook, Hook::kTrainingStep);
  EXPECT_EQ(place.stage, Stage::kTrain);
  EXPECT_EQ(place.batch, 3);
}

TEST(GuardedCall, ForgetsThePlaceOfAnErrorThatWasHandled) {
  Place place;
  try {
    guarded_call("fit", {}, [&](mishap::Run& run) {
      run.on_exception("spy",
                       [&](const ErrorEvent& event) { place = event.place; });
      run.call(Hook::kTrainDataloader, part("data"), [&] {
        try {
          run.call(Hook::kLoadBatch, part("loader"),
                   [] { throw std::runtime_error("retried"); });
        } catch (const std::runtime_error&) {
        }
        throw std::logic_error("another one");
      });
    });
  } catch (const std::logic_error&) {
  }
  EXPECT_EQ(place.hook, Hook::kTrainDataloader);
}

TEST(GuardedCall, RunsEveryCleanupOnceLastFirst) {
  std::vector<std::string> order;
  const auto body = [&](mishap::Run& run) {
    run.on_teardown("a", [&] { order.push_back("a"); });
    run.on_teardown("b", [&] { order.push_back("b"); });
  };
  guarded_call("fit", {}, body);
  EXPECT_THAT(order, ElementsAre("b", "a"));
  order.clear();
  EXPECT_THROW(guarded_call("fit", {},
                            [&](mishap::Run& run) {
                              body(run);
                              throw std::runtime_error("x");
                            }),
               std::runtime_error);
  EXPECT_THAT(order, ElementsAre("b", "a"));
}

TEST(GuardedCall, KeepsTheFirstErrorWhenCleanupFailsToo) {
  std::vector<std::string> order;
  std::size_t secondary = 0;
  struct Watch final : Observer {
    explicit Watch(std::size_t& seen) : seen_(seen) {}
    void on_close(mishap::Run& run, const Failure*) noexcept override {
      seen_ = run.secondary().size();
    }
    std::size_t& seen_;
  } watch(secondary);
  GuardOptions options;
  options.observers = {&watch};
  EXPECT_THROW(guarded_call("fit", options,
                            [&](mishap::Run& run) {
                              run.on_teardown("a",
                                              [&] { order.push_back("a"); });
                              run.on_teardown("b", [&]() -> void {
                                order.push_back("b");
                                throw std::logic_error("second");
                              });
                              run.on_exception("c", [](const ErrorEvent&) {
                                throw std::logic_error("third");
                              });
                              throw std::out_of_range("first");
                            }),
               std::out_of_range);
  EXPECT_THAT(order, ElementsAre("b", "a"));
  EXPECT_EQ(secondary, 2U);
}

TEST(GuardedCall, TurnsAFailingCleanupOfAGoodRunIntoAFailure) {
  std::vector<std::string> order;
  bool late = false;
  EXPECT_THROW(
      guarded_call("fit", {},
                   [&](mishap::Run& run) {
                     run.on_exception("b", [&](const ErrorEvent& event) {
                       order.push_back("told");
                       late = event.late;
                       EXPECT_EQ(event.place.stage, Stage::kTeardown);
                     });
                     run.on_teardown("a", [&] { order.push_back("a"); });
                     run.on_teardown("b", [&]() -> void {
                       order.push_back("b");
                       throw std::runtime_error("late");
                     });
                   }),
      std::runtime_error);
  EXPECT_THAT(order, ElementsAre("b", "told", "a"));
  EXPECT_TRUE(late);
}

struct ThrowsInFrontOfEachTeardown final : Observer {
  void before(mishap::Run& run) override {
    if (run.place().hook == Hook::kTeardown) {
      throw std::out_of_range("in front of " +
                              std::string(run.place().component.name()));
    }
  }
};

TEST(GuardedCall, DoesWhatIsOwedThoughAnErrorComesInFrontOfIt) {
  std::vector<std::string> order;
  std::vector<std::string> secondary;
  struct Watch final : Observer {
    explicit Watch(std::vector<std::string>& seen) : seen_(seen) {}
    void on_close(mishap::Run& run, const Failure* failure) noexcept override {
      seen_.emplace_back(failure->place.component.name());
      for (const SecondaryError& error : run.secondary()) {
        seen_.emplace_back(error.place.component.name());
      }
    }
    std::vector<std::string>& seen_;
  } watch(secondary);
  ThrowsInFrontOfEachTeardown fault;
  GuardOptions options;
  options.observers = {&watch};
  options.interceptors = {&fault};
  EXPECT_THROW(guarded_call("fit", options,
                            [&](mishap::Run& run) {
                              for (const char* name : {"a", "b"}) {
                                run.on_teardown(name, [&order, name]() -> void {
                                  order.push_back(name);
                                  throw std::logic_error("its own");
                                });
                              }
                              run.on_exception("c", [&](const ErrorEvent&) {
                                order.push_back("told");
                              });
                            }),
               std::out_of_range);
  EXPECT_THAT(order, ElementsAre("b", "told", "a"));
  EXPECT_THAT(secondary, ElementsAre("b", "b", "a", "a"));
}

TEST(GuardedCall, DoesCleanupThatCleanupRegisters) {
  for (const bool fails : {false, true}) {
    std::vector<std::string> order;
    try {
      guarded_call("fit", {}, [&](mishap::Run& run) {
        run.on_teardown("a", [&] {
          order.push_back("a");
          run.on_teardown("b", [&] { order.push_back("b"); });
        });
        run.on_exception("c", [&](const ErrorEvent&) {
          run.on_exception("d",
                           [&](const ErrorEvent&) { order.push_back("d"); });
        });
        if (fails) {
          throw std::runtime_error("x");
        }
      });
    } catch (const std::runtime_error&) {
    }
    EXPECT_EQ(order, fails ? std::vector<std::string>({"d", "a", "b"})
                           : std::vector<std::string>({"a", "b"}));
  }
}

TEST(GuardedCall, NamesWithEachFailedCleanupItsOwnError) {
  std::vector<std::string> found;
  struct Watch final : Observer {
    explicit Watch(std::vector<std::string>& seen) : seen_(seen) {}
    void on_close(mishap::Run& run, const Failure*) noexcept override {
      for (const CleanupNote& note : run.cleanup()) {
        if (note.step != "teardown") {
          continue;
        }
        std::string text(note.component.name());
        if (note.error) {
          try {
            std::rethrow_exception(run.secondary()[*note.error].error);
          } catch (const std::exception& error) {
            text += std::string(": ") + error.what();
          }
        }
        seen_.push_back(text);
      }
    }
    std::vector<std::string>& seen_;
  } watch(found);
  ThrowsInFrontOfEachTeardown fault;
  GuardOptions options;
  options.observers = {&watch};
  options.interceptors = {&fault};
  EXPECT_THROW(guarded_call("fit", options,
                            [&](mishap::Run& run) {
                              run.on_teardown("a", [] { throw 1; });
                              run.on_teardown("b", [] { throw 2; });
                              throw std::runtime_error("first");
                            }),
               std::runtime_error);
  EXPECT_THAT(found, ElementsAre("b: in front of b", "a: in front of a"));
}

TEST(GuardedCall, LetsAThreadEndInItsCleanup) {
  std::thread([] {
    try {
      guarded_call("fit", {}, [](mishap::Run& run) {
        run.on_exception("a", [](const ErrorEvent&) { pthread_exit(nullptr); });
        throw std::runtime_error("x");
      });
    } catch (const std::runtime_error&) {
      ADD_FAILURE() << "the thread went on";
    }
  }).join();
  EXPECT_EQ(signals::seats_held(), 0U);
}

TEST(GuardedCall, FinalisesWithTheWordThatFitsTheRun) {
  std::vector<FinalWord> words;
  const auto logger = [&](mishap::Run& run, const char* name) {
    run.owe(DutyKind::kFinalize, part(name),
            [&](mishap::Run& ended) { words.push_back(ended.final_word()); });
  };
  guarded_call("fit", {}, [&](mishap::Run& run) { logger(run, "one"); });
  EXPECT_THROW(guarded_call("fit", {},
                            [&](mishap::Run& run) {
                              logger(run, "one");
                              throw std::runtime_error("x");
                            }),
               std::runtime_error);
  EXPECT_THROW(guarded_call("fit", {},
                            [&](mishap::Run& run) {
                              logger(run, "one");
                              run.owe(DutyKind::kFinalize, part("two"),
                                      [](mishap::Run&) { throw 1; });
                              logger(run, "three");
                            }),
               int);
  EXPECT_THAT(words, ElementsAre(FinalWord::kSuccess, FinalWord::kFailed,
                                 FinalWord::kSuccess, FinalWord::kFailed));
}

TEST(GuardedCall, KnowsTheRunThatItIsNestedIn) {
  guarded_call("fit", {}, [](mishap::Run& outer) {
    EXPECT_EQ(Run::current(), &outer);
    guarded_call("validate", {}, [&](mishap::Run& inner) {
      EXPECT_EQ(inner.parent(), &outer);
      EXPECT_EQ(Run::current(), &inner);
    });
    EXPECT_EQ(Run::current(), &outer);
  });
  EXPECT_EQ(Run::current(), nullptr);
}

TEST(GuardedCall, RefusesANonFiniteValueThatIsWatched) {
  EXPECT_THROW(guarded_call("fit", {},
                            [](mishap::Run& run) {
                              run.check_finite(std::nan(""), "loss");
                            }),
               NonFinite);
}

TEST(GuardedCall, RestoresTheSignalMask) {
  guarded_call("fit", {}, [](mishap::Run&) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
  });
  sigset_t now;
  pthread_sigmask(SIG_SETMASK, nullptr, &now);
  EXPECT_EQ(sigismember(&now, SIGUSR2), 0);
}

TEST(ClassName, IsWithoutNamespacesAndTemplateArguments) {
  EXPECT_EQ(class_name("app::Early"), "Early");
  EXPECT_EQ(class_name("app::Early<std::vector<int> >"), "Early");
  EXPECT_EQ(class_name("Plain"), "Plain");
  EXPECT_EQ(class_name("a::B<c::D>::E"), "E");
}

TEST(HookNames, AreFoundAgain) {
  for (std::size_t i = 0; i < kHookCount; ++i) {
    const Hook hook = static_cast<Hook>(i);
    EXPECT_EQ(hook_from_string(to_string(hook)), hook);
  }
  EXPECT_EQ(hook_from_string("no_such_hook"), std::nullopt);
}

}  // namespace
}  // namespace mishap
