// bf16-chain of MXFP8, NVFP4 and FP8 weights, and of many rows by MXFP4 weights, by VDPBF16PS. Few rows meet weights that are decoded in registers;
// for more a stretch of a panel is decoded once, while the first of them are multiplied.

#include "kernels/moe/avx512_stretch.hpp"
#include "kernels/moe/avx512_totals.hpp"

namespace mx::kernels::moe {
namespace {

template <size_t Rows>
MXACT_INLINE void take_up(__m512 (&sums)[Rows][2], const float* totals) {
  MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) {
    MXACT_UNROLL for (size_t v = 0; v < 2; ++v) sums[m][v] = _mm512_load_ps(totals + m * kPanelColumns + v * 16);
  }
}
template <size_t Rows>
MXACT_INLINE void put_down(const __m512 (&sums)[Rows][2], float* totals) {
  MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) {
    MXACT_UNROLL for (size_t v = 0; v < 2; ++v) _mm512_store_ps(totals + m * kPanelColumns + v * 16, sums[m][v]);
  }
}

/// A tile of rows by the pairs of a panel's halves; `a` goes on behind them.
template <size_t Rows, size_t Pairs>
MXACT_INLINE void multiply(__m512 (&sums)[Rows][2], const __m512i (&pairs)[2][Pairs], const uint32_t*& a) {
  MXACT_UNROLL for (size_t i = 0; i < Pairs; ++i) {
    MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) {
      const __m512bh two = pair_of(a + i * Rows + m);
      MXACT_UNROLL for (size_t v = 0; v < 2; ++v) sums[m][v] = dot_pair(sums[m][v], pairs[v][i], two);
    }
  }
  a += Pairs * Rows;
}

/// The same while a tile of rows, `a` from the range on, is multiplied by what is decoded: lookups run beside products. `totals`: [row][32].
using DecodeTile = void(const Job& job, const Range& range, const uint8_t* codes, uint32_t* out, const uint32_t* a, float* totals);
template <class Decoder, size_t Rows>
void decode_tile(const Job& job, const Range& range, const uint8_t* codes, uint32_t* out, const uint32_t* a, float* totals) {
  __m512 sums[Rows][2];
  take_up(sums, totals);
  each_decoded<Decoder>(
      job, range, codes, out, [&](const __m512i(&pairs)[2][Decoder::kPairs]) __attribute__((always_inline)) { multiply(sums, pairs, a); });
  put_down(sums, totals);
}

/// Whole chains of one tile of rows by a panel. Sums of a decoder that leaves scales out are in units of their block's (TileArgs::in_units).
using Few = void(const Job& job, size_t panel, size_t row);
template <class Decoder, size_t Rows>
void few(const Job& job, size_t panel, size_t row) {
  const TileArgs& args = job.args;
  Columns<2> columns{args.codes + panel * args.code_stride, args.scales + panel * args.scale_stride, args.code_stride, args.scale_stride};
  const size_t k = args.blocks * kScaleBlock;
  const uint32_t* a = args.a + k / 2 * row;
  __m512 sums[Rows][2];
  MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) { MXACT_UNROLL for (size_t v = 0; v < 2; ++v) sums[m][v] = zeros(); }
  __m512i units[2];
  const auto turn_into = [&](size_t v, __m512i next) __attribute__((always_inline)) {
    const __m512 ratio = power_between(units[v], next);
    MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) sums[m][v] = _mm512_mul_ps(sums[m][v], ratio);
    units[v] = next;
  };
  // A block's scales are looked up while the one before is multiplied.
  Decoder next = Decoder::of(job, columns.scales);
  for (size_t first = 0; first < k; first += args.scale_block) {
    const Decoder decoder = next;
    if constexpr (Decoder::kInUnits) {
      MXACT_UNROLL for (size_t v = 0; v < 2; ++v) {
        const __m512i fields = scale_fields(columns.scales + v * 16);
        if (first == 0) units[v] = fields;
        turn_into(v, fields);
      }
    }
    columns.scales += kPanelColumns * Decoder::kBytes;
    const bool is_last = k - first <= args.scale_block;
    if (!is_last) next = Decoder::of(job, columns.scales);
    const size_t end = is_last ? k : first + args.scale_block;
#pragma GCC unroll 1
    for (size_t at = first; at < end; at += 2 * Decoder::kPairs) {
      __m512i pairs[2][Decoder::kPairs];
      MXACT_UNROLL for (size_t v = 0; v < 2; ++v) decoder.pairs(v, columns.codes_of(v), pairs[v]);
      multiply(sums, pairs, a);
      columns.next_dwords();
    }
  }
  if constexpr (Decoder::kInUnits) {
    MXACT_UNROLL for (size_t v = 0; v < 2; ++v) turn_into(v, unit_field());
  }
  Outputs(args, panel, row).store(sums);
}

/// A tile's function by its height, for so many rows in all: some codes are decoded again for another tile sooner than they are stored and read.
struct FewRows {
  size_t most;
  Few* of_tile[kChainRows];
};
template <class Decoder>
constexpr FewRows kFewRows{Decoder::kFewTiles * kChainRows,
                           {few<Decoder, 1>, few<Decoder, 2>, few<Decoder, 3>, few<Decoder, 4>, few<Decoder, 5>, few<Decoder, 6>, few<Decoder, 7>,
                            few<Decoder, 8>, few<Decoder, 9>, few<Decoder, 10>, few<Decoder, 11>, few<Decoder, 12>}};

/// A way to decode the weights of a kind.
struct Way {
  Takes* takes;              ///< these scales of a panel; null: all
  Decode* decode;            ///< null where tiles do
  DecodeTile* const* tiles;  ///< by their height
  const FewRows* few;        ///< null: none
};
template <class Decoder>
constexpr DecodeTile* kDecodeTiles[kChainRows] = {decode_tile<Decoder, 1>,  decode_tile<Decoder, 2>,  decode_tile<Decoder, 3>,
                                                  decode_tile<Decoder, 4>,  decode_tile<Decoder, 5>,  decode_tile<Decoder, 6>,
                                                  decode_tile<Decoder, 7>,  decode_tile<Decoder, 8>,  decode_tile<Decoder, 9>,
                                                  decode_tile<Decoder, 10>, decode_tile<Decoder, 11>, decode_tile<Decoder, 12>};
template <class Decoder>
constexpr Way way(Takes* takes) {
  return {takes, nullptr, kDecodeTiles<Decoder>, &kFewRows<Decoder>};
}
/// Of weights that few rows do not come here with, and of scales that few rows need not be quick with.
template <class Decoder>
constexpr Way way_of_many(Takes* takes) {
  return {takes, nullptr, kDecodeTiles<Decoder>, nullptr};
}
template <class Decoder>
constexpr Way slow_way(Takes* takes) {
  return {takes, decode<Decoder>, nullptr, nullptr};
}

/// One kind of weights; of its ways the first one that takes the scales at hand.
struct Kind {
  size_t code_bits;
  size_t scale_bytes;
  Way ways[4];
  void (*prepare)(const TileArgs& args, Bytes* products);  ///< null: nothing
  const FewRows* in_units;                                 ///< few rows, where they may be; null: none
};
constexpr Kind kMxfp4{4, 1, {way_of_many<Folded<E2m1, E8m0Fold>>(nullptr)}, nullptr, nullptr};
constexpr Kind kMxfp8{8, 1, {way_of_many<Folded<E4m3, E8m0Fold>>(nullptr)}, nullptr, &kFewRows<Unscaled<E4m3>>};
constexpr Kind kNvfp4{4,
                      1,
                      {way<Paired>(takes_paired), slow_way<Folded<E2m1, E4m3Fold<moderate_product>>>(is_expert_moderate),
                       slow_way<Folded<E2m1, E4m3Fold<any_product>>>(nullptr)},
                      prepare_paired_bytes,
                      nullptr};
constexpr Kind kFp8{8,
                    4,
                    {way<ByProducts>(one_by_one<have_one_scale_each, sizeof(float)>), way<ByColumns>(one_by_one<are_of_columns, sizeof(float)>),
                     slow_way<Folded<E4m3, F32Fold<moderate_product>>>(one_by_one<are_moderate<kPanelColumns>, sizeof(float)>),
                     slow_way<Folded<E4m3, F32Fold<any_product>>>(nullptr)},
                    nullptr,
                    nullptr};

const Way& way_of(const TileArgs& args, const Kind& kind, const uint8_t* scales) {
  const Way* way = kind.ways;
  while (way->takes != nullptr && !way->takes(args, scales, 1)) ++way;
  return *way;
}

/// One tile of rows over a stretch; `totals` [row][32] goes on from stretch to stretch.
using Tile = void(const uint32_t* weights, const uint32_t* a, size_t pairs, float* totals);

template <size_t Rows>
void tile(const uint32_t* weights, const uint32_t* a, size_t pairs, float* totals) {
  __m512 sums[Rows][2];
  take_up(sums, totals);
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
  put_down(sums, totals);
}
constexpr Tile* kTiles[kChainRows] = {tile<1>, tile<2>, tile<3>, tile<4>, tile<5>, tile<6>, tile<7>, tile<8>, tile<9>, tile<10>, tile<11>, tile<12>};

/// A panel's K from `first` to `end` to `out`, and the first tile of rows by that.
void decode_stretch(const Job& job, const Kind& kind, size_t panel, size_t first, size_t end, uint32_t* out, float* totals) {
  const TileArgs& args = job.args;
  const uint8_t* const codes = args.codes + panel * args.code_stride;
  const uint8_t* const scales = args.scales + panel * args.scale_stride;
  const auto scales_of = [&](size_t block) { return scales + block * kPanelColumns * kind.scale_bytes; };
  const size_t height = tile_height(args.rows, kChainRows, 0);
  each_run(
      first, end, args.scale_block, [&](size_t block) { return &way_of(args, kind, scales_of(block)); },
      [&](size_t from, size_t to, const Way& way) {
        const Range range{from, to - from, scales_of(from / args.scale_block)};
        const uint8_t* const of_range = codes + from * kind.code_bits / 8 * kPanelColumns;
        uint32_t* const weights = out + (from - first) / 2 * kPanelColumns;
        const uint32_t* const a = args.a + from / 2 * height;
        if (way.decode == nullptr) return way.tiles[height - 1](job, range, of_range, weights, a, totals);
        way.decode(job, range, of_range, weights);
        kTiles[height - 1](weights, a, (to - from) / 2, totals);
      });
}

/// How few rows are multiplied; null where there are more, or all scales are not of one such way.
const FewRows* few_of(const TileArgs& args, const Kind& kind) {
  if (args.in_units && kind.in_units != nullptr) return args.rows <= kind.in_units->most ? kind.in_units : nullptr;
  for (const Way& way : kind.ways) {
    if (way.few != nullptr && args.rows <= way.few->most && takes_all(args, way)) return way.few;
  }
  return nullptr;
}

void run_few(const Job& job, const FewRows& few) {
  for (size_t panel = 0; panel < job.args.panels; ++panel) {
    each_tile<kChainRows>(job.args.rows, [&](size_t row, size_t height) { few.of_tile[height - 1](job, panel, row); });
  }
}

void run(const TileArgs& args, const Kind& kind) {
  Bytes products[kPairedTables];
  if (kind.prepare != nullptr) kind.prepare(args, products);
  const Job job{args, products};
  if (const FewRows* const few = few_of(args, kind)) return run_few(job, *few);
  alignas(64) uint32_t weights[kStretch / 2 * kPanelColumns];
  alignas(64) float totals[kMostRows * kPanelColumns];
  const size_t k = args.blocks * kScaleBlock;
  for (size_t panel = 0; panel < args.panels; ++panel) {
    clear(totals, args.rows);
    for (size_t first = 0; first < k; first += kStretch) {
      const size_t end = k - first < kStretch ? k : first + kStretch;
      decode_stretch(job, kind, panel, first, end, weights, totals);
      each_tile<kChainRows>(args.rows, [&](size_t row, size_t height) {
        float* const of_tile = totals + row * kPanelColumns;
        // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): a tile has at most kChainRows rows.
        if (row != 0) kTiles[height - 1](weights, args.a + k / 2 * row + first / 2 * height, (end - first) / 2, of_tile);
        if (end == k) put(args, panel, row, height, of_tile);
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
