// Power-of-two scales in plain integers: the same steps as the vector kernels, one element at a time.

#include <algorithm>

#include "kernels/codec/plans.hpp"
#include "kernels/codec/upper_half.hpp"

namespace mx::kernels {
namespace {

constexpr std::uint32_t kMagnitude = 0x7FFFU;
constexpr std::uint32_t kLongestBlock = 128;

/// Bytes of codes that one block gives.
std::size_t code_bytes(const PowerPlan& plan) { return plan.rounding.width == 4 ? plan.block / 2 : plan.block; }

/// False for an irregular block.
template <ElementSource kSource>
bool quantize_one(const PowerPlan& plan, const void* elements, std::size_t first, std::uint8_t* codes, std::uint8_t& scale_byte) {
  std::uint32_t x[kLongestBlock];
  std::uint32_t amax = plan.least_amax;
  for (std::size_t i = 0; i < plan.block; ++i) {
    x[i] = upper_half(f32_at<kSource>(elements, first + i));
    amax = std::max(amax, x[i] & kMagnitude);
  }
  const bool is_zero = amax == 0;
  if (is_zero ? plan.zero_is_regular == 0 : amax < plan.amax_from || amax - plan.amax_from > plan.amax_span) return false;
  const std::uint32_t scale = is_zero ? plan.zero_scale : ((amax + plan.scale_addend) >> 7) - plan.scale_offset;
  const std::uint32_t half_unit = ((scale - plan.half_unit_offset) << 7) & 0xFFFFU;
  scale_byte = static_cast<std::uint8_t>(scale);
  for (std::size_t i = 0; i < plan.block; ++i) x[i] = rounded_code(x[i], half_unit, plan.rounding);
  for (std::size_t i = 0; i < code_bytes(plan); ++i) {
    codes[i] = static_cast<std::uint8_t>(plan.rounding.width == 4 ? x[2 * i] | x[2 * i + 1] << 4 : x[i]);
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
