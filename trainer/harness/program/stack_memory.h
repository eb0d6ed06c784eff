#pragma once

#include <mishap/faultinject/sweep/case.h>
#include <mishap/trainer/harness/program/frame_names.h>
#include <mishap/trainer/harness/program/sightings.h>

#include <set>
#include <string>
#include <vector>

namespace mishap::program {

/// The stacks that earlier sweeps tried, in a file, so that a later one tries
/// only new ones. A stack is known by the point and the names of its functions:
/// a rebuild that moves code does not make it new.
class StackMemory {
 public:
  /// Knows nothing and remembers nothing.
  StackMemory() = default;
  /// Reads the file; one that does not exist yet is empty. Throws InputError
  /// naming the line that can't be read.
  explicit StackMemory(std::string path);

  bool knows(const std::string& stack_key,
             const faultinject::sweep::Case& failing) const;
  void add(const std::string& stack_key,
           const faultinject::sweep::Case& failing);
  /// Replaces the file, whole or not at all. Throws InputError.
  void save() const;

 private:
  std::string path_;
  std::set<std::string> tried_;
};

/// A key for each stack: a text of the point and plain function names. Of
/// several stacks with the same names the second, third, ... have keys of
/// their own.
std::vector<std::string> stack_keys(const std::vector<SeenStack>& stacks,
                                    FrameNames& names,
                                    const ModuleList& modules);

}  // namespace mishap::program
