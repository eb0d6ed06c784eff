#include <mishap/collector/pending/killed_record.h>
#include <mishap/collector/record/join_crumbs.h>
#include <mishap/collector/record_writer.h>

#include <array>
#include <exception>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace mishap::collector {
namespace {

using nlohmann::ordered_json;
using Kind = BoxNames::Kind;

constexpr std::int64_t kNanosPerMicro = 1'000;

ordered_json or_null(std::int64_t counter) {
  return counter < 0 ? ordered_json() : ordered_json(counter);
}

ordered_json or_null(std::string_view text) {
  return text.empty() ? ordered_json() : ordered_json(text);
}

// A slot may hold anything: a time beyond all times ends it.
std::int64_t minus(std::int64_t later, std::int64_t earlier) {
  std::int64_t difference = 0;
  if (__builtin_sub_overflow(later, earlier, &difference)) {
    throw std::out_of_range("a time beyond all times");
  }
  return difference;
}

std::int64_t nanos_in(const ordered_json& text) {
  return std::stoll(text.get<std::string>());
}

void add_nanos(ordered_json& text, std::int64_t nanos) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(nanos_in(text), nanos, &sum)) {
    throw std::out_of_range("a time beyond all times");
  }
  text = std::to_string(sum);
}

std::vector<RecordBreadcrumb> moments_in(const SlotPages& pages,
                                         const TickClock& clock) {
  std::array<BoxCrumb, BlackBox::kCrumbs> crumbs;
  std::vector<RecordBreadcrumb> moments;
  for (const BoxCrumb& crumb :
       std::span(crumbs).first(pages.box.read(crumbs))) {
    RecordBreadcrumb moment;
    moment.hook = pages.names.find(Kind::kHook, crumb.what.hook);
    moment.component = pages.names.find(Kind::kComponent, crumb.what.component);
    moment.steady_nano = clock.steady_nanos(crumb.begin_ticks);
    moments.push_back(moment);
    if (crumb.end_ticks) {
      moment.phase = CrumbPhase::kAfter;
      moment.steady_nano = clock.steady_nanos(*crumb.end_ticks);
      moments.push_back(moment);
    }
  }
  return moments;
}

ordered_json to_json(const JoinedCrumb& crumb, std::int64_t now) {
  ordered_json components = ordered_json::array();
  for (const std::string_view component : crumb.component_list()) {
    components.push_back(component);
  }
  return {
      {"hook", or_null(crumb.hook)},
      {"components", std::move(components)},
      {"ago_micros", minus(now, crumb.begin_nano) / kNanosPerMicro},
      {"took_micros",
       crumb.end_nano ? ordered_json(minus(*crumb.end_nano, crumb.begin_nano) /
                                     kNanosPerMicro)
                      : ordered_json()}};
}

void bring_up_to_date(ordered_json& record, const SlotPages& pages,
                      bool same_boot) {
  record["kind"] = "killed";
  const std::optional<BoxPlace> place = pages.box.place();
  if (!place) return;
  record["stage"] = or_null(pages.names.find(Kind::kStage, place->what.stage));
  record["hook"] = or_null(pages.names.find(Kind::kHook, place->what.hook));
  record["component"] =
      or_null(pages.names.find(Kind::kComponent, place->what.component));
  record["epoch"] = or_null(place->epoch);
  record["batch_index"] = or_null(place->batch);
  record["global_step"] = or_null(place->step);
  if (pages.box.last_ticks() == 0) return;
  TickClock clock = pages.box.clock;
  if (same_boot) clock.calibrate();
  const std::int64_t last = clock.steady_nanos(pages.box.last_ticks());
  const std::int64_t since = minus(last, nanos_in(record["steady_nano"]));
  add_nanos(record["steady_nano"], since);
  add_nanos(record["time_unix_nano"], since);
  const std::vector<RecordBreadcrumb> moments = moments_in(pages, clock);
  ordered_json& breadcrumbs = record["breadcrumbs"];
  breadcrumbs = ordered_json::array();
  const JoinedCrumbs joined(moments);
  std::span<const JoinedCrumb> items = joined.items();
  const std::size_t total = items.size();
  if (total > RecordLimits{}.breadcrumbs) {
    items = items.last(RecordLimits{}.breadcrumbs);
    record["truncated"].push_back(
        {{"key", "/breadcrumbs"}, {"kept", items.size()}, {"total", total}});
  }
  for (const JoinedCrumb& crumb : items) {
    breadcrumbs.push_back(to_json(crumb, last));
  }
}

}  // namespace

std::string killed_record(const std::string& minimal, const SlotPages& pages,
                          bool same_boot) {
  try {
    auto record = ordered_json::parse(minimal);
    bring_up_to_date(record, pages, same_boot);
    return record.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  } catch (const std::exception&) {
    return {};
  }
}

}  // namespace mishap::collector
