#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mishap::cli {

/// The GNU build-id of an ELF file in hex digits; empty when it has none, or
/// when it is no ELF file.
std::string build_id_of(const std::string& path);

/// The address that an ELF file gives to what lies at that offset in it;
/// nothing where it is not loaded, and of a file that is no ELF file.
std::optional<std::uint64_t> address_of_offset(const std::string& path,
                                               std::uint64_t offset);

/// What an ELF file can tell of its functions.
enum class SymbolsIn { kNothing, kNames, kNamesAndLines };
SymbolsIn symbols_in(const std::string& path);

/// Finds the file that names a module's functions, on this machine or by
/// debuginfod. Only a file with the module's build-id is taken: names from
/// another build would be wrong and look right.
class DebugFiles {
 public:
  /// Searched before the system's folders: each may hold
  /// `.build-id/xx/y.debug`, or files under their own name or path, with
  /// `.debug` behind it or not.
  explicit DebugFiles(std::vector<std::string> folders)
      : folders_(std::move(folders)) {}

  /// The first that has lines: the module's own file, one in the folders, the
  /// system's `/usr/lib/debug`, one that debuginfod fetches. Else the first
  /// that has names. Empty when there is none, or no build-id to know it by.
  std::string find(const std::string& path, const std::string& build_id) const;

 private:
  std::vector<std::string> candidates(const std::string& path,
                                      const std::string& build_id) const;

  std::vector<std::string> folders_;
};

/// Asks the servers in `DEBUGINFOD_URLS` for the debug file of a build-id, as
/// elfutils, gdb and valgrind do, and with their cache.
struct Debuginfod {
  /// Empty when it was not found.
  std::string path;
  /// Why not: 0 when no server is set, else an errno; ENOENT is a server's
  /// answer, ELIBACC says that libdebuginfod is not installed.
  int error = 0;
};
Debuginfod ask_debuginfod(const std::string& build_id);

}  // namespace mishap::cli
