#include <elf.h>
#include <mishap/trainer/harness/cli/child.h>
#include <mishap/trainer/harness/cli/stored_frames.h>

#include <charconv>
#include <cstring>
#include <fstream>
#include <sstream>
#include <system_error>

namespace mishap::cli {
namespace {

using collector::StoredRecord;

template <class Value>
bool read_at(std::ifstream& file, std::uint64_t offset, Value& value) {
  file.seekg(static_cast<std::streamoff>(offset));
  return static_cast<bool>(
      file.read(reinterpret_cast<char*>(&value), sizeof(Value)));
}

std::string hex(std::string_view bytes) {
  std::ostringstream text;
  text << std::hex;
  for (const char byte : bytes) {
    const unsigned value = static_cast<unsigned char>(byte);
    text << (value >> 4U) << (value & 15U);
  }
  return text.str();
}

std::uint64_t padded(std::uint64_t size) { return (size + 3) / 4 * 4; }

std::string build_id_in(std::ifstream& file, const Elf64_Phdr& notes) {
  for (std::uint64_t at = 0; at + sizeof(Elf64_Nhdr) <= notes.p_filesz;) {
    Elf64_Nhdr note{};
    if (!read_at(file, notes.p_offset + at, note)) {
      break;
    }
    const std::uint64_t text = at + sizeof(note) + padded(note.n_namesz);
    if (note.n_type == NT_GNU_BUILD_ID && note.n_descsz <= 64) {
      std::string bytes(note.n_descsz, '\0');
      file.seekg(static_cast<std::streamoff>(notes.p_offset + text));
      file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
      return file ? hex(bytes) : std::string();
    }
    at = text + padded(note.n_descsz);
  }
  return {};
}

// addr2line's answer: a line with the function and one with file:line for each
// function at the address, the innermost first.
std::vector<collector::NamedFrame> parse(const std::string& answer) {
  std::vector<collector::NamedFrame> frames;
  std::istringstream lines(answer);
  std::string function;
  std::string place;
  while (std::getline(lines, function) && std::getline(lines, place)) {
    if (function == "??") {
      continue;
    }
    collector::NamedFrame frame;
    frame.function = function;
    const std::size_t colon = place.rfind(':');
    if (colon != std::string::npos && !place.starts_with("??")) {
      frame.file = place.substr(0, colon);
      std::from_chars(place.data() + colon + 1, place.data() + place.size(),
                      frame.line);
    }
    frames.push_back(std::move(frame));
  }
  return frames;
}

}  // namespace

std::string build_id_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  Elf64_Ehdr header{};
  if (!file || !read_at(file, 0, header) ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64) {
    return {};
  }
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    if (!read_at(file, header.e_phoff + i * sizeof(segment), segment)) {
      break;
    }
    if (segment.p_type == PT_NOTE) {
      std::string id = build_id_in(file, segment);
      if (!id.empty()) {
        return id;
      }
      file.clear();
    }
  }
  return {};
}

StoredFrames::StoredFrames(const std::string& folder,
                           const std::string& run_id) {
  if (folder.empty() || run_id.empty()) {
    return;
  }
  std::ifstream runs(folder + "/runs.jsonl");
  std::string line;
  while (std::getline(runs, line)) {
    if (line.find(run_id) == std::string::npos) {
      continue;
    }
    try {
      const StoredRecord row = StoredRecord::parse(std::move(line));
      if (row.text("/run_id") != run_id) {
        continue;
      }
      // A run that hung and went on has a second row, which knows more modules.
      files_.clear();
      for (std::size_t i = 0; i < row.size("/modules"); ++i) {
        const std::string module = "/modules/" + std::to_string(i);
        files_.push_back({row.text(module + "/path").value_or(""),
                          row.text(module + "/build_id").value_or("")});
      }
    } catch (const collector::BadRecord&) {
      continue;
    }
  }
}

std::vector<collector::NamedFrame> StoredFrames::name(
    const collector::UnnamedFrame& frame) const {
  if (!frame.module || !frame.offset || *frame.offset == 0 ||
      *frame.module >= files_.size()) {
    return {};
  }
  const File& file = files_[*frame.module];
  if (file.build_id.empty() || build_id_of(file.path) != file.build_id) {
    return {};
  }
  // A return address belongs to the instruction after the call.
  std::ostringstream address;
  address << "0x" << std::hex << *frame.offset - 1;
  try {
    const ChildResult result = run_child(
        {"addr2line", "-C", "-f", "-i", "-e", file.path, address.str()}, {});
    return result.status == 0 ? parse(result.output)
                              : std::vector<collector::NamedFrame>();
  } catch (const std::system_error&) {
    return {};
  }
}

}  // namespace mishap::cli
