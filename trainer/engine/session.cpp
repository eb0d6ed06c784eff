#include <mishap/trainer/engine/session.h>
#include <mishap/trainer/guard/errors.h>

#include <string>
#include <utility>

namespace mishap {
namespace {

thread_local Session* innermost_session = nullptr;

}  // namespace

Session::Session(Run& run, Module& module,
                 const TrainerOptions& options) noexcept
    : run_(run),
      module_(module),
      options_(options),
      outer_(std::exchange(innermost_session, this)) {}

Session::~Session() { innermost_session = outer_; }

Session* Session::current() noexcept { return innermost_session; }

bool Session::is_inside_call_of(const Module& module) const noexcept {
  const Session* call = outer_;
  while (call != nullptr && &call->module_ != &module) {
    call = call->outer_;
  }
  return call != nullptr;
}

MetricStore& Session::open_store(std::string_view name) {
  if (store_ == nullptr) {
    throw InputError("log(\"" + std::string(name) + "\") was called in " +
                     std::string(to_string(place().hook)) +
                     ", where no epoch is running; call it from a step or "
                     "from a hook of an epoch");
  }
  return *store_;
}

void Session::log(std::string_view name, double value) {
  open_store(name).log(name, value);
}

void Session::log(std::string_view name, const torch::Tensor& value) {
  MetricStore& store = open_store(name);
  if (!value.defined() || value.numel() != 1) {
    throw InputError("log(\"" + std::string(name) + "\") was given " +
                     (value.defined()
                          ? std::to_string(value.numel()) + " elements"
                          : std::string("an undefined tensor")) +
                     "; give a number or a tensor of one element");
  }
  store.log(name, value);
}

void Session::publish(const Metrics& means) {
  for (const auto& [name, value] : means) {
    metrics_.insert_or_assign(name, value);
  }
}

const Batch& Session::hold(Batch batch) noexcept {
  batch_ = std::move(batch);
  has_batch_ = true;
  return batch_;
}

void Session::drop_batch() noexcept {
  batch_ = Batch();
  has_batch_ = false;
}

}  // namespace mishap
