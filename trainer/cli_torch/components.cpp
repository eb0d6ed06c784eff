#include <mishap/trainer/cli_torch/components.h>
#include <mishap/trainer/engine/class_name_of.h>
#include <mishap/trainer/engine/detail/components.h>

#include <memory>

namespace mishap::app {

std::vector<std::string> components_of(Module& module,
                                       const TrainerOptions& options) {
  const detail::FixedComponents& fixed = detail::fixed_components();
  std::vector<std::string> components;
  for (const Component component :
       {fixed.module, fixed.data, fixed.strategy, fixed.loader}) {
    components.emplace_back(component.name());
  }
  detail::ComponentNames names;
  const auto add = [&](const char* prefix, const auto& part) {
    if (part != nullptr) {
      components.emplace_back(
          names.add(prefix, part->name(), class_name_of(*part)).name());
    }
  };
  for (const auto& callback : options.callbacks) {
    add("callback.", callback);
  }
  for (const auto& callback : module.configure_callbacks()) {
    add("callback.", callback);
  }
  for (const auto& logger : options.loggers) {
    add("logger.", logger);
  }
  return components;
}

}  // namespace mishap::app
