#include <mishap/trainer/harness/capture/breadcrumbs.h>

namespace mishap {

Place from_box(const collector::BoxPlace& place) noexcept {
  return {static_cast<Stage>(place.what.stage),
          static_cast<Hook>(place.what.hook),
          Component::from_index(place.what.component),
          place.epoch,
          place.batch,
          place.step};
}

void Breadcrumbs::attach(collector::BlackBox& box,
                         collector::BoxNames* names) noexcept {
  writer_.attach(box);
  names_ = names;
  known_ = {};
}

void Breadcrumbs::Known::add(const Place& place) noexcept {
  stages[at(stages, place.stage)] = 1;
  hooks[at(hooks, place.hook)] = 1;
  components[place.component.index() % components.size()] = 1;
}

void Breadcrumbs::learn(const Place& place) noexcept {
  using Kind = collector::BoxNames::Kind;
  known_.add(place);
  if (names_ != nullptr) {
    const collector::BoxWhat what = to_box(place).what;
    names_->add(Kind::kStage, what.stage, to_string(place.stage));
    names_->add(Kind::kHook, what.hook, to_string(place.hook));
    names_->add(Kind::kComponent, what.component, place.component.name());
  }
}

}  // namespace mishap
