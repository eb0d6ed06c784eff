// Arbitrary bytes as everything that comes from outside: what a record is made
// of, the files that are read back, the slots that dead processes leave.
#include <mishap/collector/pending/slot_format.h>
#include <mishap/collector/pending_slot.h>
#include <mishap/collector/reader.h>
#include <mishap/collector/record_writer.h>
#include <mishap/collector/recover_pending.h>
#include <mishap/collector/redact_text.h>
#include <mishap/collector/show.h>
#include <mishap/collector/uuid.h>
#include <sys/wait.h>
#include <unistd.h>

#include <deque>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "bytes.h"
#include "require.h"
#include "shape.h"

namespace mishap::fuzz {
namespace {

using namespace collector;  // NOLINT(google-build-using-namespace)
using nlohmann::json;

const json& schema() {
  static const json* const kept = [] {
    std::ifstream file(MISHAP_SCHEMA);
    return new json(json::parse(file));
  }();
  return *kept;
}

// Texts long enough to be cut, in memory of their own.
class Texts {
 public:
  explicit Texts(Bytes& bytes) : bytes_(bytes) {}
  std::string_view next() {
    const std::string_view text = bytes_.text();
    if (text.empty() || !bytes_.flag()) return text;
    std::string& long_text = kept_.emplace_back();
    const std::size_t times = 1 + bytes_.up_to(64);
    for (std::size_t i = 0; i < times; ++i) long_text += text;
    return long_text;
  }

 private:
  Bytes& bytes_;
  std::deque<std::string> kept_;
};

template <typename Item, typename Make>
std::vector<Item> list_of(Bytes& bytes, std::size_t most, Make make) {
  std::vector<Item> items(bytes.up_to(most));
  for (Item& item : items) item = make();
  return items;
}

template <typename Number>
std::optional<Number> maybe(Bytes& bytes) {
  if (bytes.flag()) return std::nullopt;
  return bytes.number<Number>();
}

RecordPlace make_place(Bytes& bytes, Texts& texts) {
  RecordPlace place;
  place.entry_point = texts.next();
  place.hook = texts.next();
  place.component = texts.next();
  place.epoch = maybe<std::int64_t>(bytes);
  place.global_step = maybe<std::int64_t>(bytes);
  return place;
}

RecordFrame make_frame(Bytes& bytes, Texts& texts) {
  RecordFrame frame;
  frame.address = bytes.number<std::uintptr_t>();
  frame.module = maybe<std::uint32_t>(bytes);
  frame.offset = maybe<std::uint64_t>(bytes);
  frame.symbol = bytes.text();
  frame.function = texts.next();
  frame.file = texts.next();
  frame.line = maybe<std::int32_t>(bytes);
  if (bytes.flag()) frame.in_app = bytes.flag();
  return frame;
}

// The rules that hold for every line.
void check_line(std::string_view line, bool is_whole) {
  require(!line.empty() && line.back() == '\n', "the line has no end");
  require(line.find('\n') == line.size() - 1, "the line is several");
  json read;
  try {
    read = json::parse(line);
  } catch (const json::exception& error) {
    require(false, std::string("no JSON: ") + error.what());
  }
  if (!is_whole) return;
  if (const auto wrong = misfit(read, schema())) require(false, *wrong);
}

void write_any_record(Bytes& bytes) {
  Texts texts(bytes);
  const Uuid id = make_uuid();
  Record record;
  record.record_id = id.view();
  record.run_id = id.view();
  record.time_unix_nano = bytes.number<std::int64_t>();
  record.steady_nano = bytes.number<std::int64_t>();
  record.kind = static_cast<RecordKind>(bytes.up_to(5));
  record.place = make_place(bytes, texts);
  record.thread.name = texts.next();
  std::vector<std::vector<RecordFrame>> stacks;
  auto make_stack = [&] {
    stacks.push_back(list_of<RecordFrame>(
        bytes, 60, [&] { return make_frame(bytes, texts); }));
    RecordStack stack;
    stack.frames = stacks.back();
    return stack;
  };
  const auto exceptions = list_of<RecordException>(bytes, 10, [&] {
    RecordException exception;
    exception.type = texts.next();
    exception.message = texts.next();
    exception.message_size = bytes.number<std::uint16_t>();
    exception.native_backtrace = texts.next();
    exception.stack = make_stack();
    return exception;
  });
  record.exceptions = exceptions;
  const auto threads = list_of<RecordThreadStack>(bytes, 20, [&] {
    RecordThreadStack thread;
    thread.name = texts.next();
    thread.state = texts.next();
    thread.stack = make_stack();
    return thread;
  });
  record.threads = threads;
  const auto suppressed = list_of<RecordSuppressed>(bytes, 8, [&] {
    return RecordSuppressed{texts.next(), texts.next(), texts.next(),
                            texts.next()};
  });
  record.suppressed = suppressed;
  const auto telemetry = list_of<RecordTelemetry>(bytes, 8, [&] {
    RecordTelemetry step;
    step.loss = bytes.number<double>();
    return step;
  });
  record.telemetry = telemetry;
  const auto crumbs = list_of<RecordBreadcrumb>(bytes, 128, [&] {
    RecordBreadcrumb crumb;
    crumb.hook = texts.next();
    crumb.component = texts.next();
    crumb.steady_nano = bytes.number<std::int64_t>();
    return crumb;
  });
  record.breadcrumbs = crumbs;
  record.exit.stderr_tail = texts.next();
  record.fault.spec = texts.next();
  record.reproduce = texts.next();
  const auto notes =
      list_of<std::string_view>(bytes, 8, [&] { return texts.next(); });
  record.notes = notes;

  std::vector<char> buffer(kRecordBufferBytes);
  const std::size_t size = write_record(record, buffer);
  require(size > 0, "the record did not fit");
  check_line({buffer.data(), size}, true);
  // A small buffer holds a shorter record or none, never a part of one.
  std::vector<char> small(bytes.number<std::uint16_t>() % 8'192);
  if (const std::size_t some = write_record(record, small)) {
    require(some <= small.size(), "more was written than there is room");
    check_line({small.data(), some}, true);
  }
}

void read_any_file(Bytes& bytes) {
  std::istringstream input{std::string(bytes.rest())};
  RecordReader reader(input, "fuzz");
  for (;;) {
    try {
      const auto record = reader.next();
      if (!record) return;
      require(!show(*record).empty(), "nothing is shown");
    } catch (const BadRecord&) {
    }
  }
}

void redact_any_text(Bytes& bytes) {
  for (const TextKind kind :
       {TextKind::kPlain, TextKind::kCommand, TextKind::kPath}) {
    const std::string once = redacted(bytes.rest(), kind);
    require(once.size() <= 16 * bytes.rest().size() + 16, "it grows");
  }
}

// A process id that no process has.
pid_t dead_process() {
  static const pid_t dead = [] {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    waitpid(child, nullptr, 0);
    return child;
  }();
  return dead;
}

const std::string& slot_folder() {
  static const std::string* const kept = [] {
    auto* name = new std::string("/dev/shm/mishap-fuzz-XXXXXX");
    require(mkdtemp(name->data()) != nullptr, "no folder could be made");
    return name;
  }();
  return *kept;
}

void change_bytes(std::string& page, Bytes& bytes) {
  for (std::size_t i = bytes.up_to(64); i > 0; --i) {
    const std::size_t at = bytes.number<std::uint16_t>() % page.size();
    page[at] = bytes.number<char>();
  }
}

// A slot as it is made, its text anything and its pages changed anywhere, with
// sums that fit so that what stands in it is believed.
std::string any_slot(Bytes& bytes, const std::string& path) {
  std::string all;
  {
    PendingSlot slot;
    if (!slot.open(slot_folder(), "00000000-0000-7000-8000-000000000000")) {
      return {};
    }
    slot.hold("{}\n");
    std::ifstream file(slot.path(), std::ios::binary);
    all.assign((std::istreambuf_iterator<char>(file)), {});
  }
  const bool is_frozen = bytes.flag();
  const std::size_t text_at = static_cast<std::size_t>(slot_text_offset(0));
  const bool changed = bytes.flag();
  if (changed) {
    std::string head = all.substr(0, text_at);
    change_bytes(head, bytes);
    all.replace(0, text_at, head);
  }
  const std::string_view text = bytes.rest().substr(
      0, std::min<std::size_t>(bytes.rest().size(), kRecordBufferBytes));
  all.resize(std::max(all.size(), text_at + text.size()));
  all.replace(text_at, text.size(), text);
  auto* const header = reinterpret_cast<SlotHeader*>(all.data());
  header->magic = SlotHeader::kMagic;
  header->pid = dead_process();
  header->active = 0;
  header->folder = {};
  slot_folder().copy(header->folder.data(), header->folder.size() - 1);
  header->texts[0] = {text.size(), slot_checksum(text),
                      is_frozen ? SlotState::kFrozen : SlotState::kRunning};
  std::ofstream(path, std::ios::binary) << all;
  return all;
}

void recover_any_slot(Bytes& bytes) {
  const std::string path = slot_folder() + "/" + std::string(kSlotPrefix) +
                           std::to_string(dead_process()) + "-fuzz";
  any_slot(bytes, path);
  RecordSink sink({.folder = slot_folder()});
  const Recovered recovered = recover_pending(sink);
  require(!std::filesystem::exists(path), "the slot is left for ever");
  require(recovered.appended + recovered.damaged == 1, "the slot is ignored");
  std::ifstream file(sink.records_path(), std::ios::binary);
  for (std::string line; std::getline(file, line);) {
    check_line(line + "\n", false);
  }
  std::filesystem::remove(sink.records_path());
}

}  // namespace
}  // namespace mishap::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  using namespace mishap::fuzz;  // NOLINT(google-build-using-namespace)
  Bytes bytes(data, size);
  switch (bytes.up_to(3)) {
    case 0:
      write_any_record(bytes);
      break;
    case 1:
      read_any_file(bytes);
      break;
    case 2:
      redact_any_text(bytes);
      break;
    default:
      recover_any_slot(bytes);
  }
  return 0;
}
