#include "checkpoint/source_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

#include "model/error.hpp"
#include "model/numerics/convert.hpp"

namespace mx::checkpoint {
namespace {

std::uint32_t bf16_wide(std::uint32_t code) { return code << 16U; }
bool bf16_narrow(std::uint32_t bits, std::uint32_t& code) {
  code = bits >> 16U;
  return (bits & 0xFFFFU) == 0;
}

/// NaN keeps its payload.
std::uint32_t fp16_wide(std::uint32_t code) {
  const std::uint32_t sign = code >> 15U << 31U, magnitude = code & 0x7FFFU;
  if (magnitude >= 0x7C00U) return sign | 0x7F800000U | (magnitude & 0x3FFU) << 13U;
  return static_cast<std::uint32_t>(to_f32(code, kFp16));
}
bool fp16_narrow(std::uint32_t bits, std::uint32_t& code) {
  const std::uint32_t sign = bits >> 31U << 15U, magnitude = bits & 0x7FFFFFFFU;
  const int exponent = static_cast<int>(magnitude >> 23U) - 127;
  if (magnitude >= 0x7F800000U) {
    code = sign | 0x7C00U | (magnitude >> 13U & 0x3FFU);
  } else if (exponent >= -14) {
    code = sign | (magnitude - (112U << 23U)) >> 13U;
  } else {
    const int shift = -14 - exponent + 13;
    code = sign | (shift > 24 ? 0 : ((magnitude & 0x7FFFFFU) | 0x800000U) >> shift);
  }
  code &= 0xFFFFU;
  return fp16_wide(code) == bits;
}

/// 2^(byte - 127); byte 255 is NaN.
std::uint32_t e8m0_wide(std::uint32_t code) { return code == 255 ? 0x7FC00000U : code == 0 ? 0x00400000U : code << 23U; }
bool e8m0_narrow(std::uint32_t bits, std::uint32_t& code) {
  code = bits == 0x7FC00000U ? 255 : bits >> 23U;
  return e8m0_wide(code) == bits;
}

constexpr std::array<Widening, 4> kWidenings{{{"BF16", 16, bf16_wide, bf16_narrow},
                                              {"F16", 16, fp16_wide, fp16_narrow},
                                              {"F8_E8M0", 8, e8m0_wide, e8m0_narrow},
                                              {"U8", 8, e8m0_wide, e8m0_narrow}}};

std::uint64_t product(const std::vector<std::int64_t>& shape) {
  return static_cast<std::uint64_t>(std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>()));
}

}  // namespace

const Widening* widening_of(std::string_view dtype, int canonical_bits) {
  if (canonical_bits != 32) return nullptr;
  const auto* const row = std::ranges::find(kWidenings, dtype, &Widening::dtype);
  return row == kWidenings.end() ? nullptr : row;
}

std::vector<std::uint32_t> f32_numbers(const support::SafetensorsFile& file, const support::TensorView& view) {
  const std::vector<std::uint8_t> bytes = file.read(view);
  const Widening* const widening = widening_of(view.dtype->name, 32);
  const auto width = static_cast<std::size_t>(view.dtype->bits) / 8;
  std::vector<std::uint32_t> numbers(bytes.size() / width);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    std::uint32_t code = 0;
    for (std::size_t byte = width; byte-- > 0;) code = code << 8U | bytes[i * width + byte];
    numbers[i] = widening == nullptr ? code : widening->widen(code);
  }
  return numbers;
}

SourceMemory::SourceMemory(const support::TensorEntry& entry, layout::Role role, const layout::Sizes& sizes, const layout::Form& form, bool input_major)
    : widening_(widening_of(entry.dtype, layout::unit_bits(role, form.format))) {
  size_ = widening_ != nullptr ? product(entry.shape) * 4 : support::bytes_of(entry);
  if (!input_major || entry.shape.size() != 3) return;
  // [E, columns, rows] in the file; a byte may hold two columns.
  rows_ = static_cast<std::uint64_t>(entry.shape[2]);
  columns_ = static_cast<std::uint64_t>(entry.shape[1]);
  unit_ = size_ / std::max<std::uint64_t>(static_cast<std::uint64_t>(sizes.experts) * rows_ * columns_, 1);
}

void SourceMemory::read(const support::SafetensorsFile& file, const support::TensorView& view, std::uint64_t begin, std::span<std::uint8_t> out) const {
  if (is_plain()) return file.read(view, begin, out);
  if (rows_ == 0) {
    std::vector<std::uint8_t> codes(out.size() / 4 * width());
    file.read(view, begin / 4 * width(), codes);
    return widen(codes, out);
  }
  const std::uint64_t matrix = turn(), in_file = matrix / unit_ * width();
  std::vector<std::uint8_t> lies(in_file), wide(widening_ == nullptr ? 0 : matrix), made(matrix);
  for (std::uint64_t done = 0; done < out.size();) {
    const std::uint64_t at = begin + done, expert = at / matrix, skipped = at % matrix;
    file.read(view, expert * in_file, lies);
    if (widening_ != nullptr) widen(lies, wide);
    const std::vector<std::uint8_t>& from = widening_ == nullptr ? lies : wide;
    for (std::uint64_t r = 0; r < rows_; ++r) {
      for (std::uint64_t c = 0; c < columns_; ++c) std::copy_n(&from[(c * rows_ + r) * unit_], unit_, &made[(r * columns_ + c) * unit_]);
    }
    const std::uint64_t count = std::min<std::uint64_t>(matrix - skipped, out.size() - done);
    std::copy_n(made.begin() + static_cast<std::ptrdiff_t>(skipped), count, out.begin() + static_cast<std::ptrdiff_t>(done));
    done += count;
  }
}

std::vector<std::uint8_t> SourceMemory::in_file(std::span<const std::uint8_t> canonical) const {
  if (rows_ == 0) return narrowed(canonical);
  const std::uint64_t matrix = turn();
  std::vector<std::uint8_t> bytes(canonical.size());
  for (std::uint64_t from = 0; from < canonical.size(); from += matrix) {
    for (std::uint64_t r = 0; r < rows_; ++r) {
      for (std::uint64_t c = 0; c < columns_; ++c)
        std::copy_n(&canonical[from + (r * columns_ + c) * unit_], unit_, &bytes[from + (c * rows_ + r) * unit_]);
    }
  }
  return widening_ == nullptr ? bytes : narrowed(bytes);
}

std::uint64_t SourceMemory::width() const { return widening_ == nullptr ? unit_ : static_cast<std::uint64_t>(widening_->bits / 8); }

void SourceMemory::widen(std::span<const std::uint8_t> codes, std::span<std::uint8_t> out) const {
  for (std::size_t i = 0; i < out.size() / 4; ++i) {
    std::uint32_t code = 0;
    for (std::size_t byte = width(); byte-- > 0;) code = code << 8U | codes[i * width() + byte];
    const std::uint32_t bits = widening_->widen(code);
    for (std::size_t byte = 0; byte < 4; ++byte) out[4 * i + byte] = static_cast<std::uint8_t>(bits >> 8 * byte);
  }
}

std::vector<std::uint8_t> SourceMemory::narrowed(std::span<const std::uint8_t> canonical) const {
  std::vector<std::uint8_t> bytes(canonical.size() / 4 * width());
  for (std::size_t i = 0; i < canonical.size() / 4; ++i) {
    std::uint32_t bits = 0, code = 0;
    for (std::size_t byte = 4; byte-- > 0;) bits = bits << 8U | canonical[4 * i + byte];
    if (!widening_->narrow(bits, code))
      throw Error(ErrorCode::input,
                  fmt::format("0x{:08x} is no number of {}: what is packed was not made from this checkpoint", bits, widening_->dtype));
    for (std::size_t byte = 0; byte < width(); ++byte) bytes[i * width() + byte] = static_cast<std::uint8_t>(code >> 8 * byte);
  }
  return bytes;
}

}  // namespace mx::checkpoint
