// Codes back to numbers with the 128-bit vectors of AArch64.

#include "kernels/codec/lookup_neon.hpp"
#include "kernels/codec/unpack_plan.hpp"

namespace mx::kernels {
namespace {

constexpr size_t kBlock = 32;
constexpr size_t kUnit = 16;  // codes of one lookup

/// Moves the exponents of numbers that have one: not of zeros, infinities and NaNs.
[[gnu::always_inline]] inline uint16x8_t scaled(uint16x8_t x, uint16x8_t moved) {
  const uint16x8_t magnitude = vandq_u16(x, vdupq_n_u16(0x7FFF));
  const uint16x8_t has_exponent = vandq_u16(vtstq_u16(magnitude, magnitude), vcltq_u16(magnitude, vdupq_n_u16(0x7F80)));
  return vaddq_u16(x, vandq_u16(moved, has_exponent));
}

[[gnu::always_inline]] inline void store(uint16_t* to, uint16x8_t x) { vst1q_u16(to, x); }
[[gnu::always_inline]] inline void store(uint32_t* to, uint16x8_t x) {
  vst1q_u32(to, widened_low(x));
  vst1q_u32(to + 4, widened_high(x));
}

template <class Word, bool kNibbles>
void run(const UnpackPlan& plan, const uint8_t* codes, const uint8_t* scales, size_t blocks, void* numbers, uint64_t* irregular) {
  constexpr size_t kCodes = kNibbles ? kBlock / 2 : kBlock;
  const Planes p = planes_of(plan.values);
  auto* const to = static_cast<Word*>(numbers);
  for (size_t b = 0; b < blocks; ++b) {
    if (__builtin_expect(scales[b] - plan.scale_from > plan.scale_span, 0)) irregular[b / 64] |= uint64_t{1} << (b % 64);
    const uint16x8_t moved = vdupq_n_u16(static_cast<uint16_t>((scales[b] - 127) * 128));
    for (size_t i = 0; i < kBlock; i += kUnit) {
      const uint16x8x2_t x = patterns<kNibbles>(plan.values, codes + b * kCodes, i, p);
      for (size_t j = 0; j < 2; ++j) store(to + b * kBlock + i + 8 * j, scaled(x.val[j], moved));
    }
  }
}

template <class Word>
Unpack* chosen(const UnpackPlan& plan) {
  return plan.width == 4 ? run<Word, true> : run<Word, false>;
}

}  // namespace

void unpack_neon(const UnpackPlan& plan, const uint8_t* codes, const uint8_t* scales, size_t blocks, void* numbers, uint64_t* irregular) {
  Unpack* const kernel = plan.target == ElementTarget::f32 ? chosen<uint32_t>(plan) : chosen<uint16_t>(plan);
  kernel(plan, codes, scales, blocks, numbers, irregular);
}

}  // namespace mx::kernels
