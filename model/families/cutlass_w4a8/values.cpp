#include "model/families/cutlass_w4a8/values.hpp"

#include <array>

#include "model/families/building_block.hpp"
#include "model/fault.hpp"
#include "model/numerics/convert.hpp"
#include "model/numerics/f32.hpp"
#include "model/numerics/profile.hpp"

namespace mx::families {
namespace {

constexpr std::uint32_t k448 = 0x43E00000U;       // the largest e4m3 value
constexpr std::uint32_t k448By512 = 0x48600000U;  // a scale is at least the inverse of this
constexpr std::uint32_t kEight = 0x41000000U;
/// -8 to -1 in fp32.
constexpr std::array<std::uint32_t, 8> kFactors{0xC1000000U, 0xC0E00000U, 0xC0C00000U, 0xC0A00000U,
                                                0xC0800000U, 0xC0400000U, 0xC0000000U, 0xBF800000U};

/// torch's cast on the device.
std::uint8_t to_e4m3(std::uint32_t f32_bits) {
  static const Conversion& how = conversion(profile_named("torch-cuda"), kF32, kE4m3fn);
  return static_cast<std::uint8_t>(convert(f32_bits, kF32, kE4m3fn, how));
}

}  // namespace

std::uint64_t w4a8_expand(std::uint8_t scale) {
  static const Conversion& how = conversion(profile_named("cuda-satfinite"), kF32, kE4m3fn);
  const std::uint32_t value = to_f32(scale, kE4m3fn);
  std::uint64_t codes = 0;
  for (std::size_t j = kFactors.size(); j-- > 0;) codes = codes << 8 | convert(f32::mul(value, kFactors[j]), kF32, kE4m3fn, how);
  return codes;
}

std::uint32_t w4a8_quantize_scales(std::span<const std::uint16_t> scales, std::span<std::uint8_t> codes) {
  std::uint32_t largest = 0;
  for (std::uint16_t scale : scales) largest = f32::max(largest, std::uint32_t{scale} << 16 & ~f32::kSign);
  const std::uint32_t row_scale = f32::max(f32::div(largest, k448), f32::div(f32::kOne, k448By512));
  const std::uint32_t inverse = f32::div(f32::kOne, row_scale);
  for (std::size_t i = 0; i < scales.size(); ++i) {
    const std::uint32_t scaled = f32::mul(std::uint32_t{scales[i]} << 16, inverse);
    const std::uint8_t code = to_e4m3(f32::min(f32::max(scaled, k448 | f32::kSign), k448));
    codes[i] = to_e4m3(f32::div(to_f32(code, kE4m3fn), kEight));
  }
  return f32::mul(row_scale, kEight);
}

std::array<std::int32_t, 3> w4a8_layout_words(std::int64_t rows, std::int64_t columns) {
  const std::int64_t blocks = rows / 16;
  return {static_cast<std::int32_t>(blocks), static_cast<std::int32_t>(columns / 32), static_cast<std::int32_t>(512 * blocks)};
}

namespace blocks {

layout::Layout& w4a8_reorder(layout::Layout& layout, std::string_view rows, std::string_view cols) {
  split_off(layout, rows, {{"n8", 2}, {"n1", 8}});
  split_off(layout, cols, {{"k16", 2}, {"k4", 4}, {"k1", 4}});
  if (fault::planted(fault::Fault::w4a8_nibbles_exchanged)) return order(layout, {cols, rows, "n1", "k4", "n8", "k16", "k1"});
  return order(layout, {cols, rows, "n1", "k4", "k16", "n8", "k1"});
}

}  // namespace blocks

}  // namespace mx::families
