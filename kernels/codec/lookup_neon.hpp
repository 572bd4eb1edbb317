#pragma once
// Codes looked up with the 128-bit vectors of AArch64, for files that are compiled for them: everything here is private to its file. Codes of 4 bits
// are looked up as two planes of bytes; wider ones in memory.

#include <arm_neon.h>
#include <stddef.h>
#include <stdint.h>

namespace mx::kernels {
namespace {

/// The 16 values of codes of 4 bits as their low and high bytes.
struct Planes {
  uint8x16_t low, high;
};

inline Planes planes_of(const uint16_t* values) {
  const uint8x16x2_t planes = vld2q_u8(reinterpret_cast<const uint8_t*>(values));
  return {planes.val[0], planes.val[1]};
}

/// The patterns of 16 codes, from code i on; codes of 4 bits begin at a byte.
template <bool kNibbles>
[[gnu::always_inline]] inline uint16x8x2_t patterns(const uint16_t* values, const uint8_t* codes, size_t i, const Planes& p) {
  if constexpr (kNibbles) {
    const uint8x8_t pairs = vld1_u8(codes + i / 2);
    const uint8x8_t even = vand_u8(pairs, vdup_n_u8(0x0F));
    const uint8x8_t odd = vshr_n_u8(pairs, 4);
    const uint8x16_t code = vcombine_u8(vzip1_u8(even, odd), vzip2_u8(even, odd));
    const uint8x16_t low = vqtbl1q_u8(p.low, code);
    const uint8x16_t high = vqtbl1q_u8(p.high, code);
    return {{vreinterpretq_u16_u8(vzip1q_u8(low, high)), vreinterpretq_u16_u8(vzip2q_u8(low, high))}};
  } else {
    alignas(16) uint16_t words[16];
    for (size_t j = 0; j < 16; ++j) words[j] = values[codes[i + j]];
    return {{vld1q_u16(words), vld1q_u16(words + 8)}};
  }
}

/// The first and the last 4 of 8 bf16 patterns as fp32 ones.
[[gnu::always_inline]] inline uint32x4_t widened_low(uint16x8_t bf16) { return vreinterpretq_u32_u16(vzip1q_u16(vdupq_n_u16(0), bf16)); }
[[gnu::always_inline]] inline uint32x4_t widened_high(uint16x8_t bf16) { return vreinterpretq_u32_u16(vzip2q_u16(vdupq_n_u16(0), bf16)); }

}  // namespace
}  // namespace mx::kernels
