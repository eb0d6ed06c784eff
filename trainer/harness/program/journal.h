#pragma once

#include <mishap/trainer/harness/program/kept_file.h>

#include <optional>
#include <set>
#include <string>

namespace mishap::program {

/// How the files were before a sweep, on the disk: whoever outlives the
/// supervisor puts them back from it.
struct Journal {
  std::set<std::string> folders;
  std::set<std::string> files;
  KeptState state;
};

/// Replaces the journal in the scratch folder, whole or not at all. Throws
/// std::system_error.
void write_journal(const std::string& scratch, const Journal& journal);

/// Nothing when there is none, or none that can be read.
std::optional<Journal> read_journal(const std::string& scratch);

/// Puts the files back as the journal has them; true when there was nothing
/// that could not be.
bool put_back_from(const std::string& scratch);

}  // namespace mishap::program
