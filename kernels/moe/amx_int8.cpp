// int8-block by the processor's tiles: TDPBSSD sums each block of K, and vectors add the blocks' sums under their scales; and by plain tiles, for
// tests of all but the instructions. Weights are doubled e2m1, which is whole. A block of NVFP4 is too short: a product of tiles costs the same
// however little K it has.

#include "kernels/moe/amx_tiles.hpp"
#include "kernels/moe/avx512_totals.hpp"
#include "kernels/moe/plain_tiles.hpp"

namespace mx::kernels::moe {
namespace {

constexpr size_t kBlockQuads = kScaleBlock / 4;
constexpr size_t kStretch = 512;  ///< K decoded at once: 16 KiB
constexpr size_t kLanes = 16;     ///< columns of a tile
/// Blocks of K whose sums are in tiles at once, while vectors add those of the blocks before them.
constexpr size_t kGroup = 4;
/// What stands in which tile: sums of the blocks of a group, rows and weights of every other block.
constexpr int kRows = 4;
constexpr int kWeights = 6;
/// Fewer rows have no tile.
constexpr size_t kLeastRows = kInt8Tiles.few + 1;

/// 2 * e2m1, four times: VPERMB's index has six bits.
alignas(64) constexpr int8_t kDoubled[64] = {0,  1,  2,  3,   4,  6,  8,  12, 0,  -1,  -2, -3, -4, -6, -8, -12, 0,  1,  2,  3,  4,  6,
                                             8,  12, 0,  -1,  -2, -3, -4, -6, -8, -12, 0,  1,  2,  3,  4,  6,   8,  12, 0,  -1, -2, -3,
                                             -4, -6, -8, -12, 0,  1,  2,  3,  4,  6,   8,  12, 0,  -1, -2, -3,  -4, -6, -8, -12};

/// How a block's sum, in units of 2^-7 of both scales, enters the total where nothing leaves its range: it is all the same which factor has the unit.
struct Quick {
  static MXACT_INLINE __m512 of_rows(__m512i bases) {
    const __m512i bytes = _mm512_sub_epi32(_mm512_srli_epi32(bases, 23), _mm512_set1_epi32(16 + 7));
    return _mm512_castsi512_ps(_mm512_slli_epi32(bytes, 23));
  }
  static MXACT_INLINE __m512 of_columns(const uint8_t* scales) { return _mm512_castsi512_ps(exponent_field(scales)); }
  static MXACT_INLINE __m512 total(__m512 total, __m512 sum, __m512 columns, __m512 row) {
    return _mm512_fmadd_ps(sum, _mm512_mul_ps(columns, row), total);
  }
};

/// The same as the contract says it: the block's sum, the rounded product of the scales, one fused multiply-add.
struct Careful {
  static MXACT_INLINE __m512 of_rows(__m512i bases) {
    alignas(64) uint32_t each[kLanes];
    alignas(16) uint8_t bytes[kLanes];
    _mm512_store_si512(each, bases);
    for (size_t i = 0; i < kLanes; ++i) bytes[i] = scale_byte_of(static_cast<int32_t>(each[i]));
    return scale_values(bytes);
  }
  static MXACT_INLINE __m512 of_columns(const uint8_t* scales) { return scale_values(scales); }
  static MXACT_INLINE __m512 total(__m512 total, __m512 sum, __m512 columns, __m512 row) {
    return _mm512_fmadd_ps(_mm512_mul_ps(sum, _mm512_set1_ps(0x1p-7F)), _mm512_mul_ps(row, columns), total);
  }
};

/// Where a stretch of a panel lies, in blocks.
struct Stretch {
  size_t panel;
  size_t first;
  size_t count;
};

/// A stretch that is decoded, and the rows' scales for one tile of them.
struct Decoded {
  alignas(64) uint32_t quads[kStretch / 4][kPanelColumns];
  alignas(64) float columns[kStretch / kScaleBlock][kPanelColumns];
  alignas(64) float rows[kStretch / kScaleBlock][kTileOfRows];
};

/// Blocks from `first` to `end` of a stretch.
template <class Rule>
void decode(const TileArgs& args, const Stretch& stretch, size_t first, size_t end, Decoded& out) {
  constexpr size_t kAhead = 4096;
  const __m512i table = _mm512_load_si512(kDoubled);
  const uint8_t* codes = args.codes + stretch.panel * args.code_stride + (stretch.first + first) * kPanelBlockDwords * 4;
  const uint8_t* scales = args.scales + stretch.panel * args.scale_stride + (stretch.first + first) * kPanelColumns;
  for (size_t block = first; block < end; ++block, scales += kPanelColumns) {
    uint32_t(*quads)[kPanelColumns] = out.quads + block * kBlockQuads;
    MXACT_UNROLL for (size_t i = 0; i < kBlockQuads; i += 2) {
      MXACT_UNROLL for (size_t half = 0; half < kPanelColumns; half += kLanes, codes += kLanes * 4) {
        _mm_prefetch(codes + kAhead, _MM_HINT_T0);
        const __m512i dwords = _mm512_load_si512(codes);
        _mm512_store_si512(quads[i] + half, _mm512_permutexvar_epi8(nibble<0>(dwords), table));
        _mm512_store_si512(quads[i + 1] + half, _mm512_permutexvar_epi8(nibble<1>(dwords), table));
      }
    }
    MXACT_UNROLL for (size_t half = 0; half < kPanelColumns; half += kLanes) {
      _mm512_store_ps(out.columns[block] + half, Rule::of_columns(scales + half));
    }
  }
}

using Sums = int32_t[kGroup][kTileOfRows][kLanes];

/// The sums of a tile of rows and half a panel over block I of a group.
template <int I, class Tiles>
MXACT_INLINE void add_block(Tiles& tiles, const uint32_t* a, size_t height, const uint32_t* quads) {
  constexpr int kEvery = I % 2;
  tiles.template clear<I>();
  tiles.template load<kRows + kEvery>(a + I * kBlockQuads * height, kBlockQuads * 4);
  tiles.template load<kWeights + kEvery>(quads + I * kBlockQuads * kPanelColumns, kPanelStride);
  tiles.template add_quads<I, kRows + kEvery, kWeights + kEvery>();
}
template <size_t Blocks, class Tiles>
MXACT_INLINE void add_group(Tiles& tiles, const uint32_t* a, size_t height, const uint32_t* quads, Sums& sums) {
  add_block<0>(tiles, a, height, quads);
  if constexpr (Blocks > 1) add_block<1>(tiles, a, height, quads);
  if constexpr (Blocks > 2) add_block<2>(tiles, a, height, quads);
  if constexpr (Blocks > 3) add_block<3>(tiles, a, height, quads);
  tiles.template store<0>(sums[0], kTileBytes);
  if constexpr (Blocks > 1) tiles.template store<1>(sums[1], kTileBytes);
  if constexpr (Blocks > 2) tiles.template store<2>(sums[2], kTileBytes);
  if constexpr (Blocks > 3) tiles.template store<3>(sums[3], kTileBytes);
}

/// A tile of rows by half a panel over a stretch, from column `half` on: `a` [block][row][quad], `totals` [row][32], which go on from stretch to
/// stretch. `beside(block)` is called in front of the products of each group, while those of the group before it are not done.
template <size_t Rows, class Rule, class Tiles, class Beside>
void half_stretch(Tiles& tiles, size_t blocks, const uint32_t* a, const Decoded& decoded, size_t half, float* totals, Beside beside) {
  alignas(64) Sums sums[2];
  const auto add = [&](size_t block, Sums& to) {
    const uint32_t* const of_rows = a + block * kBlockQuads * Rows;
    const uint32_t* const quads = decoded.quads[block * kBlockQuads] + half;
    switch (blocks - block) {
      case 1: return add_group<1>(tiles, of_rows, Rows, quads, to);
      case 2: return add_group<2>(tiles, of_rows, Rows, quads, to);
      case 3: return add_group<3>(tiles, of_rows, Rows, quads, to);
      default: return add_group<4>(tiles, of_rows, Rows, quads, to);
    }
  };
  __m512 total[Rows];
  MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) total[m] = _mm512_load_ps(totals + m * kPanelColumns + half);
  beside(0);
  add(0, sums[0]);
  for (size_t group = 0; group * kGroup < blocks; ++group) {
    const size_t next = (group + 1) * kGroup;
    if (next < blocks) {
      beside(next);
      add(next, sums[(group + 1) % 2]);
    }
    const size_t end = next < blocks ? next : blocks;
    for (size_t block = group * kGroup; block < end; ++block) {
      const __m512 columns = _mm512_load_ps(decoded.columns[block] + half);
      const auto& of_block = sums[group % 2][block % kGroup];
      MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) {
        const __m512 sum = _mm512_cvtepi32_ps(_mm512_load_si512(of_block[m]));
        total[m] = Rule::total(total[m], sum, columns, _mm512_set1_ps(decoded.rows[block][m]));
      }
    }
  }
  MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) _mm512_store_ps(totals + m * kPanelColumns + half, total[m]);
}

/// Tiles of so many rows.
TileShapes shapes_of(size_t height) {
  TileShapes shapes;
  for (size_t t = 0; t < kGroup; ++t) shapes.set(t, height, kTileBytes);
  for (size_t t = 0; t < 2; ++t) {
    shapes.set(kRows + t, height, kScaleBlock);
    shapes.set(kWeights + t, kBlockQuads, kTileBytes);
  }
  return shapes;
}

/// A tile of rows by both halves; the first tile's first half decodes the stretch as it goes.
template <size_t Rows, class Rule, class Tiles>
void stretch_tile(Tiles& tiles, const TileArgs& args, const Stretch& stretch, size_t row, Decoded& decoded, float* totals) {
  const uint32_t* const a = args.a + row * args.blocks * kBlockQuads + stretch.first * kBlockQuads * Rows;
  const int32_t* const bases = args.a_bases + row * args.blocks + stretch.first * Rows;
  constexpr __mmask16 kOfRows = static_cast<__mmask16>((1U << Rows) - 1);
  for (size_t block = 0; block < stretch.count; ++block)
    _mm512_store_ps(decoded.rows[block], Rule::of_rows(_mm512_maskz_loadu_epi32(kOfRows, bases + block * Rows)));
  const auto decode_group = [&](size_t first) {
    if (row == 0) decode<Rule>(args, stretch, first, first + kGroup < stretch.count ? first + kGroup : stretch.count, decoded);
  };
  half_stretch<Rows, Rule>(tiles, stretch.count, a, decoded, 0, totals, decode_group);
  half_stretch<Rows, Rule>(tiles, stretch.count, a, decoded, kLanes, totals, [](size_t) {});
}

/// By the rows of a tile.
template <class Rule, class Tiles>
using StretchTile = void(Tiles& tiles, const TileArgs& args, const Stretch& stretch, size_t row, Decoded& decoded, float* totals);
template <class Rule, class Tiles>
constexpr StretchTile<Rule, Tiles>* kStretchTiles[kTileOfRows - kLeastRows + 1] = {
    stretch_tile<8, Rule, Tiles>,  stretch_tile<9, Rule, Tiles>,  stretch_tile<10, Rule, Tiles>,
    stretch_tile<11, Rule, Tiles>, stretch_tile<12, Rule, Tiles>, stretch_tile<13, Rule, Tiles>,
    stretch_tile<14, Rule, Tiles>, stretch_tile<15, Rule, Tiles>, stretch_tile<16, Rule, Tiles>};
static_assert(kLeastRows == 8 && kTileOfRows == 16);

template <class Rule, class Tiles>
void run_tiles(const TileArgs& args) {
  constexpr size_t kBlocks = kStretch / kScaleBlock;
  alignas(64) float totals[kMostRows * kPanelColumns];
  Decoded decoded;
  size_t shaped = 0;  // rows
  Tiles tiles;
  for (size_t panel = 0; panel < args.panels; ++panel) {
    clear(totals, args.rows);
    for (size_t first = 0; first < args.blocks; first += kBlocks) {
      const Stretch stretch{panel, first, args.blocks - first < kBlocks ? args.blocks - first : kBlocks};
      each_tile<kTileOfRows>(args.rows, [&](size_t row, size_t height) {
        if (height != shaped) tiles.shape(shapes_of(height));
        shaped = height;
        kStretchTiles<Rule, Tiles>[height - kLeastRows](tiles, args, stretch, row, decoded, totals + row * kPanelColumns);
      });
    }
    put(args, panel, 0, args.rows, totals);
  }
}

template <class Tiles>
void run(const TileArgs& args) {
  if (args.rows <= kInt8Tiles.few) return int8_block_avx512_vnni(args);
  args.careful ? run_tiles<Careful, Tiles>(args) : run_tiles<Quick, Tiles>(args);
}

/// Sums of drawn bytes, over the first C that they are given; some wrap around.
template <class Tiles>
void checked_sums(uint32_t seed, int32_t* sums) {
  alignas(64) uint32_t rows[kTileOfRows * kBlockQuads], weights[kBlockQuads * kLanes];
  for (uint32_t& quad : rows) quad = seed = seed * 1664525U + 1013904223U;
  for (uint32_t& quad : weights) quad = seed = seed * 1664525U + 1013904223U;
  for (size_t i = 0; i < kTileOfRows * kLanes; ++i) sums[i] = INT32_MAX - static_cast<int32_t>(i % 8);
  Tiles tiles;
  tiles.shape(shapes_of(kTileOfRows));
  tiles.template load<0>(sums, kTileBytes);
  tiles.template load<kRows>(rows, kScaleBlock);
  tiles.template load<kWeights>(weights, kTileBytes);
  tiles.template add_quads<0, kRows, kWeights>();
  tiles.template store<0>(sums, kTileBytes);
}

}  // namespace

bool tiles_sum_quads() {
  alignas(64) int32_t found[kTileOfRows * kLanes], expected[kTileOfRows * kLanes];
  for (uint32_t seed = 1; seed <= 4; ++seed) {
    checked_sums<AmxTiles>(seed, found);
    checked_sums<PlainTiles>(seed, expected);
    if (memcmp(found, expected, sizeof found) != 0) return false;
  }
  return true;
}

void int8_block_amx(const TileArgs& args) { run<AmxTiles>(args); }
void int8_block_plain_tiles_avx512(const TileArgs& args) { run<PlainTiles>(args); }

}  // namespace mx::kernels::moe
