#include <mishap/collector/resolve/unwind_rule.h>

#include <array>
#include <cstddef>
#include <cstring>

// Of libgcc; its header is not installed.
struct dwarf_eh_bases {
  void* text;
  void* data;
  void* function;
};
extern "C" const void* _Unwind_Find_FDE(void* address, dwarf_eh_bases* bases);

namespace mishap::collector::detail {
namespace {

// Numbers of the System V ABI for x86-64.
constexpr std::uint64_t kRbp = 6;
constexpr std::uint64_t kRsp = 7;
constexpr std::uint64_t kReturnAddress = 16;

// Reads the encodings of an .eh_frame section.
class Reader {
 public:
  Reader(const std::uint8_t* begin, const std::uint8_t* end)
      : at_(begin), end_(end) {}

  bool done() const { return at_ >= end_; }
  const std::uint8_t* at() const { return at_; }
  void skip(std::uint64_t bytes) {
    const auto left = static_cast<std::uint64_t>(end_ - at_);
    at_ += bytes < left ? bytes : left;
  }
  template <typename T>
  T fixed() {
    T value{};
    if (end_ - at_ >= static_cast<std::ptrdiff_t>(sizeof(T))) {
      std::memcpy(&value, at_, sizeof(T));
    }
    skip(sizeof(T));
    return value;
  }
  std::uint64_t uleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; !done() && shift < 64; shift += 7) {
      const auto byte = fixed<std::uint8_t>();
      value |= std::uint64_t{byte & 0x7FU} << shift;
      if ((byte & 0x80U) == 0) {
        break;
      }
    }
    return value;
  }
  std::int64_t sleb() {
    std::uint64_t value = 0;
    unsigned shift = 0;
    std::uint8_t byte = 0x80;
    while (!done() && shift < 64 && (byte & 0x80U) != 0) {
      byte = fixed<std::uint8_t>();
      value |= std::uint64_t{byte & 0x7FU} << shift;
      shift += 7;
    }
    if (shift < 64 && (byte & 0x40U) != 0) {
      value |= ~std::uint64_t{0} << shift;
    }
    return static_cast<std::int64_t>(value);
  }

 private:
  const std::uint8_t* at_;
  const std::uint8_t* end_;
};

// An entry of .eh_frame behind its length; empty for the 64-bit form, which
// nobody writes there.
Reader entry_at(const std::uint8_t* entry) {
  std::uint32_t length = 0;
  std::memcpy(&length, entry, sizeof(length));
  const std::uint8_t* body = entry + sizeof(length);
  return {body, length == 0xFFFFFFFFU ? body : body + length};
}

// Bytes of a pointer by the low bits of its encoding; 0: not known.
std::size_t pointer_size(std::uint8_t encoding) {
  constexpr std::array<std::size_t, 8> kSizes = {8, 0, 2, 4, 8, 0, 0, 0};
  constexpr std::uint8_t kAligned = 0x50;
  return encoding == kAligned ? 0 : kSizes[encoding & 0x7U];
}

// What the functions of one compilation have in common.
struct Common {
  bool usable = false;
  bool has_augmentation = false;
  std::uint64_t code_factor = 1;
  std::int64_t data_factor = 1;
  std::size_t address_size = 8;
  Reader instructions{nullptr, nullptr};
};

// False for what takes more than this reader knows.
bool read_augmentation(const char* letters, Reader& reader, Common& common) {
  for (; *letters != '\0'; ++letters) {
    if (*letters == 'R') {
      common.address_size = pointer_size(reader.fixed<std::uint8_t>());
    } else if (*letters == 'P') {
      const std::size_t size = pointer_size(reader.fixed<std::uint8_t>());
      reader.skip(size);
      if (size == 0) {
        return false;
      }
    } else if (*letters == 'L') {
      reader.skip(1);
    } else {
      return false;
    }
  }
  return common.address_size != 0;
}

Common read_common(const std::uint8_t* entry) {
  Common common;
  Reader reader = entry_at(entry);
  reader.skip(sizeof(std::uint32_t));
  const auto version = reader.fixed<std::uint8_t>();
  if (version != 1 && version != 3) {
    return common;
  }
  const auto* letters = reinterpret_cast<const char*>(reader.at());
  reader.skip(std::strlen(letters) + 1);
  common.code_factor = reader.uleb();
  common.data_factor = reader.sleb();
  const std::uint64_t return_register =
      version == 1 ? reader.fixed<std::uint8_t>() : reader.uleb();
  if (return_register != kReturnAddress) {
    return common;
  }
  common.usable = true;
  if (*letters == 'z') {
    common.has_augmentation = true;
    const std::uint64_t size = reader.uleb();
    Reader augmentation = reader;
    common.usable = read_augmentation(letters + 1, augmentation, common);
    reader.skip(size);
  } else if (*letters != '\0') {
    common.usable = false;
  }
  common.instructions = reader;
  return common;
}

// Where the caller's value of a register is found.
struct Saved {
  enum class Where : std::uint8_t { kUnchanged, kAtCfa, kUndefined, kComplex };
  Where where = Where::kUnchanged;
  std::int64_t offset = 0;
};

struct Row {
  bool complex_cfa = true;
  std::uint64_t cfa_register = 0;
  std::int64_t cfa_offset = 0;
  Saved rbp;
  Saved return_address;
};

// Runs call frame instructions up to one address.
class RowMachine {
 public:
  RowMachine(const Common& common, std::uintptr_t location,
             std::uintptr_t target)
      : common_(common), location_(location), target_(target) {}

  // False at an instruction it does not know.
  bool run(Reader instructions) {
    while (!instructions.done() && location_ <= target_) {
      if (!step(instructions)) {
        return false;
      }
    }
    return true;
  }
  void end_common() { initial_ = row_; }
  const Row& row() const { return row_; }

 private:
  static constexpr std::size_t kMaxRemembered = 8;

  bool step(Reader& in) {
    const auto code = in.fixed<std::uint8_t>();
    const std::uint64_t operand = code & 0x3FU;
    switch (code >> 6U) {
      case 1:
        return advance(operand);
      case 2:
        return save(operand, {Saved::Where::kAtCfa, factored(in.uleb())});
      case 3:
        return restore(operand);
      default:
        return step_extended(code, in);
    }
  }

  bool step_extended(std::uint8_t code, Reader& in) {
    using Where = Saved::Where;
    switch (code) {
      case 0x00:  // nop
        return true;
      case 0x02:  // advance_loc1
        return advance(in.fixed<std::uint8_t>());
      case 0x03:  // advance_loc2
        return advance(in.fixed<std::uint16_t>());
      case 0x04:  // advance_loc4
        return advance(in.fixed<std::uint32_t>());
      case 0x06:  // restore_extended
        return restore(in.uleb());
      case 0x07:  // undefined
        return save(in.uleb(), {Where::kUndefined, 0});
      case 0x08:  // same_value
        return save(in.uleb(), {Where::kUnchanged, 0});
      case 0x0A:  // remember_state
        return remember();
      case 0x0B:  // restore_state
        return recall();
      case 0x0C: {  // def_cfa
        const std::uint64_t base = in.uleb();
        return define_cfa(base, static_cast<std::int64_t>(in.uleb()));
      }
      case 0x0D:  // def_cfa_register
        return define_cfa(in.uleb(), row_.cfa_offset);
      case 0x0E:  // def_cfa_offset
        row_.cfa_offset = static_cast<std::int64_t>(in.uleb());
        return true;
      case 0x0F:  // def_cfa_expression
        row_.complex_cfa = true;
        in.skip(in.uleb());
        return true;
      case 0x10:    // expression
      case 0x16: {  // val_expression
        const std::uint64_t target = in.uleb();
        in.skip(in.uleb());
        return save(target, {Where::kComplex, 0});
      }
      case 0x2E:  // GNU_args_size
        in.uleb();
        return true;
      default:
        return false;
    }
  }

  std::int64_t factored(std::uint64_t value) const {
    return static_cast<std::int64_t>(value) * common_.data_factor;
  }
  bool advance(std::uint64_t units) {
    location_ += units * common_.code_factor;
    return true;
  }
  bool define_cfa(std::uint64_t base, std::int64_t offset) {
    row_.complex_cfa = false;
    row_.cfa_register = base;
    row_.cfa_offset = offset;
    return true;
  }
  bool save(std::uint64_t target, Saved saved) {
    if (target == kRbp) {
      row_.rbp = saved;
    } else if (target == kReturnAddress) {
      row_.return_address = saved;
    } else if (target == kRsp) {
      return false;
    }
    return true;
  }
  bool restore(std::uint64_t target) {
    return save(target,
                target == kRbp ? initial_.rbp : initial_.return_address);
  }
  bool remember() {
    if (remembered_size_ == kMaxRemembered) {
      return false;
    }
    remembered_[remembered_size_++] = row_;
    return true;
  }
  bool recall() {
    if (remembered_size_ == 0) {
      return false;
    }
    row_ = remembered_[--remembered_size_];
    return true;
  }

  const Common& common_;
  std::uintptr_t location_;
  std::uintptr_t target_;
  Row row_;
  Row initial_;
  std::array<Row, kMaxRemembered> remembered_{};
  std::size_t remembered_size_ = 0;
};

constexpr UnwindRule kComplexRule{UnwindRule::Kind::kComplex, false, 0, 0};

bool has_plain_offsets(const Row& row) {
  return row.cfa_offset >= 0 && row.cfa_offset < UnwindRule::kMaxCfaOffset &&
         row.rbp.offset <= 0 && row.rbp.offset > -UnwindRule::kMaxCfaOffset;
}

UnwindRule to_rule(const Row& row) {
  using Where = Saved::Where;
  using Kind = UnwindRule::Kind;
  if (row.return_address.where == Where::kUndefined) {
    return {Kind::kOutermost, false, 0, 0};
  }
  const bool usual_return = row.return_address.where == Where::kAtCfa &&
                            row.return_address.offset == -8;
  const bool usual_base = row.cfa_register == kRsp || row.cfa_register == kRbp;
  if (row.complex_cfa || !usual_base || !usual_return ||
      row.rbp.where == Where::kComplex || !has_plain_offsets(row)) {
    return kComplexRule;
  }
  UnwindRule rule;
  rule.kind = row.cfa_register == kRsp ? Kind::kFromRsp : Kind::kFromRbp;
  rule.saves_rbp = row.rbp.where == Where::kAtCfa;
  rule.cfa_offset = static_cast<std::uint32_t>(row.cfa_offset);
  rule.rbp_offset = static_cast<std::int32_t>(row.rbp.offset);
  return rule;
}

}  // namespace

UnwindRule read_unwind_rule(std::uintptr_t address) noexcept {
  dwarf_eh_bases bases{};
  const void* found =
      _Unwind_Find_FDE(reinterpret_cast<void*>(address), &bases);
  if (found == nullptr) {
    return {};
  }
  Reader function = entry_at(static_cast<const std::uint8_t*>(found));
  const std::uint8_t* to_common = function.at();
  const Common common = read_common(to_common - function.fixed<std::int32_t>());
  if (!common.usable) {
    return kComplexRule;
  }
  function.skip(2 * common.address_size);
  if (common.has_augmentation) {
    function.skip(function.uleb());
  }
  RowMachine machine(common, reinterpret_cast<std::uintptr_t>(bases.function),
                     address);
  if (!machine.run(common.instructions)) {
    return kComplexRule;
  }
  machine.end_common();
  return machine.run(function) ? to_rule(machine.row()) : kComplexRule;
}

}  // namespace mishap::collector::detail
