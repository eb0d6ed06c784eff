#pragma once

#include <torch/torch.h>

#include <concepts>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mishap {

/// What a part of a run needs to go on where it was, by name: whole numbers,
/// numbers, flags, texts, tensors, and further states inside.
///
///     void on_save_checkpoint(State& state) override {
///       state.set("best", best_);
///     }
///     void on_load_checkpoint(const State& state) override {
///       best_ = state.number("best");
///     }
///
/// Asking for what is not there, or is of another kind, throws CheckpointError
/// naming it.
class State {
 public:
  template <std::integral I>
  requires(!std::same_as<I, bool>) void set(std::string_view name, I value) {
    put(name, static_cast<std::int64_t>(value));
  }
  void set(std::string_view name, bool value) { put(name, value); }
  void set(std::string_view name, double value) { put(name, value); }
  void set(std::string_view name, const char* text) {
    put(name, std::string(text));
  }
  void set(std::string_view name, std::string text) {
    put(name, std::move(text));
  }
  /// Kept as it is, not copied: what is saved is its value at the save. Without
  /// its history, on the CPU.
  void set(std::string_view name, const torch::Tensor& value);
  void set(std::string_view name, const State& inner);

  bool has(std::string_view name) const;
  bool holds_tensor(std::string_view name) const;
  std::int64_t integer(std::string_view name) const;
  double number(std::string_view name) const;
  bool flag(std::string_view name) const;
  std::string text(std::string_view name) const;
  torch::Tensor tensor(std::string_view name) const;
  State inner(std::string_view name) const;

  /// In alphabetical order.
  std::vector<std::string> names() const;
  bool empty() const noexcept { return values_.empty(); }

  /// As LibTorch's dictionary, which torch.load of Python reads too.
  c10::IValue to_value() const;
  /// @throws CheckpointError when it is no dictionary of names
  static State from_value(const c10::IValue& value);

 private:
  void put(std::string_view name, c10::IValue value);
  const c10::IValue& at(std::string_view name, const char* kind) const;

  std::map<std::string, c10::IValue, std::less<>> values_;
};

}  // namespace mishap
