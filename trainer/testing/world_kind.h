#pragma once

#include <mishap/trainer/cli_torch/app.h>
#include <mishap/trainer/guard/journal.h>
#include <mishap/trainer/testing/spies.h>

#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mishap {

class TrainerWorld;

/// Makes the parts of a world, spied on through the journal.
using PartsFactory = std::function<TaskParts(Journal&)>;

/// Makes one more callback of a world.
using CallbackFactory = std::function<std::shared_ptr<SpyCallback>(Journal&)>;

/// Tensors alive beyond those of the world itself. Blocks decide: the C library
/// rounds the size of a block now so, now so.
struct TensorsLeft {
  std::int64_t blocks = 0;
  std::int64_t bytes = 0;
};

/// How a kind of world is made, and what clean calls of it give: the reference
/// by which its failed calls are judged. Each is found on a fresh world when it
/// is first asked for. For one thread.
class WorldKind : public std::enable_shared_from_this<WorldKind> {
 public:
  /// `more` are further callbacks, put first; their components are told and
  /// torn down like the others.
  explicit WorldKind(PartsFactory make_parts,
                     std::vector<CallbackFactory> more = {});

  TaskParts make_parts(Journal& journal) const { return make_parts_(journal); }
  const std::vector<CallbackFactory>& more() const noexcept { return more_; }
  std::unique_ptr<TrainerWorld> fresh();

  /// The error with which a fresh world refuses the entry point; null when it
  /// works. Data without a loader for validation refuses `validate`.
  const std::exception_ptr& refusal(std::string_view entry_point);

  /// What is alive after a clean call of the entry point.
  TensorsLeft left_by(std::string_view entry_point);

  /// The weights, as bytes, after a fit from those weights.
  const std::string& fit_from(const std::string& weights);

 private:
  PartsFactory make_parts_;
  std::vector<CallbackFactory> more_;
  std::map<std::string, std::exception_ptr, std::less<>> refusals_;
  std::map<std::string, TensorsLeft, std::less<>> left_;
  std::map<std::string, std::string> fits_;
};

/// Parameters and buffers as bytes: equal only when every bit is.
std::string weight_bytes(const Module& module);

/// Options for a call that is no case: nothing printed, nothing written.
HarnessOptions quiet_options();

/// Two fits are alike only from the same random numbers: seeds them.
void seed_fit();

}  // namespace mishap
