#include <mishap/collector/hash.h>
#include <mishap/collector/record/frame_choice.h>
#include <mishap/collector/record/record_line.h>
#include <mishap/collector/record/words.h>

#include <algorithm>
#include <limits>

namespace mishap::collector {
namespace {

// What is left of a dead process may hold any number.
std::int64_t micros_between(std::int64_t begin, std::int64_t end) noexcept {
  std::int64_t nanos = 0;
  if (end <= begin) return 0;
  return __builtin_sub_overflow(end, begin, &nanos)
             ? std::numeric_limits<std::int64_t>::max() / 1000
             : nanos / 1000;
}

std::int64_t as_integer(std::size_t value) noexcept {
  return static_cast<std::int64_t>(value);
}

}  // namespace

std::size_t Share::saving(std::size_t kept) const noexcept {
  return kept < items ? (items - kept) * (bytes / items) : 0;
}

std::size_t Share::kept_to_save(std::size_t excess,
                                std::size_t least) const noexcept {
  std::size_t kept = items;
  while (kept > least && saving(kept) < excess) --kept;
  return kept;
}

std::size_t RecordLine::write() noexcept {
  line_.begin();
  write_identity();
  write_where();
  write_what();
  write_state();
  write_before();
  write_label();
  line_.end();
  return line_.overflowed() ? 0 : line_.size();
}

void RecordLine::write_identity() noexcept {
  line_.integer("schema_version", kSchemaVersion);
  line_.name("record_id", record_.record_id);
  line_.decimal("time_unix_nano", record_.time_unix_nano);
  line_.decimal("steady_nano", record_.steady_nano);
  line_.decimal("sequence", std::optional{record_.sequence});
  line_.name("run_id", record_.run_id);
  line_.name("parent_run_id", record_.parent_run_id);
  line_.name("inner_record_id", record_.inner_record_id);
  line_.name("kind", to_string(record_.kind));
}

void RecordLine::write_where() noexcept {
  write_place(record_.place);
  line_.integer("rank", record_.rank);
  line_.integer("world_size", record_.world_size);
  line_.object("thread", [this] {
    line_.integer("id", record_.thread.id);
    line_.name("name", record_.thread.name);
    line_.name("role", record_.thread.role);
  });
  line_.name("process_phase", to_string(record_.process_phase));
  line_.object("interrupt", [this] {
    const RecordInterrupt& interrupt = record_.interrupt;
    line_.name("signal", interrupt.signal);
    line_.integer("number", interrupt.number);
    line_.integer("sender_pid", interrupt.sender_pid);
    line_.object("at", [&] { write_place(interrupt.at); });
    line_.object("honoured", [&] { write_place(interrupt.honoured); });
    line_.integer("delay_micros", interrupt.delay_micros);
  });
}

void RecordLine::write_what() noexcept {
  line_.objects("exceptions", record_.exceptions, limits_.exceptions,
                Keep::kFirst,
                [this](const RecordException& e) { write_exception(e); });
  line_.object("signal", [this] { write_signal(record_.signal); });
  line_.objects("registers", record_.registers, limits_.items, Keep::kFirst,
                [this](const RecordRegister& value) {
                  line_.name("name", value.name);
                  line_.hex("value", value.value);
                });
  line_.object("exit", [this] { write_exit(record_.exit); });
  line_.objects("threads", record_.threads, limits_.threads, Keep::kFirst,
                [this](const RecordThreadStack& thread) {
                  line_.integer("id", thread.id);
                  line_.name("name", thread.name);
                  line_.name("role", thread.role);
                  line_.name("state", thread.state);
                  write_stack(thread.stack, limits_.thread_frames);
                });
  line_.objects(
      "suppressed", record_.suppressed, limits_.items, Keep::kFirst,
      [this](const RecordSuppressed& error) {
        line_.name("step", error.step);
        line_.name("component", error.component);
        line_.name("type", error.type);
        line_.text("message", error.message);
      },
      record_.suppressed_total);
  line_.objects(
      "cleanup", record_.cleanup, limits_.items, Keep::kFirst,
      [this](const RecordCleanup& step) {
        line_.name("step", step.step);
        line_.name("component", step.component);
        line_.name("outcome", to_string(step.outcome));
        line_.integer("micros", step.micros);
        line_.text("error",
                   step.error.empty() ? std::string_view{} : step.error,
                   limits_.name_bytes);
      },
      record_.cleanup_total);
}

void RecordLine::write_state() noexcept {
  line_.objects("device", record_.device, limits_.items, Keep::kFirst,
                [this](const RecordDevice& device) {
                  line_.name("name", device.name);
                  line_.integer("allocated_bytes", device.allocated_bytes);
                  line_.integer("reserved_bytes", device.reserved_bytes);
                  line_.integer("free_bytes", device.free_bytes);
                  line_.integer("peak_bytes", device.peak_bytes);
                });
  line_.object("process", [this] {
    line_.integer("pid", record_.process.pid);
    line_.integer("rss_bytes", record_.process.rss_bytes);
    line_.integer("peak_rss_bytes", record_.process.peak_rss_bytes);
    line_.integer("threads", record_.process.threads);
    line_.integer("fds", record_.process.fds);
  });
  line_.object("modes", [this] { write_modes(record_.modes); });
  line_.objects("batch", record_.batch, limits_.items, Keep::kFirst,
                [this](const RecordTensor& tensor) {
                  line_.name("name", tensor.name);
                  line_.integers("shape", tensor.shape, limits_.items);
                  line_.name("dtype", tensor.dtype);
                  line_.name("device", tensor.device);
                  line_.number("min", "min_word", tensor.min);
                  line_.number("max", "max_word", tensor.max);
                  line_.integer("nan_count", tensor.nan_count);
                });
  line_.name("weights", record_.weights ? to_string(*record_.weights)
                                        : std::string_view{});
  line_.object("resume", [this] {
    line_.name("path", record_.resume.path);
    line_.integer("step", record_.resume.step);
    line_.name("checksum", record_.resume.checksum);
  });
  line_.objects("warnings", record_.warnings, limits_.items, Keep::kLast,
                [this](const RecordWarning& warning) {
                  line_.text("message", warning.message);
                  line_.integer("count", warning.count);
                });
}

void RecordLine::write_before() noexcept {
  const JoinedCrumbs crumbs(record_.breadcrumbs);
  const std::size_t before = line_.size();
  line_.objects("breadcrumbs", crumbs.items(), limits_.breadcrumbs, Keep::kLast,
                [this](const JoinedCrumb& crumb) { write_crumb(crumb); });
  breadcrumbs_ = {std::min(crumbs.items().size(), limits_.breadcrumbs),
                  line_.size() - before};
  line_.objects("telemetry", record_.telemetry, limits_.items, Keep::kLast,
                [this](const RecordTelemetry& step) {
                  line_.integer("step", step.step);
                  line_.number("loss", "loss_word", step.loss);
                  line_.integer("step_micros", step.step_micros);
                });
}

void RecordLine::write_label() noexcept {
  line_.object("fault", [this] {
    line_.name("status", to_string(record_.fault.status));
    line_.name("point", record_.fault.point);
    line_.integer("hit", record_.fault.hit);
    line_.name("action", record_.fault.action);
    line_.command("spec", record_.fault.spec, limits_.command_bytes);
    line_.decimal("seed", record_.fault.seed);
  });
  line_.integer("manifested_after_steps", record_.manifested_after_steps);
  line_.object("category", [this] {
    line_.name("name", record_.category.name);
    line_.name("evidence", record_.category.evidence);
  });
  line_.object("fingerprint", [this] {
    line_.integer("version", record_.fingerprint.version);
    line_.name("hash", record_.fingerprint.hash);
    line_.texts("parts", record_.fingerprint.parts, limits_.items,
                Keep::kFirst);
  });
  line_.integer("occurrence_count", record_.occurrence_count);
  line_.command("reproduce", record_.reproduce, limits_.command_bytes);
  line_.texts("notes", record_.notes, limits_.items, Keep::kFirst);
}

void RecordLine::write_place(const RecordPlace& place) noexcept {
  line_.name("entry_point", place.entry_point);
  line_.name("stage", place.stage);
  line_.name("hook", place.hook);
  line_.name("component", place.component);
  line_.integer("epoch", place.epoch);
  line_.integer("batch_index", place.batch_index);
  line_.integer("global_step", place.global_step);
}

void RecordLine::write_exception(const RecordException& exception) noexcept {
  const std::size_t size =
      std::max(exception.message_size, exception.message.size());
  line_.name("type", exception.type);
  const bool cut =
      line_.raw_text("message", "message_bytes_hex", exception.message,
                     limits_.message_bytes, size);
  line_.integer("message_size", static_cast<std::int64_t>(size));
  std::optional<std::uint64_t> hash;
  if (cut) {
    hash = exception.message_hash != 0 ? exception.message_hash
                                       : fnv1a(exception.message);
  }
  line_.hex("message_hash", hash);
  line_.text("native_backtrace",
             exception.native_backtrace.empty() ? std::string_view{}
                                                : exception.native_backtrace,
             limits_.name_bytes);
  line_.integer("code", exception.code);
  const std::size_t before = line_.size();
  write_stack(exception.stack, limits_.frames);
  frames_.bytes += line_.size() - before;
  frames_.items = std::max(
      frames_.items, std::min(exception.stack.frames.size(), limits_.frames));
}

void RecordLine::write_stack(const RecordStack& stack,
                             std::size_t limit) noexcept {
  line_.object("stack", [&] {
    line_.name("origin", to_string(stack.origin));
    line_.boolean("truncated", stack.truncated);
    FrameChoice choice(stack.frames, limit);
    line_.chosen(
        "frames", stack.frames, choice.size(),
        [&](const RecordFrame& frame) { return choice.takes(frame); },
        [this](const RecordFrame& frame) { write_frame(frame); });
    write_repeats(stack, limit);
  });
}

// The frames that a choice left out shift those behind them.
void RecordLine::write_repeats(const RecordStack& stack,
                               std::size_t limit) noexcept {
  std::array<RecordRepeat, kMaxRepeats> shifted;
  std::size_t size = 0;
  for (const RecordRepeat& repeat : stack.repeats) {
    if (size == kMaxRepeats) break;
    FrameChoice choice(stack.frames, limit);
    RecordRepeat out{.first = 0, .frames = 0, .times = repeat.times};
    for (std::size_t i = 0; i < repeat.first + repeat.frames; ++i) {
      if (choice.takes(stack.frames[i])) {
        ++(i < repeat.first ? out.first : out.frames);
      }
    }
    if (out.frames > 0) shifted[size++] = out;
  }
  line_.objects("repeats", std::span<const RecordRepeat>(shifted.data(), size),
                limits_.items, Keep::kFirst,
                [this](const RecordRepeat& repeat) {
                  line_.integer("first", as_integer(repeat.first));
                  line_.integer("frames", as_integer(repeat.frames));
                  line_.integer("times", as_integer(repeat.times));
                });
}

void RecordLine::write_frame(const RecordFrame& frame) noexcept {
  line_.hex("address", std::uint64_t{frame.address});
  line_.integer("module", frame.module);
  line_.hex("offset", frame.offset);
  line_.name("symbol", frame.symbol);
  line_.name("function", frame.function);
  line_.name("file", frame.file);
  line_.integer("line", frame.line);
  line_.boolean("inlined", frame.inlined);
  line_.boolean("in_app", frame.in_app);
}

void RecordLine::write_signal(const RecordSignal& signal) noexcept {
  line_.integer("number", signal.number);
  line_.name("name", signal.name);
  line_.integer("code", signal.code);
  line_.name("code_name", signal.code_name);
  line_.hex("address", signal.address);
  line_.integer("sender_pid", signal.sender_pid);
}

void RecordLine::write_exit(const RecordExit& exit) noexcept {
  line_.integer("status", exit.status);
  line_.integer("signal", exit.signal);
  line_.integer("oom_kills_before", exit.oom_kills_before);
  line_.integer("oom_kills_after", exit.oom_kills_after);
  line_.integer("memory_peak_bytes", exit.memory_peak_bytes);
  line_.integer("memory_limit_bytes", exit.memory_limit_bytes);
  line_.text("stderr_tail", exit.stderr_tail, limits_.tail_bytes);
}

void RecordLine::write_modes(const RecordModes& modes) noexcept {
  line_.boolean("grad_enabled", modes.grad_enabled);
  line_.boolean("inference_mode", modes.inference_mode);
  line_.boolean("anomaly", modes.anomaly);
  line_.boolean("deterministic", modes.deterministic);
  line_.name("default_dtype", modes.default_dtype);
  line_.boolean("training", modes.training);
  line_.integer("intra_op_threads", modes.intra_op_threads);
  line_.integer("inter_op_threads", modes.inter_op_threads);
}

void RecordLine::write_crumb(const JoinedCrumb& crumb) noexcept {
  line_.name("hook", crumb.hook);
  line_.texts("components", crumb.component_list(), limits_.items,
              Keep::kFirst);
  line_.integer("ago_micros",
                micros_between(crumb.begin_nano, record_.steady_nano));
  line_.integer("took_micros", crumb.end_nano
                                   ? std::optional{micros_between(
                                         crumb.begin_nano, *crumb.end_nano)}
                                   : std::nullopt);
}

}  // namespace mishap::collector
