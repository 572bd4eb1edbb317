// bf16-chain of MXFP8, NVFP4 and FP8 weights, and of many rows by MXFP4 weights, by VDPBF16PS: a stretch of a panel is decoded once for all rows, its
// scales folded in.

#include "kernels/moe/avx512_decode.hpp"
#include "kernels/moe/avx512_scaled_e4m3.hpp"
#include "kernels/moe/avx512_totals.hpp"
#include "kernels/moe/avx512_vectors.hpp"

namespace mx::kernels::moe {
namespace {

constexpr size_t kStretch = 256;  // K decoded at once: 16 KiB

/// Powers of two: exact but for overflow, and what is subnormal the instruction takes as zero.
struct E8m0Fold {
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
  __m512 scales;
  __m512 expert;

  MXACT_INLINE E4m3Fold(const TileArgs& args, const uint8_t* at) : scales(e4m3_values(at)), expert(_mm512_set1_ps(args.expert_scale)) {}
  MXACT_INLINE __m512 operator()(__m512 weight) const { return Rounded(_mm512_mul_ps(weight, scales), expert); }
};

template <Product* Rounded>
struct F32Fold {
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

/// Decodes `k` of K of 16 columns that share the scales at `scales`: [pair of K][32 columns].
using Decode = void(const TileArgs& args, const uint8_t* codes, const uint8_t* scales, size_t k, uint32_t* out);
template <class Codes, class Finish>
MXACT_INLINE void decode_pairs(const Codes& decoder, const uint8_t* codes, size_t k, uint32_t* out, const Finish& finish) {
  for (size_t pair = 0; pair < k / 2; pair += Codes::kPairs) {
    constexpr size_t kAhead = 4096;
    _mm_prefetch(codes + kAhead, _MM_HINT_T0);
    __m512i pairs[Codes::kPairs];
    decoder.decode(_mm512_load_si512(codes), pairs);
    MXACT_UNROLL for (size_t i = 0; i < Codes::kPairs; ++i) _mm512_store_si512(out + (pair + i) * kPanelColumns, finish(pairs[i]));
    codes += kPanelColumns * 4;
  }
}
template <class Codes, class Fold>
void decode(const TileArgs& args, const uint8_t* codes, const uint8_t* scales, size_t k, uint32_t* out) {
  const Fold fold(args, scales);
  decode_pairs(Codes(), codes, k, out, [&](__m512i pair) { return folded(pair, fold); });
}

/// The same of e4m3 codes whose columns share one scale.
void decode_by_products(const TileArgs&, const uint8_t* codes, const uint8_t* scales, size_t k, uint32_t* out) {
  decode_pairs(E4m3{scaled_e4m3(first_scale(scales))}, codes, k, out, [](__m512i pair) { return pair; });
}

/// A way to decode the weights of a kind.
struct Way {
  bool (*takes)(const TileArgs& args, const uint8_t* scales);  ///< these scales of 16 columns; null: all
  Decode* decode;
};

/// One kind of weights; of its ways the first one that takes the scales at hand.
struct Kind {
  size_t code_bits;
  size_t scale_bytes;
  Way ways[3];
};
constexpr Kind kMxfp4{4, 1, {{nullptr, decode<E2m1, E8m0Fold>}}};
constexpr Kind kMxfp8{8, 1, {{nullptr, decode<E4m3, E8m0Fold>}}};
constexpr Kind kNvfp4{4, 1, {{is_expert_moderate, decode<E2m1, E4m3Fold<moderate_product>>}, {nullptr, decode<E2m1, E4m3Fold<any_product>>}}};
constexpr Kind kFp8{
    8,
    4,
    {{are_one<16>, decode_by_products}, {are_moderate<16>, decode<E4m3, F32Fold<moderate_product>>}, {nullptr, decode<E4m3, F32Fold<any_product>>}}};

/// A panel's `count` of K from `first` on.
void decode_stretch(const TileArgs& args, const Kind& kind, size_t panel, size_t first, size_t count, uint32_t* out) {
  const uint8_t* const codes = args.codes + panel * args.code_stride;
  const uint8_t* const scales = args.scales + panel * args.scale_stride;
  for (size_t k = first; k < first + count;) {
    const size_t block = k / args.scale_block;
    const size_t end = (block + 1) * args.scale_block < first + count ? (block + 1) * args.scale_block : first + count;
    for (size_t column = 0; column < kPanelColumns; column += 16) {
      const uint8_t* const of_block = scales + (block * kPanelColumns + column) * kind.scale_bytes;
      const Way* way = kind.ways;
      while (way->takes != nullptr && !way->takes(args, of_block)) ++way;
      way->decode(args, codes + k * kind.code_bits / 8 * kPanelColumns + column * 4, of_block, end - k,
                  out + (k - first) / 2 * kPanelColumns + column);
    }
    k = end;
  }
}

/// One tile of rows over a stretch; `totals` [row][32] goes on from stretch to stretch.
using Tile = void(const uint32_t* weights, const uint32_t* a, size_t pairs, float* totals);

template <size_t Rows>
void tile(const uint32_t* weights, const uint32_t* a, size_t pairs, float* totals) {
  __m512 sums[Rows][2];
  MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) {
    MXACT_UNROLL for (size_t v = 0; v < 2; ++v) sums[m][v] = _mm512_load_ps(totals + m * kPanelColumns + v * 16);
  }
#pragma GCC unroll 2
  for (size_t pair = 0; pair < pairs; ++pair) {
    const __m512i low = _mm512_load_si512(weights + pair * kPanelColumns);
    const __m512i high = _mm512_load_si512(weights + pair * kPanelColumns + 16);
    MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) {
      const __m512bh two = pair_of(a + pair * Rows + m);
      sums[m][0] = dot_pair(sums[m][0], low, two);
      sums[m][1] = dot_pair(sums[m][1], high, two);
    }
  }
  MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) {
    MXACT_UNROLL for (size_t v = 0; v < 2; ++v) _mm512_store_ps(totals + m * kPanelColumns + v * 16, sums[m][v]);
  }
}
constexpr Tile* kTiles[kChainRows] = {tile<1>, tile<2>, tile<3>, tile<4>, tile<5>, tile<6>, tile<7>, tile<8>, tile<9>, tile<10>, tile<11>, tile<12>};

void run(const TileArgs& args, const Kind& kind) {
  alignas(64) uint32_t weights[kStretch / 2 * kPanelColumns];
  alignas(64) float totals[kMostRows * kPanelColumns];
  const size_t k = args.blocks * kScaleBlock;
  for (size_t panel = 0; panel < args.panels; ++panel) {
    for (size_t first = 0; first < k; first += kStretch) {
      const size_t count = k - first < kStretch ? k - first : kStretch;
      decode_stretch(args, kind, panel, first, count, weights);
      each_tile<kChainRows>(args.rows, [&](size_t row, size_t height) {
        float* const of_tile = totals + row * kPanelColumns;
        if (first == 0) clear(of_tile, height);
        // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): a tile has at most kChainRows rows.
        kTiles[height - 1](weights, args.a + k / 2 * row + first / 2 * height, count / 2, of_tile);
        if (first + count == k) put(args, panel, row, height, of_tile);
      });
    }
  }
}

}  // namespace

void bf16_chain_decoded_avx512_bf16(const TileArgs& args) { run(args, kMxfp4); }
void bf16_chain_mxfp8_avx512_bf16(const TileArgs& args) { run(args, kMxfp8); }
void bf16_chain_nvfp4_avx512_bf16(const TileArgs& args) { run(args, kNvfp4); }
void bf16_chain_fp8_avx512_bf16(const TileArgs& args) { run(args, kFp8); }

}  // namespace mx::kernels::moe
