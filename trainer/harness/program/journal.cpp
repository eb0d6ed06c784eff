#include <mishap/trainer/guard/errors.h>
#include <mishap/trainer/harness/program/journal.h>
#include <mishap/trainer/harness/program/kept_files.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <system_error>
#include <vector>

namespace mishap::program {
namespace {

// Paths may hold any byte but zero.
std::string escaped(const std::string& text) {
  std::string result = "=";
  for (const char c : text) {
    if (c == '%' || c == '\t' || c == '\n') {
      char code[4];
      std::snprintf(code, sizeof code, "%%%02x", static_cast<unsigned char>(c));
      result += code;
    } else {
      result += c;
    }
  }
  return result;
}

std::string unescaped(const std::string& text) {
  std::string result;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      result += static_cast<char>(
          std::strtol(text.substr(i + 1, 2).c_str(), nullptr, 16));
      i += 2;
    } else {
      result += text[i];
    }
  }
  return result;
}

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream text(line);
  for (std::string field; std::getline(text, field, '\t');) {
    fields.push_back(field);
  }
  return fields;
}

std::string path_of(const std::shared_ptr<const HeldFile>& held) {
  return held ? held->path() : std::string();
}

std::shared_ptr<const HeldFile> held_at(const std::string& path) {
  return path.empty() ? nullptr : std::make_shared<const HeldFile>(path);
}

constexpr std::size_t kFields = 12;

void write_file(std::ostream& out, const std::string& path,
                const KeptFile& file) {
  out << "entry\t" << static_cast<char>(file.kind) << '\t' << file.device
      << '\t' << file.inode << '\t' << file.mode << '\t' << file.size << '\t'
      << file.modified.tv_sec << '\t' << file.modified.tv_nsec << '\t'
      << escaped(path) << '\t' << escaped(file.target) << '\t'
      << escaped(path_of(file.copy)) << '\t' << escaped(path_of(file.name))
      << '\n';
}

KeptFile read_file(const std::vector<std::string>& fields) {
  KeptFile file;
  file.kind = static_cast<FileKind>(fields[1].front());
  file.device = std::strtoull(fields[2].c_str(), nullptr, 10);
  file.inode = std::strtoull(fields[3].c_str(), nullptr, 10);
  file.mode = static_cast<mode_t>(std::atol(fields[4].c_str()));
  file.size = std::atoll(fields[5].c_str());
  file.modified.tv_sec = std::atol(fields[6].c_str());
  file.modified.tv_nsec = std::atol(fields[7].c_str());
  file.target = unescaped(fields[9]);
  file.copy = held_at(unescaped(fields[10]));
  file.name = held_at(unescaped(fields[11]));
  return file;
}

}  // namespace

void write_journal(const std::string& scratch, const Journal& journal) {
  const std::string path = scratch + "/journal";
  const std::string next = path + ".next";
  {
    std::ofstream out(next, std::ios::trunc);
    for (const std::string& folder : journal.folders) {
      out << "folder\t" << escaped(folder) << '\n';
    }
    for (const std::string& file : journal.files) {
      out << "file\t" << escaped(file) << '\n';
    }
    for (const auto& [name, file] : journal.state) {
      write_file(out, name, file);
    }
    out << "end\n";
    if (!out.flush()) {
      throw InputError(next +
                       " can't be written, and without it files could not be "
                       "put back; name a folder with room by --out");
    }
  }
  if (rename(next.c_str(), path.c_str()) != 0) {
    throw std::system_error(errno, std::generic_category(), path);
  }
}

std::optional<Journal> read_journal(const std::string& scratch) {
  std::ifstream in(scratch + "/journal");
  Journal journal;
  for (std::string line; std::getline(in, line);) {
    const std::vector<std::string> fields = fields_of(line);
    if (line == "end") {
      return journal;
    }
    if (fields.size() == 2 && fields[0] == "folder") {
      journal.folders.insert(unescaped(fields[1]));
    } else if (fields.size() == 2 && fields[0] == "file") {
      journal.files.insert(unescaped(fields[1]));
    } else if (fields.size() == kFields && fields[0] == "entry") {
      journal.state.emplace(unescaped(fields[8]), read_file(fields));
    } else {
      break;
    }
  }
  return std::nullopt;
}

bool put_back_from(const std::string& scratch) {
  std::optional<Journal> journal = read_journal(scratch);
  if (!journal) {
    return true;
  }
  const std::string out = scratch.substr(0, scratch.rfind('/'));
  KeptFiles files(scratch + "/kept", {out});
  for (const std::string& folder : journal->folders) {
    files.watch_folder(folder);
  }
  for (const std::string& file : journal->files) {
    files.watch_file(file);
  }
  // Whose the changes are nobody knows any more: nothing is thrown away.
  return files
      .put_back(journal->state, [](const std::string&) { return false; })
      .empty();
}

}  // namespace mishap::program
