// Codes times one fp32 factor with the 128-bit vectors of AArch64: a lookup of 16 bf16 patterns, four products, one rounding.

#include "kernels/codec/lookup_neon.hpp"
#include "kernels/codec/product_plan.hpp"

namespace mx::kernels {
namespace {

constexpr size_t kUnit = 16;  // codes of one lookup

constexpr size_t word_bytes(ElementTarget target) { return target == ElementTarget::f32 ? 4 : 2; }

/// What is the same for every block.
struct Constants {
  const uint16_t* values;
  Planes planes;
  uint32_t largest, nan;
  bool clamps;
};

[[gnu::always_inline]] inline float32x4_t product(uint32x4_t bits, float32x4_t factor) { return vmulq_f32(vreinterpretq_f32_u32(bits), factor); }

/// 8 fp32 patterns to the nearest bf16 ones; NaNs have no payload.
[[gnu::always_inline]] inline uint16x8_t to_bf16(float32x4_t low, float32x4_t high) {
  const auto rounded = [](float32x4_t x) {
    const uint32x4_t bits = vreinterpretq_u32_f32(x);
    const uint32x4_t odd = vandq_u32(vshrq_n_u32(bits, 16), vdupq_n_u32(1));
    return vreinterpretq_u16_u32(vaddq_u32(vaddq_u32(bits, vdupq_n_u32(0x7FFF)), odd));
  };
  return vuzp2q_u16(rounded(low), rounded(high));
}

[[gnu::always_inline]] inline uint16x8_t to_fp16(float32x4_t low, float32x4_t high) {
  return vreinterpretq_u16_f16(vcvt_high_f16_f32(vcvt_f16_f32(low), high));
}

[[gnu::always_inline]] inline uint32x4_t clamped32(uint32x4_t bits, const Constants& c) {
  const uint32x4_t all = vdupq_n_u32(0x7FFFFFFF);
  const uint32x4_t magnitude = vandq_u32(bits, all);
  const uint32x4_t infinity = vdupq_n_u32(0x7F800000);
  const uint32x4_t with_sign = vorrq_u32(vbicq_u32(bits, all), vdupq_n_u32(c.largest));
  const uint32x4_t bounded = vbslq_u32(vceqq_u32(magnitude, infinity), with_sign, bits);
  return vbslq_u32(vcgtq_u32(magnitude, infinity), vdupq_n_u32(c.nan), bounded);
}

[[gnu::always_inline]] inline uint16x8_t clamped16(uint16x8_t bits, uint16_t infinity_bits, const Constants& c) {
  const uint16x8_t all = vdupq_n_u16(0x7FFF);
  const uint16x8_t magnitude = vandq_u16(bits, all);
  const uint16x8_t infinity = vdupq_n_u16(infinity_bits);
  const uint16x8_t with_sign = vorrq_u16(vbicq_u16(bits, all), vdupq_n_u16(static_cast<uint16_t>(c.largest)));
  const uint16x8_t bounded = vbslq_u16(vceqq_u16(magnitude, infinity), with_sign, bits);
  return vbslq_u16(vcgtq_u16(magnitude, infinity), vdupq_n_u16(static_cast<uint16_t>(c.nan)), bounded);
}

template <ElementTarget kTarget>
[[gnu::always_inline]] inline void store(uint8_t* to, float32x4_t low, float32x4_t high, const Constants& c) {
  if constexpr (kTarget == ElementTarget::f32) {
    auto* const words = reinterpret_cast<uint32_t*>(to);
    const uint32x4_t bits[2] = {vreinterpretq_u32_f32(low), vreinterpretq_u32_f32(high)};
    for (size_t j = 0; j < 2; ++j) vst1q_u32(words + 4 * j, c.clamps ? clamped32(bits[j], c) : bits[j]);
  } else {
    constexpr bool kIsBf16 = kTarget == ElementTarget::bf16;
    const uint16x8_t numbers = kIsBf16 ? to_bf16(low, high) : to_fp16(low, high);
    vst1q_u16(reinterpret_cast<uint16_t*>(to), c.clamps ? clamped16(numbers, kIsBf16 ? 0x7F80 : 0x7C00, c) : numbers);
  }
}

/// 16 numbers from the codes from i on.
template <ElementTarget kTarget, bool kNibbles>
[[gnu::always_inline]] inline void unit(const uint8_t* codes, size_t i, float32x4_t factor, uint8_t* to, const Constants& c) {
  const uint16x8x2_t x = patterns<kNibbles>(c.values, codes, i, c.planes);
  for (size_t j = 0; j < 2; ++j) {
    store<kTarget>(to + 8 * j * word_bytes(kTarget), product(widened_low(x.val[j]), factor), product(widened_high(x.val[j]), factor), c);
  }
}

/// The same for fewer than 16.
template <ElementTarget kTarget, bool kNibbles>
void last_unit(const uint8_t* codes, size_t count, float32x4_t factor, uint8_t* to, const Constants& c) {
  alignas(16) uint8_t rest[kUnit] = {};
  alignas(16) uint8_t numbers[kUnit * 4];
  __builtin_memcpy(rest, codes, kNibbles ? count / 2 : count);
  unit<kTarget, kNibbles>(rest, 0, factor, numbers, c);
  __builtin_memcpy(to, numbers, count * word_bytes(kTarget));
}

template <ElementTarget kTarget, bool kNibbles>
void run(const ProductPlan& plan, const uint8_t* codes, const uint32_t* factors, size_t blocks, size_t length, void* numbers) {
  constexpr size_t kWord = word_bytes(kTarget);
  const Constants c{plan.values, planes_of(plan.values), plan.largest, plan.nan, plan.clamps != 0};
  auto* const to = static_cast<uint8_t*>(numbers);
  for (size_t b = 0; b < blocks; ++b) {
    const float32x4_t factor = vreinterpretq_f32_u32(vdupq_n_u32(factors[b]));
    const size_t last = (b + 1) * length;
    size_t i = b * length;
    for (; i + kUnit <= last; i += kUnit) unit<kTarget, kNibbles>(codes, i, factor, to + i * kWord, c);
    if (i != last) last_unit<kTarget, kNibbles>(codes + (kNibbles ? i / 2 : i), last - i, factor, to + i * kWord, c);
  }
}

template <ElementTarget kTarget>
ProductUnpack* chosen(const ProductPlan& plan) {
  return plan.width == 4 ? run<kTarget, true> : run<kTarget, false>;
}

}  // namespace

void product_unpack_neon(const ProductPlan& plan, const uint8_t* codes, const uint32_t* factors, size_t blocks, size_t length, void* numbers) {
  ProductUnpack* const by_target[] = {chosen<ElementTarget::f32>(plan), chosen<ElementTarget::bf16>(plan), chosen<ElementTarget::fp16>(plan)};
  by_target[static_cast<uint32_t>(plan.target)](plan, codes, factors, blocks, length, numbers);
}

}  // namespace mx::kernels
