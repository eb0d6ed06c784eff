#include <mishap/collector/modules.h>
#include <mishap/trainer/harness/cli/names_in_child.h>
#include <mishap/trainer/harness/program/frame_names.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>

namespace mishap::program {
namespace {

// LibTorch's symbols alone take a second to read.
constexpr std::uintmax_t kLargeLibrary = 32 << 20;

}  // namespace

void FrameNames::look_up(std::span<const Place> places) {
  std::map<std::uint32_t, std::set<std::uint64_t>> wanted;
  for (const Place& place : places) {
    if (place.module < modules_.all().size() &&
        names_.try_emplace(place).second) {
      // A return address belongs to the instruction after the call.
      wanted[place.module].insert(place.offset == 0 ? 0 : place.offset - 1);
    }
  }
  for (const auto& [module, set] : wanted) {
    const ModuleList::Module& file = modules_.all()[module];
    const bool is_foreign = collector::is_system_module(file.path);
    std::error_code error;
    if (is_foreign &&
        std::filesystem::file_size(file.path, error) > kLargeLibrary) {
      continue;
    }
    const std::string symbols = debug_files_.find(file.path, file.build_id);
    if (symbols.empty()) {
      continue;
    }
    const std::vector<std::uint64_t> offsets(set.begin(), set.end());
    const auto answers = cli::names_in_child(symbols, is_foreign, offsets);
    for (std::size_t i = 0; i < std::min(answers.size(), offsets.size()); ++i) {
      names_[{module, offsets[i] + 1}] = answers[i];
    }
  }
}

const std::vector<collector::NamedFrame>& FrameNames::of(
    const Place& place) const {
  static const std::vector<collector::NamedFrame> none;
  const auto found = names_.find(place);
  return found == names_.end() ? none : found->second;
}

bool FrameNames::is_own(const Place& place) const {
  return std::ranges::any_of(of(place), &collector::NamedFrame::in_app);
}

}  // namespace mishap::program
