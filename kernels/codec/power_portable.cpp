// Power-of-two scales in plain integers: the same steps as the vector kernels, one element at a time.

#include <algorithm>
#include <bit>
#include <cstring>

#include "kernels/codec/plans.hpp"

namespace mx::kernels {
namespace {

constexpr std::uint32_t kMagnitude = 0x7FFFU;
constexpr std::uint32_t kLongestBlock = 128;

/// fp16 bits as fp32 bits; a NaN stays one.
std::uint32_t widened(std::uint32_t fp16) {
  const std::uint32_t sign = (fp16 & 0x8000U) << 16;
  const std::uint32_t magnitude = fp16 & 0x7FFFU;
  if (magnitude >= 0x7C00U) return sign | 0x7F800000U | (magnitude & 0x3FFU) << 13;
  if (magnitude >= 0x0400U) return sign | (magnitude + (112U << 10)) << 13;
  // A subnormal is a whole number of units of 2^-24, which fp32 holds as a normal number.
  return sign | std::bit_cast<std::uint32_t>(static_cast<float>(magnitude) * 0x1p-24F);
}

std::uint32_t upper_half(std::uint32_t f32) { return f32 >> 16 | ((f32 & 0xFFFFU) != 0 ? 1U : 0U); }

template <ElementSource kSource>
std::uint32_t load(const void* elements, std::size_t i) {
  if constexpr (kSource == ElementSource::f32) return upper_half(static_cast<const std::uint32_t*>(elements)[i]);
  const std::uint32_t word = static_cast<const std::uint16_t*>(elements)[i];
  return kSource == ElementSource::bf16 ? word : upper_half(widened(word));
}

std::uint32_t code_of(std::uint32_t x, std::uint32_t half_unit, const PowerPlan& plan) {
  const std::uint32_t magnitude = x & kMagnitude;
  const std::uint32_t above = std::min<std::uint32_t>(magnitude > half_unit ? magnitude - half_unit : 0U, plan.largest);
  const std::uint32_t steps = above >> 7;
  const std::uint32_t low_steps = std::min<std::uint32_t>(steps, plan.mantissa_bits + 1U);
  const std::uint32_t moved_up = ((above & 0x7FU) | 0x80U) << low_steps;
  const std::uint32_t odd = moved_up >> 8 & plan.even;
  const std::uint32_t code = ((moved_up + 0x7FU + odd) >> 8) + ((steps - low_steps) << plan.mantissa_bits);
  const bool negative = (x & 0x8000U) != 0 && (code != 0 || plan.keeps_zero_sign != 0);
  return code | (negative ? 1U << (plan.width - 1U) : 0U);
}

/// False for an irregular block.
template <ElementSource kSource>
bool quantize_one(const PowerPlan& plan, const void* elements, std::size_t first, std::uint8_t* codes, std::uint8_t& scale_byte) {
  std::uint32_t x[kLongestBlock];
  std::uint32_t amax = plan.least_amax;
  for (std::size_t i = 0; i < plan.block; ++i) {
    x[i] = load<kSource>(elements, first + i);
    amax = std::max(amax, x[i] & kMagnitude);
  }
  const bool is_zero = amax == 0;
  if (is_zero ? plan.zero_is_regular == 0 : amax < plan.amax_from || amax - plan.amax_from > plan.amax_span) return false;
  const std::uint32_t scale = is_zero ? plan.zero_scale : ((amax + plan.scale_addend) >> 7) - plan.scale_offset;
  const std::uint32_t half_unit = ((scale - plan.half_unit_offset) << 7) & 0xFFFFU;
  scale_byte = static_cast<std::uint8_t>(scale);
  for (std::size_t i = 0; i < plan.block; ++i) x[i] = code_of(x[i], half_unit, plan);
  for (std::size_t i = 0; i < code_bytes(plan); ++i) {
    codes[i] = static_cast<std::uint8_t>(plan.width == 4 ? x[2 * i] | x[2 * i + 1] << 4 : x[i]);
  }
  return true;
}

template <ElementSource kSource>
void run(const PowerPlan& plan, const void* elements, std::size_t blocks, std::uint8_t* codes, std::uint8_t* scales, std::uint64_t* irregular) {
  for (std::size_t b = 0; b < blocks; ++b) {
    const bool regular = quantize_one<kSource>(plan, elements, b * plan.block, codes + b * code_bytes(plan), scales[b]);
    if (!regular) irregular[b / 64] |= std::uint64_t{1} << (b % 64);
  }
}

}  // namespace

void power_quantize_portable(const PowerPlan& plan, const void* elements, std::size_t blocks, std::uint8_t* codes, std::uint8_t* scales,
                             std::uint64_t* irregular) {
  switch (plan.source) {
    case ElementSource::f32: return run<ElementSource::f32>(plan, elements, blocks, codes, scales, irregular);
    case ElementSource::bf16: return run<ElementSource::bf16>(plan, elements, blocks, codes, scales, irregular);
    case ElementSource::fp16: return run<ElementSource::fp16>(plan, elements, blocks, codes, scales, irregular);
  }
}

}  // namespace mx::kernels
