#include <mishap/faultinject/suggestion.h>
#include <mishap/trainer/cli_torch/app.h>
#include <mishap/trainer/guard/errors.h>
#include <mishap/trainer/harness/cli/values.h>

#include <algorithm>
#include <string_view>

namespace mishap {

TaskSettings::TaskSettings(const std::vector<TaskSetting>& known)
    : values_(known) {}

const TaskSetting& TaskSettings::find(const std::string& name) const {
  std::vector<std::string_view> names;
  for (const TaskSetting& setting : values_) {
    if (setting.name == name) {
      return setting;
    }
    names.push_back(setting.name);
  }
  const std::string all = names.empty()
                              ? "this task has none"
                              : "the settings are " + faultinject::join(names);
  throw InputError("there is no setting '" + name + "'; " +
                   faultinject::did_you_mean(name, names, all));
}

void TaskSettings::set(const std::string& name, const std::string& value) {
  const auto index = &find(name) - values_.data();
  values_[static_cast<std::size_t>(index)].default_value = value;
  given_.push_back(name);
}

std::int64_t TaskSettings::integer(const std::string& name, std::int64_t low,
                                   std::int64_t high) const {
  return cli::whole_number("the setting " + name, text(name), low, high);
}

double TaskSettings::number(const std::string& name, double low,
                            double high) const {
  return cli::number("the setting " + name, text(name), low, high);
}

void TaskSettings::integer_if_given(const std::string& name, std::int64_t low,
                                    std::int64_t high,
                                    std::int64_t& into) const {
  if (given(name)) {
    into = integer(name, low, high);
  }
}

void TaskSettings::number_if_given(const std::string& name, double low,
                                   double high, double& into) const {
  if (given(name)) {
    into = number(name, low, high);
  }
}

const std::string& TaskSettings::text(const std::string& name) const {
  return find(name).default_value;
}

bool TaskSettings::has(const std::string& name) const noexcept {
  return std::ranges::find(values_, name, &TaskSetting::name) != values_.end();
}

bool TaskSettings::given(const std::string& name) const {
  return std::ranges::find(given_, name) != given_.end();
}

}  // namespace mishap
