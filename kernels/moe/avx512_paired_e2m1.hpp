#pragma once
// e2m1 codes times scales of E4M3 and the expert's, as bf16-chain rounds these products: pairs of bf16 of 16 columns. e2m1's numbers are 4 or 6 over
// powers of two, so that two rounded products of a scale serve all of them.

#include "kernels/moe/avx512_vectors.hpp"

namespace mx::kernels::moe {
namespace {

struct Words {
  alignas(64) uint16_t at[32];
};

/// What each code makes of the two products: bits of the one with 6 where they are set, and of the sign; and what is taken off, in units of bf16's
/// exponent, or all: there is no negative zero. Where nothing is flushed, the sign of a zero weight decides no bit: sums are never -0.
struct PairedTables {
  Words choice;
  Words off;
};
constexpr PairedTables paired_tables() {
  constexpr uint16_t kMagnitude = 0x7FFF;
  constexpr uint16_t kBinade = 0x80;
  constexpr uint16_t kAll = 0xFFFF;
  constexpr uint16_t kChoice[8] = {0, 0, 0, kMagnitude, 0, kMagnitude, 0, kMagnitude};
  constexpr uint16_t kOff[8] = {kAll, 3 * kBinade, 2 * kBinade, 2 * kBinade, kBinade, kBinade, 0, 0};
  PairedTables tables{};
  // Twice: VPERMW's index has a fifth bit.
  for (size_t i = 0; i < 32; ++i) {
    tables.choice.at[i] = static_cast<uint16_t>(kChoice[i % 8] | (i % 16 < 8 ? 0 : 0x8000));
    tables.off.at[i] = kOff[i % 8];
  }
  return tables;
}
constexpr PairedTables kPaired = paired_tables();

/// Each of sixteen words, from one on, in both halves of a dword.
constexpr Words twice(uint16_t first) {
  Words words{};
  for (uint16_t i = 0; i < 32; ++i) words.at[i] = static_cast<uint16_t>(first + i / 2);
  return words;
}
constexpr Words kLowerColumns = twice(0);
constexpr Words kUpperColumns = twice(16);

constexpr size_t kPairedScales = 128;  // those that are not negative

/// Of each scale its rounded products with 4, and then those with 6, which have the sign's bit set: `products` has room for 2 * kPairedScales. That
/// of zero stays clear, so that nothing is left of it where something is taken off.
inline void prepare_paired(const TileArgs& args, uint16_t* products) {
  alignas(16) uint8_t codes[16];
  for (size_t scale = 0; scale < kPairedScales; scale += 16) {
    for (size_t i = 0; i < 16; ++i) codes[i] = static_cast<uint8_t>(scale + i);
    const Floats values = e4m3_values(codes);
    for (size_t i = 0; i < 2; ++i) {
      const Floats rounded = moderate_product(product(values, all(i == 0 ? 4 : 6)), all(args.expert_scale));
      const __m512 signed_too = i == 0 ? rounded : _mm512_mask_sub_ps(rounded, _mm512_cmp_ps_mask(rounded, zeros(), _CMP_NEQ_OQ), zeros(), rounded);
      const __m512i words = _mm512_srli_epi32(_mm512_castps_si512(signed_too), 16);
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(products + i * kPairedScales + scale), _mm512_cvtepi32_epi16(words));
    }
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
  __m512i four[2];
  __m512i six[2];

  MXACT_INLINE static PairedScales of(const uint16_t* products, const uint8_t* at) {
    const __m512i scales = _mm512_cvtepu8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(at)));
    const __m512i fours = looked_up(products, scales);
    const __m512i sixes = looked_up(products + kPairedScales, scales);
    const __m512i lower = _mm512_load_si512(kLowerColumns.at);
    const __m512i upper = _mm512_load_si512(kUpperColumns.at);
    return {{_mm512_permutexvar_epi16(lower, fours), _mm512_permutexvar_epi16(upper, fours)},
            {_mm512_permutexvar_epi16(lower, sixes), _mm512_permutexvar_epi16(upper, sixes)}};
  }

  /// Products of the codes at the low ends of words, of half `v`.
  MXACT_INLINE __m512i pair(size_t v, __m512i words) const {
    constexpr int kFirstChooses = 0xCA;
    const __m512i choice = _mm512_permutexvar_epi16(words, _mm512_load_si512(kPaired.choice.at));
    const __m512i off = _mm512_permutexvar_epi16(words, _mm512_load_si512(kPaired.off.at));
    return _mm512_subs_epu16(_mm512_ternarylogic_epi32(choice, six[v], four[v], kFirstChooses), off);
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
