#include <dirent.h>
#include <mishap/collector/torch/devices.h>
#include <mishap/collector/torch/fixed_text.h>
#include <mishap/collector/torch/tensor_memory.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace mishap::collector {
namespace {

constexpr std::size_t kMaxCuda = 64;
using CudaModels = std::array<decltype(DeviceState::model), kMaxCuda>;

// The value of "key:  value" in a file of /proc, without the white space around
// it; a view into `storage`.
std::string_view proc_value(const char* path, std::string_view key,
                            std::span<char> storage) {
  std::FILE* file = std::fopen(path, "re");
  if (file == nullptr) {
    return {};
  }
  std::string_view value;
  while (value.empty() &&
         std::fgets(storage.data(), static_cast<int>(storage.size()), file) !=
             nullptr) {
    const std::string_view line(storage.data());
    if (line.starts_with(key)) {
      const std::size_t begin = line.find_first_not_of(" \t", key.size());
      value = line.substr(std::min(begin, line.find('\n')));
      value = value.substr(0, value.find('\n'));
    }
  }
  std::fclose(file);
  return value;
}

std::optional<std::int64_t> available_memory() {
  std::array<char, 128> storage{};
  const std::string_view kilobytes =
      proc_value("/proc/meminfo", "MemAvailable:", storage);
  if (kilobytes.empty()) {
    return std::nullopt;
  }
  return std::strtoll(kilobytes.data(), nullptr, 10) * 1024;
}

// The driver numbers by bus id, as LibTorch does with CUDA_DEVICE_ORDER set to
// PCI_BUS_ID and on machines whose devices are alike.
std::size_t list_cuda(CudaModels& models) {
  constexpr const char* kFolder = "/proc/driver/nvidia/gpus";
  std::array<std::array<char, 32>, kMaxCuda> bus_ids{};
  std::size_t count = 0;
  DIR* folder = opendir(kFolder);
  if (folder == nullptr) {
    return 0;
  }
  while (const dirent* entry = readdir(folder)) {
    if (entry->d_name[0] != '.' && count < kMaxCuda) {
      copy_text(entry->d_name, bus_ids[count++]);
    }
  }
  closedir(folder);
  std::sort(bus_ids.begin(), bus_ids.begin() + static_cast<long>(count));
  for (std::size_t i = 0; i < count; ++i) {
    std::array<char, 128> path{};
    std::array<char, 128> storage{};
    std::snprintf(path.data(), path.size(), "%s/%s/information", kFolder,
                  bus_ids[i].data());
    copy_text(proc_value(path.data(), "Model:", storage), models[i]);
  }
  return count;
}

// Calls `use` with the driver's number of each device that CUDA_VISIBLE_DEVICES
// leaves. A list by UUID names devices that only CUDA could tell apart: then
// the number is that of no device.
template <typename Use>
void for_each_visible(std::size_t count, Use use) {
  const char* list = std::getenv("CUDA_VISIBLE_DEVICES");
  if (list == nullptr) {
    for (std::size_t i = 0; i < count; ++i) {
      use(i);
    }
    return;
  }
  for (std::string_view rest(list); !rest.empty();) {
    const std::string_view item = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), item.size() + 1));
    const bool by_uuid = item.starts_with("GPU-") || item.starts_with("MIG-");
    char* end = nullptr;
    const long index = std::strtol(item.data(), &end, 10);
    const bool by_index = end != item.data() && index >= 0 &&
                          static_cast<std::size_t>(index) < count;
    if (!by_uuid && !by_index) {
      return;
    }
    use(by_index ? static_cast<std::size_t>(index) : count);
  }
}

DeviceState cpu_state() {
  DeviceState state;
  copy_text("cpu", state.name);
  const TensorMemory memory = tensor_memory();
  if (memory.allocations > 0) {
    state.allocated = memory.live_bytes;
    state.peak = memory.peak_bytes;
  }
  state.free = available_memory();
  return state;
}

}  // namespace

std::size_t list_devices(std::span<DeviceState> out) noexcept {
  if (out.empty()) {
    return 0;
  }
  out[0] = cpu_state();
  std::size_t size = 1;
  CudaModels models{};
  const std::size_t count = list_cuda(models);
  for_each_visible(count, [&](std::size_t index) {
    if (size < out.size()) {
      DeviceState state;
      std::snprintf(state.name.data(), state.name.size(), "cuda:%zu", size - 1);
      state.model = index < count ? models[index] : state.model;
      out[size++] = state;
    }
  });
  return size;
}

}  // namespace mishap::collector
