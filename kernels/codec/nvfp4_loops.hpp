#pragma once
// NVFP4 blocks in loops without branches that compilers turn into vectors of whatever the including file is compiled for: everything here is private
// to its file.

#include "kernels/codec/nvfp4_plan.hpp"

namespace mx::kernels {
namespace {

constexpr size_t kBatch = 16;  // blocks
constexpr size_t kElements = kBatch * kNvfp4Block;
constexpr uint32_t kInfinity = 0x7F800000U;
/// Numbers between these have room for every step in fp32: no result of one is subnormal, infinite or flushed.
constexpr float kTiny = 0x1p-100F;
constexpr float kHuge = 0x1p+100F;
constexpr float kSmallestNormal = 0x1p-126F;
constexpr float kSixth = 0x1.555556p-3F;

inline float number(uint32_t bits) { return __builtin_bit_cast(float, bits); }
inline uint32_t bits_of(float value) { return __builtin_bit_cast(uint32_t, value); }

/// fp16 bits as fp32 bits.
inline uint32_t widened(uint32_t fp16) {
  const uint32_t sign = (fp16 & 0x8000U) << 16;
  const uint32_t magnitude = fp16 & 0x7FFFU;
  const uint32_t normal = (magnitude + (112U << 10)) << 13;
  const uint32_t special = kInfinity | (magnitude & 0x3FFU) << 13;
  const uint32_t subnormal = bits_of(static_cast<float>(static_cast<int32_t>(magnitude)) * 0x1p-24F);
  const uint32_t number_bits = magnitude >= 0x0400U ? normal : subnormal;
  return sign | (magnitude >= 0x7C00U ? special : number_bits);
}

template <ElementSource kSource>
void load(const void* elements, size_t first, size_t count, uint32_t* x) {
  for (size_t i = 0; i < count; ++i) {
    if constexpr (kSource == ElementSource::f32) {
      x[i] = static_cast<const uint32_t*>(elements)[first + i];
    } else {
      const uint32_t word = static_cast<const uint16_t*>(elements)[first + i];
      x[i] = kSource == ElementSource::bf16 ? word << 16 : widened(word);
    }
  }
}

/// Code of a magnitude, nearest even and saturating: the rounding of upper_half.hpp for one format.
template <uint32_t kMantissaBits, uint32_t kHalfUnit, uint32_t kLargest>
inline uint32_t code_of(uint32_t bits) {
  const uint32_t magnitude = bits & 0x7FFFFFFFU;
  const uint32_t upper = magnitude >> 16 | ((magnitude & 0xFFFFU) != 0 ? 1U : 0U);
  const uint32_t distance = upper > kHalfUnit ? upper - kHalfUnit : 0U;
  const uint32_t above = distance < kLargest ? distance : kLargest;
  const uint32_t steps = above >> 7;
  const uint32_t low_steps = steps < kMantissaBits + 1U ? steps : kMantissaBits + 1U;
  const uint32_t moved_up = ((above & 0x7FU) | 0x80U) << low_steps;
  return ((moved_up + 0x7FU + (moved_up >> 8 & 1U)) >> 8) + ((steps - low_steps) << kMantissaBits);
}

constexpr uint32_t kE4m3HalfUnit = (127U - 10U) << 7;
constexpr uint32_t kE2m1HalfUnit = (127U - 2U) << 7;
inline uint32_t e4m3_code(float value) { return code_of<3, kE4m3HalfUnit, 0x43E0U - kE4m3HalfUnit>(bits_of(value)); }
inline uint32_t e2m1_code(float value) { return code_of<1, kE2m1HalfUnit, 0x40C0U - kE2m1HalfUnit>(bits_of(value)); }

/// The number of a positive, finite E4M3 code.
inline float e4m3_number(uint32_t code) {
  const float subnormal = static_cast<float>(static_cast<int32_t>(code)) * 0x1p-9F;
  const float normal = number((code + (120U << 3)) << 20);
  return code < 8U ? subnormal : normal;
}

/// Scales of a batch: what elements are multiplied by, codes, and 1 for irregular blocks.
void scales_of(const Nvfp4Plan& plan, const uint32_t* amax, float* multiplier, uint32_t* code, uint32_t* irregular) {
  for (size_t b = 0; b < kBatch; ++b) {
    const float largest = number(amax[b]);
    const float part = plan.divides_by_six != 0 ? largest / 6.0F : largest * kSixth;
    const float exact = plan.divides_by_six != 0 ? part / plan.factor : part * plan.factor;
    const float wanted = exact < plan.least_wanted ? plan.least_wanted : exact;
    const uint32_t scale = e4m3_code(wanted);
    const float s = e4m3_number(scale);
    const float product = s * plan.reciprocal;
    const float by = plan.divides_by_scale != 0 ? plan.reciprocal / s : 1.0F / product;
    const bool room = (part >= kSmallestNormal) & (exact <= plan.largest_wanted) & (scale != 0) & (product > kTiny) & (product < kHuge) &
                      (by > kTiny) & (by < kHuge);
    const bool zero = amax[b] == 0;
    irregular[b] = (zero ? plan.zero_is_regular != 0 : room & (amax[b] < kInfinity)) ? 0U : 1U;
    code[b] = zero ? plan.zero_scale : scale;
    multiplier[b] = zero ? 0.0F : by;
  }
}

template <ElementSource kSource>
void run(const Nvfp4Plan& plan, const void* elements, size_t blocks, uint8_t* codes, uint8_t* scales, uint64_t* irregular) {
  const uint32_t keeps = plan.keeps_zero_sign != 0 ? 8U : 0U;
  for (size_t first = 0; first < blocks; first += kBatch) {
    const size_t count = blocks - first < kBatch ? blocks - first : kBatch;
    alignas(64) uint32_t x[kElements] = {};
    alignas(64) uint32_t amax[kBatch];
    alignas(64) float multiplier[kBatch];
    alignas(64) uint32_t scale[kBatch];
    alignas(64) uint32_t outside[kBatch];
    alignas(64) uint8_t packed[kElements / 2];
    load<kSource>(elements, first * kNvfp4Block, count * kNvfp4Block, x);
    for (size_t b = 0; b < kBatch; ++b) {
      uint32_t largest = 0;
      for (size_t i = 0; i < kNvfp4Block; ++i) {
        const uint32_t magnitude = x[b * kNvfp4Block + i] & 0x7FFFFFFFU;
        largest = magnitude > largest ? magnitude : largest;
      }
      amax[b] = largest;
    }
    scales_of(plan, amax, multiplier, scale, outside);
    for (size_t b = 0; b < kBatch; ++b) {
      for (size_t i = b * kNvfp4Block; i < (b + 1) * kNvfp4Block; ++i) {
        const float product = number(x[i]) * multiplier[b];
        const uint32_t sign = bits_of(product) >> 28 & 8U;
        x[i] = e2m1_code(product) | (sign & (product == 0.0F ? keeps : 8U));
      }
    }
    for (size_t i = 0; i < kElements / 2; ++i) packed[i] = static_cast<uint8_t>(x[2 * i] | x[2 * i + 1] << 4);
    __builtin_memcpy(codes + first * kNvfp4Block / 2, packed, count * kNvfp4Block / 2);
    for (size_t b = 0; b < count; ++b) {
      scales[first + b] = static_cast<uint8_t>(scale[b]);
      irregular[(first + b) / 64] |= static_cast<uint64_t>(outside[b]) << ((first + b) % 64);
    }
  }
}

void quantize(const Nvfp4Plan& plan, const void* elements, size_t blocks, uint8_t* codes, uint8_t* scales, uint64_t* irregular) {
  Nvfp4Quantize* const by_source[] = {run<ElementSource::f32>, run<ElementSource::bf16>, run<ElementSource::fp16>};
  by_source[static_cast<uint32_t>(plan.source)](plan, elements, blocks, codes, scales, irregular);
}

}  // namespace
}  // namespace mx::kernels
