// bf16-block of MXFP8, NVFP4 and FP8 weights by VDPBF16PS, decoded in registers for each tile of rows: lookups run beside the products, and a panel
// that was decoded once for all rows, into the first-level cache, took longer (0.70 to 0.72 of the limit at 256 rows instead of 0.80 to 0.83).

#include "kernels/moe/avx512_decode.hpp"

namespace mx::kernels::moe {
namespace {

constexpr size_t kSixteen = 16;  ///< K that is decoded at a time, the smallest chain

/// Where the scales of a panel's chains come from: `at` gives those of 16 columns for the scale block `index`.
struct E8m0Scales {
  static constexpr size_t kBytes = 1;
  MXACT_INLINE explicit E8m0Scales(const TileArgs&) {}
  MXACT_INLINE __m512 at(const uint8_t* scales) const { return scale_values(scales); }
};

struct E4m3Scales {
  static constexpr size_t kBytes = 1;
  static constexpr Bytes kInOrder = widening(0, 1);
  E4m3Table table;
  __m512 expert;

  MXACT_INLINE explicit E4m3Scales(const TileArgs& args) : expert(_mm512_set1_ps(args.expert_scale)) {}
  MXACT_INLINE __m512 at(const uint8_t* scales) const {
    const __m512i codes = _mm512_castsi128_si512(_mm_loadu_si128(reinterpret_cast<const __m128i*>(scales)));
    return _mm512_mul_ps(widened(table.look_up(codes), kInOrder.at), expert);
  }
};

struct F32Scales {
  static constexpr size_t kBytes = 4;
  MXACT_INLINE explicit F32Scales(const TileArgs&) {}
  MXACT_INLINE __m512 at(const uint8_t* scales) const { return _mm512_loadu_ps(scales); }
};

/// Walks the scale blocks of a panel, chain by chain.
template <class Scales>
struct ScaleWalk {
  size_t chains_per_block;
  size_t left;
  size_t offset = 0;

  MXACT_INLINE explicit ScaleWalk(const TileArgs& args)
      : chains_per_block((args.scale_block + args.chain - 1) / args.chain), left(chains_per_block) {}
  MXACT_INLINE void next_chain() {
    if (--left != 0) return;
    left = chains_per_block;
    offset += kPanelColumns * Scales::kBytes;
  }
};

template <size_t Rows, size_t Vectors>
MXACT_INLINE void clear(__m512 (&sums)[Rows][Vectors]) {
  MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) { MXACT_UNROLL for (size_t v = 0; v < Vectors; ++v) sums[m][v] = _mm512_setzero_ps(); }
}

template <size_t Rows, size_t Vectors, class Codes>
MXACT_INLINE void sixteen(__m512 (&sums)[Rows][Vectors], Columns<Vectors>& columns, const Codes& codes, const uint32_t*& a) {
  MXACT_UNROLL for (size_t dword = 0; dword < Codes::kDwords; ++dword) {
    __m512i pairs[Vectors][Codes::kPairs];
    MXACT_UNROLL for (size_t v = 0; v < Vectors; ++v) codes.decode(columns.dwords(v), pairs[v]);
    MXACT_UNROLL for (size_t p = 0; p < Codes::kPairs; ++p) {
      MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) {
        const __m512bh pair = pair_of(a + p * Rows + m);
        MXACT_UNROLL for (size_t v = 0; v < Vectors; ++v) sums[m][v] = dot_pair(sums[m][v], pairs[v][p], pair);
      }
    }
    columns.next_dwords();
    a += Codes::kPairs * Rows;
  }
}

/// What a chain's sum is multiplied with: the weights' scale, times that of the row where rows have some.
MXACT_INLINE __m512 with_row(__m512 scale, const float* a_scales, size_t m) {
  return a_scales == nullptr ? scale : _mm512_mul_ps(_mm512_set1_ps(a_scales[m]), scale);
}

/// One tile of rows by 16 * Vectors columns, over the whole K.
template <size_t Rows, size_t Vectors, class Codes, class Scales>
MXACT_INLINE void tile(const TileArgs& args, size_t panel, size_t row, const Outputs& outputs) {
  const Codes codes;
  const Scales scales(args);
  Columns<Vectors> columns{args.codes + panel * args.code_stride, args.scales + panel * args.scale_stride, args.code_stride, args.scale_stride};
  const size_t k = args.blocks * kScaleBlock;
  const size_t chains = (k + args.chain - 1) / args.chain;
  const uint32_t* a = args.a + k / 2 * row;
  const float* a_scales = args.a_scales == nullptr ? nullptr : args.a_scales + chains * row;
  ScaleWalk<Scales> walk(args);
  __m512 totals[Rows][Vectors];
  clear(totals);
#pragma GCC unroll 1
  for (size_t c = 0; c < chains; ++c) {
    __m512 sums[Rows][Vectors];
    clear(sums);
    const size_t count = k - c * args.chain < args.chain ? k - c * args.chain : args.chain;
#pragma GCC unroll 1
    for (size_t s = 0; s < count; s += kSixteen) sixteen(sums, columns, codes, a);
    MXACT_UNROLL for (size_t v = 0; v < Vectors; ++v) {
      const __m512 scale = scales.at(columns.scales + v / 2 * columns.scale_stride + walk.offset + v % 2 * 16 * Scales::kBytes);
      MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) totals[m][v] = _mm512_fmadd_ps(sums[m][v], with_row(scale, a_scales, m), totals[m][v]);
    }
    walk.next_chain();
    if (a_scales != nullptr) a_scales += Rows;
  }
  outputs.store(totals);
}

/// As for the chains of few rows of MXFP4: more columns where there is a single row, but for codes of 8 bits: there memory sets the pace, and
/// delivers most to one stream. Returns the panels that it took.
template <size_t Rows, class Codes, class Scales>
size_t tile_of_panels(const TileArgs& args, size_t panel, size_t row, const Outputs& outputs) {
  constexpr size_t kPanels = Rows == 1 && Codes::kPairs == 4 ? 2 : 1;
  if (kPanels > 1 && panel + kPanels <= args.panels) {
    tile<Rows, 2 * kPanels, Codes, Scales>(args, panel, row, outputs);
    return kPanels;
  }
  tile<Rows, 2, Codes, Scales>(args, panel, row, outputs);
  return 1;
}

using Tile = size_t(const TileArgs& args, size_t panel, size_t row, const Outputs& outputs);
template <class Codes, class Scales>
constexpr Tile* kTiles[kBlockRows] = {tile_of_panels<1, Codes, Scales>, tile_of_panels<2, Codes, Scales>, tile_of_panels<3, Codes, Scales>,
                                      tile_of_panels<4, Codes, Scales>, tile_of_panels<5, Codes, Scales>, tile_of_panels<6, Codes, Scales>};

template <class Codes, class Scales>
void run(const TileArgs& args) {
  for (size_t panel = 0; panel < args.panels;) {
    size_t taken = 0;
    size_t row = 0;
    for (size_t t = 0; t < tile_count(args.rows, kBlockRows); ++t) {
      const size_t height = tile_height(args.rows, kBlockRows, t);
      taken = kTiles<Codes, Scales>[height - 1](args, panel, row, Outputs(args, panel, row));
      row += height;
    }
    panel += taken;
  }
}

}  // namespace

void bf16_block_mxfp8_avx512_bf16(const TileArgs& args) { run<E4m3, E8m0Scales>(args); }
void bf16_block_nvfp4_avx512_bf16(const TileArgs& args) { run<E2m1, E4m3Scales>(args); }
void bf16_block_fp8_avx512_bf16(const TileArgs& args) { run<E4m3, F32Scales>(args); }

}  // namespace mx::kernels::moe
