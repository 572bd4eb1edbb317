// bf16-chain and bf16-block by VDPBF16PS: a vector holds pairs of K of 16 columns, the activations' pairs are broadcast from memory.
// Decoding is a lookup in a table of 16 words, which VPERMW reads with four bits of each shifted word.

#include "kernels/moe/avx512_decode.hpp"

namespace mx::kernels::moe {
namespace {

alignas(64) constexpr float kValues[16] = {0, 0.5F, 1, 1.5F, 2, 3, 4, 6, -0.0F, -0.5F, -1, -1.5F, -2, -3, -4, -6};

/// What VPERMW looks up of nibble J: of the vector `v` of the columns, whose dwords `codes` are.
template <size_t J, size_t Vectors>
MXACT_INLINE __m512i index(const __m512i& codes, const Columns<Vectors>& columns, size_t v) {
  return J == 2 ? columns.upper_bytes(v) : nibble<J>(codes);
}

/// Weights as bf16-chain takes them, when every scale byte is in 2..252.
struct FoldedDecoder {
  __m512i table = _mm512_load_si512(kLargest);
  __m512i taken_off;

  MXACT_INLINE void begin_block(const uint8_t* scales) { taken_off = below_largest(scales); }
  template <size_t J, size_t Vectors>
  MXACT_INLINE __m512i pairs(const __m512i& codes, const Columns<Vectors>& columns, size_t v) const {
    return _mm512_subs_epu16(_mm512_permutexvar_epi16(index<J>(codes, columns, v), table), taken_off);
  }
};

/// The same for every scale: fp32 products, exact but for overflow, cut to bf16. What is subnormal the instruction takes as zero.
struct CarefulDecoder {
  __m512 table = _mm512_load_ps(kValues);
  __m512 scale;

  MXACT_INLINE void begin_block(const uint8_t* scales) { scale = scale_values(scales); }
  template <size_t J, size_t Vectors>
  MXACT_INLINE __m512i pairs(const __m512i& codes, const Columns<Vectors>&, size_t) const {
    const __m512i even =
        _mm512_castps_si512(_mm512_mul_ps(_mm512_permutexvar_ps(_mm512_srli_epi32(codes, static_cast<unsigned>(4 * J)), table), scale));
    const __m512i odd =
        _mm512_castps_si512(_mm512_mul_ps(_mm512_permutexvar_ps(_mm512_srli_epi32(codes, static_cast<unsigned>(4 * J + 16)), table), scale));
    return _mm512_mask_mov_epi16(_mm512_srli_epi32(even, 16), 0xAAAAAAAAU, odd);
  }
};

template <size_t J, size_t Rows, size_t Vectors, class Decoder>
MXACT_INLINE void chain_pair(__m512 (&sums)[Rows][Vectors], const Columns<Vectors>& columns, const __m512i (&codes)[Vectors],
                             const Decoder (&decoders)[Vectors], const uint32_t* a) {
  __m512i weights[Vectors];
  MXACT_UNROLL for (size_t v = 0; v < Vectors; ++v) weights[v] = decoders[v].template pairs<J>(codes[v], columns, v);
  MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) {
    const __m512bh pair = pair_of(a + J * Rows + m);
    MXACT_UNROLL for (size_t v = 0; v < Vectors; ++v) sums[m][v] = dot_pair(sums[m][v], weights[v], pair);
  }
}

template <size_t Rows, size_t Vectors, class Decoder>
MXACT_INLINE void chain_octet(__m512 (&sums)[Rows][Vectors], Columns<Vectors>& columns, const Decoder (&decoders)[Vectors], const uint32_t*& a) {
  __m512i codes[Vectors];
  MXACT_UNROLL for (size_t v = 0; v < Vectors; ++v) codes[v] = columns.dwords(v);
  chain_pair<0>(sums, columns, codes, decoders, a);
  chain_pair<1>(sums, columns, codes, decoders, a);
  chain_pair<2>(sums, columns, codes, decoders, a);
  chain_pair<3>(sums, columns, codes, decoders, a);
  columns.next_dwords();
  a += 4 * Rows;
}

template <size_t Rows, size_t Vectors, class Decoder>
MXACT_INLINE void chain(Columns<Vectors> columns, const uint32_t* a, size_t blocks, const Outputs& outputs) {
  __m512 sums[Rows][Vectors];
  MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) { MXACT_UNROLL for (size_t v = 0; v < Vectors; ++v) sums[m][v] = _mm512_setzero_ps(); }
  Decoder decoders[Vectors];
#pragma GCC unroll 1
  for (size_t b = 0; b < blocks; ++b) {
    if constexpr (Vectors > 2) columns.look_ahead(blocks - b);
    MXACT_UNROLL for (size_t v = 0; v < Vectors; ++v) decoders[v].begin_block(columns.scales_of(v));
    // Unrolled over a whole block, wide tiles would not fit the cache of decoded instructions.
    if constexpr (Rows * Vectors <= 8) {
      MXACT_UNROLL for (size_t octet = 0; octet < 4; ++octet) chain_octet(sums, columns, decoders, a);
    } else {
#pragma GCC unroll 1
      for (size_t octet = 0; octet < 4; ++octet) chain_octet(sums, columns, decoders, a);
    }
    columns.next_block();
  }
  outputs.store(sums);
}

template <size_t J, size_t Rows, size_t Vectors>
MXACT_INLINE void block_pair(__m512 (&sums)[Rows][Vectors], const Columns<Vectors>& columns, const __m512i (&codes)[Vectors], __m512i table,
                             const uint32_t* a) {
  __m512i weights[Vectors];
  MXACT_UNROLL for (size_t v = 0; v < Vectors; ++v) weights[v] = _mm512_permutexvar_epi16(index<J>(codes[v], columns, v), table);
  MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) {
    const __m512bh pair = pair_of(a + J * Rows + m);
    MXACT_UNROLL for (size_t v = 0; v < Vectors; ++v) sums[m][v] = dot_pair(sums[m][v], weights[v], pair);
  }
}

template <size_t Rows, size_t Vectors>
MXACT_INLINE void block_octet(__m512 (&sums)[Rows][Vectors], Columns<Vectors>& columns, __m512i table, const uint32_t*& a) {
  __m512i codes[Vectors];
  MXACT_UNROLL for (size_t v = 0; v < Vectors; ++v) codes[v] = columns.dwords(v);
  block_pair<0>(sums, columns, codes, table, a);
  block_pair<1>(sums, columns, codes, table, a);
  block_pair<2>(sums, columns, codes, table, a);
  block_pair<3>(sums, columns, codes, table, a);
  columns.next_dwords();
  a += 4 * Rows;
}

/// What a block's scales need: bytes at the ends of their range, or activations with scales, take longer.
enum class BlockScales { moderate, any, with_rows };

/// `a_scales`: of each block and row, where activations have some.
template <size_t Rows, size_t Vectors, BlockScales Scales>
MXACT_INLINE void block(Columns<Vectors> columns, const uint32_t* a, const float* a_scales, size_t blocks, const Outputs& outputs) {
  const __m512i table = _mm512_load_si512(kE2m1Codes);
  __m512 totals[Rows][Vectors];
  MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) { MXACT_UNROLL for (size_t v = 0; v < Vectors; ++v) totals[m][v] = _mm512_setzero_ps(); }
#pragma GCC unroll 1
  for (size_t b = 0; b < blocks; ++b) {
    if constexpr (Vectors > 2) columns.look_ahead(blocks - b);
    __m512 sums[Rows][Vectors];
    MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) { MXACT_UNROLL for (size_t v = 0; v < Vectors; ++v) sums[m][v] = _mm512_setzero_ps(); }
    if constexpr (Rows <= 4) {
      MXACT_UNROLL for (size_t octet = 0; octet < 4; ++octet) block_octet(sums, columns, table, a);
    } else {
#pragma GCC unroll 1
      for (size_t octet = 0; octet < 4; ++octet) block_octet(sums, columns, table, a);
    }
    MXACT_UNROLL for (size_t v = 0; v < Vectors; ++v) {
      const uint8_t* const bytes = columns.scales_of(v);
      const __m512 scale = Scales == BlockScales::moderate ? _mm512_castsi512_ps(exponent_field(bytes)) : scale_values(bytes);
      MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) {
        const __m512 both = Scales == BlockScales::with_rows ? _mm512_mul_ps(_mm512_set1_ps(a_scales[m]), scale) : scale;
        totals[m][v] = _mm512_fmadd_ps(sums[m][v], both, totals[m][v]);
      }
    }
    columns.next_block();
    if constexpr (Scales == BlockScales::with_rows) a_scales += Rows;
  }
  outputs.store(totals);
}

/// One tile of rows by the panels from `panel` on; returns how many panels it took. The tiles of a block of rows agree: where there are several,
/// each has more than four rows.
using Tile = size_t(const TileArgs& args, size_t panel, size_t row, const Outputs& outputs);

/// Activations of the tile that begins at `row`.
MXACT_INLINE const uint32_t* pairs_at(const TileArgs& args, size_t row) { return args.a + args.blocks * (kScaleBlock / 2) * row; }

template <size_t Vectors>
MXACT_INLINE Columns<Vectors> columns_at(const TileArgs& args, size_t panel) {
  return {args.codes + panel * args.code_stride, args.scales + panel * args.scale_stride, args.code_stride, args.scale_stride};
}

/// Few rows need many columns beside each other: each sum waits six cycles for its last product, and two start in each cycle.
template <size_t Rows, class Decoder>
size_t chain_tile(const TileArgs& args, size_t panel, size_t row, const Outputs& outputs) {
  constexpr size_t kPanels = Rows == 1 ? 4 : Rows <= 4 ? 2 : 1;
  if (kPanels > 1 && panel + kPanels <= args.panels) {
    chain<Rows, 2 * kPanels, Decoder>(columns_at<2 * kPanels>(args, panel), pairs_at(args, row), args.blocks, outputs);
    return kPanels;
  }
  chain<Rows, 2, Decoder>(columns_at<2>(args, panel), pairs_at(args, row), args.blocks, outputs);
  return 1;
}

template <size_t Rows>
size_t careful_chain_tile(const TileArgs& args, size_t panel, size_t row, const Outputs& outputs) {
  chain<Rows, 2, CarefulDecoder>(columns_at<2>(args, panel), pairs_at(args, row), args.blocks, outputs);
  return 1;
}

template <size_t Rows, size_t Vectors>
MXACT_INLINE void block_of_panels(const TileArgs& args, size_t panel, size_t row, const Outputs& outputs) {
  const Columns<Vectors> columns = columns_at<Vectors>(args, panel);
  const uint32_t* const pairs = pairs_at(args, row);
  if (args.a_scales != nullptr) {
    block<Rows, Vectors, BlockScales::with_rows>(columns, pairs, args.a_scales + args.blocks * row, args.blocks, outputs);
  } else if (args.careful) {
    block<Rows, Vectors, BlockScales::any>(columns, pairs, nullptr, args.blocks, outputs);
  } else {
    block<Rows, Vectors, BlockScales::moderate>(columns, pairs, nullptr, args.blocks, outputs);
  }
}

template <size_t Rows>
size_t block_tile(const TileArgs& args, size_t panel, size_t row, const Outputs& outputs) {
  constexpr size_t kPanels = Rows == 1 ? 2 : 1;
  if (kPanels > 1 && panel + kPanels <= args.panels) {
    block_of_panels<Rows, 2 * kPanels>(args, panel, row, outputs);
    return kPanels;
  }
  block_of_panels<Rows, 2>(args, panel, row, outputs);
  return 1;
}

constexpr Tile* kChainTiles[kChainRows] = {chain_tile<1, FoldedDecoder>,  chain_tile<2, FoldedDecoder>,  chain_tile<3, FoldedDecoder>,
                                           chain_tile<4, FoldedDecoder>,  chain_tile<5, FoldedDecoder>,  chain_tile<6, FoldedDecoder>,
                                           chain_tile<7, FoldedDecoder>,  chain_tile<8, FoldedDecoder>,  chain_tile<9, FoldedDecoder>,
                                           chain_tile<10, FoldedDecoder>, chain_tile<11, FoldedDecoder>, chain_tile<12, FoldedDecoder>};
constexpr Tile* kCarefulChainTiles[kChainRows] = {careful_chain_tile<1>, careful_chain_tile<2>,  careful_chain_tile<3>,  careful_chain_tile<4>,
                                                  careful_chain_tile<5>, careful_chain_tile<6>,  careful_chain_tile<7>,  careful_chain_tile<8>,
                                                  careful_chain_tile<9>, careful_chain_tile<10>, careful_chain_tile<11>, careful_chain_tile<12>};
constexpr Tile* kBlockTiles[kBlockRows] = {block_tile<1>, block_tile<2>, block_tile<3>, block_tile<4>, block_tile<5>, block_tile<6>};

void run(const TileArgs& args, size_t tallest, Tile* const* tiles) {
  for (size_t panel = 0; panel < args.panels;) {
    size_t taken = 0;
    size_t row = 0;
    for (size_t tile = 0; tile < tile_count(args.rows, tallest); ++tile) {
      const size_t height = tile_height(args.rows, tallest, tile);
      taken = tiles[height - 1](args, panel, row, Outputs(args, panel, row));
      row += height;
    }
    panel += taken;
  }
}

}  // namespace

void bf16_chain_avx512_bf16(const TileArgs& args) {
  // Two tiles decode as fast as they multiply, and need no room for decoded weights.
  if (args.rows > 2 * kChainRows) return bf16_chain_decoded_avx512_bf16(args);
  run(args, kChainRows, args.careful ? kCarefulChainTiles : kChainTiles);
}

void bf16_block_avx512_bf16(const TileArgs& args) { run(args, kBlockRows, kBlockTiles); }

}  // namespace mx::kernels::moe
