#include <mishap/trainer/engine/checkpoint.h>
#include <mishap/trainer/engine/class_name_of.h>
#include <mishap/trainer/engine/detail/optimizer_state.h>

#include <cstring>
#include <sstream>
#include <string>

namespace mishap::detail {
namespace {

using torch::optim::Optimizer;

torch::Tensor bytes_of(torch::serialize::OutputArchive& archive) {
  std::ostringstream stream;
  archive.save_to(stream);
  const std::string bytes = stream.str();
  torch::Tensor tensor =
      torch::empty({static_cast<std::int64_t>(bytes.size())}, torch::kUInt8);
  std::memcpy(tensor.data_ptr(), bytes.data(), bytes.size());
  return tensor;
}

torch::serialize::InputArchive archive_of(const torch::Tensor& bytes) {
  torch::serialize::InputArchive archive;
  archive.load_from(static_cast<const char*>(bytes.data_ptr()),
                    static_cast<std::size_t>(bytes.numel()));
  return archive;
}

std::string group_sizes(const Optimizer& optimizer) {
  std::string sizes;
  for (const auto& group : optimizer.param_groups()) {
    sizes += (sizes.empty() ? "" : " ") + std::to_string(group.params().size());
  }
  return sizes;
}

State state_of(const Optimizer& optimizer) {
  State state;
  state.set("class", class_name_of(optimizer));
  state.set("parameters_of_groups", group_sizes(optimizer));
  torch::serialize::OutputArchive archive;
  torch::serialize::OutputArchive own(archive.compilation_unit());
  optimizer.save(own);
  archive.write("state", own);
  // LibTorch's load() leaves the options as they are, learning rates included.
  for (std::size_t i = 0; i < optimizer.param_groups().size(); ++i) {
    torch::serialize::OutputArchive options(archive.compilation_unit());
    optimizer.param_groups()[i].options().serialize(options);
    archive.write("options" + std::to_string(i), options);
  }
  state.set("archive", bytes_of(archive));
  return state;
}

void load_into(Optimizer& optimizer, const State& state) {
  torch::serialize::InputArchive archive = archive_of(state.tensor("archive"));
  torch::serialize::InputArchive own;
  archive.read("state", own);
  optimizer.load(own);
  for (std::size_t i = 0; i < optimizer.param_groups().size(); ++i) {
    torch::serialize::InputArchive options;
    archive.read("options" + std::to_string(i), options);
    optimizer.param_groups()[i].options().serialize(options);
  }
}

void same(const std::string& what, const std::string& saved,
          const std::string& own) {
  if (saved != own) {
    throw CheckpointError("the checkpoint's " + what + ' ' + saved +
                          ", this fit's " + own +
                          "; configure the same optimizers as before");
  }
}

// Those of LibTorch have no state that can be read: they are stepped as often
// as before, and the optimizer's own state then has the learning rates.
void catch_up(Optimizers::Schedule& schedule, std::int64_t steps) {
  for (std::int64_t i = 0; i < steps; ++i) {
    schedule.scheduler->step();
  }
}

}  // namespace

State state_of(Optimizers& optimizers) {
  State state;
  state.set("optimizers", optimizers.size());
  for (std::size_t i = 0; i < optimizers.size(); ++i) {
    state.set("optimizer/" + std::to_string(i), state_of(optimizers[i]));
  }
  state.set("schedules", optimizers.schedules().size());
  for (std::size_t i = 0; i < optimizers.schedules().size(); ++i) {
    const Optimizers::Schedule& schedule = optimizers.schedules()[i];
    State kept;
    kept.set("steps", schedule.steps);
    if (schedule.plateau) {
      kept.set("plateau", schedule.plateau->state());
    }
    state.set("schedule/" + std::to_string(i), kept);
  }
  return state;
}

void load_into(Optimizers& optimizers, const State& state) {
  same("optimizers are", std::to_string(state.integer("optimizers")),
       std::to_string(optimizers.size()));
  same("schedulers are", std::to_string(state.integer("schedules")),
       std::to_string(optimizers.schedules().size()));
  for (std::size_t i = 0; i < optimizers.size(); ++i) {
    const State saved = state.inner("optimizer/" + std::to_string(i));
    const std::string which = "optimizer " + std::to_string(i);
    same(which + " is a", saved.text("class"), class_name_of(optimizers[i]));
    same(which + "'s groups have parameters:",
         saved.text("parameters_of_groups"), group_sizes(optimizers[i]));
  }
  for (std::size_t i = 0; i < optimizers.schedules().size(); ++i) {
    Optimizers::Schedule& schedule = optimizers.schedules()[i];
    const State saved = state.inner("schedule/" + std::to_string(i));
    if (saved.has("plateau") != (schedule.plateau != nullptr)) {
      throw CheckpointError("the checkpoint's scheduler " + std::to_string(i) +
                            " is of another kind; configure the same "
                            "schedulers as before");
    }
    schedule.steps = saved.integer("steps");
    if (schedule.plateau) {
      schedule.plateau->load_state(saved.inner("plateau"));
    } else {
      catch_up(schedule, schedule.steps);
    }
  }
  for (std::size_t i = 0; i < optimizers.size(); ++i) {
    const State saved = state.inner("optimizer/" + std::to_string(i));
    try {
      load_into(optimizers[i], saved);
    } catch (const c10::Error& error) {
      throw CheckpointError(
          "the checkpoint's optimizer " + std::to_string(i) +
          " can't be loaded: " + error.what_without_backtrace());
    }
  }
}

}  // namespace mishap::detail
