// bf16-block by AVX2, of every kind of weights: sums of chains under flushing, their scales without.

#include "kernels/moe/avx2_decode.hpp"

namespace mx::kernels::moe {
namespace {

constexpr size_t kStretch = 128;  // K decoded at once, whole chains: 16 KiB for both halves
constexpr size_t kShortest = 16;  // K of the smallest chain

/// Scales of 8 columns.
using ScaleValues = __m256(const TileArgs& args, const uint8_t* scales);

__m256 e8m0_scales(const TileArgs&, const uint8_t* scales) { return scale_values(scales); }
__m256 fp32_scales(const TileArgs&, const uint8_t* scales) { return f32_scales(scales); }
__m256 expert_scales(const TileArgs& args, const uint8_t* scales) { return _mm256_mul_ps(e4m3_scales(scales), _mm256_set1_ps(args.expert_scale)); }

using Decode = void(const uint8_t* codes, size_t k, float* out);
template <class Codes>
void decode(const uint8_t* codes, size_t k, float* out) {
  Codes::decode(codes, k, AsIs(), out);
}

/// One kind of weights.
struct Kind {
  Decode* decode;
  size_t code_bits;
  ScaleValues* scales;
  size_t scale_bytes;
};
constexpr Kind kMxfp4{decode<E2m1>, 4, e8m0_scales, 1};
constexpr Kind kMxfp8{decode<E4m3>, 8, e8m0_scales, 1};
constexpr Kind kNvfp4{decode<E2m1>, 4, expert_scales, 1};
constexpr Kind kFp8{decode<E4m3>, 8, fp32_scales, 4};

/// Chains of one stretch of K, of 16 columns.
struct Stretch {
  const float* weights;
  size_t k;
  size_t chain;         ///< at most k
  size_t length;        ///< of the row
  const float* scales;  ///< [chain][16]
  size_t chains() const { return (k + chain - 1) / chain; }
};

/// Sums of a tile's chains, [chain][row][16].
struct Sums {
  alignas(32) float at[kStretch / kShortest * kSingleRows * kColumns];
};

/// To be run under flushing.
using SumChains = void(const Stretch& stretch, const float* x, Sums& sums);
template <size_t Rows>
void sum_chains(const Stretch& stretch, const float* x, Sums& sums) {
  for (size_t c = 0; c < stretch.chains(); ++c) {
    const size_t first = c * stretch.chain;
    __m256 part[Rows][2];
    MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) { MXACT_UNROLL for (size_t v = 0; v < 2; ++v) part[m][v] = _mm256_setzero_ps(); }
    const size_t count = stretch.k - first < stretch.chain ? stretch.k - first : stretch.chain;
    multiply(part, stretch.weights + first * kColumns, x + first * Rows, count, stretch.length);
    store(part, sums.at + c * Rows * kColumns);
  }
}

MXACT_INLINE __m256 with_row(__m256 scale, const float* a_scales, size_t m) {
  return a_scales == nullptr ? scale : _mm256_mul_ps(_mm256_broadcast_ss(a_scales + m), scale);
}

/// `a_scales` [chain][row]; null: none.
using AddChains = void(const Stretch& stretch, const Sums& sums, const float* a_scales, float* totals);
template <size_t Rows>
void add_chains(const Stretch& stretch, const Sums& sums, const float* a_scales, float* totals) {
  __m256 registers[Rows][2];
  load(registers, totals);
  for (size_t c = 0; c < stretch.chains(); ++c) {
    MXACT_UNROLL for (size_t v = 0; v < 2; ++v) {
      const __m256 scale = _mm256_load_ps(stretch.scales + c * kColumns + v * 8);
      MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) {
        const __m256 sum = _mm256_load_ps(sums.at + (c * Rows + m) * kColumns + v * 8);
        registers[m][v] = _mm256_fmadd_ps(sum, with_row(scale, a_scales == nullptr ? nullptr : a_scales + c * Rows, m), registers[m][v]);
      }
    }
  }
  store(registers, totals);
}

constexpr SumChains* kSumChains[kSingleRows] = {sum_chains<1>, sum_chains<2>, sum_chains<3>, sum_chains<4>, sum_chains<5>, sum_chains<6>};
constexpr AddChains* kAddChains[kSingleRows] = {add_chains<1>, add_chains<2>, add_chains<3>, add_chains<4>, add_chains<5>, add_chains<6>};

/// One half of a panel, its decoded weights and what becomes of all rows.
struct Half {
  alignas(64) float weights[kStretch * kColumns];
  alignas(64) float scales[kStretch / kShortest * kColumns];
  alignas(64) float totals[kMostRows * kColumns];  ///< or the sums of chains as long as the row
};

/// The chains of a stretch from `first` on, a few tiles at a time: switching flushing on and off takes long.
void add_stretch(const TileArgs& args, size_t first, size_t count, Half (&halves)[2]) {
  constexpr size_t kTilesAtOnce = 2;
  const size_t length = args.blocks * kScaleBlock;
  const size_t chains = (length + args.chain - 1) / args.chain;
  const size_t tiles = tile_count(args.rows, kSingleRows);
  Sums sums[2][kTilesAtOnce];
  const Stretch stretches[2] = {{halves[0].weights, count, args.chain, length, halves[0].scales},
                                {halves[1].weights, count, args.chain, length, halves[1].scales}};
  size_t row = 0;
  for (size_t tile = 0; tile < tiles; tile += kTilesAtOnce) {
    const size_t end = tile + kTilesAtOnce < tiles ? tile + kTilesAtOnce : tiles;
    const size_t begin_row = row;
    {
      const Flushing flushing;
      for (size_t t = tile; t < end; ++t) {
        const size_t height = tile_height(args.rows, kSingleRows, t);
        for (size_t h = 0; h < 2; ++h) kSumChains[height - 1](stretches[h], singles(args, row, height, first), sums[h][t - tile]);
        row += height;
      }
    }
    row = begin_row;
    for (size_t t = tile; t < end; ++t) {
      const size_t height = tile_height(args.rows, kSingleRows, t);
      const float* const a_scales = args.a_scales == nullptr ? nullptr : args.a_scales + row * chains + first / args.chain * height;
      for (size_t h = 0; h < 2; ++h) kAddChains[height - 1](stretches[h], sums[h][t - tile], a_scales, halves[h].totals + row * kColumns);
      row += height;
    }
  }
}

/// Chains as long as the row go on through all stretches.
void continue_chains(const TileArgs& args, size_t first, size_t count, Half& half) {
  const Flushing flushing;
  each_tile(args.rows, [&](size_t row, size_t height) {
    kGoOn[height - 1](half.weights, singles(args, row, height, first), count, args.blocks * kScaleBlock, half.totals + row * kColumns);
  });
}

/// The one chain's sums times their scales.
void scale_sums(const TileArgs& args, const Kind& kind, const uint8_t* scales, float* sums) {
  for (size_t v = 0; v < 2; ++v) {
    const __m256 scale = kind.scales(args, scales + v * 8 * kind.scale_bytes);
    for (size_t row = 0; row < args.rows; ++row) {
      float* const at = sums + row * kColumns + v * 8;
      _mm256_store_ps(at, _mm256_fmadd_ps(_mm256_load_ps(at), with_row(scale, args.a_scales, row), _mm256_setzero_ps()));
    }
  }
}

/// Scales of the chains from `first` of K on; `at`: those of the half's first column.
void decode_scales(const TileArgs& args, const Kind& kind, const uint8_t* at, size_t first, size_t count, float* out) {
  for (size_t c = 0; c * args.chain < count; ++c) {
    const uint8_t* const of_chain = at + (first + c * args.chain) / args.scale_block * kPanelColumns * kind.scale_bytes;
    for (size_t v = 0; v < 2; ++v) _mm256_store_ps(out + c * kColumns + v * 8, kind.scales(args, of_chain + v * 8 * kind.scale_bytes));
  }
}

void run(const TileArgs& args, const Kind& kind) {
  Half halves[2];
  const size_t k = args.blocks * kScaleBlock;
  const bool one_chain = args.chain >= k;
  for (size_t panel = 0; panel < args.panels; ++panel) {
    const uint8_t* const codes = args.codes + panel * args.code_stride;
    const uint8_t* const scales = args.scales + panel * args.scale_stride;
    for (Half& half : halves) {
      for (size_t i = 0; i < args.rows * kColumns; ++i) half.totals[i] = 0;
    }
    for (size_t first = 0; first < k; first += kStretch) {
      const size_t count = k - first < kStretch ? k - first : kStretch;
      for (size_t h = 0; h < 2; ++h) {
        kind.decode(codes + h * kColumns * 4 + first * kind.code_bits / 8 * kPanelColumns, count, halves[h].weights);
        if (!one_chain) decode_scales(args, kind, scales + h * kColumns * kind.scale_bytes, first, count, halves[h].scales);
        if (one_chain) continue_chains(args, first, count, halves[h]);
      }
      if (!one_chain) add_stretch(args, first, count, halves);
    }
    for (size_t h = 0; h < 2; ++h) {
      if (one_chain) scale_sums(args, kind, scales + h * kColumns * kind.scale_bytes, halves[h].totals);
      put(args, panel, h, halves[h].totals);
    }
  }
}

}  // namespace

void bf16_block_avx2(const TileArgs& args) { run(args, kMxfp4); }
void bf16_block_mxfp8_avx2(const TileArgs& args) { run(args, kMxfp8); }
void bf16_block_nvfp4_avx2(const TileArgs& args) { run(args, kNvfp4); }
void bf16_block_fp8_avx2(const TileArgs& args) { run(args, kFp8); }

}  // namespace mx::kernels::moe
