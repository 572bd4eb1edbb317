#pragma once
// What the AVX-512 kernels share: 16 columns a vector, one dword of codes a lane. For files of these tiers alone: nothing here has a
// linkage that another tier could pick up.

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/moe/tile.hpp"
#include "kernels/moe/unroll.hpp"

namespace mx::kernels::moe {
namespace {

/// What is quick differs by who made the processor: where a panel alone comes to, and what binds products of int8.
inline bool is_amd() { return __builtin_cpu_is("amd") != 0; }

/// e2m1 as bf16, twice: VPERMW's index has a fifth bit.
alignas(64) constexpr uint16_t kE2m1Codes[32] = {0x0000, 0x3F00, 0x3F80, 0x3FC0, 0x4000, 0x4040, 0x4080, 0x40C0, 0x8000, 0xBF00, 0xBF80,
                                                 0xBFC0, 0xC000, 0xC040, 0xC080, 0xC0C0, 0x0000, 0x3F00, 0x3F80, 0x3FC0, 0x4000, 0x4040,
                                                 0x4080, 0x40C0, 0x8000, 0xBF00, 0xBF80, 0xBFC0, 0xC000, 0xC040, 0xC080, 0xC0C0};

/// Nibble j of every 16-bit word comes to its low end; what lies above it does not matter to tables that repeat.
template <size_t J, class Vector>
MXACT_INLINE Vector nibble(Vector codes) {
  if constexpr (J == 0) return codes;
  return _mm512_srli_epi16(codes, static_cast<unsigned>(4 * J));
}

/// The words of a nibble J of each dword's halves, of K 2J and 2J + 1, at their low ends (aligned.hpp has room for the last bytes).
template <size_t J>
MXACT_INLINE __m512i words_of(const uint8_t* dwords) {
  __m512i bytes = _mm512_loadu_si512(dwords + J / 2);
  asm("" : "+v"(bytes));  // loaded once
  return J % 2 == 0 ? bytes : _mm512_srli_epi16(bytes, 4);
}

/// 16 scale bytes as the exponent field of fp32: their value, but for 0 (2^-127) and 255 (NaN).
MXACT_INLINE __m512i exponent_field(const uint8_t* scales) {
  return _mm512_slli_epi32(_mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(scales))), 23);
}

/// 16 scale bytes as fp32, all of them.
MXACT_INLINE __m512 scale_values(const uint8_t* scales) {
  const __m512i field = exponent_field(scales);
  const __m512i low = _mm512_mask_mov_epi32(field, _mm512_testn_epi32_mask(field, field), _mm512_set1_epi32(0x00400000));
  const __m512i top = _mm512_set1_epi32(0x7F800000);
  return _mm512_castsi512_ps(_mm512_mask_mov_epi32(low, _mm512_cmpeq_epi32_mask(field, top), _mm512_set1_epi32(0x7FC00000)));
}

/// 16 e4m3 codes as fp32. fp16 has e4m3's fields with another bias: 2^-8 of the number, but for NaN.
MXACT_INLINE __m512 e4m3_values(const uint8_t* bytes) {
  const __m256i codes = _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes)));
  const __m256i magnitude = _mm256_and_si256(codes, _mm256_set1_epi16(0x7F));
  const __m256i sign = _mm256_slli_epi16(_mm256_and_si256(codes, _mm256_set1_epi16(0x80)), 8);
  const __mmask16 nan = _mm256_cmpeq_epi16_mask(magnitude, _mm256_set1_epi16(0x7F));
  const __m256i fp16 = _mm256_mask_mov_epi16(_mm256_or_si256(sign, _mm256_slli_epi16(magnitude, 7)), nan, _mm256_set1_epi16(0x7E00));
  return _mm512_mul_ps(_mm512_cvtph_ps(fp16), _mm512_set1_ps(256));
}

/// 16 e4m3 scales times the expert's.
MXACT_INLINE __m512 e4m3_scales(const TileArgs& args, const uint8_t* scales) {
  return _mm512_mul_ps(e4m3_values(scales), _mm512_set1_ps(args.expert_scale));
}

/// The two vectors of each panel, `Vectors` of them from as many panels as that takes.
template <size_t Vectors>
struct Columns {
  const uint8_t* codes;
  const uint8_t* scales;
  size_t code_stride;
  size_t scale_stride;
  /// Memory is prefetched a page ahead: decoding leaves the processor's own prefetchers behind. A panel alone comes to the L1 cache. AMD's
  /// second one would pass on a quarter less than memory delivers; past it, Intel's processors get a third less. A page of each of several panels
  /// would not stay in the first one, as they are asked for: they come to the second one, and to the first one nearer by.
  static constexpr size_t kAhead = 4096;
  static constexpr size_t kNear = 1024;
  size_t ahead = kAhead;
  bool past_second_cache = is_amd();

  /// Behind a panel's last page lies another of those that are read beside each other: from there on the next ones are meant. Blocks are those
  /// of MXFP4.
  MXACT_INLINE void look_ahead(size_t blocks_left) {
    ahead = blocks_left * kPanelBlockDwords * 4 > kAhead ? kAhead : kAhead + (Vectors / 2 - 1) * code_stride;
  }

  MXACT_INLINE const uint8_t* codes_of(size_t v) const {
    const uint8_t* const at = codes + v / 2 * code_stride + v % 2 * 64;
    if constexpr (Vectors == 2) {
      past_second_cache ? _mm_prefetch(at + kAhead, _MM_HINT_NTA) : _mm_prefetch(at + kAhead, _MM_HINT_T0);
    } else {
      _mm_prefetch(at + ahead, _MM_HINT_T1);
      _mm_prefetch(at + kNear, _MM_HINT_T0);
    }
    return at;
  }
  MXACT_INLINE __m512i dwords(size_t v) const { return _mm512_load_si512(codes_of(v)); }
  /// The same dwords once more.
  MXACT_INLINE __m512i again(size_t v) const { return _mm512_load_si512(codes + v / 2 * code_stride + v % 2 * 64); }
  /// The same from their second byte on: nibble 2 of every 16-bit word is at its low end, which costs a load instead of a shift. Behind the last
  /// codes there is memory (aligned.hpp).
  MXACT_INLINE __m512i upper_bytes(size_t v) const { return _mm512_loadu_si512(codes + v / 2 * code_stride + v % 2 * 64 + 1); }
  MXACT_INLINE const uint8_t* scales_of(size_t v) const { return scales + (v / 2) * scale_stride + (v % 2) * 16; }
  MXACT_INLINE void next_dwords() { codes += 4 * kPanelColumns; }
  MXACT_INLINE void next_block() { scales += kPanelColumns; }
};

/// Where a tile's sums go.
struct Outputs {
  const float* bias;
  float* out;
  size_t panel_stride;
  size_t row_stride;
  size_t half_stride;

  MXACT_INLINE Outputs(const TileArgs& args, size_t panel, size_t row)
      : bias(args.bias == nullptr ? nullptr : args.bias + panel * kPanelColumns),
        out(args.out + panel * args.panel_stride + row * args.row_stride),
        panel_stride(args.panel_stride),
        row_stride(args.row_stride),
        half_stride(args.half_stride) {}

  template <size_t Rows, size_t Vectors>
  MXACT_INLINE void store(const __m512 (&sums)[Rows][Vectors]) const {
    const __m512 nan = _mm512_castsi512_ps(_mm512_set1_epi32(0x7FC00000));
    MXACT_UNROLL for (size_t v = 0; v < Vectors; ++v) {
      float* const column = out + v / 2 * panel_stride + v % 2 * half_stride;
      MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) {
        const __m512 value = bias == nullptr ? sums[m][v] : _mm512_add_ps(sums[m][v], _mm512_loadu_ps(bias + v * 16));
        _mm512_storeu_ps(column + m * row_stride, _mm512_mask_mov_ps(value, _mm512_cmp_ps_mask(value, value, _CMP_UNORD_Q), nan));
      }
    }
  }
};

}  // namespace
}  // namespace mx::kernels::moe
