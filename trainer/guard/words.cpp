#include <mishap/trainer/guard/words.h>

#include <array>
#include <cstddef>

namespace mishap {
namespace {

constexpr std::array<std::string_view, 5> kStatusNames = {
    "initializing", "running", "finished", "interrupted", "failed"};
constexpr std::array<std::string_view, 10> kStageNames = {
    "configure", "setup",   "sanity_check",    "train",           "validate",
    "test",      "predict", "save_checkpoint", "load_checkpoint", "teardown"};
constexpr std::array<std::string_view, 3> kFinalWords = {"success", "failed",
                                                         "interrupted"};

}  // namespace

std::string_view to_string(Status status) noexcept {
  return kStatusNames[static_cast<std::size_t>(status)];
}

std::string_view to_string(Stage stage) noexcept {
  return kStageNames[static_cast<std::size_t>(stage)];
}

std::string_view to_string(FinalWord word) noexcept {
  return kFinalWords[static_cast<std::size_t>(word)];
}

}  // namespace mishap
