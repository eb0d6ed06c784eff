#pragma once

#include <mishap/collector/crash/black_box.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace mishap::collector {

class BoxNames;
struct SlotPages;
enum class SlotState : std::uint32_t;

/// A file that holds the record of a run which has not ended yet, so that a
/// process that dies without a word still leaves one.
///
///     PendingSlot slot;
///     slot.open(folder, run_id);          // at entry
///     slot.hold(minimal_record_line);
///     BoxWriter writer;
///     writer.attach(slot.box());          // from here on plain stores
///     writer.enter(place);                // a hook
///     ...
///     slot.freeze(record_line);           // the first error reached the guard
///     ...                                 // cleanup; the record is appended
///     slot.close();                       // removes the file
///
/// The file lies in the records folder when that exists already and is on a
/// local disk, else in $XDG_RUNTIME_DIR, /dev/shm or the temporary folder: a
/// clean run makes no folder, and leaves no file in either place.
/// recover_pending() looks in all of them. The file is readable by its user
/// alone.
///
/// The texts are written by system calls and the black box lies in pages whose
/// space was taken at open(): a full disk costs the slot, never a SIGBUS.
/// In a child made by fork() an open slot turns into private memory without a
/// file, so that a child never touches its parent's record.
class PendingSlot {
 public:
  PendingSlot() noexcept = default;
  ~PendingSlot() { close(); }
  PendingSlot(const PendingSlot&) = delete;
  PendingSlot& operator=(const PendingSlot&) = delete;

  /// Makes the slot of a run that will append to `records_folder`, an absolute
  /// path as RecordSink::folder() gives it. False, and
  /// problem() says why, when no place took it; every other member then does
  /// nothing, and box() is memory of its own. The box starts empty.
  bool open(std::string_view records_folder, std::string_view run_id) noexcept;
  bool is_open() const noexcept { return pages_ != nullptr; }

  /// Stores the complete minimal record of a run that has just begun. Kind,
  /// place fields, breadcrumbs and times of that line are brought up to date
  /// from the box if it is ever recovered, as kind `killed`.
  void hold(std::string_view line) noexcept;

  /// Replaces the text by a record that is complete as it stands. Until the
  /// new one is stored the old one stays valid. Async-signal-safe.
  void freeze(std::string_view line) noexcept;

  /// Where the run is and was. It lies elsewhere after open() and close();
  /// writers are attached anew.
  BlackBox& box() noexcept { return *box_; }
  const BlackBox& box() const noexcept { return *box_; }
  /// The names of what is in the box, null while nobody could read them.
  BoxNames* names() noexcept;

  /// Removes the file: the record was appended, or the run ended well.
  /// Async-signal-safe.
  void close() noexcept;

  /// Removes the file and keeps all else, for a process that ends while another
  /// thread may still store to the box. Async-signal-safe.
  void remove_for_exit() const noexcept;

  /// Path of the file; empty when not open.
  const std::string& path() const noexcept { return path_; }
  /// Why open() failed; empty when it did not.
  const std::string& problem() const noexcept { return problem_; }

 private:
  friend class LiveSlots;

  bool create(const std::string& path, const std::string& folder);
  void store(std::string_view line, SlotState state) noexcept;
  void remove_file() noexcept;
  void leave_to_parent() noexcept;

  BlackBox own_box_;
  BlackBox* box_ = &own_box_;
  SlotPages* pages_ = nullptr;
  int fd_ = -1;
  std::string path_;
  std::string problem_;
};

}  // namespace mishap::collector
