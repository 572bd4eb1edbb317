#pragma once
// e2m1 codes times scales of E4M3 and the expert's, as bf16-chain rounds these products (paired_e2m1.hpp): pairs of bf16 of 8 columns.

#include "kernels/moe/avx2_vectors.hpp"
#include "kernels/moe/paired_e2m1.hpp"

namespace mx::kernels::moe {
namespace {

/// One byte of what each code takes off, for both halves of a vector.
struct OffBytes {
  alignas(32) uint8_t at[32];
};
constexpr OffBytes bytes_taken_off(int shift) {
  OffBytes bytes{};
  for (size_t i = 0; i < 32; ++i) bytes.at[i] = static_cast<uint8_t>(taken_off(i) >> shift);
  return bytes;
}
constexpr OffBytes kLowerOff = bytes_taken_off(0);
constexpr OffBytes kUpperOff = bytes_taken_off(8);

/// A positive expert's scale that is moderate, scales of 16 columns that are numbers and not negative, and sums that are nowhere flushed.
inline bool takes_paired(const TileArgs& args, const uint8_t* scales, size_t blocks) {
  if (args.careful || !(args.expert_scale > 0) || !is_moderate(args.expert_scale)) return false;
  const __m128i nan = _mm_set1_epi8(0x7F);
  __m128i most = _mm_setzero_si128();
  for (size_t block = 0; block < blocks; ++block) {
    most = _mm_max_epu8(most, _mm_loadu_si128(reinterpret_cast<const __m128i*>(scales + block * kPanelColumns)));
  }
  return _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_max_epu8(most, nan), most)) == 0;
}

/// The products of a block's scales, of two vectors of columns, in both words of a dword.
struct PairedScales {
  Dwords six[2];
  Dwords differences[2];

  MXACT_INLINE static PairedScales of(float expert_scale, const uint8_t* at) {
    PairedScales products;
    MXACT_UNROLL for (size_t v = 0; v < 2; ++v) {
      const Floats scales = e4m3_scales(at + v * kWidth);
      const auto with = [&](float number) __attribute__((always_inline)) {
        return _mm256_castps_si256(moderate_product(product(scales, all(number)), all(expert_scale)));
      };
      const Dwords six = with(6);
      products.six[v] = in_both_words(six);
      products.differences[v] = _mm256_or_si256(in_both_words(_mm256_sub_epi32(six, with(4))), _mm256_set1_epi16(kKeepsBinades));
    }
    return products;
  }

  /// Products of the codes that lie in nibble `Nibble` of both words of vector `v`.
  template <size_t Nibble>
  MXACT_INLINE Dwords pair(size_t v, const uint8_t* dwords) const {
    const Dwords codes = Nibble % 2 == 0 ? load_dwords(dwords) : _mm256_srli_epi16(load_dwords(dwords), 4);
    const Dwords index = _mm256_and_si256(codes, _mm256_set1_epi8(15));
    const Dwords lower = _mm256_shuffle_epi8(load_dwords(kLowerOff.at), index);
    const Dwords upper = _mm256_shuffle_epi8(load_dwords(kUpperOff.at), index);
    const Dwords off = Nibble < 2 ? _mm256_or_si256(_mm256_and_si256(lower, _mm256_set1_epi16(0xFF)), _mm256_slli_epi16(upper, 8))
                                  : _mm256_or_si256(_mm256_srli_epi16(lower, 8), _mm256_and_si256(upper, _mm256_set1_epi16(-0x100)));
    const Dwords magnitude = _mm256_subs_epu16(six[v], _mm256_and_si256(off, differences[v]));
    return _mm256_or_si256(magnitude, _mm256_and_si256(off, _mm256_set1_epi16(static_cast<int16_t>(kSign))));
  }

 private:
  /// Numbers of bf16 in the upper words, whose lower ones are zero.
  MXACT_INLINE static Dwords in_both_words(Dwords numbers) { return _mm256_or_si256(numbers, _mm256_srli_epi32(numbers, 16)); }
};

}  // namespace
}  // namespace mx::kernels::moe
