#include <fcntl.h>
#include <mishap/collector/pending/slot_format.h>
#include <mishap/collector/pending/slot_pulse.h>
#include <unistd.h>

#include <exception>
#include <filesystem>
#include <memory>

namespace mishap::collector {

std::optional<std::uint64_t> slot_pulse(const std::string& records_folder,
                                        pid_t process) noexcept {
  std::optional<std::uint64_t> pulse;
  try {
    const std::string prefix =
        std::string(kSlotPrefix) + std::to_string(process) + "-";
    std::vector<std::string> folders = slot_fallback_folders();
    folders.push_back(records_folder);
    const auto pages = std::make_unique<SlotPages>();
    for (const std::string& folder : folders) {
      std::error_code error;
      for (std::filesystem::directory_iterator entry(folder, error), end;
           !error && entry != end; entry.increment(error)) {
        if (!entry->path().filename().string().starts_with(prefix)) continue;
        const int file = open(entry->path().c_str(), O_RDONLY | O_CLOEXEC);
        const bool is_whole =
            file >= 0 && pread(file, static_cast<void*>(pages.get()),
                               sizeof(SlotPages), 0) == sizeof(SlotPages);
        if (file >= 0) close(file);
        // A program that was only preloaded has a slot, and no hooks.
        if (is_whole && pages->header.magic == SlotHeader::kMagic &&
            pages->box.pulse() != 0) {
          pulse = pulse.value_or(0) + pages->box.pulse();
        }
      }
    }
  } catch (const std::exception&) {
    // Out of memory: as if there were none.
  }
  return pulse;
}

}  // namespace mishap::collector
