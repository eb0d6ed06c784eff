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
    if (!known_.covers(place)) [[unlikely]] {
      learn(place);
    }
    writer_.enter(to_box(place));
  }
  void leave(const Place& place) noexcept { writer_.leave(to_box(place).what); }
  /// The run is in an open call again: it was entered, so it has its name.
  void resume(const Place& place) noexcept { writer_.resume(to_box(place)); }

 private:
  // Which numbers of a kind have their names. Sets, not a cache: hooks that
  // take turns would push each other out of one.
  struct Known {
    std::array<std::uint8_t, 16> stages{};
    std::array<std::uint8_t, 128> hooks{};
    std::array<std::uint8_t, 4096> components{};

    bool covers(const Place& place) const noexcept {
      return (stages[at(stages, place.stage)] & hooks[at(hooks, place.hook)] &
              components[place.component.index() % components.size()]) != 0;
    }
    void add(const Place& place) noexcept;

    template <std::size_t kSize, class Number>
    static std::size_t at(const std::array<std::uint8_t, kSize>&,
                          Number number) noexcept {
      return static_cast<std::size_t>(number) % kSize;
    }
  };
  static_assert(kHookCount < 128);

  // Takes no place that is made for the box: one whose address is known would
  // have to be in memory.
  [[gnu::cold]] void learn(const Place& place) noexcept;

  collector::BoxWriter writer_;
  collector::BoxNames* names_ = nullptr;
  Known known_;
};

}  // namespace mishap
