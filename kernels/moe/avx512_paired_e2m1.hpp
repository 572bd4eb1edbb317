#pragma once
// e2m1 codes times scales of E4M3 and the expert's, as bf16-chain rounds these products (paired_e2m1.hpp): pairs of bf16 of 16 columns.

#include "kernels/moe/avx512_vectors.hpp"
#include "kernels/moe/paired_e2m1.hpp"

namespace mx::kernels::moe {
namespace {

struct Words {
  alignas(64) uint16_t at[32];
};

/// Twice what each code takes off: VPERMW's index has a fifth bit.
constexpr Words words_taken_off() {
  Words words{};
  for (size_t i = 0; i < 32; ++i) words.at[i] = taken_off(i);
  return words;
}
constexpr Words kOff = words_taken_off();

/// Each of sixteen words, from one on, in both halves of a dword.
constexpr Words twice(uint16_t first) {
  Words words{};
  for (uint16_t i = 0; i < 32; ++i) words.at[i] = static_cast<uint16_t>(first + i / 2);
  return words;
}
constexpr Words kLowerColumns = twice(0);
constexpr Words kUpperColumns = twice(16);

constexpr size_t kPairedScales = 128;  // those that are not negative

/// Of each scale its rounded product with 6, and then, beside bits that keep binades, what that is above the one with 4: `products` has room for
/// 2 * kPairedScales. Both products of zero are, so that nothing is left of them.
inline void prepare_paired(const TileArgs& args, uint16_t* products) {
  alignas(16) uint8_t codes[16];
  for (size_t scale = 0; scale < kPairedScales; scale += 16) {
    for (size_t i = 0; i < 16; ++i) codes[i] = static_cast<uint8_t>(scale + i);
    const Floats values = e4m3_values(codes);
    const auto with = [&](float number) {
      return _mm512_srli_epi32(_mm512_castps_si512(moderate_product(product(values, all(number)), all(args.expert_scale))), 16);
    };
    const __m512i six = with(6);
    const __m512i differences = _mm512_or_si512(_mm512_sub_epi32(six, with(4)), _mm512_set1_epi32(kKeepsBinades));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(products + scale), _mm512_cvtepi32_epi16(six));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(products + kPairedScales + scale), _mm512_cvtepi32_epi16(differences));
  }
}

/// A positive expert's scale that is moderate, scales of a panel that are numbers and not negative, and sums that are nowhere flushed.
inline bool takes_paired(const TileArgs& args, const uint8_t* scales, size_t blocks) {
  if (args.careful || !(args.expert_scale > 0) || !is_moderate(args.expert_scale)) return false;
  __m256i most = _mm256_setzero_si256();
  for (size_t block = 0; block < blocks; ++block) {
    most = _mm256_max_epu8(most, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(scales + block * kPanelColumns)));
  }
  return _mm256_cmpge_epu8_mask(most, _mm256_set1_epi8(0x7F)) == 0;
}

/// The products of a block's scales, of either half of a panel.
struct PairedScales {
  __m512i six[2];
  __m512i differences[2];

  MXACT_INLINE static PairedScales of(const uint16_t* products, const uint8_t* at) {
    const __m512i scales = _mm512_cvtepu8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(at)));
    const __m512i sixes = looked_up(products, scales);
    const __m512i others = looked_up(products + kPairedScales, scales);
    const __m512i lower = _mm512_load_si512(kLowerColumns.at);
    const __m512i upper = _mm512_load_si512(kUpperColumns.at);
    return {{_mm512_permutexvar_epi16(lower, sixes), _mm512_permutexvar_epi16(upper, sixes)},
            {_mm512_permutexvar_epi16(lower, others), _mm512_permutexvar_epi16(upper, others)}};
  }

  /// Products of the codes at the low ends of words, of half `v`.
  MXACT_INLINE __m512i pair(size_t v, __m512i words) const {
    constexpr int kFirstOrSecondAndThird = 0xF8;
    const __m512i off = _mm512_permutexvar_epi16(words, _mm512_load_si512(kOff.at));
    const __m512i magnitude = _mm512_subs_epu16(six[v], _mm512_and_si512(off, differences[v]));
    return _mm512_ternarylogic_epi32(magnitude, off, _mm512_set1_epi16(static_cast<int16_t>(kSign)), kFirstOrSecondAndThird);
  }

 private:
  /// Of a table of 128 words.
  MXACT_INLINE static __m512i looked_up(const uint16_t* table, __m512i index) {
    asm("" : "+r"(table));  // read again, since there are too few registers to keep it in
    const __m512i low = _mm512_permutex2var_epi16(_mm512_loadu_si512(table), index, _mm512_loadu_si512(table + 32));
    const __m512i high = _mm512_permutex2var_epi16(_mm512_loadu_si512(table + 64), index, _mm512_loadu_si512(table + 96));
    return _mm512_mask_mov_epi16(low, _mm512_test_epi16_mask(index, _mm512_set1_epi16(64)), high);
  }
};

}  // namespace
}  // namespace mx::kernels::moe
