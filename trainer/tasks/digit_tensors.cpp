#include <mishap/trainer/tasks/digit_tensors.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <system_error>

namespace mishap::tasks {
namespace {

void read_part(const std::filesystem::path& file, Split split,
               torch::Tensor& images, torch::Tensor& labels) {
  const DigitRows rows = load_digits(file, split);
  const auto count = static_cast<std::int64_t>(rows.size());
  images = torch::tensor(rows.pixels)
               .reshape({count, static_cast<std::int64_t>(DigitRows::kPixels)});
  labels = torch::tensor(rows.labels);
}

std::shared_ptr<const DigitTensors> read_all(
    const std::filesystem::path& file) {
  auto tensors = std::make_shared<DigitTensors>();
  read_part(file, Split::kTrain, tensors->training_images,
            tensors->training_labels);
  read_part(file, Split::kValidation, tensors->validation_images,
            tensors->validation_labels);
  read_part(file, Split::kTest, tensors->test_images, tensors->test_labels);
  return tensors;
}

struct Version {
  std::uintmax_t size = 0;
  std::filesystem::file_time_type time{};
  friend bool operator==(const Version&, const Version&) = default;
};

Version version_of(const std::filesystem::path& file) {
  std::error_code ignored;
  return {std::filesystem::file_size(file, ignored),
          std::filesystem::last_write_time(file, ignored)};
}

struct Kept {
  Version version;
  std::shared_ptr<const DigitTensors> tensors;
};

}  // namespace

std::shared_ptr<const DigitTensors> digit_tensors(
    const std::filesystem::path& file) {
  static std::mutex mutex;
  static auto* const kept = new std::map<std::string, Kept>;
  const std::lock_guard lock(mutex);
  const Version version = version_of(file);
  Kept& entry = (*kept)[file.string()];
  if (entry.tensors == nullptr || entry.version != version) {
    entry.tensors = nullptr;
    entry.tensors = read_all(file);
    entry.version = version;
  }
  return entry.tensors;
}

}  // namespace mishap::tasks
