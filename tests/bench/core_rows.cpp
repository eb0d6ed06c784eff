#include <mishap/collector/crash/box_writer.h>
#include <mishap/collector/pending_slot.h>
#include <mishap/collector/resolve/capture.h>
#include <mishap/collector/resolve/symbolize.h>
#include <mishap/collector/throw_site.h>
#include <mishap/fault_point.h>
#include <mishap/guard.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <stdexcept>

#include "bench.h"

namespace mishap::bench {
namespace {

constexpr int kRounds = 9;

HarnessOptions quiet(const std::string& folder) {
  HarnessOptions options;
  options.capture.records = folder;
  options.capture.report_on_stderr = false;
  options.capture.caps = collector::RecordCaps::none();
  return options;
}

Row hook_dispatch(const std::string& folder) {
  constexpr int kCalls = 200'000;
  const Component component = Component::named("callback.Bench");
  double nanos = 0;
  guard(
      "bench",
      [&](Run& run) {
        int calls = 0;
        nanos = median(kRounds,
                       [&] {
                         for (int i = 0; i < kCalls; ++i) {
                           run.call(Hook::kOnTrainBatchStart, component,
                                    [&] { keep(++calls); });
                         }
                       }) *
                1e9 / kCalls;
      },
      quiet(folder));
  constexpr int kReads = 1'000'000;
  const double clock = median(kRounds,
                              [] {
                                for (int i = 0; i < kReads; ++i) {
                                  keep(std::chrono::steady_clock::now());
                                }
                              }) *
                       1e9 / kReads;
  return {.name = "hook_dispatch",
          .figure = nanos,
          .target = 25,
          .unit = "ns",
          .note =
              "one hook of one component, before and after, breadcrumb "
              "included",
          .yardstick = {"a reading of the steady clock", clock, 32, "ns"}};
}

// Of a guarded run as a crumb is left: one call that begins and ends, in the
// mapped file that outlives the process.
Row breadcrumb(const std::string& folder) {
  constexpr int kCalls = 200'000;
  const std::string records = folder + "/breadcrumb";
  std::filesystem::create_directories(records);
  collector::PendingSlot slot;
  if (!slot.open(records, "01980000-0000-7000-8000-000000000000")) {
    throw std::runtime_error("no slot for breadcrumbs: " + slot.problem());
  }
  collector::BoxWriter writer;
  writer.attach(slot.box());
  collector::BoxPlace place;
  const double seconds = median(kRounds, [&] {
    for (int i = 0; i < kCalls; ++i) {
      place.step = i;
      place.what.hook = static_cast<std::uint16_t>(i % 8);
      writer.enter(place);
      writer.leave(place.what);
    }
  });
  return {.name = "breadcrumb",
          .figure = seconds * 1e9 / kCalls,
          .target = 50,
          .unit = "ns",
          .note = "a call that begins and ends, in a file that outlives us"};
}

[[gnu::noinline]] void empty_body(std::uint64_t i) { keep(i); }

[[gnu::noinline]] void body_with_point(std::uint64_t i) {
  MISHAP_FAULT_POINT("bench/disarmed");
  keep(i);
}

Row disarmed_point() {
  constexpr std::uint64_t kLoops = 5'000'000;
  const Pair seconds = medians(
      kRounds,
      [] {
        for (std::uint64_t i = 0; i < kLoops; ++i) empty_body(i);
      },
      [] {
        for (std::uint64_t i = 0; i < kLoops; ++i) body_with_point(i);
      });
  return {"disarmed_fault_point",
          std::max(0.0, seconds.second - seconds.first) * 1e9 / kLoops,
          1,
          "ns",
          true,
          "over the same loop without the point"};
}

[[gnu::noinline]] int throw_at_depth(int depth) {
  if (depth == 0) {
    throw std::runtime_error("bench");
  }
  const int below = throw_at_depth(depth - 1);
  keep(below);
  return below + 1;
}

void throw_and_catch(int times) {
  for (int i = 0; i < times; ++i) {
    try {
      throw_at_depth(10);
    } catch (const std::runtime_error& error) {
      keep(error);
    }
  }
}

Row throw_site() {
  constexpr int kThrows = 5'000;
  const Pair seconds = medians(
      kRounds, [] { throw_and_catch(kThrows); },
      [] {
        const collector::ThrowCaptureScope scope;
        throw_and_catch(kThrows);
      });
  return {"throw_with_stack",
          seconds.second / seconds.first,
          1.5,
          "times",
          true,
          "throw and catch at depth 10, with the throw site over without"};
}

std::chrono::steady_clock::time_point error_reached_guard;
// When writev() had put the first line behind it into a file.
std::optional<std::chrono::steady_clock::time_point> line_was_written;

Row error_to_line(const std::string& folder) {
  StepList steps = standard_steps();
  const auto position = [&](std::string_view name) {
    return std::find_if(steps.begin(), steps.end(), [&](const GuardStep& step) {
      return step.name == name;
    });
  };
  steps.insert(position("freeze"),
               {"bench_start", GuardStep::On::kFailure, [](Run&) {
                  line_was_written.reset();
                  error_reached_guard = std::chrono::steady_clock::now();
                }});
  HarnessOptions options = quiet(folder);
  options.guard.steps = &steps;
  std::vector<double> all;
  for (int i = 0; i < 201; ++i) {
    try {
      guard(
          "bench",
          [](Run& run) {
            run.step(0);
            throw_at_depth(10);
          },
          options);
    } catch (const std::runtime_error&) {
      all.push_back(std::chrono::duration<double, std::micro>(
                        line_was_written.value() - error_reached_guard)
                        .count());
    }
  }
  std::nth_element(all.begin(), all.begin() + 100, all.end());
  return {"error_to_line",
          all[100],
          100,
          "us",
          true,
          "first error at the guard to the line in the file, names cached"};
}

std::vector<Row> names_and_lines() {
  collector::RawTrace trace;
  const std::function<void(int)> dive = [&](int depth) {
    if (depth == 0) {
      collector::capture_stack(trace);
    } else {
      dive(depth - 1);
    }
  };
  dive(20);
  trace.size = std::min<std::uint16_t>(trace.size, 20);
  const double first =
      seconds_of([&] { keep(collector::symbolize(trace).frames.size()); });
  const double next =
      median(kRounds, [&] { keep(collector::symbolize(trace).frames.size()); });
  return {{"names_first", first, 0.6, "s", true,
           "names and lines of a 20-frame stack, first in the process"},
          {"names_next", next * 1e6, 50, "us", true,
           "names and lines of a 20-frame stack, later"}};
}

}  // namespace

std::vector<Row> core_rows(const std::string& folder) {
  // The names first: whatever else ran would have read the symbols already.
  std::vector<Row> rows = names_and_lines();
  rows.push_back(hook_dispatch(folder));
  rows.push_back(breadcrumb(folder));
  rows.push_back(disarmed_point());
  rows.push_back(throw_site());
  rows.push_back(error_to_line(folder));
  return rows;
}

}  // namespace mishap::bench

// Takes libc's place in this program, to see a line arrive.
extern "C" ssize_t writev(int file, const iovec* parts, int count) {
  using mishap::bench::line_was_written;
  const ssize_t written = syscall(SYS_writev, file, parts, count);
  if (!line_was_written) {
    line_was_written = std::chrono::steady_clock::now();
  }
  return written;
}
