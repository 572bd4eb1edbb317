#pragma once
// What the kernels of bf16 by fused multiply-adds share. bf16 products are fp32 fused multiply-adds, odd element first, under flushing, which is
// what VDPBF16PS computes; weights are decoded to fp32 for a stretch of K that the L1 cache holds, and serve all rows. A tier's vectors are
// included before (avx2_vectors.hpp, avx512_vectors.hpp, neon_vectors.hpp). For files of one tier alone: nothing here has a linkage that another tier
// could pick up.

#include <stddef.h>
#include <stdint.h>

#include "kernels/moe/tile.hpp"

namespace mx::kernels::moe {
namespace {

constexpr size_t kColumns = 2 * kWidth;              // decoded at once
constexpr size_t kParts = kPanelColumns / kColumns;  // of a panel

/// Asks for a line, to come to the cache of that level.
template <int Level>
MXACT_INLINE void ask_for(const void* line) {
  __builtin_prefetch(line, 0, 4 - Level);
}

constexpr size_t kLineFloats = 16;             // of a line of memory
constexpr size_t kStep = kWidth == 8 ? 4 : 2;  // of K in one turn of a loop

/// `Steps` elements of K, of a stretch of `length`. The next tile's are asked for meanwhile, line by line, where a step has instructions to spare:
/// with 512 bits.
template <size_t Steps, size_t Rows>
MXACT_INLINE void multiply_steps(Floats (&sums)[Rows][2], const float* weights, const float* x, size_t length) {
  if constexpr (kWidth == 16) {
    MXACT_UNROLL for (size_t ahead = 0; ahead < Steps * Rows; ahead += kLineFloats) ask_for<1>(x + length * Rows + ahead);
  }
  MXACT_UNROLL for (size_t i = 0; i < Steps; ++i) {
    const Floats low = load(weights + i * kColumns);
    const Floats high = load(weights + i * kColumns + kWidth);
    MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) add_products(sums[m], x + i * Rows + m, low, high);
  }
}

/// `count` elements of K in the order of the chain.
template <size_t Rows>
MXACT_INLINE void multiply(Floats (&sums)[Rows][2], const float* weights, const float* x, size_t count, size_t length) {
  for (size_t k = 0; k < count; k += kStep) multiply_steps<kStep>(sums, weights + k * kColumns, x + k * Rows, length);
}

/// A row's first products.
MXACT_INLINE void begin_chain(Floats (&sums)[2], Floats value, const float* weights) {
  sums[0] = product(value, load(weights));
  sums[1] = product(value, load(weights + kWidth));
}

template <size_t Rows>
MXACT_INLINE void load(Floats (&to)[Rows][2], const float* from) {
  MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) { MXACT_UNROLL for (size_t v = 0; v < 2; ++v) to[m][v] = load(from + m * kColumns + v * kWidth); }
}
template <size_t Rows>
MXACT_INLINE void store(const Floats (&from)[Rows][2], float* to) {
  MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) { MXACT_UNROLL for (size_t v = 0; v < 2; ++v) store(to + m * kColumns + v * kWidth, from[m][v]); }
}

/// One tile of rows by kColumns columns: chains that go on from `sums` [row][kColumns] over a stretch of `k`. To be run under flushing.
using GoOn = void(const float* weights, const float* x, size_t k, float* sums);
template <size_t Rows>
void go_on(const float* weights, const float* x, size_t k, float* sums) {
  Floats registers[Rows][2];
  load(registers, sums);
  multiply(registers, weights, x, k, k);
  store(registers, sums);
}

/// The products of a block's even or odd elements, from +0.
template <size_t Odd, size_t Rows>
MXACT_INLINE void multiply_half(Floats (&sums)[Rows][2], const float* weights, const float* x) {
  MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) { MXACT_UNROLL for (size_t v = 0; v < 2; ++v) sums[m][v] = zeros(); }
#pragma GCC unroll 2
  for (size_t k = 1 - Odd; k < kScaleBlock; k += 2) {
    const Floats low = load(weights + k * kColumns);
    const Floats high = load(weights + k * kColumns + kWidth);
    MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) add_products(sums[m], x + k * Rows + m, low, high);
  }
}

/// The same for bf16-pair: of each block of K two chains, added to each other and then to `sums`.
template <size_t Rows>
void go_on_by_blocks(const float* weights, const float* x, size_t k, float* sums) {
  for (size_t first = 0; first < k; first += kScaleBlock, weights += kScaleBlock * kColumns, x += kScaleBlock * Rows) {
    Floats even[Rows][2], odd[Rows][2];
    multiply_half<0>(even, weights, x);
    multiply_half<1>(odd, weights, x);
    MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) {
      MXACT_UNROLL for (size_t v = 0; v < 2; ++v) {
        float* const at = sums + m * kColumns + v * kWidth;
        store(at, sum(load(at), sum(even[m][v], odd[m][v])));
      }
    }
  }
}

/// By the height of a tile.
template <size_t Tallest>
struct GoOnRows {
  GoOn* of[Tallest];
};
template <bool Chains, size_t Tallest, size_t Rows = Tallest>
constexpr GoOnRows<Tallest> go_on_rows() {
  GoOnRows<Tallest> rows{};
  if constexpr (Rows > 1) rows = go_on_rows<Chains, Tallest, Rows - 1>();
  rows.of[Rows - 1] = Chains ? go_on<Rows> : go_on_by_blocks<Rows>;
  return rows;
}
/// Rows of a tile of chains at most. Two chains beside each other take twice the registers.
constexpr size_t kTileRows = kWidth == 16 ? kWideSingleRows : kSingleRows;
constexpr GoOnRows<kTileRows> kGoOn = go_on_rows<true, kTileRows>();
constexpr GoOnRows<kSingleRows> kGoOnByBlocks = go_on_rows<false, kSingleRows>();

/// Rows of a tile, from `row` on, as fp32: the stretch of `count` that begins at `first` of K.
MXACT_INLINE const float* singles(const TileArgs& args, size_t row, size_t first, size_t count) {
  return reinterpret_cast<const float*>(args.a) + numbers_before(args.rows, row, first, count);
}
/// All rows where they are one tile, whose stretches lie one behind the other, from `first` of K on.
MXACT_INLINE const float* one_tile(const TileArgs& args, size_t first) { return singles(args, 0, first, 0); }

/// Asks for the lines that a tile's outputs will be written to: each lies on a page of its own.
inline void ask_for_outputs(const TileArgs& args, size_t panel, size_t row, size_t height) {
  for (size_t m = row; m < row + height; ++m) {
    float* const out = args.out + panel * args.panel_stride + m * args.row_stride;
    __builtin_prefetch(out, 1);
    __builtin_prefetch(out + args.half_stride, 1);
  }
}

/// Totals of all rows and one part of a panel's columns to their place, with bias, every NaN the same.
inline void put(const TileArgs& args, size_t panel, size_t part, const float* totals) {
  const float* const bias = args.bias == nullptr ? nullptr : args.bias + panel * kPanelColumns + part * kColumns;
  for (size_t row = 0; row < args.rows; ++row) {
    float* const out = args.out + panel * args.panel_stride + row * args.row_stride;
    for (size_t v = 0; v < 2; ++v) {
      const size_t column = part * kColumns + v * kWidth;
      const Floats total = load(totals + row * kColumns + v * kWidth);
      store(out + column / 16 * args.half_stride + column % 16, one_nan(bias == nullptr ? total : sum(total, load(bias + v * kWidth))));
    }
  }
}

}  // namespace
}  // namespace mx::kernels::moe
