#pragma once

#include <mishap/trainer/guard/contract.h>

#include <filesystem>
#include <memory>

namespace mishap {

/// Makes the folder with a last.ckpt as an earlier run would have left it.
void put_old_checkpoint(const std::filesystem::path& folder);

/// C10: every checkpoint in the folder is whole, the `last.ckpt` of
/// put_old_checkpoint() is still there or replaced by a whole one, and no save
/// has left anything else.
std::unique_ptr<Checker> check_files(std::filesystem::path folder);

}  // namespace mishap
