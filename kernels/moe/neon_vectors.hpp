#pragma once
// Vectors of 8 floats, two registers of AArch64 each, for the kernels of bf16 by fused multiply-adds (fma_lanes.hpp).

#include <arm_neon.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/moe/bf16_product.hpp"
#include "kernels/moe/tile.hpp"
#include "kernels/moe/unroll.hpp"

namespace mx::kernels::moe {
namespace {

constexpr size_t kWidth = 8;
struct Floats {
  float32x4_t low, high;
};
struct Dwords {
  uint32x4_t low, high;
};

/// Subnormals count as zero from here to the end of the scope, before and after each operation. Unlike x86's, the mode judges a result before it is
/// rounded: what would round to 2^-126 from below is zero too.
class Flushing {
 public:
  MXACT_INLINE Flushing() {
    constexpr uint64_t kFlush = uint64_t{1} << 24;
    __asm__ volatile("mrs %0, fpcr" : "=r"(was_) : : "memory");
    __asm__ volatile("msr fpcr, %0" : : "r"(was_ | kFlush) : "memory");
  }
  MXACT_INLINE ~Flushing() { __asm__ volatile("msr fpcr, %0" : : "r"(was_) : "memory"); }
  Flushing(const Flushing&) = delete;
  Flushing& operator=(const Flushing&) = delete;

 private:
  uint64_t was_;
};

/// Whether a result was flushed, or was subnormal and inexact, since the begin of the scope. The flag that says so stays set if it was.
class Underflow {
 public:
  MXACT_INLINE Underflow() : was_(status()) { set_status(was_ & ~kUnderflow); }
  MXACT_INLINE ~Underflow() { set_status(status() | was_); }
  Underflow(const Underflow&) = delete;
  Underflow& operator=(const Underflow&) = delete;

  MXACT_INLINE bool seen() const { return (status() & kUnderflow) != 0; }

 private:
  static constexpr uint64_t kUnderflow = 8;

  MXACT_INLINE static uint64_t status() {
    uint64_t status;
    __asm__ volatile("mrs %0, fpsr" : "=r"(status) : : "memory");
    return status;
  }
  MXACT_INLINE static void set_status(uint64_t status) { __asm__ volatile("msr fpsr, %0" : : "r"(status) : "memory"); }

  uint64_t was_;
};

MXACT_INLINE Floats all(float x) { return {vdupq_n_f32(x), vdupq_n_f32(x)}; }
MXACT_INLINE Floats zeros() { return all(0); }
MXACT_INLINE Floats all_of(const float* from) { return all(*from); }
MXACT_INLINE Floats load(const float* from) { return {vld1q_f32(from), vld1q_f32(from + 4)}; }
MXACT_INLINE void store(float* to, Floats x) {
  vst1q_f32(to, x.low);
  vst1q_f32(to + 4, x.high);
}
MXACT_INLINE Floats sum(Floats a, Floats b) { return {vaddq_f32(a.low, b.low), vaddq_f32(a.high, b.high)}; }
MXACT_INLINE Floats product(Floats a, Floats b) { return {vmulq_f32(a.low, b.low), vmulq_f32(a.high, b.high)}; }
MXACT_INLINE Floats fused(Floats a, Floats b, Floats c) { return {vfmaq_f32(c.low, a.low, b.low), vfmaq_f32(c.high, a.high, b.high)}; }
MXACT_INLINE void add_product(Floats& sum, Floats a, Floats b) { sum = fused(a, b, sum); }
/// A value's products with both vectors of columns.
MXACT_INLINE void add_products(Floats (&sums)[2], const float* value, Floats low, Floats high) {
  const Floats values = all_of(value);
  add_product(sums[0], values, low);
  add_product(sums[1], values, high);
}
MXACT_INLINE Dwords load_dwords(const uint8_t* from) { return {vreinterpretq_u32_u8(vld1q_u8(from)), vreinterpretq_u32_u8(vld1q_u8(from + 16))}; }
/// 8 bytes.
MXACT_INLINE Dwords widened(const uint8_t* from) {
  const uint16x8_t words = vmovl_u8(vld1_u8(from));
  return {vmovl_u16(vget_low_u16(words)), vmovl_u16(vget_high_u16(words))};
}
/// A function of four lanes, of both halves.
template <class Half>
MXACT_INLINE Floats of_halves(Dwords x, const Half& half) {
  return {half(x.low), half(x.high)};
}

/// Scale bytes in the fields of exponents, and 2 to the difference of two.
MXACT_INLINE Dwords scale_fields(const uint8_t* scales) {
  const Dwords bytes = widened(scales);
  return {vshlq_n_u32(bytes.low, 23), vshlq_n_u32(bytes.high, 23)};
}
MXACT_INLINE Dwords unit_field() { return {vdupq_n_u32(0x3F800000), vdupq_n_u32(0x3F800000)}; }
MXACT_INLINE Floats power_between(Dwords from, Dwords to) {
  const auto half = [](uint32x4_t f, uint32x4_t t) { return vreinterpretq_f32_u32(vaddq_u32(vsubq_u32(f, t), vdupq_n_u32(0x3F800000))); };
  return {half(from.low, to.low), half(from.high, to.high)};
}

/// Every NaN as the same.
MXACT_INLINE Floats one_nan(Floats x) {
  const auto half = [](float32x4_t y) { return vbslq_f32(vceqq_f32(y, y), y, vreinterpretq_f32_u32(vdupq_n_u32(0x7FC00000))); };
  return {half(x.low), half(x.high)};
}

/// The upper two bytes of the numbers of a table; their lower two are zero.
struct Planes {
  uint8x16x2_t bytes;
};
MXACT_INLINE Planes planes_of(const float* table) {
  const auto words = [&](size_t i) __attribute__((always_inline)) {
    return vuzp2q_u16(vreinterpretq_u16_f32(vld1q_f32(table + i)), vreinterpretq_u16_f32(vld1q_f32(table + i + 4)));
  };
  const uint8x16_t first = vreinterpretq_u8_u16(words(0));
  const uint8x16_t second = vreinterpretq_u8_u16(words(8));
  return {{{vuzp1q_u8(first, second), vuzp2q_u8(first, second)}}};
}

/// Numbers of a nibble of each dword, by a table (fma_decode.hpp): its byte comes to the upper two of a lane, which look into one plane each, and
/// what lies below looks past both, where zero is.
template <size_t Nibble>
MXACT_INLINE Floats nibble_at(const uint8_t* dwords, const float* table) {
  constexpr uint8_t kByte = Nibble / 2;
  constexpr uint8_t kNone = 255;
  const uint8x16_t place = {kNone, kNone, kByte,     kByte,     kNone, kNone, kByte + 4,  kByte + 4,
                            kNone, kNone, kByte + 8, kByte + 8, kNone, kNone, kByte + 12, kByte + 12};
  const uint8x16_t plane = vreinterpretq_u8_u32(vdupq_n_u32(0x10002020));
  const Planes planes = planes_of(table);
  const auto half = [&](uint32x4_t lanes) __attribute__((always_inline)) {
    const uint8x16_t bytes = vqtbl1q_u8(vreinterpretq_u8_u32(lanes), place);
    const uint8x16_t codes = Nibble % 2 == 0 ? vandq_u8(bytes, vdupq_n_u8(15)) : vshrq_n_u8(bytes, 4);
    return vreinterpretq_f32_u8(vqtbl2q_u8(planes.bytes, vorrq_u8(codes, plane)));
  };
  return of_halves(load_dwords(dwords), half);
}

/// 8 scale bytes as fp32: 0 is 2^-127, 255 NaN.
MXACT_INLINE Floats scale_values(const uint8_t* scales) {
  const auto half = [](uint32x4_t field) __attribute__((always_inline)) {
    const uint32x4_t end = vorrq_u32(vceqzq_u32(field), vceqq_u32(field, vdupq_n_u32(0x7F800000)));
    return vreinterpretq_f32_u32(vorrq_u32(field, vandq_u32(end, vdupq_n_u32(0x00400000))));
  };
  return of_halves(scale_fields(scales), half);
}

/// Eight e4m3 codes, each in the low byte of a dword whose other bytes are zero. fp16 has e4m3's fields with another bias: 2^-8 of the number, but
/// for NaN.
MXACT_INLINE Floats e4m3_values(Dwords codes) {
  const auto half = [](uint32x4_t lanes) __attribute__((always_inline)) {
    const uint16x4_t code = vmovn_u32(lanes);
    const uint16x4_t magnitude = vand_u16(code, vdup_n_u16(0x7F));
    const uint16x4_t number = vorr_u16(vshl_n_u16(magnitude, 7), vshl_n_u16(vand_u16(code, vdup_n_u16(0x80)), 8));
    const uint16x4_t fp16 = vbsl_u16(vceq_u16(magnitude, vdup_n_u16(0x7F)), vdup_n_u16(0x7E00), number);
    return vmulq_n_f32(vcvt_f32_f16(vreinterpret_f16_u16(fp16)), 256);
  };
  return of_halves(codes, half);
}

/// The e4m3 codes in bytes `Byte` of the dwords.
template <size_t Byte>
MXACT_INLINE Floats decoded_byte(Dwords codes) {
  const auto byte = [](uint32x4_t lanes) __attribute__((always_inline)) {
    if constexpr (Byte != 0) lanes = vshrq_n_u32(lanes, static_cast<int>(8 * Byte));
    return vandq_u32(lanes, vdupq_n_u32(0xFF));
  };
  return e4m3_values({byte(codes.low), byte(codes.high)});
}

MXACT_INLINE Floats e4m3_scales(const uint8_t* scales) { return e4m3_values(widened(scales)); }

/// bf16_product of weights and moderate scales.
MXACT_INLINE Floats moderate_product(Floats weight, Floats scale) {
  const Floats whole = product(weight, product(scale, all(kSplitter)));
  const auto half = [](float32x4_t c, float32x4_t w, float32x4_t s) { return vsubq_f32(c, vfmsq_f32(c, w, s)); };
  return {half(whole.low, weight.low, scale.low), half(whole.high, weight.high, scale.high)};
}

}  // namespace
}  // namespace mx::kernels::moe
