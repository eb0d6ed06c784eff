#include <mishap/collector/label/category_rules.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <span>

namespace mishap::collector::detail {
namespace {

struct Rule {
  std::string_view text;
  std::string_view category;
};

constexpr std::array kSignals = std::to_array<Rule>({
    {"SIGSEGV", "crash"},
    {"SIGBUS", "crash"},
    {"SIGILL", "crash"},
    {"SIGSYS", "permission_denied"},
    {"SIGFPE", "arithmetic"},
    {"SIGABRT", "aborted"},
    {"SIGXFSZ", "disk_full"},
    {"SIGXCPU", "timeout"},
    {"SIGKILL", "killed"},
    {"SIGINT", "interrupted"},
    {"SIGTERM", "interrupted"},
});

// LibTorch's types too: names are all that is known of them here.
constexpr std::array kTypes = std::to_array<Rule>({
    {"std::bad_alloc", "out_of_memory"},
    {"std::bad_array_new_length", "out_of_memory"},
    {"c10::OutOfMemoryError", "out_of_memory"},
    {"std::out_of_range", "index_out_of_range"},
    {"c10::IndexError", "index_out_of_range"},
    {"std::invalid_argument", "invalid_argument"},
    {"std::domain_error", "invalid_argument"},
    {"std::length_error", "invalid_argument"},
    {"c10::ValueError", "invalid_argument"},
    {"mishap::InputError", "invalid_argument"},
    {"mishap::CheckpointError", "corrupt_data"},
    {"mishap::NothingRan", "no_data"},
    {"c10::TypeError", "type_mismatch"},
    {"std::bad_cast", "type_mismatch"},
    {"std::bad_any_cast", "type_mismatch"},
    {"std::bad_variant_access", "type_mismatch"},
    {"std::bad_typeid", "missing_value"},
    {"std::bad_optional_access", "missing_value"},
    {"std::bad_function_call", "missing_value"},
    {"std::bad_weak_ptr", "missing_value"},
    {"c10::NotImplementedError", "not_implemented"},
    {"c10::LinAlgError", "arithmetic"},
    {"std::overflow_error", "arithmetic"},
    {"std::underflow_error", "arithmetic"},
    {"std::range_error", "arithmetic"},
    {"mishap::NonFinite", "non_finite"},
    {"c10::EnforceFiniteError", "non_finite"},
    {"mishap::Interrupted", "interrupted"},
    {"mishap::ContractViolated", "contract_violated"},
    {"mishap::DeviceLost", "device_error"},
    {"c10::CUDAError", "device_error"},
    {"c10::AcceleratorError", "device_error"},
    {"gloo::IoException", "network"},
    {"gloo::TimeoutException", "timeout"},
    {"c10::DistNetworkError", "network"},
    {"c10::DistStoreError", "network"},
    {"c10::DistBackendError", "network"},
});

constexpr std::array<std::string_view, 5> kTypesWithCode = {
    "std::system_error", "std::filesystem::filesystem_error",
    "std::filesystem::__cxx11::filesystem_error", "mishap::FileError",
    "std::ios_base::failure"};

struct CodeRule {
  int code;
  std::string_view name;
  std::string_view category;
};

constexpr std::array kCodes = std::to_array<CodeRule>({
    {ENOENT, "ENOENT", "path_not_found"},
    {ENOTDIR, "ENOTDIR", "path_not_found"},
    {EISDIR, "EISDIR", "path_not_found"},
    {ELOOP, "ELOOP", "path_not_found"},
    {ENAMETOOLONG, "ENAMETOOLONG", "path_not_found"},
    {ENODEV, "ENODEV", "device_error"},
    {ENXIO, "ENXIO", "device_error"},
    {EACCES, "EACCES", "permission_denied"},
    {EPERM, "EPERM", "permission_denied"},
    {EROFS, "EROFS", "permission_denied"},
    {ENOSPC, "ENOSPC", "disk_full"},
    {EDQUOT, "EDQUOT", "disk_full"},
    {EFBIG, "EFBIG", "disk_full"},
    {ENOMEM, "ENOMEM", "out_of_memory"},
    {EMFILE, "EMFILE", "resource_exhausted"},
    {ENFILE, "ENFILE", "resource_exhausted"},
    {EAGAIN, "EAGAIN", "resource_exhausted"},
    {EIO, "EIO", "io_error"},
    {ESTALE, "ESTALE", "io_error"},
    {EBADF, "EBADF", "io_error"},
    {EBUSY, "EBUSY", "io_error"},
    {EINTR, "EINTR", "io_error"},
    {EXDEV, "EXDEV", "io_error"},
    {EILSEQ, "EILSEQ", "corrupt_data"},
    {EINVAL, "EINVAL", "invalid_argument"},
    {ETIMEDOUT, "ETIMEDOUT", "timeout"},
    {EPIPE, "EPIPE", "network"},
    {ECONNREFUSED, "ECONNREFUSED", "network"},
    {ECONNRESET, "ECONNRESET", "network"},
    {ECONNABORTED, "ECONNABORTED", "network"},
    {ENOTCONN, "ENOTCONN", "network"},
    {EADDRINUSE, "EADDRINUSE", "network"},
    {EADDRNOTAVAIL, "EADDRNOTAVAIL", "network"},
    {ENETDOWN, "ENETDOWN", "network"},
    {ENETUNREACH, "ENETUNREACH", "network"},
    {EHOSTUNREACH, "EHOSTUNREACH", "network"},
});

constexpr std::array kActions = std::to_array<Rule>({
    {"hang", "hang"},
    {"nan", "non_finite"},
    {"inf", "non_finite"},
    {"zero", "corrupt_data"},
    {"bitflip", "corrupt_data"},
    {"corrupt", "corrupt_data"},
    {"short", "io_error"},
    {"torn", "io_error"},
    {"abort", "aborted"},
    {"panic", "aborted"},
    {"exit", "exited"},
    {"interrupt", "interrupted"},
});

constexpr std::array kFamilies = std::to_array<Rule>({
    {"alloc/", "out_of_memory"},
    {"io/", "io_error"},
    {"comm/", "network"},
    {"loader/", "data_loading"},
});

// In lower case; the first one that a message holds counts, so those that say
// more stand before those that say less.
constexpr std::array kPhrases = std::to_array<Rule>({
    {"out of memory", "out_of_memory"},
    {"can't allocate memory", "out_of_memory"},
    {"cannot allocate memory", "out_of_memory"},
    {"not enough memory", "out_of_memory"},
    {"on the same device", "device_mismatch"},
    {"expected device", "device_mismatch"},
    {"cuda error", "device_error"},
    {"cudnn error", "device_error"},
    {"cublas error", "device_error"},
    {"hip error", "device_error"},
    {"device-side assert", "device_error"},
    {"nccl error", "network"},
    {"nvidia driver", "device_error"},
    {"not compiled with cuda", "device_error"},
    {"no cuda gpus", "device_error"},
    {"invalid device", "device_error"},
    {"invalid device string", "device_error"},
    {"expected one of cpu, cuda", "device_error"},
    {"shapes cannot be multiplied", "shape_mismatch"},
    {"size mismatch", "shape_mismatch"},
    {"must match the size of", "shape_mismatch"},
    {"sizes of tensors must match", "shape_mismatch"},
    {"equal size, but got", "shape_mismatch"},
    {"invalid for input of size", "shape_mismatch"},
    {"expected input batch_size", "shape_mismatch"},
    {"more than 1 value per channel", "shape_mismatch"},
    {"inconsistent tensor size", "shape_mismatch"},
    {"incompatible shape", "shape_mismatch"},
    {"shape mismatch", "shape_mismatch"},
    {"must be broadcastable", "shape_mismatch"},
    {"doesn't match the broadcast shape", "shape_mismatch"},
    {"expected scalar type", "dtype_mismatch"},
    {"expected tensor for argument", "dtype_mismatch"},
    {"to have the same dtype", "dtype_mismatch"},
    {"same dtype", "dtype_mismatch"},
    {"result type", "dtype_mismatch"},
    {"out of bounds", "index_out_of_range"},
    {"out of range", "index_out_of_range"},
    {"zerodivisionerror", "arithmetic"},
    {"division by zero", "arithmetic"},
    {"nan values", "non_finite"},
    {"is nan", "non_finite"},
    {"not finite", "non_finite"},
    {"does not require grad", "autograd_misuse"},
    {"backward through the graph a second time", "autograd_misuse"},
    {"modified by an inplace operation", "autograd_misuse"},
    {"a leaf variable", "autograd_misuse"},
    {"implicitly created only for scalar", "autograd_misuse"},
    {"not implemented for", "not_implemented"},
    {"could not run '", "not_implemented"},
    {"connection reset", "network"},
    {"connection closed", "network"},
    {"connection refused", "network"},
    {"address already in use", "network"},
    {"timed out", "timeout"},
    {"timeout", "timeout"},
    {"no such file or directory", "path_not_found"},
    {"permission denied", "permission_denied"},
    {"operation not permitted", "permission_denied"},
    {"read-only file system", "permission_denied"},
    {"no space left on device", "disk_full"},
    {"too many open files", "resource_exhausted"},
    {"input/output error", "io_error"},
    {"cannot open shared object file", "library_not_found"},
    {"undefined symbol", "library_not_found"},
    {"pytorchstreamreader failed", "corrupt_data"},
    {"corrupt", "corrupt_data"},
    {"unexpected end of", "corrupt_data"},
    {"invalid utf-8", "corrupt_data"},
    {"parse error", "corrupt_data"},
    {"internal assert failed", "assertion"},
    {"assertion", "assertion"},
    {"invalid argument", "invalid_argument"},
});

// The phrases that begin with one character, in their order: a message is read
// once, whatever the number of phrases.
struct Beginning {
  std::array<std::uint8_t, 16> all{};
  std::size_t size = 0;

  constexpr std::span<const std::uint8_t> indices() const {
    return {all.data(), size};
  }
};

constexpr auto kBeginnings = [] {
  std::array<Beginning, 128> beginnings{};
  for (std::size_t i = 0; i < kPhrases.size(); ++i) {
    Beginning& beginning =
        beginnings[static_cast<unsigned char>(kPhrases[i].text.front())];
    beginning.all[beginning.size++] = static_cast<std::uint8_t>(i);
  }
  return beginnings;
}();

template <std::size_t kSize>
std::string_view find_text(const std::array<Rule, kSize>& rules,
                           std::string_view text) {
  const auto found = std::ranges::find(rules, text, &Rule::text);
  return found == rules.end() ? std::string_view() : found->category;
}

// The argument list of `name(...)`; nothing for another action.
std::string_view argument_of(std::string_view action, std::string_view name) {
  if (!action.starts_with(name)) return {};
  action.remove_prefix(name.size());
  if (!action.starts_with('(')) return {};
  action.remove_prefix(1);
  return action.substr(0, action.find_first_of(",)"));
}

}  // namespace

std::string_view category_of_signal(std::string_view name) noexcept {
  return find_text(kSignals, name);
}

std::string_view category_of_type(std::string_view type) noexcept {
  return find_text(kTypes, type);
}

bool tells_by_code(std::string_view type) noexcept {
  // "std::ios_base::failure[abi:cxx11]" and its like.
  return std::ranges::find(kTypesWithCode, type.substr(0, type.find('['))) !=
         kTypesWithCode.end();
}

std::string_view category_of_errno(std::int64_t code) noexcept {
  const auto found = std::ranges::find(kCodes, code, &CodeRule::code);
  return found == kCodes.end() ? std::string_view() : found->category;
}

std::string_view category_of_fault(std::string_view point,
                                   std::string_view action) noexcept {
  const std::string_view code = argument_of(action, "errno");
  const auto by_name = std::ranges::find(kCodes, code, &CodeRule::name);
  if (by_name != kCodes.end()) return by_name->category;
  const std::string_view signal =
      find_text(kSignals, argument_of(action, "signal"));
  if (!signal.empty()) return signal;
  const std::string_view done =
      find_text(kActions, action.substr(0, action.find('(')));
  if (!done.empty()) return done;
  for (const Rule& family : kFamilies) {
    if (point.starts_with(family.text)) return family.category;
  }
  return {};
}

std::string_view category_of_text(std::string_view message,
                                  std::string_view& phrase) noexcept {
  // What an error is stands at its beginning; the rest may be a stack.
  std::array<char, 600> lower;
  const std::size_t size = std::min(message.size(), lower.size());
  std::transform(message.begin(),
                 message.begin() + static_cast<std::ptrdiff_t>(size),
                 lower.begin(), [](char c) {
                   return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
                 });
  const std::string_view text(lower.data(), size);
  std::size_t best = kPhrases.size();
  for (std::size_t at = 0; at < size; ++at) {
    const auto first = static_cast<unsigned char>(text[at]);
    if (first >= kBeginnings.size()) continue;
    for (const std::uint8_t index : kBeginnings[first].indices()) {
      if (index >= best) break;
      if (text.substr(at).starts_with(kPhrases[index].text)) best = index;
    }
  }
  if (best == kPhrases.size()) return {};
  phrase = kPhrases[best].text;
  return kPhrases[best].category;
}

}  // namespace mishap::collector::detail
