#pragma once
// What a GEMM kernel of one instruction set is given: plain data and C headers alone, since every tier's file includes this.
//
// Weights lie in panels of 32 columns (panel.hpp), activations in tiles of a few rows (operand.hpp). A kernel multiplies a block of rows by a few
// panels over the whole K: each output is the contract's dot product plus the bias of its column, of NaNs 0x7FC00000.

#include <stddef.h>
#include <stdint.h>

namespace mx::kernels::moe {

inline constexpr size_t kPanelColumns = 32;
/// Elements along K come in multiples of this, the scale block of the MX formats.
inline constexpr size_t kScaleBlock = 32;
/// Dwords of 4-bit codes in such a block of one panel: four octets of K of 32 columns each.
inline constexpr size_t kPanelBlockDwords = 4 * kPanelColumns;

/// What codes and scales of a panel are.
enum class PanelKind {
  mxfp4,  ///< e2m1, E8M0 for 32 of K
  mxfp8,  ///< e4m3, E8M0 for 32 of K
  nvfp4,  ///< e2m1, E4M3 for 16 of K, times a number of the expert
  fp8,    ///< e4m3, fp32 for `scale_block` of K
};

struct TileArgs {
  const uint8_t* codes;   ///< of the first panel, 64-byte aligned
  const uint8_t* scales;  ///< [block][32] of the first panel: bytes, or fp32 in four
  size_t code_stride;     ///< bytes from panel to panel
  size_t scale_stride;
  size_t panels;
  size_t blocks;  ///< of 32 along K
  size_t rows;
  /// Set unless the scales and activations at hand are known to keep away from the ends of their ranges: operand.hpp says how far for each contract.
  bool careful;
  /// bf16-chain and bf16-pair: set where sums may be counted in units of their block's scale (operand.hpp).
  bool in_units;
  const uint32_t* a;  ///< stretch after stretch of K (Tiling), of each tile after tile in the kernel's RowForm
  /// int8: [block][row] in each tile, the bits of the fp32 number 1.5 * 2^23 units, a unit being the block's scale times 2^-7; beyond the scales of
  /// 2^111 they are no such number, but scale_byte_of() still finds the byte. A whole number of units that is added to the bits is added to the
  /// number.
  const int32_t* a_bases;
  const int32_t* a_starts;  ///< int8: [chain][row] in each tile, its block's base less 12 times the chain's sum
  size_t scale_block;       ///< elements of K that share a scale of the weights
  size_t chain;             ///< bf16-block: elements of K in a chain: 16, 32, 64, 128, or at least K. Scale blocks are made of whole chains
  float expert_scale;       ///< what scales of the kind e4m3 are multiplied with
  const float* a_scales;    ///< bf16-block: [chain][row] in each tile; null: the activations have none
  const float* bias;        ///< [panel][32], or null
  /// Column c of a row and panel goes to out[panel * panel_stride + row * row_stride + c / 16 * half_stride + c % 16].
  float* out;
  size_t panel_stride;
  size_t row_stride;
  size_t half_stride;
};

/// What a_bases and a_starts are made of, and what a base was made of.
static inline int32_t base_of(uint8_t scale_byte) { return static_cast<int32_t>((static_cast<uint32_t>(scale_byte + 16) << 23) + 0x00400000U); }
static inline uint8_t scale_byte_of(int32_t base) { return static_cast<uint8_t>((static_cast<uint32_t>(base) >> 23) - 16); }

using TileFunction = void(const TileArgs&);

/// Rows are cut into as few tiles as `tallest` allows, of heights that differ by one at most, the higher ones first.
static inline size_t tile_count(size_t rows, size_t tallest) { return (rows + tallest - 1) / tallest; }
static inline size_t tile_height(size_t rows, size_t tallest, size_t tile) {
  const size_t count = tile_count(rows, tallest);
  return rows / count + (tile < rows % count ? 1 : 0);
}

/// Calls with (first row of a tile, its height) for each. `static`: every tier's files have their own.
template <size_t Tallest, class Visit>
static inline void each_tile(size_t rows, Visit visit) {
  size_t first = 0;
  for (size_t t = 0; t < tile_count(rows, Tallest); ++t) {
    const size_t height = tile_height(rows, Tallest, t);
    visit(first, height);
    first += height;
  }
}

/// Calls with (first K, the K behind the last, way) for each run of whole blocks of K, but for its ends, of which `way_of_block` gives the same way.
template <class WayOfBlock, class Visit>
static inline void each_run(size_t first, size_t end, size_t block, WayOfBlock way_of_block, Visit visit) {
  for (size_t index = first / block; first < end;) {
    const auto* const way = way_of_block(index);
    size_t next = first;
    do {
      next = ++index * block;
    } while (next < end && way_of_block(index) == way);
    next = next < end ? next : end;
    visit(first, next, *way);
    first = next;
  }
}

/// Rows that a kernel takes at once at most.
inline constexpr size_t kMostRows = 2048;

/// How the rows of a tile lie beside each other.
enum class RowForm {
  pairs,        ///< [pair of K][row]: two bf16 in a dword
  crossed,      ///< likewise, but of each four of K the dwords hold 2 and 0, 3 and 1: both even, both odd
  pair_blocks,  ///< [block of K][row][pair]
  singles,      ///< [K][row]: fp32, of each pair of K the odd one first
  quads,        ///< [quad of K][row]: four int8 in a dword
  quad_blocks,  ///< [block of K][row][quad]
};

/// How a kernel takes its rows.
struct Tiling {
  size_t tallest;  ///< rows of a tile
  RowForm form;
  size_t block_bytes;  ///< of rows that it is given at once
  size_t stretch = 0;  ///< K of which the tiles lie one behind the other, as they are read: of rows in the form `singles`, else all of K
  size_t few = 0;      ///< a block of at most so many rows is one tile in the form `form_of_few`
  RowForm form_of_few = RowForm::pairs;

  constexpr RowForm form_of(size_t rows) const { return rows <= few ? form_of_few : form; }
};

/// Numbers of a block of `rows` that lie before those of the tile that begins at `row`, in the stretch of `count` that begins at `first` of K.
static inline size_t numbers_before(size_t rows, size_t row, size_t first, size_t count) { return first * rows + row * count; }

/// Tallest tiles of each contract: what 32 vector registers hold.
inline constexpr size_t kChainRows = 12;
inline constexpr size_t kBlockRows = 6;
inline constexpr size_t kInt8Rows = 6;
/// The same where the instruction itself broadcasts a row's quad.
inline constexpr size_t kVnniRows = 7;
/// The same where sixteen registers hold sums of words and of dwords.
inline constexpr size_t kWordRows = 3;
/// A tile of rows that sixteen registers hold, and one that thirty-two do.
inline constexpr size_t kSingleRows = 6;
inline constexpr size_t kWideSingleRows = 12;

/// K that the kernels of rows in the form `singles` decode at once for all rows, whole chains of bf16-block: 16 KiB of fp32 for a panel.
inline constexpr size_t kStretchOfSingles = 128;

/// Kernels that decode weights for each tile stream these past the rows, which fill half of a core's L2 cache of 1 MiB. Those that decode
/// once for all rows stream the rows.
inline constexpr size_t kHeldBytes = size_t{512} * 1024;
inline constexpr size_t kStreamedBytes = 8 * kHeldBytes;
inline constexpr Tiling kChainTiling{kChainRows, RowForm::pairs, kHeldBytes};
inline constexpr Tiling kBlockTiling{kBlockRows, RowForm::pairs, kHeldBytes};
inline constexpr Tiling kInt8Tiling{kInt8Rows, RowForm::quads, kHeldBytes};
inline constexpr Tiling kWordTiling{kWordRows, RowForm::quads, kStreamedBytes};
inline constexpr Tiling kVnniTiling{kVnniRows, RowForm::quads, kHeldBytes};
inline constexpr Tiling kDecodedChainTiling{kChainRows, RowForm::pairs, kStreamedBytes};
inline constexpr Tiling kCrossedTiling{kBlockRows, RowForm::crossed, kStreamedBytes};
inline constexpr Tiling kSingleTiling{kSingleRows, RowForm::singles, kStreamedBytes, kStretchOfSingles};
inline constexpr Tiling kWideSingleTiling{kWideSingleRows, RowForm::singles, kStreamedBytes, kStretchOfSingles};
/// Rows of one of AMX's tiles. A product of tiles costs the same however few rows they have: fewer than these are left to vectors.
inline constexpr size_t kTileOfRows = 16;
inline constexpr size_t kPairRowsOfVectors = 4;
inline constexpr Tiling kPairTiles{kTileOfRows, RowForm::pair_blocks, kStreamedBytes, kStretchOfSingles, kPairRowsOfVectors, RowForm::singles};
inline constexpr Tiling kInt8Tiles{kTileOfRows, RowForm::quad_blocks, kStreamedBytes, 0, kVnniRows, RowForm::quads};

TileFunction bf16_chain_portable;
TileFunction bf16_chain_mxfp8_portable;
TileFunction bf16_chain_nvfp4_portable;
TileFunction bf16_chain_fp8_portable;
TileFunction bf16_block_portable;
TileFunction bf16_block_mxfp8_portable;
TileFunction bf16_block_nvfp4_portable;
TileFunction bf16_block_fp8_portable;
TileFunction int8_block_portable;
TileFunction int8_block_nvfp4_portable;
TileFunction bf16_pair_portable;
TileFunction bf16_pair_mxfp8_portable;
TileFunction bf16_pair_nvfp4_portable;
TileFunction bf16_pair_fp8_portable;
/// The engine of AMX's tiles (pair_tiles.hpp) on tiles in plain code, for tests. All rows lie in the form `pair_blocks`.
TileFunction bf16_pair_plain_tiles;
TileFunction bf16_pair_mxfp8_plain_tiles;
TileFunction bf16_pair_nvfp4_plain_tiles;
TileFunction bf16_pair_fp8_plain_tiles;
/// bf16-chain and bf16-pair in plain code on rows in the form `singles`, for a tier that leaves some of its work to it.
void bf16_chain_of_singles(const TileArgs& args, PanelKind kind);
void bf16_pair_of_singles(const TileArgs& args, PanelKind kind);
TileFunction bf16_chain_avx2;
TileFunction bf16_chain_mxfp8_avx2;
TileFunction bf16_chain_nvfp4_avx2;
TileFunction bf16_chain_fp8_avx2;
TileFunction bf16_block_avx2;
TileFunction bf16_block_mxfp8_avx2;
TileFunction bf16_block_nvfp4_avx2;
TileFunction bf16_block_fp8_avx2;
TileFunction bf16_pair_avx2;
TileFunction bf16_pair_mxfp8_avx2;
TileFunction bf16_pair_nvfp4_avx2;
TileFunction bf16_pair_fp8_avx2;
TileFunction int8_block_avx2;
TileFunction int8_block_nvfp4_avx2;
TileFunction bf16_chain_avx512;
TileFunction bf16_chain_mxfp8_avx512;
TileFunction bf16_chain_nvfp4_avx512;
TileFunction bf16_chain_fp8_avx512;
TileFunction bf16_block_avx512;
TileFunction bf16_block_mxfp8_avx512;
TileFunction bf16_block_nvfp4_avx512;
TileFunction bf16_block_fp8_avx512;
TileFunction bf16_pair_avx512;
TileFunction bf16_pair_mxfp8_avx512;
TileFunction bf16_pair_nvfp4_avx512;
TileFunction bf16_pair_fp8_avx512;
TileFunction int8_block_avx512_vnni;
TileFunction int8_block_nvfp4_avx512_vnni;
TileFunction bf16_chain_avx512_bf16;
TileFunction bf16_chain_decoded_avx512_bf16;  ///< what it leaves many rows to
TileFunction bf16_chain_mxfp8_avx512_bf16;
TileFunction bf16_chain_nvfp4_avx512_bf16;
TileFunction bf16_chain_fp8_avx512_bf16;
TileFunction bf16_block_avx512_bf16;
TileFunction bf16_block_mxfp8_avx512_bf16;
TileFunction bf16_block_nvfp4_avx512_bf16;
TileFunction bf16_block_fp8_avx512_bf16;
TileFunction bf16_pair_avx512_bf16;
TileFunction bf16_pair_mxfp8_avx512_bf16;
TileFunction bf16_pair_nvfp4_avx512_bf16;
TileFunction bf16_pair_fp8_avx512_bf16;
TileFunction bf16_pair_amx;
TileFunction bf16_pair_mxfp8_amx;
TileFunction bf16_pair_nvfp4_amx;
TileFunction bf16_pair_fp8_amx;
TileFunction int8_block_amx;
/// The same on tiles in plain code, for tests: what needs AVX-512 alone.
TileFunction bf16_pair_plain_tiles_avx512;
TileFunction bf16_pair_mxfp8_plain_tiles_avx512;
TileFunction bf16_pair_nvfp4_plain_tiles_avx512;
TileFunction bf16_pair_fp8_plain_tiles_avx512;
TileFunction int8_block_plain_tiles_avx512;
/// Whether this processor's TDPBF16PS gives the sums of bf16-pair, its TDPBSSD those of integers. Only where there are such instructions, and the
/// operating system lets this process use tiles.
bool tiles_sum_pairs();
bool tiles_sum_quads();
TileFunction bf16_chain_neon;
TileFunction bf16_chain_mxfp8_neon;
TileFunction bf16_chain_nvfp4_neon;
TileFunction bf16_chain_fp8_neon;
TileFunction bf16_block_neon;
TileFunction bf16_block_mxfp8_neon;
TileFunction bf16_block_nvfp4_neon;
TileFunction bf16_block_fp8_neon;
TileFunction bf16_pair_neon;
TileFunction bf16_pair_mxfp8_neon;
TileFunction bf16_pair_nvfp4_neon;
TileFunction bf16_pair_fp8_neon;
TileFunction int8_block_neon;
TileFunction int8_block_nvfp4_neon;
TileFunction int8_block_neon_dotprod;
TileFunction int8_block_nvfp4_neon_dotprod;

}  // namespace mx::kernels::moe
