#include <mishap/trainer/engine/checkpoint.h>
#include <mishap/trainer/engine/state.h>

namespace mishap {
namespace {

[[noreturn]] void refuse(std::string_view name, const std::string& what) {
  throw CheckpointError("the checkpoint's '" + std::string(name) + "' " + what +
                        "; it was made by other code");
}

// On the CPU, and with no more storage than its own elements.
torch::Tensor compact(const torch::Tensor& tensor) {
  torch::Tensor own = tensor.detach().to(torch::kCPU).contiguous();
  return own.storage().nbytes() == own.nbytes() ? own : own.clone();
}

}  // namespace

void State::put(std::string_view name, c10::IValue value) {
  values_.insert_or_assign(std::string(name), std::move(value));
}

void State::set(std::string_view name, const torch::Tensor& value) {
  put(name, compact(value));
}

void State::set(std::string_view name, const State& inner) {
  put(name, inner.to_value());
}

bool State::has(std::string_view name) const { return values_.contains(name); }

bool State::holds_tensor(std::string_view name) const {
  const auto found = values_.find(name);
  return found != values_.end() && found->second.isTensor();
}

const c10::IValue& State::at(std::string_view name, const char* kind) const {
  const auto found = values_.find(name);
  if (found == values_.end()) {
    refuse(name, "is missing");
  }
  const c10::IValue& value = found->second;
  if (value.tagKind() != kind) {
    refuse(name,
           "is of the kind " + value.tagKind() + ", " + kind + " was expected");
  }
  return value;
}

std::int64_t State::integer(std::string_view name) const {
  return at(name, "Int").toInt();
}

double State::number(std::string_view name) const {
  return at(name, "Double").toDouble();
}

bool State::flag(std::string_view name) const {
  return at(name, "Bool").toBool();
}

std::string State::text(std::string_view name) const {
  return at(name, "String").toStringRef();
}

torch::Tensor State::tensor(std::string_view name) const {
  return at(name, "Tensor").toTensor();
}

State State::inner(std::string_view name) const {
  return from_value(at(name, "GenericDict"));
}

std::vector<std::string> State::names() const {
  std::vector<std::string> names;
  names.reserve(values_.size());
  for (const auto& [name, value] : values_) {
    names.push_back(name);
  }
  return names;
}

c10::IValue State::to_value() const {
  c10::impl::GenericDict dictionary(c10::StringType::get(),
                                    c10::AnyType::get());
  for (const auto& [name, value] : values_) {
    dictionary.insert(name, value);
  }
  return dictionary;
}

State State::from_value(const c10::IValue& value) {
  if (!value.isGenericDict()) {
    throw CheckpointError("the checkpoint holds a " + value.tagKind() +
                          " where names and values were expected");
  }
  State state;
  for (const auto& entry : value.toGenericDict()) {
    if (!entry.key().isString()) {
      throw CheckpointError("the checkpoint holds a name that is no text");
    }
    state.values_.insert_or_assign(entry.key().toStringRef(), entry.value());
  }
  return state;
}

}  // namespace mishap
