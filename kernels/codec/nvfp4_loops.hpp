#pragma once
// NVFP4 blocks in loops without branches that compilers turn into vectors of whatever the including file is compiled for: everything here is private
// to its file.

#include "kernels/codec/nvfp4_plan.hpp"

namespace mx::kernels {
namespace {

constexpr size_t kBatch = 64;  // blocks
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
void load(const void* elements, size_t count, uint32_t* x) {
  for (size_t i = 0; i < count; ++i) {
    if constexpr (kSource == ElementSource::f32) {
      x[i] = static_cast<const uint32_t*>(elements)[i];
    } else {
      const uint32_t word = static_cast<const uint16_t*>(elements)[i];
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
template <bool kDividesBySix>
void scales_of(const Nvfp4Plan& plan, const uint32_t* amax, float* multiplier, uint32_t* code, uint32_t* irregular) {
  for (size_t b = 0; b < kBatch; ++b) {
    const float largest = number(amax[b]);
    const float part = kDividesBySix ? largest / 6.0F : largest * kSixth;
    const float exact = kDividesBySix ? part / plan.factor : part * plan.factor;
    const float wanted = exact < plan.least_wanted ? plan.least_wanted : exact;
    const uint32_t scale = e4m3_code(wanted);
    const float s = e4m3_number(scale);
    const float product = s * plan.reciprocal;
    const float by = (plan.divides_by_scale != 0 ? plan.reciprocal : 1.0F) / (plan.divides_by_scale != 0 ? s : product);
    const bool room = (part >= kSmallestNormal) & (exact <= plan.largest_wanted) & (scale != 0) & (product > kTiny) & (product < kHuge) &
                      (by > kTiny) & (by < kHuge);
    const bool zero = amax[b] == 0;
    irregular[b] = (zero ? plan.zero_is_regular != 0 : room & (amax[b] < kInfinity)) ? 0U : 1U;
    code[b] = zero ? plan.zero_scale : scale;
    multiplier[b] = zero ? 0.0F : by;
  }
}

/// The elements of a batch, by loops.
template <ElementSource kSource>
class LoopedBatch {
 public:
  explicit LoopedBatch(const Nvfp4Plan& plan) : keeps_(plan.keeps_zero_sign != 0 ? 8U : 0U) {}

  /// Takes kElements elements, which stay where they are until they are encoded.
  void take(const void* elements) { load<kSource>(elements, kElements, x_); }

  void largest(uint32_t* amax) const {
    for (size_t b = 0; b < kBatch; ++b) {
      uint32_t largest = 0;
      for (size_t i = 0; i < kNvfp4Block; ++i) {
        const uint32_t magnitude = x_[b * kNvfp4Block + i] & 0x7FFFFFFFU;
        largest = magnitude > largest ? magnitude : largest;
      }
      amax[b] = largest;
    }
  }

  /// Codes of the elements, each times its block's multiplier.
  void encode(const float* multiplier, uint8_t* codes) {
    for (size_t b = 0; b < kBatch; ++b) {
      for (size_t i = b * kNvfp4Block; i < (b + 1) * kNvfp4Block; ++i) {
        const float product = number(x_[i]) * multiplier[b];
        const uint32_t sign = bits_of(product) >> 28 & 8U;
        x_[i] = e2m1_code(product) | (sign & (product == 0.0F ? keeps_ : 8U));
      }
    }
    for (size_t i = 0; i < kElements / 2; ++i) codes[i] = static_cast<uint8_t>(x_[2 * i] | x_[2 * i + 1] << 4);
  }

 private:
  uint32_t keeps_;
  alignas(64) uint32_t x_[kElements];
};

template <ElementSource kSource, template <ElementSource> class Batch>
void run(const Nvfp4Plan& plan, const void* elements, size_t blocks, uint8_t* codes, uint8_t* scales, uint64_t* irregular) {
  constexpr size_t kBlockBytes = kNvfp4Block * (kSource == ElementSource::f32 ? 4 : 2);
  Batch<kSource> batch(plan);
  alignas(64) uint32_t amax[kBatch];
  alignas(64) float multiplier[kBatch];
  alignas(64) uint32_t scale[kBatch];
  alignas(64) uint32_t outside[kBatch];
  alignas(64) uint8_t rest[kBatch * kBlockBytes];
  alignas(64) uint8_t rest_codes[kElements / 2];
  for (size_t first = 0; first < blocks; first += kBatch) {
    const size_t count = blocks - first < kBatch ? blocks - first : kBatch;
    const uint8_t* from = static_cast<const uint8_t*>(elements) + first * kBlockBytes;
    uint8_t* const to = codes + first * kNvfp4Block / 2;
    if (count < kBatch) {
      __builtin_memset(rest, 0, sizeof rest);
      from = static_cast<const uint8_t*>(__builtin_memcpy(rest, from, count * kBlockBytes));
    }
    batch.take(from);
    batch.largest(amax);
    (plan.divides_by_six != 0 ? scales_of<true> : scales_of<false>)(plan, amax, multiplier, scale, outside);
    batch.encode(multiplier, count < kBatch ? rest_codes : to);
    if (count < kBatch) __builtin_memcpy(to, rest_codes, count * kNvfp4Block / 2);
    uint64_t left_over = 0;
    for (size_t b = 0; b < count; ++b) {
      scales[first + b] = static_cast<uint8_t>(scale[b]);
      left_over |= static_cast<uint64_t>(outside[b]) << b;
    }
    irregular[first / 64] |= left_over << (first % 64);
  }
}

template <template <ElementSource> class Batch>
void quantize(const Nvfp4Plan& plan, const void* elements, size_t blocks, uint8_t* codes, uint8_t* scales, uint64_t* irregular) {
  Nvfp4Quantize* const by_source[] = {run<ElementSource::f32, Batch>, run<ElementSource::bf16, Batch>, run<ElementSource::fp16, Batch>};
  by_source[static_cast<uint32_t>(plan.source)](plan, elements, blocks, codes, scales, irregular);
}

}  // namespace
}  // namespace mx::kernels
