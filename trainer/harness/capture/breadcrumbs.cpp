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

void Breadcrumbs::Known::add(const collector::BoxWhat& what) noexcept {
  stages[what.stage % stages.size()] = 1;
  hooks[what.hook % hooks.size()] = 1;
  components[what.component % components.size()] = 1;
}

void Breadcrumbs::learn(const Place& place,
                        const collector::BoxPlace& at) noexcept {
  using Kind = collector::BoxNames::Kind;
  known_.add(at.what);
  if (names_ != nullptr) {
    names_->add(Kind::kStage, at.what.stage, to_string(place.stage));
    names_->add(Kind::kHook, at.what.hook, to_string(place.hook));
    names_->add(Kind::kComponent, at.what.component, place.component.name());
  }
}

}  // namespace mishap
