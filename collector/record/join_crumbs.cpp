#include <mishap/collector/record/join_crumbs.h>

namespace mishap::collector {
namespace {

struct Call {
  const RecordBreadcrumb* begin = nullptr;
  const RecordBreadcrumb* end = nullptr;
};

class CallList {
 public:
  void add(const RecordBreadcrumb& moment) noexcept {
    if (moment.phase == CrumbPhase::kBefore) {
      open_[open_size_++] = size_;
      calls_[size_++] = {&moment, nullptr};
      return;
    }
    for (std::size_t depth = open_size_; depth > 0; --depth) {
      Call& call = calls_[open_[depth - 1]];
      if (call.begin->hook == moment.hook &&
          call.begin->component == moment.component) {
        call.end = &moment;
        open_size_ = depth - 1;
        return;
      }
    }
  }

  std::span<const Call> calls() const noexcept {
    return {calls_.data(), size_};
  }

 private:
  std::array<Call, JoinedCrumbs::kMaxMoments> calls_{};
  std::array<std::size_t, JoinedCrumbs::kMaxMoments> open_{};
  std::size_t size_ = 0;
  std::size_t open_size_ = 0;
};

}  // namespace

JoinedCrumbs::JoinedCrumbs(std::span<const RecordBreadcrumb> moments) noexcept {
  if (moments.size() > kMaxMoments) moments = moments.last(kMaxMoments);
  CallList list;
  for (const RecordBreadcrumb& moment : moments) list.add(moment);
  for (const Call& call : list.calls()) add(*call.begin, call.end);
}

void JoinedCrumbs::add(const RecordBreadcrumb& begin,
                       const RecordBreadcrumb* end) noexcept {
  if (size_ > 0 && end != nullptr) {
    JoinedCrumb& last = items_[size_ - 1];
    if (last.hook == begin.hook && last.end_nano &&
        *last.end_nano <= begin.steady_nano &&
        last.components_size < JoinedCrumb::kMaxComponents) {
      last.components[last.components_size++] = begin.component;
      last.end_nano = end->steady_nano;
      return;
    }
  }
  JoinedCrumb& item = items_[size_++];
  item.hook = begin.hook;
  item.components[0] = begin.component;
  item.components_size = begin.component.empty() ? 0 : 1;
  item.begin_nano = begin.steady_nano;
  if (end != nullptr) item.end_nano = end->steady_nano;
}

}  // namespace mishap::collector
