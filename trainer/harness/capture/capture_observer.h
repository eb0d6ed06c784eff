#pragma once

#include <mishap/collector/pending_slot.h>
#include <mishap/collector/sink.h>
#include <mishap/collector/throw_site.h>
#include <mishap/collector/uuid.h>
#include <mishap/trainer/guard/observer.h>
#include <mishap/trainer/guard/run.h>
#include <mishap/trainer/harness/capture/breadcrumbs.h>
#include <mishap/trainer/harness/capture/capture_options.h>

#include <cstdint>
#include <memory>
#include <optional>

namespace mishap {

struct CaptureStorage;

/// Keeps the record of one run: breadcrumbs while it lives, the frozen record
/// at its first error, the finished one when all is cleaned up.
///
/// Everything that a record needs is reserved when the run starts; handling a
/// failure allocates only for what is nice to have (names, the command), and a
/// failure of that leaves the rest.
class CaptureObserver final : public Observer {
 public:
  explicit CaptureObserver(const CaptureOptions& options);
  ~CaptureObserver() override;

  void on_enter(Run& run) override;
  void before(Run& run) override;
  void after(Run& run) override;
  void on_failure(Run& run, const Failure& failure) noexcept override;
  void on_close(Run& run, const Failure* failure) noexcept override;

  std::string_view run_id() const noexcept { return run_id_.view(); }

 private:
  void append_row(const Run& run, const Failure* failure) noexcept;

  const CaptureOptions& options_;
  collector::RecordSink& sink_;
  collector::Uuid run_id_;
  collector::Uuid record_id_;
  CaptureObserver* outer_ = nullptr;
  std::optional<collector::ThrowCaptureScope> throws_;
  std::unique_ptr<CaptureStorage> storage_;
  BreadcrumbRing crumbs_;
  TickClock ticks_;
  collector::PendingSlot slot_;
  std::int64_t start_unix_nanos_ = 0;
  std::int64_t start_steady_nanos_ = 0;
  std::uint64_t firings_at_start_ = 0;
  bool frozen_ = false;
};

}  // namespace mishap
