#pragma once

#include <mishap/trainer/guard/contract.h>

#include <filesystem>
#include <memory>

namespace mishap {

/// C10: every checkpoint in the folder is whole, the `last.ckpt` that lay there
/// before the call is still there or replaced by a whole one, and no save has
/// left anything else.
std::unique_ptr<Checker> check_files(std::filesystem::path folder);

}  // namespace mishap
