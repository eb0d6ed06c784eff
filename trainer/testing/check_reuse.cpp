#include <mishap/trainer/testing/check_reuse.h>
#include <mishap/trainer/testing/trainer_world.h>

#include <exception>
#include <string>
#include <string_view>

namespace mishap {
namespace {

class Reuse final : public Checker {
 public:
  explicit Reuse(TrainerWorld& world) : world_(world) {
    // Asked before anything fails: a failure that harms fresh worlds too must
    // not pass for a refusal.
    for (const std::string& entry_point : trainer_entry_points()) {
      world_.kind().refusal(entry_point);
    }
  }

  Clause clause() const noexcept override { return Clause::kC11; }

  std::optional<std::string> judge(const Observation&) override {
    if (!world_.kind().refusal("fit")) {
      const std::string before = weight_bytes(world_.module());
      seed_fit();
      if (const auto broken = call_again("fit")) {
        return broken;
      }
      if (weight_bytes(world_.module()) != world_.kind().fit_from(before)) {
        return "a fit on the same trainer gives other weights than a fit of a "
               "fresh one";
      }
    }
    for (const std::string_view entry_point : {"validate", "test", "predict"}) {
      if (world_.kind().refusal(entry_point)) {
        continue;
      }
      if (const auto broken = call_again(entry_point)) {
        return broken;
      }
    }
    return std::nullopt;
  }

 private:
  std::optional<std::string> call_again(std::string_view entry_point) {
    try {
      world_.call(entry_point, quiet_options());
    } catch (const std::exception& error) {
      return std::string(entry_point) +
             " no longer works on the same trainer: " + error.what();
    } catch (...) {
      return std::string(entry_point) + " no longer works on the same trainer";
    }
    return std::nullopt;
  }

  TrainerWorld& world_;
};

class TensorMemoryKept final : public Checker {
 public:
  explicit TensorMemoryKept(TrainerWorld& world) : world_(world) {}

  Clause clause() const noexcept override { return Clause::kC9; }
  void after() override { left_ = world_.tensors_left(); }

  std::optional<std::string> judge(const Observation& seen) override {
    const TensorsLeft clean = world_.kind().left_by(seen.entry_point);
    if (left_.blocks > clean.blocks) {
      return std::to_string(left_.blocks - clean.blocks) + " tensors (" +
             std::to_string(left_.bytes - clean.bytes) +
             " bytes) more are alive than after a clean call";
    }
    return std::nullopt;
  }

 private:
  TrainerWorld& world_;
  TensorsLeft left_;
};

}  // namespace

std::unique_ptr<Checker> check_reuse(TrainerWorld& world) {
  return std::make_unique<Reuse>(world);
}

std::unique_ptr<Checker> check_tensor_memory(TrainerWorld& world) {
  return std::make_unique<TensorMemoryKept>(world);
}

}  // namespace mishap
