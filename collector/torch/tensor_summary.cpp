#include <ATen/core/Tensor.h>
#include <mishap/collector/torch/tensor_summary.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <type_traits>

namespace mishap::collector {
namespace {

std::string_view dtype_name(at::ScalarType type) {
  switch (type) {
    case at::kByte:
      return "uint8";
    case at::kChar:
      return "int8";
    case at::kShort:
      return "int16";
    case at::kInt:
      return "int32";
    case at::kLong:
      return "int64";
    case at::kHalf:
      return "float16";
    case at::kFloat:
      return "float32";
    case at::kDouble:
      return "float64";
    case at::kBFloat16:
      return "bfloat16";
    case at::kBool:
      return "bool";
    default:
      return c10::toString(type);
  }
}

// What has been seen of the values so far.
struct Range {
  double min = HUGE_VAL;
  double max = -HUGE_VAL;
  std::int64_t values = 0;
  std::int64_t nans = 0;

  void add(double value) {
    ++values;
    nans += std::isnan(value) ? 1 : 0;
    min = value < min ? value : min;
    max = value > max ? value : max;
  }
  void add(const Range& other) {
    values += other.values;
    nans += other.nans;
    min = other.min < min ? other.min : min;
    max = other.max > max ? other.max : max;
  }
};

template <typename T>
Range range_of_block(const T* data, std::int64_t size) {
  // Side by side, since each minimum waits for the one before.
  std::array<Range, 4> lanes;
  std::int64_t i = 0;
  for (; i + 4 <= size; i += 4) {
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
      lanes[lane].add(static_cast<double>(data[i + std::int64_t(lane)]));
    }
  }
  for (; i < size; ++i) {
    lanes[0].add(static_cast<double>(data[i]));
  }
  for (const std::size_t lane : {1, 2, 3}) {
    lanes[0].add(lanes[lane]);
  }
  return lanes[0];
}

// Element `index` in the order of a contiguous tensor, as an offset in memory.
std::int64_t element_offset(const at::Tensor& tensor, std::int64_t index) {
  std::int64_t offset = 0;
  for (std::int64_t dim = tensor.dim(); dim-- > 0;) {
    offset += index % tensor.size(dim) * tensor.stride(dim);
    index /= tensor.size(dim);
  }
  return offset;
}

template <typename T>
Range range_of(const at::Tensor& tensor) {
  const auto* data = static_cast<const T*>(tensor.data_ptr());
  const std::int64_t total = tensor.numel();
  if (total <= TensorSummary::kMaxValues &&
      tensor.is_non_overlapping_and_dense()) {
    return range_of_block(data, total);
  }
  const std::int64_t step =
      (total + TensorSummary::kMaxSamples - 1) / TensorSummary::kMaxSamples;
  Range range;
  for (std::int64_t i = 0; i < total; i += step) {
    range.add(static_cast<double>(data[element_offset(tensor, i)]));
  }
  return range;
}

std::optional<Range> range_of(const at::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case at::kByte:
      return range_of<std::uint8_t>(tensor);
    case at::kChar:
      return range_of<std::int8_t>(tensor);
    case at::kShort:
      return range_of<std::int16_t>(tensor);
    case at::kInt:
      return range_of<std::int32_t>(tensor);
    case at::kLong:
      return range_of<std::int64_t>(tensor);
    case at::kHalf:
      return range_of<at::Half>(tensor);
    case at::kFloat:
      return range_of<float>(tensor);
    case at::kDouble:
      return range_of<double>(tensor);
    case at::kBFloat16:
      return range_of<at::BFloat16>(tensor);
    case at::kBool:
      return range_of<bool>(tensor);
    default:
      return std::nullopt;
  }
}

bool is_readable(const at::Tensor& tensor) {
  return tensor.is_cpu() && tensor.layout() == at::kStrided &&
         tensor.has_storage() &&
         (tensor.numel() == 0 || tensor.data_ptr() != nullptr);
}

void describe_form(const at::Tensor& tensor, TensorSummary& out) {
  out.dtype = dtype_name(tensor.scalar_type());
  const c10::Device device = tensor.device();
  // c10::Device::str() would allocate.
  const std::string type = c10::DeviceTypeName(device.type(), true);
  if (device.has_index()) {
    std::snprintf(out.device.data(), out.device.size(), "%s:%d", type.c_str(),
                  static_cast<int>(device.index()));
  } else {
    std::snprintf(out.device.data(), out.device.size(), "%s", type.c_str());
  }
  out.dims = tensor.dim();
  for (std::int64_t dim = 0;
       dim < std::min<std::int64_t>(out.dims, TensorSummary::kMaxDims); ++dim) {
    out.shape[static_cast<std::size_t>(dim)] = tensor.size(dim);
  }
}

void describe_values(const at::Tensor& tensor, TensorSummary& out) {
  const std::optional<Range> range =
      is_readable(tensor) ? range_of(tensor) : std::nullopt;
  if (!range) {
    return;
  }
  out.nan_count = range->nans;
  out.complete = range->values == tensor.numel();
  if (range->values > range->nans) {
    out.min = range->min;
    out.max = range->max;
  }
}

}  // namespace

TensorSummary summarize(const at::Tensor& tensor) noexcept {
  TensorSummary summary;
  try {
    if (tensor.defined()) {
      describe_form(tensor, summary);
      describe_values(tensor, summary);
    }
  } catch (...) {
    // Subclasses of TensorImpl may refuse any of the questions; what was
    // answered before stays.
  }
  return summary;
}

}  // namespace mishap::collector
