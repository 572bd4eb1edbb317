// Power-of-two scales with the 128-bit vectors of AArch64: a block stays in registers between its largest magnitude and its codes.

#include "kernels/codec/power_plan.hpp"
#include "kernels/codec/rounding_neon.hpp"

namespace mx::kernels {
namespace {

constexpr size_t kVector = 8;  // elements
constexpr size_t kStore = 32;  // elements whose codes are stored together

/// The scale of a block with this largest magnitude; false for an irregular block.
[[gnu::always_inline]] inline bool scale_of(const PowerPlan& plan, uint32_t amax, uint32_t& scale) {
  if (amax == 0) {
    scale = plan.zero_scale;
    return plan.zero_is_regular != 0;
  }
  scale = ((amax + plan.scale_addend) >> 7) - plan.scale_offset;
  return amax >= plan.amax_from && amax - plan.amax_from <= plan.amax_span;
}

template <ElementSource kSource, uint32_t kBlock, bool kNibbles, ZeroSigns kZeros>
void run(const PowerPlan& plan, const void* elements, size_t blocks, uint8_t* codes, uint8_t* scales, uint64_t* irregular) {
  constexpr size_t kVectors = kBlock / kVector;
  constexpr size_t kStores = kBlock / kStore;
  constexpr size_t kStoreBytes = kNibbles ? kStore / 2 : kStore;
  const Rounding rounding = rounding_of(plan.rounding);
  for (size_t b = 0; b < blocks; ++b) {
    uint16x8_t x[kVectors];
    uint16x8_t largest = set16(plan.least_amax);
    for (size_t j = 0; j < kVectors; ++j) {
      x[j] = load<kSource>(elements, b * kBlock + j * kVector);
      largest = vmaxq_u16(largest, vandq_u16(x[j], set16(0x7FFF)));
    }
    uint32_t scale;
    if (__builtin_expect(!scale_of(plan, vmaxvq_u16(largest), scale), 0)) {
      irregular[b / 64] |= uint64_t{1} << (b % 64);
      continue;
    }
    scales[b] = static_cast<uint8_t>(scale);
    const uint16x8_t half_unit = set16((scale - plan.half_unit_offset) << 7);
    for (size_t j = 0; j < kVectors; ++j) x[j] = codes_of<kZeros>(x[j], half_unit, rounding);
    for (size_t j = 0; j < kStores; ++j) store_codes<kNibbles>(codes + (b * kStores + j) * kStoreBytes, x + j * (kStore / kVector));
  }
}

template <ElementSource kSource, uint32_t kBlock>
PowerQuantize* chosen(const PowerPlan& plan) {
  const bool keeps = plan.rounding.zeros == ZeroSigns::kept;
  if (plan.rounding.width == 4) return keeps ? run<kSource, kBlock, true, ZeroSigns::kept> : run<kSource, kBlock, true, ZeroSigns::dropped>;
  return keeps ? run<kSource, kBlock, false, ZeroSigns::kept> : run<kSource, kBlock, false, ZeroSigns::dropped>;
}

template <ElementSource kSource>
PowerQuantize* chosen(const PowerPlan& plan) {
  return plan.block == 32 ? chosen<kSource, 32>(plan) : chosen<kSource, 128>(plan);
}

}  // namespace

void power_quantize_neon(const PowerPlan& plan, const void* elements, size_t blocks, uint8_t* codes, uint8_t* scales, uint64_t* irregular) {
  PowerQuantize* const by_source[] = {chosen<ElementSource::f32>(plan), chosen<ElementSource::bf16>(plan), chosen<ElementSource::fp16>(plan)};
  by_source[static_cast<uint32_t>(plan.source)](plan, elements, blocks, codes, scales, irregular);
}

}  // namespace mx::kernels
