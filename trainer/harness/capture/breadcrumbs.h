#pragma once

#include <mishap/collector/crash/box_names.h>
#include <mishap/collector/crash/box_writer.h>
#include <mishap/trainer/guard/place.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace mishap {

/// A place of the guard as its black box has it, and back.
constexpr collector::BoxPlace to_box(const Place& place) noexcept {
  return {{static_cast<std::uint16_t>(place.hook), place.component.index(),
           static_cast<std::uint16_t>(place.stage)},
          place.epoch,
          place.batch,
          place.step};
}
Place from_box(const collector::BoxPlace& place) noexcept;

/// Leaves a breadcrumb at each hook of a run, in its black box.
class Breadcrumbs {
 public:
  /// From here on in `box`; what is used for the first time there is named in
  /// `names`, unless they are null.
  void attach(collector::BlackBox& box, collector::BoxNames* names) noexcept;

  void enter(const Place& place) noexcept {
    const collector::BoxPlace at = to_box(place);
    name(place, at);
    writer_.enter(at);
  }
  void leave(const Place& place) noexcept { writer_.leave(to_box(place).what); }
  void resume(const Place& place) noexcept {
    const collector::BoxPlace at = to_box(place);
    name(place, at);
    writer_.resume(at);
  }

 private:
  // Which numbers of a kind have their names. Sets, not a cache: hooks that
  // take turns would push each other out of one.
  struct Known {
    std::array<std::uint8_t, 16> stages{};
    std::array<std::uint8_t, 128> hooks{};
    std::array<std::uint8_t, 4096> components{};

    bool covers(const collector::BoxWhat& what) const noexcept {
      return (stages[what.stage % stages.size()] &
              hooks[what.hook % hooks.size()] &
              components[what.component % components.size()]) != 0;
    }
    void add(const collector::BoxWhat& what) noexcept;
  };
  static_assert(kHookCount < 128);

  void name(const Place& place, const collector::BoxPlace& at) noexcept {
    if (!known_.covers(at.what)) [[unlikely]] {
      learn(place, at);
    }
  }
  void learn(const Place& place, const collector::BoxPlace& at) noexcept;

  collector::BoxWriter writer_;
  collector::BoxNames* names_ = nullptr;
  Known known_;
};

}  // namespace mishap
