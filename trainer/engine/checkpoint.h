#pragma once

#include <mishap/trainer/engine/state.h>
#include <mishap/trainer/guard/errors.h>
#include <mishap/trainer/guard/file_store.h>

#include <filesystem>
#include <string>
#include <string_view>

namespace mishap {

/// A checkpoint that can't be gone on from: damaged, not one at all, or of a
/// module, optimizer or trainer unlike this one. Nothing was loaded.
class CheckpointError : public InputError {
 public:
  using InputError::InputError;
};

/// The bytes of a checkpoint: what torch::pickle_save makes of the state, so
/// that Python's torch.load reads it as a dictionary, and behind that a mark
/// with its length and its XXH3 checksum of 128 bits, by which any damage shows
/// before it is read.
std::string to_checkpoint(const State& state);

/// Throws CheckpointError unless the bytes are those of a whole checkpoint.
/// `path` is for the message.
void check_whole(std::string_view bytes, const std::string& path);

/// The checksum in the bytes of a whole checkpoint, with its kind in front, as
/// "xxh3-128:" and 32 hex digits.
std::string checksum_of(std::string_view bytes);

/// The state in the bytes of a checkpoint; `path` is for the message.
/// @throws CheckpointError
State from_checkpoint(std::string_view bytes, const std::string& path);

/// Reads a checkpoint from a file, and its checksum where that is asked for.
/// @throws FileError when it can't be read, CheckpointError when it is damaged
State read_checkpoint(const std::filesystem::path& path,
                      FileStore& store = FileStore::system(),
                      std::string* checksum = nullptr);

}  // namespace mishap
