#include <elf.h>
#include <mishap/trainer/harness/cli/debug_files.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

namespace mishap::cli {
namespace {

constexpr std::size_t kMaxSections = 65'536;
constexpr std::uint64_t kMaxNotes = 64 * 1024;

// A 64-bit ELF file, read with every offset checked: it may be cut or damaged.
class Elf {
 public:
  explicit Elf(const std::string& path) : file_(path, std::ios::binary) {
    is_elf_ = file_ && read_at(0, header_) &&
              std::memcmp(header_.e_ident, ELFMAG, SELFMAG) == 0 &&
              header_.e_ident[EI_CLASS] == ELFCLASS64;
  }

  std::string build_id() {
    std::string id;
    for (unsigned i = 0; is_elf_ && id.empty() && i < header_.e_phnum; ++i) {
      Elf64_Phdr segment{};
      if (!read_at(header_.e_phoff + i * sizeof(segment), segment)) break;
      if (segment.p_type == PT_NOTE) {
        id = id_in_notes(segment.p_offset, segment.p_filesz);
      }
    }
    // In a file of debug information alone the segments may point nowhere.
    for_each_section([&](const Elf64_Shdr& section) {
      if (id.empty() && section.sh_type == SHT_NOTE) {
        id = id_in_notes(section.sh_offset, section.sh_size);
      }
    });
    return id;
  }

  std::optional<std::uint64_t> address_of(std::uint64_t offset) {
    constexpr std::uint64_t kPage = 4096;
    for (unsigned i = 0; is_elf_ && i < header_.e_phnum; ++i) {
      Elf64_Phdr segment{};
      if (!read_at(header_.e_phoff + i * sizeof(segment), segment)) break;
      const std::uint64_t begin = segment.p_offset / kPage * kPage;
      if (segment.p_type == PT_LOAD && offset >= begin &&
          offset < segment.p_offset + segment.p_filesz) {
        return segment.p_vaddr - segment.p_offset + offset;
      }
    }
    return std::nullopt;
  }

  SymbolsIn symbols() {
    SymbolsIn found = SymbolsIn::kNothing;
    const std::string names = section_names();
    for_each_section([&](const Elf64_Shdr& section) {
      const bool is_there = section.sh_type != SHT_NOBITS;
      const std::string_view name =
          section.sh_name < names.size() ? names.c_str() + section.sh_name : "";
      if (is_there && (name == ".debug_line" || name == ".zdebug_line")) {
        found = SymbolsIn::kNamesAndLines;
      } else if (section.sh_type == SHT_SYMTAB &&
                 found == SymbolsIn::kNothing) {
        found = SymbolsIn::kNames;
      }
    });
    return found;
  }

 private:
  template <class Value>
  bool read_at(std::uint64_t offset, Value& value) {
    file_.clear();
    file_.seekg(static_cast<std::streamoff>(offset));
    return static_cast<bool>(
        file_.read(reinterpret_cast<char*>(&value), sizeof(Value)));
  }

  std::string bytes_at(std::uint64_t offset, std::uint64_t size) {
    std::string bytes(size, '\0');
    file_.clear();
    file_.seekg(static_cast<std::streamoff>(offset));
    file_.read(bytes.data(), static_cast<std::streamsize>(size));
    return file_ ? bytes : std::string();
  }

  template <class Body>
  void for_each_section(Body body) {
    if (!is_elf_ || header_.e_shentsize != sizeof(Elf64_Shdr)) return;
    for (std::size_t i = 0; i < header_.e_shnum && i < kMaxSections; ++i) {
      Elf64_Shdr section{};
      if (!read_at(header_.e_shoff + i * sizeof(section), section)) return;
      body(section);
    }
  }

  std::string section_names() {
    Elf64_Shdr section{};
    if (!is_elf_ || header_.e_shstrndx >= header_.e_shnum ||
        !read_at(header_.e_shoff + header_.e_shstrndx * sizeof(section),
                 section) ||
        section.sh_size > kMaxNotes * 64) {
      return {};
    }
    return bytes_at(section.sh_offset, section.sh_size) + '\0';
  }

  std::string id_in_notes(std::uint64_t offset, std::uint64_t size) {
    const std::string notes = bytes_at(offset, std::min(size, kMaxNotes));
    const auto padded = [](std::uint64_t length) {
      return (length + 3) / 4 * 4;
    };
    for (std::uint64_t at = 0; at + sizeof(Elf64_Nhdr) <= notes.size();) {
      Elf64_Nhdr note{};
      std::memcpy(&note, notes.data() + at, sizeof(note));
      const std::uint64_t text = at + sizeof(note) + padded(note.n_namesz);
      if (note.n_type == NT_GNU_BUILD_ID && note.n_descsz <= 64 &&
          text + note.n_descsz <= notes.size()) {
        return hex(std::string_view(notes).substr(text, note.n_descsz));
      }
      at = text + padded(note.n_descsz);
    }
    return {};
  }

  static std::string hex(std::string_view bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string text;
    for (const char byte : bytes) {
      text += kDigits[static_cast<unsigned char>(byte) >> 4U];
      text += kDigits[static_cast<unsigned char>(byte) & 15U];
    }
    return text;
  }

  std::ifstream file_;
  Elf64_Ehdr header_{};
  bool is_elf_ = false;
};

// What stands in a path and in an address of a server must be no more than it
// says.
bool is_hex(std::string_view id) {
  return id.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

std::string build_id_of(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) ? Elf(path).build_id()
                                                       : std::string();
}

std::optional<std::uint64_t> address_of_offset(const std::string& path,
                                               std::uint64_t offset) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error)
             ? Elf(path).address_of(offset)
             : std::nullopt;
}

SymbolsIn symbols_in(const std::string& path) { return Elf(path).symbols(); }

std::vector<std::string> DebugFiles::candidates(
    const std::string& path, const std::string& build_id) const {
  const std::string by_id =
      build_id.substr(0, 2) + '/' + build_id.substr(2) + ".debug";
  const std::string name = std::filesystem::path(path).filename().string();
  std::vector<std::string> all = {path};
  for (const std::string& folder : folders_) {
    for (const std::string& file :
         {"/.build-id/" + by_id, '/' + by_id, '/' + build_id + ".debug",
          '/' + name, '/' + name + ".debug", '/' + path,
          '/' + path + ".debug"}) {
      all.push_back(folder + file);
    }
  }
  all.push_back("/usr/lib/debug/.build-id/" + by_id);
  return all;
}

std::string DebugFiles::find(const std::string& path,
                             const std::string& build_id) const {
  if (build_id.size() < 4 || !is_hex(build_id)) return {};
  std::string with_names;
  for (const std::string& file : candidates(path, build_id)) {
    if (build_id_of(file) != build_id) continue;
    const SymbolsIn symbols = symbols_in(file);
    if (symbols == SymbolsIn::kNamesAndLines) return file;
    // A stripped library still has the names that it exports.
    if (with_names.empty() || symbols_in(with_names) < symbols) {
      with_names = file;
    }
  }
  const std::string fetched = ask_debuginfod(build_id).path;
  return fetched.empty() ? with_names : fetched;
}

}  // namespace mishap::cli
