#pragma once
// e4m3 codes of which each column has a scale of its own, as bf16-chain rounds their products: pairs of bf16 of 16 columns, put together of integers.
//
// Of a scale whose power of two is 2^e and a code whose power of two is 2^x and whose significand is (8 + j) / 8, the rounded product has the bits of
// 2^(e + x), and 16 j, and what rounding makes of the scale's fraction: 0 to 128, by the scale and j alone. So it is
//   (bits of 2^(e + 9) + table[column][j]) - 16 * below[code],
// where below[code] counts the eighths of a binade from the code's magnitude up to 2^9, of subnormal codes too, and ends in bits that say which j.

#include "kernels/moe/avx512_e4m3.hpp"
#include "kernels/moe/avx512_vectors.hpp"

namespace mx::kernels::moe {
namespace {

/// How many eighths of a binade a magnitude is below 2^(9 + Binades); below kFirstNumber what stands for none. Three bits say which significand.
constexpr unsigned kFirstNumber = 64;
constexpr unsigned kZero = 0;
constexpr unsigned kNan = 1;
template <unsigned Binades>
constexpr Bytes bytes_below() {
  constexpr unsigned kExponent = 136 + Binades;  // in bf16
  Bytes below{};
  for (unsigned i = 0; i < 128; ++i) {
    const unsigned bf16 = bf16_of_e4m3(i);
    const unsigned eighths = (bf16 >> 7) * 8 + (bf16 >> 4 & 7);
    below.at[i] = static_cast<uint8_t>(i == 0 ? kZero : i == 0x7F ? kNan : kFirstNumber + kExponent * 8 - eighths);
  }
  return below;
}
constexpr Bytes kBelow[2] = {bytes_below<0>(), bytes_below<1>()};

/// Eight bytes of a table to each column.
constexpr Bytes first_bytes() {
  Bytes bytes{};
  for (unsigned i = 0; i < 64; ++i) bytes.at[i] = static_cast<uint8_t>(i / 4 * 8);
  return bytes;
}
constexpr Bytes kTableOfColumn = first_bytes();

/// Scales of 16 columns, positive and moderate, times significands.
struct RoundedProducts {
  __m512 scales;
  __m512i power;  ///< of two, in the scales' products with 2^8: in bf16, as all here

  MXACT_INLINE explicit RoundedProducts(const uint8_t* at)
      : scales(_mm512_loadu_ps(at)), power(_mm512_andnot_si512(_mm512_set1_epi32(0x7F), with(8))) {}
  /// The product with 2^8 times so many eighths.
  MXACT_INLINE __m512i with(int eighths) const {
    return _mm512_srli_epi32(_mm512_castps_si512(moderate_product(all(static_cast<float>(32 * eighths)), scales)), 16);
  }
  /// What rounding makes of the scale's fraction: 0 to 128, beside eight eighths to 127.
  MXACT_INLINE __m512i more(int eighths) const {
    return _mm512_sub_epi32(_mm512_sub_epi32(with(eighths), power), _mm512_set1_epi32(16 * (eighths - 8)));
  }
  /// Columns of which 128 is the most (it is of nine eighths if it is of any), and whose power of two has an odd exponent, or an even one.
  MXACT_INLINE unsigned full(bool odd) const {
    const __mmask16 are_full = _mm512_cmpeq_epi32_mask(more(9), _mm512_set1_epi32(128));
    const __m512i exponent = _mm512_set1_epi32(0x80);
    return odd ? _mm512_mask_test_epi32_mask(are_full, power, exponent) : _mm512_mask_testn_epi32_mask(are_full, power, exponent);
  }
};

/// 16 columns with positive moderate scales.
struct ColumnScales {
  /// By the lowest three bits of kBelow: what rounding makes of the scale's fraction, with the lowest bit of the exponent above.
  __m512i low[2];
  __m512i high;  ///< the other bits of the exponent of 2^(9 + Binades) times the scale, kFirstNumber higher, in each byte

  MXACT_INLINE static ColumnScales of(const RoundedProducts& products, int binades) {
    const __m512i power = _mm512_add_epi32(products.power, _mm512_set1_epi32(16 * static_cast<int>(kFirstNumber) + 128 * (1 + binades)));
    const __m512i lowest = _mm512_and_si512(power, _mm512_set1_epi32(0x80));
    const auto byte = [&](int i) {
      return _mm512_slli_epi32(_mm512_add_epi32(products.more(8 + (8 - i) % 8), lowest), static_cast<unsigned>(8 * (i % 4)));
    };
    const __m512i four = _mm512_or_si512(_mm512_or_si512(byte(0), byte(1)), _mm512_or_si512(byte(2), byte(3)));
    const __m512i others = _mm512_or_si512(_mm512_or_si512(byte(4), byte(5)), _mm512_or_si512(byte(6), byte(7)));
    const __m512i first = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    const __m512i upper = _mm512_srli_epi32(power, 8);
    const __m512i twice = _mm512_or_si512(upper, _mm512_slli_epi32(upper, 8));
    return {{_mm512_permutex2var_epi32(four, first, others), _mm512_permutex2var_epi32(four, _mm512_add_epi32(first, _mm512_set1_epi32(8)), others)},
            _mm512_or_si512(twice, _mm512_slli_epi32(twice, 16))};
  }

  /// Two pairs: bytes 0 and 2 of a dword, then 1 and 3. `below`: kBelow of as many binades.
  MXACT_INLINE void decode(__m512i codes, const Bytes& below, __m512i (&pairs)[2]) const {
    constexpr int kThirdChooses = 0xE4;
    const __m512i eighths = _mm512_permutex2var_epi8(_mm512_load_si512(below.at), codes, _mm512_load_si512(below.at + 64));
    const __m512i place = _mm512_ternarylogic_epi32(eighths, _mm512_load_si512(kTableOfColumn.at), _mm512_set1_epi8(7), kThirdChooses);
    const __m512i lows = _mm512_permutex2var_epi8(low[0], place, low[1]);
    pairs[0] = number<0x00FF>(eighths, _mm512_ternarylogic_epi32(lows, high, _mm512_set1_epi16(0x00FF), kThirdChooses), _mm512_slli_epi16(codes, 8));
    pairs[1] = number<0xFF00>(eighths, above(lows), codes);
  }

 private:
  /// The upper bytes of `lows` as the lower ones of words.
  MXACT_INLINE __m512i above(__m512i lows) const {
#ifdef __AVX512VBMI2__
    return _mm512_shrdi_epi16(lows, high, 8);
#else
    return _mm512_mask_mov_epi8(_mm512_srli_epi16(lows, 8), 0xAAAAAAAAAAAAAAAAU, high);
#endif
  }

  /// Of bytes `Byte` of words: the number at the top less what it is below, NaN or zero where that stands for these, and the sign, which is the
  /// uppermost bit of `sign`.
  template <uint16_t Byte>
  MXACT_INLINE static __m512i number(__m512i eighths, __m512i top, __m512i sign) {
    constexpr int kFirstButSecondAndThird = 0x78;
    const __m512i off = _mm512_maddubs_epi16(eighths, _mm512_set1_epi16(static_cast<int16_t>(0xF0F0 & Byte)));
    const __mmask32 is_number = _mm512_test_epi16_mask(eighths, _mm512_set1_epi16(static_cast<int16_t>(0xC0C0 & Byte)));
    const __m512i magnitude = _mm512_mask_add_epi16(off, is_number, off, top);
    return _mm512_ternarylogic_epi32(magnitude, sign, _mm512_set1_epi16(static_cast<int16_t>(0x8000)), kFirstButSecondAndThird);
  }
};

/// A panel's columns.
struct PanelScales {
  const Bytes* below;
  ColumnScales columns[2];

  MXACT_INLINE static PanelScales of(const uint8_t* at) {
    const RoundedProducts first(at);
    const RoundedProducts last(at + 16 * sizeof(float));
    const int binades = (first.full(false) | last.full(false)) != 0 ? 1 : 0;
    return {&kBelow[binades], {ColumnScales::of(first, binades), ColumnScales::of(last, binades)}};
  }
  /// Of the panel's half `v`.
  MXACT_INLINE void decode(size_t v, __m512i codes, __m512i (&pairs)[2]) const { columns[v].decode(codes, *below, pairs); }
};

/// Positive and moderate scales, of which a table's bytes have room for those of even exponents, or for those of odd ones.
inline bool are_of_columns(const TileArgs&, const uint8_t* scales) {
  unsigned all_are = 0xFFFF;
  for (size_t i = 0; i < kPanelColumns; i += 16) {
    const __m512 some = _mm512_loadu_ps(scales + i * sizeof(float));
    const unsigned are_large = _mm512_cmp_ps_mask(some, all(kLeastModerate), _CMP_GE_OQ);
    all_are &= are_large & _mm512_cmp_ps_mask(some, all(kBeyondModerate), _CMP_LT_OQ);
  }
  const RoundedProducts first(scales);
  const RoundedProducts last(scales + 16 * sizeof(float));
  return all_are == 0xFFFF && ((first.full(false) | last.full(false)) == 0 || (first.full(true) | last.full(true)) == 0);
}

}  // namespace
}  // namespace mx::kernels::moe
