#pragma once

#include <mishap/trainer/engine/detail/call.h>
#include <mishap/trainer/engine/detail/resume_points.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <span>

namespace mishap::detail {

/// Saves a fit into a checkpoint and takes it back from one.
class FitCheckpoints {
 public:
  FitCheckpoints(Call& call, ResumePoints& points)
      : call_(call), points_(points) {}

  /// Writes a checkpoint of the resume point under each of the names; `saved`
  /// is told which is in place. `nanos` is the time that the training has
  /// taken. Throws InputError when there is no such point.
  void save(std::span<const std::filesystem::path> paths, std::int64_t nanos,
            const std::function<void(std::size_t)>& saved);

  /// Takes everything back but what loaders and random numbers need, which
  /// must wait for restore_loader() and restore_random(). All or nothing: the
  /// parameters and buffers come last.
  void load(const std::filesystem::path& path);

  /// A checkpoint was loaded.
  bool has_loaded() const noexcept { return loaded_.has_value(); }
  void restore_loader(LoadersInUse& train);
  void restore_random();
  /// Nothing more of the checkpoint is needed.
  void let_go() noexcept { loaded_.reset(); }

  /// The training loader, whose order is saved.
  void watch(const LoadersInUse& train) noexcept { train_ = &train; }

 private:
  State collect(const ResumePoints::Point& point);
  void ask_components(State& root);
  void tell_components(const State& root);
  void check_place(const Progress& progress) const;

  Call& call_;
  ResumePoints& points_;
  const LoadersInUse* train_ = nullptr;
  std::optional<State> loaded_;
  /// Parameters and buffers from before, until nothing can refuse any more.
  State before_;
};

/// Loads parameters and buffers from a checkpoint, all or nothing, for an entry
/// point that does not train.
void load_weights(Call& call, const std::filesystem::path& path);

}  // namespace mishap::detail
