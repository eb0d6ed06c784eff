#pragma once

#include <filesystem>
#include <memory>

namespace mishap {

struct TrainerOptions;

/// A folder for the files of one sweep world, which becomes the root_dir of its
/// options: in memory where there is a file system for that, so that the syncs
/// of a save cost a sweep nothing. Keep what it returns in TaskParts::keeps.
/// Throws std::system_error.
std::shared_ptr<void> make_world_folder(TrainerOptions& options);

}  // namespace mishap
