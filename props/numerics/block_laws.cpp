// Laws about blocks and their scales: N5, N6.

#include <rapidcheck.h>

#include <algorithm>

#include "model/numerics/profile.hpp"
#include "props/numerics/grid.hpp"
#include "props/numerics/laws.hpp"

namespace mx::props::numerics {
namespace {

constexpr std::uint32_t kSign = 0x80000000U;
constexpr std::uint32_t kInfinity = 0x7F800000U;
constexpr std::uint32_t kMantissa = 0x007FFFFFU;
constexpr std::uint32_t kNanScale = 0xFFU;

/// The largest byte whose power of two times 2^emax is not above amax; 2^(byte-127+emax) has the fp32 pattern (byte + emax) << 23.
std::uint32_t searched_scale(std::uint32_t amax, std::uint32_t emax) {
  if (amax >= kInfinity) return kNanScale;
  std::uint32_t byte = 0;
  while (byte < 254 && ((byte + 1 + emax) << 23) <= amax) ++byte;
  return byte;
}

std::uint32_t emax_of(const Grid& grid) { return (grid.values.back() >> 23) - 127U; }

/// A block around a common exponent such that every quotient is a normal fp32 number or zero, or one with an Inf or a NaN.
std::vector<std::uint32_t> pick_block(const Grid& grid) {
  constexpr std::uint32_t size = 32;
  const std::uint32_t down = pick_uniform(0, 80);
  std::vector<std::uint32_t> block;
  for (std::uint32_t i = 0; i < size; ++i) {
    const std::uint32_t f32 = pick_boundary(grid);
    const std::uint32_t exponent = (f32 & ~kSign) >> 23;
    // Only numbers from 2^-30 to 2^40, moved down together: far from what fp32 itself would round.
    block.push_back(exponent < 97 || exponent > 167 ? f32 & kSign : f32 - (down << 23));
  }
  if (pick_uniform(0, 15) == 0) block[pick_uniform(0, size - 1)] = kInfinity | (pick_uniform(0, 1) * kSign) | pick_uniform(0, 1);
  return block;
}

/// f32 * 2^(127 - scale) on the exponent field; exact while the result is normal.
std::uint32_t quotient(std::uint32_t f32, std::uint32_t scale) {
  if ((f32 & ~kSign) == 0) return f32;
  return f32 + (127U << 23) - (scale << 23);
}

void check_block(const std::vector<std::uint32_t>& block, const BlockFormat& format, const Grid& grid) {
  std::string elements = "block";
  for (std::uint32_t f32 : block) elements += " " + hex(f32);
  RC_LOG(elements);
  const Conversion how = conversion(profile_named(kOcp), kF32, *format.element);
  const QuantizedBlock quantized = quantize_block(block, kF32, recipe(profile_named(kOcp), format));
  RC_ASSERT(quantized.codes.size() == block.size());
  std::uint32_t amax = 0;
  for (std::uint32_t f32 : block) amax = std::max(amax, f32 & ~kSign);
  RC_ASSERT(quantized.scale == searched_scale(amax, emax_of(grid)));
  for (std::size_t i = 0; i < block.size(); ++i) {
    const std::uint32_t back = dequantize(quantized.codes[i], quantized.scale, format);
    if (quantized.scale == kNanScale) {
      RC_ASSERT(quantized.codes[i] == how.nan_positive);
      RC_ASSERT(back == 0x7FC00000U);
      continue;
    }
    RC_ASSERT(quantized.codes[i] == searched_code(grid, quotient(block[i], quantized.scale), Rounding::nearest_even));
    // Saturated or rounded, an element never leaves the range that its block can express.
    RC_ASSERT((back & ~kSign) <= grid.values.back() + (quantized.scale << 23) - (127U << 23));
  }
}

}  // namespace

Outcome scale_follows_amax(const Law& law) {
  const BlockFormat& format = block_format_named(subject_of(law));
  const Grid& grid = grid_of(format.element->name);
  const auto scale_of = [&](std::uint32_t amax) {
    std::vector<std::uint32_t> block(static_cast<std::size_t>(format.block));
    block[0] = amax;
    return block_scale(block, kF32, recipe(profile_named(kOcp), format));
  };
  const auto property = [&] {
    const std::uint32_t amax = pick_uniform(0, 0x7FFFFFFF);
    RC_ASSERT(scale_of(amax) == searched_scale(amax, emax_of(grid)));
    RC_ASSERT(scale_of(amax | kSign) == scale_of(amax));
  };
  const auto all_cases = [&](Exhaustive& exhaustive) {
    for (std::uint32_t exponent = 0; exponent < 256; ++exponent) {
      for (std::uint32_t mantissa : {0U, 1U, 0x3FFFFFU, 0x400000U, 0x600000U, kMantissa - 1U, kMantissa}) {
        const std::uint32_t amax = (exponent << 23) | mantissa;
        const std::uint32_t scale = scale_of(amax);
        const std::uint32_t expected = searched_scale(amax, emax_of(grid));
        exhaustive.expect(scale == expected, [&] { return "amax " + hex(amax) + " gives scale " + hex(scale) + ", not " + hex(expected); });
      }
    }
  };
  return run_both(law, property, all_cases);
}

Outcome blocks_round_once(const Law& law) {
  const BlockFormat& format = block_format_named(subject_of(law));
  const Grid& grid = grid_of(format.element->name);
  const auto property = [&] { check_block(pick_block(grid), format, grid); };
  const auto all_cases = [&](Exhaustive& exhaustive) {
    for (std::uint32_t code = 0; code < (1U << format.element->width); ++code) {
      exhaustive.expect(dequantize(code, kNanScale, format) == 0x7FC00000U, [&] { return "code " + hex(code) + " under scale 0xFF is a number"; });
    }
  };
  return run_both(law, property, all_cases);
}

}  // namespace mx::props::numerics
