#include <mishap/faultinject/active.h>
#include <mishap/faultinject/active_set.h>
#include <pthread.h>

#include <mutex>
#include <new>

namespace mishap::faultinject {
namespace {

class Registry {
 public:
  static Registry& instance() {
    static Registry* const registry = new Registry;
    return *registry;
  }

  std::shared_ptr<const ActiveSet> current() {
    const std::lock_guard lock(mutex_);
    return current_;
  }

  template <typename T>
  void add(std::vector<std::shared_ptr<T>> ActiveSet::*list,
           std::shared_ptr<T> listener) {
    const std::lock_guard lock(mutex_);
    auto next = copy();
    ((*next).*list).push_back(std::move(listener));
    replace(std::move(next));
  }

  template <typename T>
  void remove(std::vector<std::shared_ptr<T>> ActiveSet::*list,
              const T* listener) noexcept {
    // Dropped behind the lock: destroying a listener may free much.
    std::shared_ptr<const ActiveSet> old;
    const std::lock_guard lock(mutex_);
    old = current_;
    try {
      auto next = copy();
      std::erase_if((*next).*list, [&](const std::shared_ptr<T>& other) {
        return other.get() == listener;
      });
      replace(std::move(next));
    } catch (const std::bad_alloc&) {
      // It stays in the set, deaf, until the next change.
    }
  }

 private:
  // A child that is forked while another thread reports a hit must be able to
  // report its own.
  Registry() {
    ::pthread_atfork([] { instance().mutex_.lock(); },
                     [] { instance().mutex_.unlock(); },
                     [] { instance().mutex_.unlock(); });
  }

  std::shared_ptr<ActiveSet> copy() const {
    return current_ == nullptr ? std::make_shared<ActiveSet>()
                               : std::make_shared<ActiveSet>(*current_);
  }

  void replace(std::shared_ptr<ActiveSet> next) noexcept {
    const std::size_t size = next->plans.size() + next->traces.size();
    current_ = size == 0 ? nullptr : std::move(next);
#ifndef MISHAP_NO_FAULT_POINTS
    detail::listeners.store(static_cast<std::uint32_t>(size),
                            std::memory_order_release);
#endif
  }

  std::mutex mutex_;
  std::shared_ptr<const ActiveSet> current_;
};

}  // namespace

std::shared_ptr<const ActiveSet> active_set() {
  return Registry::instance().current();
}

void activate(std::shared_ptr<ArmedPlan> plan) {
  Registry::instance().add(&ActiveSet::plans, std::move(plan));
}

void activate(std::shared_ptr<TraceBuffer> trace) {
  Registry::instance().add(&ActiveSet::traces, std::move(trace));
}

void deactivate(const ArmedPlan* plan) noexcept {
  Registry::instance().remove(&ActiveSet::plans, plan);
}

void deactivate(const TraceBuffer* trace) noexcept {
  Registry::instance().remove(&ActiveSet::traces, trace);
}

}  // namespace mishap::faultinject
