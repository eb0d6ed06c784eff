#include <mishap/trainer/harness/capture/breadcrumbs.h>

namespace mishap {
namespace {

// No place: there are fewer stages.
constexpr std::uint64_t kNothing = ~std::uint64_t{0};

}  // namespace

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
  known_.fill(kNothing);
}

void Breadcrumbs::learn(const Place& place, std::uint64_t what) noexcept {
  using Kind = collector::BoxNames::Kind;
  const collector::BoxPlace at = to_box(place);
  known_[(at.what.hook ^ at.what.component * 5U) % kKnown] = what;
  if (names_ != nullptr) {
    names_->add(Kind::kStage, at.what.stage, to_string(place.stage));
    names_->add(Kind::kHook, at.what.hook, to_string(place.hook));
    names_->add(Kind::kComponent, at.what.component, place.component.name());
  }
}

}  // namespace mishap
