#include <fcntl.h>
#include <mishap/trainer/engine/callbacks/progress_bar.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <ostream>
#include <sstream>
#include <streambuf>

#include "scripted_module.h"

namespace mishap::engine_test {
namespace {

constexpr std::chrono::milliseconds kAlways{0};
constexpr std::chrono::hours kNever{1};

std::size_t count_of(const std::string& text, char c) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), c));
}

// What is drawn over each other, without the spaces that blot out.
std::vector<std::string> drawn(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line, '\r');) {
    while (!line.empty() && (line.back() == ' ' || line.back() == '\n')) {
      line.pop_back();
    }
    if (!line.empty()) {
      lines.push_back(line);
    }
  }
  return lines;
}

struct ShowingWorld : TinyWorld {
  ScriptedModule scripted{{0.25, 0.5}};
  std::ostringstream stream;

  Engine engine(ProgressBarOptions bar) {
    if (bar.stream == nullptr) {
      bar.stream = &stream;
    }
    TrainerOptions trainer = options();
    trainer.callbacks.push_back(std::make_shared<ProgressBar>(bar));
    return Engine(trainer);
  }
};

TEST(ProgressBarTest, ShowsWhereTheRunIs) {
  ShowingWorld world;
  world.engine({.width = 200, .interval = kAlways})
      .fit(world.scripted, world.data);
  const std::vector<std::string> lines = drawn(world.stream.str());
  ASSERT_FALSE(lines.empty());
  EXPECT_THAT(lines.front(), testing::StartsWith("fit sanity_check  1"));
  EXPECT_THAT(lines, testing::Contains(testing::AllOf(
                         testing::StartsWith("fit train  epoch 0  1/2  "),
                         testing::HasSubstr(" batches/s"),
                         testing::EndsWith("shown=0.25"))));
  EXPECT_THAT(lines, testing::Contains(
                         testing::StartsWith("fit validate  epoch 1  1")));
  EXPECT_THAT(lines.back(),
              testing::AllOf(testing::StartsWith("fit train  epoch 1  2/2"),
                             testing::EndsWith("shown=0.5")));
}

TEST(ProgressBarTest, EndsItsLineOnceOnSuccess) {
  for (const auto& [name, call] : entry_points()) {
    ShowingWorld world;
    Engine engine = world.engine({.interval = kAlways});
    call(engine, world, {});
    const std::string text = world.stream.str();
    EXPECT_EQ(count_of(text, '\n'), 1U) << name;
    EXPECT_EQ(text.back(), '\n') << name;
    EXPECT_THAT(text, testing::HasSubstr(name));
  }
}

TEST(ProgressBarTest, T40EndsItsLineOnceOnFailure) {
  ShowingWorld world;
  world.module.in_training_step = [](std::int64_t index) {
    if (index == 1) {
      throw std::runtime_error("fails");
    }
  };
  Engine engine = world.engine({.interval = kAlways});
  EXPECT_THROW(engine.fit(world.module, world.data), std::runtime_error);
  EXPECT_EQ(count_of(world.stream.str(), '\n'), 1U);
  EXPECT_EQ(world.stream.str().back(), '\n');
}

TEST(ProgressBarTest, ARunThatDrewNothingHasNoLineToEnd) {
  ShowingWorld world;
  TrainerOptions bad = world.engine({}).options();
  bad.limit_val_batches = 0;
  bad.max_epochs = 0;
  Engine(bad).fit(world.module, world.data);
  EXPECT_EQ(world.stream.str(), "");
}

TEST(ProgressBarTest, BetweenTwoRefreshesNothingIsDrawnButTheEnd) {
  ShowingWorld world;
  world.engine({.width = 200, .interval = kNever})
      .fit(world.scripted, world.data);
  const std::vector<std::string> lines = drawn(world.stream.str());
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_THAT(lines[0], testing::StartsWith("fit sanity_check"));
  EXPECT_THAT(lines[1], testing::StartsWith("fit train  epoch 1  2/2"));
}

TEST(ProgressBarTest, IsCutToTheWidthWithoutSplittingACharacter) {
  struct Named : TinyModule {
    torch::Tensor training_step(const Batch& batch, std::int64_t) override {
      log("ä\nö", 1.0, {.progress_bar = true});
      return loss_of(batch);
    }
  };
  for (std::size_t width = 0; width < 80; ++width) {
    ShowingWorld world;
    Named module;
    TrainerOptions options =
        world.engine({.width = width, .interval = kAlways}).options();
    options.limit_val_batches = 0;
    options.max_epochs = 1;
    Engine(options).fit(module, world.data);
    const std::string text = world.stream.str();
    EXPECT_EQ(count_of(text, '\n'), 1U) << width;
    for (const std::string& line : drawn(text)) {
      const auto characters = std::count_if(
          line.begin(), line.end(),
          [](char c) { return (static_cast<unsigned char>(c) >> 6U) != 2; });
      EXPECT_LT(characters, static_cast<std::ptrdiff_t>(width));
      EXPECT_NE(static_cast<unsigned char>(line.back()), 0xC3) << width;
    }
  }
}

TEST(ProgressBarTest, AShorterLineBlotsOutTheLongerOne) {
  ShowingWorld world;
  world.engine({.width = 200, .interval = kAlways})
      .fit(world.scripted, world.data);
  std::istringstream stream(world.stream.str());
  std::size_t visible = 0;
  for (std::string line; std::getline(stream, line, '\r');) {
    EXPECT_GE(line.size(), visible);
    visible = line.find_last_not_of(" \n") + 1;
  }
  EXPECT_GT(visible, 0U);
}

TEST(ProgressBarTest, OutputThatFailsDoesNotFailTheRun) {
  struct Broken : std::streambuf {
    int_type overflow(int_type) override { throw std::runtime_error("gone"); }
  } buffer;
  std::ostream broken(&buffer);
  broken.exceptions(std::ios::badbit | std::ios::failbit);
  ShowingWorld world;
  EXPECT_NO_THROW(world.engine({.stream = &broken, .interval = kAlways})
                      .fit(world.scripted, world.data));
  EXPECT_TRUE(broken.bad());
  EXPECT_EQ(world.first->losses.size(), 4U);
}

// stderr is another file while it lives.
class StderrIs {
 public:
  explicit StderrIs(int file) : before_(::dup(STDERR_FILENO)) {
    ::dup2(file, STDERR_FILENO);
  }
  ~StderrIs() {
    ::dup2(before_, STDERR_FILENO);
    ::close(before_);
  }
  StderrIs(const StderrIs&) = delete;
  StderrIs& operator=(const StderrIs&) = delete;

 private:
  int before_;
};

void fit_with_plain_bar(TinyWorld& world) {
  TrainerOptions options = world.options();
  options.callbacks.push_back(std::make_shared<ProgressBar>());
  Engine(options).fit(world.module, world.data);
}

TEST(ProgressBarTest, WritesNothingToWhatIsNoTerminal) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK), 0);
  TinyWorld world;
  {
    const StderrIs redirected(ends[1]);
    fit_with_plain_bar(world);
  }
  char byte = 0;
  EXPECT_EQ(::read(ends[0], &byte, 1), -1);
  EXPECT_EQ(errno, EAGAIN);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(ProgressBarTest, WritesToATerminalInItsWidth) {
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (terminal < 0 || ::grantpt(terminal) != 0 || ::unlockpt(terminal) != 0) {
    GTEST_SKIP() << "there are no terminals here";
  }
  const int inside = ::open(::ptsname(terminal), O_RDWR | O_NOCTTY | O_CLOEXEC);
  ASSERT_GE(inside, 0);
  const winsize size{.ws_row = 5, .ws_col = 20, .ws_xpixel = 0, .ws_ypixel = 0};
  ASSERT_EQ(::ioctl(inside, TIOCSWINSZ, &size), 0);
  TinyWorld world;
  {
    const StderrIs redirected(inside);
    fit_with_plain_bar(world);
  }
  std::array<char, 4096> buffer{};
  const ssize_t count = ::read(terminal, buffer.data(), buffer.size());
  ASSERT_GT(count, 0);
  const std::string text(buffer.data(), static_cast<std::size_t>(count));
  EXPECT_THAT(text, testing::StartsWith("\rfit sanity_check"));
  for (const std::string& line : drawn(text)) {
    EXPECT_LT(line.size(), 20U);
  }
  ::close(inside);
  ::close(terminal);
}

}  // namespace
}  // namespace mishap::engine_test
