#pragma once
// Decoders of the weights of bf16-chain for VDPBF16PS: codes of a dword of K with their scales, as pairs of bf16 of 16 columns.
//
// A decoder is made of a panel's scales for a block of K (`of`, kBytes to a scale) and gives kPairs pairs of a vector of dwords of the panel's half
// `v`. Where kInUnits is set, it leaves the scales to the sums; kFewTiles of rows are decoded for in registers at most.

#include "kernels/moe/avx512_columns_e4m3.hpp"
#include "kernels/moe/avx512_decode.hpp"
#include "kernels/moe/avx512_paired_e2m1.hpp"
#include "kernels/moe/avx512_scaled_e4m3.hpp"
#include "kernels/moe/avx512_vectors.hpp"

namespace mx::kernels::moe {
namespace {

/// What a kernel is given, and what its kind of weights has prepared for all panels of it.
struct Job {
  const TileArgs& args;
  const Bytes* products;
};

/// Powers of two: exact but for overflow, and what is subnormal the instruction takes as zero.
struct E8m0Fold {
  static constexpr size_t kBytes = 1;
  __m512 scales;

  MXACT_INLINE E8m0Fold(const TileArgs&, const uint8_t* at) : scales(scale_values(at)) {}
  MXACT_INLINE __m512 operator()(__m512 weight) const { return _mm512_mul_ps(weight, scales); }
};

/// bf16_product of weights and any scales.
MXACT_INLINE __m512 any_product(__m512 weight, __m512 scale) {
  alignas(64) float weights[16], scales[16];
  _mm512_store_ps(weights, weight);
  _mm512_store_ps(scales, scale);
  for (size_t i = 0; i < 16; ++i) weights[i] = bf16_product(weights[i], scales[i]);
  return _mm512_load_ps(weights);
}

using Product = __m512(__m512 weight, __m512 scale);

/// Exact products with the block's scale, rounded ones with the expert's.
template <Product* Rounded>
struct E4m3Fold {
  static constexpr size_t kBytes = 1;
  __m512 scales;
  __m512 expert;

  MXACT_INLINE E4m3Fold(const TileArgs& args, const uint8_t* at) : scales(e4m3_values(at)), expert(_mm512_set1_ps(args.expert_scale)) {}
  MXACT_INLINE __m512 operator()(__m512 weight) const { return Rounded(_mm512_mul_ps(weight, scales), expert); }
};

template <Product* Rounded>
struct F32Fold {
  static constexpr size_t kBytes = sizeof(float);
  __m512 scales;

  MXACT_INLINE F32Fold(const TileArgs&, const uint8_t* at) : scales(_mm512_loadu_ps(at)) {}
  MXACT_INLINE __m512 operator()(__m512 weight) const { return Rounded(weight, scales); }
};

/// Both halves of a pair as fp32, folded, and beside each other again.
template <class Fold>
MXACT_INLINE __m512i folded(__m512i pair, const Fold& fold) {
  const __m512i even = _mm512_castps_si512(fold(_mm512_castsi512_ps(_mm512_slli_epi32(pair, 16))));
  const __m512i odd = _mm512_castps_si512(fold(_mm512_castsi512_ps(_mm512_and_si512(pair, _mm512_set1_epi32(static_cast<int>(0xFFFF0000U))))));
  return _mm512_mask_mov_epi16(_mm512_srli_epi32(even, 16), 0xAAAAAAAAU, odd);
}

/// e2m1 codes with scales from 2 to 252 (TileArgs::careful).
struct TakenOff {
  static constexpr size_t kPairs = 4;
  static constexpr size_t kBytes = 1;
  __m512i table = _mm512_load_si512(kLargest);
  __m512i below[2];

  MXACT_INLINE static TakenOff of(const Job&, const uint8_t* at) {
    TakenOff decoder;
    MXACT_UNROLL for (size_t v = 0; v < 2; ++v) decoder.below[v] = below_largest(at + v * 16);
    return decoder;
  }
  MXACT_INLINE void pairs(size_t v, const uint8_t* dwords, __m512i (&out)[kPairs]) const {
    out[0] = _mm512_subs_epu16(_mm512_permutexvar_epi16(words_of<0>(dwords), table), below[v]);
    out[1] = _mm512_subs_epu16(_mm512_permutexvar_epi16(words_of<1>(dwords), table), below[v]);
    out[2] = _mm512_subs_epu16(_mm512_permutexvar_epi16(words_of<2>(dwords), table), below[v]);
    out[3] = _mm512_subs_epu16(_mm512_permutexvar_epi16(words_of<3>(dwords), table), below[v]);
  }
};

/// Any codes with any scales.
template <class Codes, class Fold>
struct Folded {
  static constexpr size_t kPairs = Codes::kPairs;
  static constexpr size_t kBytes = Fold::kBytes;
  Codes codes;
  Fold folds[2];

  MXACT_INLINE static Folded of(const Job& job, const uint8_t* at) { return {Codes(), {Fold(job.args, at), Fold(job.args, at + 16 * kBytes)}}; }
  MXACT_INLINE void pairs(size_t v, const uint8_t* dwords, __m512i (&out)[kPairs]) const {
    codes.decode(dwords, out);
    MXACT_UNROLL for (size_t i = 0; i < kPairs; ++i) out[i] = folded(out[i], folds[v]);
  }
};

/// Codes alone, where sums are in units of their scales.
template <class Codes>
struct Unscaled {
  static constexpr size_t kPairs = Codes::kPairs;
  static constexpr size_t kBytes = 1;
  static constexpr bool kInUnits = true;
  static constexpr size_t kFewTiles = 4;
  Codes codes;

  MXACT_INLINE static Unscaled of(const Job&, const uint8_t*) { return {}; }
  MXACT_INLINE void pairs(size_t, const uint8_t* dwords, __m512i (&out)[kPairs]) const { codes.decode(dwords, out); }
};

/// prepare_paired()'s words by bytes: the lower and the upper ones of products, the lower ones of differences, of which the upper ones are all alike.
constexpr size_t kPairedTables = 3;
inline void prepare_paired_bytes(const TileArgs& args, Bytes* products) {
  alignas(64) uint16_t words[2 * kPairedScales];
  prepare_paired(args, words);
  for (size_t i = 0; i < kPairedScales; ++i) {
    products[0].at[i] = static_cast<uint8_t>(words[i]);
    products[1].at[i] = static_cast<uint8_t>(words[i] >> 8);
    products[2].at[i] = static_cast<uint8_t>(words[kPairedScales + i]);
  }
}

/// Words of 16 columns from `first` on, in both halves of a dword, of two vectors of their bytes.
constexpr Bytes words_twice(unsigned first) {
  Bytes order{};
  for (unsigned i = 0; i < 64; ++i) order.at[i] = static_cast<uint8_t>(first + i / 4 + i % 2 * 64);
  return order;
}
constexpr Bytes kWordsTwice[2] = {words_twice(0), words_twice(16)};

struct Paired {
  static constexpr size_t kPairs = 4;
  static constexpr size_t kBytes = 1;
  static constexpr bool kInUnits = false;
  static constexpr size_t kFewTiles = 1;
  PairedScales scales;

  MXACT_INLINE static Paired of(const Job& job, const uint8_t* at) {
    const __m512i codes = _mm512_castsi256_si512(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(at)));
    const auto looked_up = [&](size_t table) __attribute__((always_inline)) {
      const Bytes* bytes = job.products + table;
      asm("" : "+r"(bytes));  // read again, since there are too few registers to keep it in
      return _mm512_permutex2var_epi8(_mm512_load_si512(bytes->at), codes, _mm512_load_si512(bytes->at + 64));
    };
    const auto twice = [&](__m512i low, size_t half, __m512i high) __attribute__((always_inline)) {
      return _mm512_permutex2var_epi8(low, _mm512_load_si512(kWordsTwice[half].at), high);
    };
    const __m512i low = looked_up(0), high = looked_up(1), differences = looked_up(2), binades = _mm512_set1_epi8(0x7F);
    return {{{twice(low, 0, high), twice(low, 1, high)}, {twice(differences, 0, binades), twice(differences, 1, binades)}}};
  }
  MXACT_INLINE void pairs(size_t v, const uint8_t* dwords, __m512i (&out)[kPairs]) const {
    out[0] = scales.pair(v, words_of<0>(dwords));
    out[1] = scales.pair(v, words_of<1>(dwords));
    out[2] = scales.pair(v, words_of<2>(dwords));
    out[3] = scales.pair(v, words_of<3>(dwords));
  }
};

/// e4m3 codes whose columns share one scale in each half.
struct ByProducts {
  static constexpr size_t kPairs = E4m3::kPairs;
  static constexpr size_t kBytes = sizeof(float);
  static constexpr bool kInUnits = false;
  static constexpr size_t kFewTiles = 1;
  E4m3 codes[2];

  MXACT_INLINE static ByProducts of(const Job&, const uint8_t* at) {
    const uint8_t* const second = at + 16 * kBytes;
    const E4m3Table first = scaled_e4m3(first_scale(at));
    return {{{first}, {memcmp(at, second, kBytes) == 0 ? first : scaled_e4m3(first_scale(second))}}};
  }
  MXACT_INLINE void pairs(size_t v, const uint8_t* dwords, __m512i (&out)[kPairs]) const { codes[v].decode(dwords, out); }
};
inline bool have_one_scale_each(const TileArgs& args, const uint8_t* scales) {
  return are_one<16>(args, scales) && are_one<16>(args, scales + 16 * sizeof(float));
}

/// e4m3 codes of which each column has a scale of its own.
struct ByColumns {
  static constexpr size_t kPairs = E4m3::kPairs;
  static constexpr size_t kBytes = sizeof(float);
  static constexpr bool kInUnits = false;
  static constexpr size_t kFewTiles = 1;
  PanelScales scales;

  MXACT_INLINE static ByColumns of(const Job&, const uint8_t* at) { return {PanelScales::of(at)}; }
  MXACT_INLINE void pairs(size_t v, const uint8_t* dwords, __m512i (&out)[kPairs]) const { scales.decode(v, _mm512_load_si512(dwords), out); }
};

}  // namespace
}  // namespace mx::kernels::moe
