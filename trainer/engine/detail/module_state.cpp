#include <mishap/trainer/engine/checkpoint.h>
#include <mishap/trainer/engine/class_name_of.h>
#include <mishap/trainer/engine/detail/module_state.h>

#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace mishap::detail {
namespace {

using Tensors = std::map<std::string, torch::Tensor>;

// A buffer may be registered before it has a value.
Tensors tensors_of(const Module& module) {
  Tensors tensors;
  for (const auto& entry : module.named_parameters()) {
    tensors.emplace("parameter/" + entry.key(), entry.value());
  }
  for (const auto& entry : module.named_buffers()) {
    if (entry.value().defined()) {
      tensors.emplace("buffer/" + entry.key(), entry.value());
    }
  }
  return tensors;
}

std::string shape_of(const torch::Tensor& tensor) {
  std::ostringstream text;
  text << tensor.dtype() << tensor.sizes();
  return text.str();
}

// The first few, so that the sentence stays one.
class Names {
 public:
  void add(const std::string& name) {
    if (count_++ < kShown) {
      text_ += (text_.empty() ? "" : ", ") + name;
    }
  }
  std::string text(const char* what) const {
    if (count_ == 0) {
      return {};
    }
    return std::string(what) + ' ' + text_ +
           (count_ > kShown
                ? " and " + std::to_string(count_ - kShown) + " more"
                : "");
  }

 private:
  static constexpr std::size_t kShown = 3;
  std::string text_;
  std::size_t count_ = 0;
};

}  // namespace

State state_of(const Module& module) {
  State state;
  for (const auto& [name, tensor] : tensors_of(module)) {
    state.set(name, tensor);
  }
  return state;
}

State copy_of_buffers(const Module& module) {
  State state;
  for (const auto& entry : module.named_buffers()) {
    if (entry.value().defined()) {
      state.set("buffer/" + entry.key(), entry.value().detach().clone());
    }
  }
  return state;
}

void check_matches(const Module& module, const State& state) {
  const Tensors own = tensors_of(module);
  Names missing;
  Names unknown;
  Names other;
  for (const auto& [name, tensor] : own) {
    if (!state.has(name)) {
      missing.add(name);
      continue;
    }
    const torch::Tensor saved = state.tensor(name);
    if (saved.sizes() != tensor.sizes() || saved.dtype() != tensor.dtype()) {
      other.add(name + " (" + shape_of(saved) + ", not " + shape_of(tensor) +
                ')');
    }
  }
  for (const std::string& name : state.names()) {
    if (!own.contains(name)) {
      unknown.add(name);
    }
  }
  std::string problems;
  for (const std::string& problem :
       {missing.text("it lacks"), unknown.text("the module has no"),
        other.text("of another shape or type:")}) {
    if (!problem.empty()) {
      problems += (problems.empty() ? "" : "; ") + problem;
    }
  }
  if (!problems.empty()) {
    throw CheckpointError("the checkpoint is not of this " +
                          class_name_of(module) + ": " + problems);
  }
}

State load_into(Module& module, const State& state) {
  const torch::NoGradGuard no_grad;
  State before;
  Tensors own = tensors_of(module);
  try {
    for (auto& [name, tensor] : own) {
      before.set(name, tensor.detach().clone());
      tensor.copy_(state.tensor(name));
    }
  } catch (...) {
    for (const std::string& name : before.names()) {
      own.at(name).copy_(before.tensor(name));
    }
    throw;
  }
  return before;
}

State gradients_of(const Module& module, bool summed) {
  State state;
  for (const auto& entry : module.named_parameters()) {
    const torch::Tensor& gradient = entry.value().grad();
    if (!gradient.defined()) {
      continue;
    }
    if (summed) {
      state.set(entry.key(), gradient);
    } else {
      state.set(entry.key(), true);
    }
  }
  return state;
}

void load_gradients(Module& module, const State& state) {
  for (const auto& entry : module.named_parameters()) {
    if (!state.has(entry.key())) {
      continue;
    }
    torch::Tensor parameter = entry.value();
    parameter.mutable_grad() =
        state.holds_tensor(entry.key())
            ? state.tensor(entry.key()).to(parameter.device())
            : torch::zeros_like(parameter);
  }
}

}  // namespace mishap::detail
