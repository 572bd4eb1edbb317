#pragma once
// Few rows of bf16-pair by fused multiply-adds.

#include "kernels/moe/fma_few.hpp"
#include "kernels/moe/fma_few_chains.hpp"
#include "kernels/moe/fma_folds.hpp"

namespace mx::kernels::moe {
namespace {

/// Chains over the odd and over the even elements of a block: of each pair the odd one comes first.
template <size_t Rows, size_t Groups>
using Halves = Floats[2][Rows][2 * Groups];

/// All blocks of some groups, one after the other into their totals, `multiply(block, halves)` and `settle(v, sum, total)`.
template <size_t Rows, size_t Groups, class Multiply, class Settle>
MXACT_INLINE void each_block(const TileArgs& args, float* const* totals, const Multiply& multiply, const Settle& settle) {
  MXACT_UNROLL for (size_t g = 0; g < Groups; ++g) {
    for (size_t i = 0; i < Rows * kColumns; ++i) totals[g][i] = 0;
  }
  for (size_t block = 0; block < args.blocks; ++block) {
    Halves<Rows, Groups> halves;
    clear<Rows, Groups>(halves[0]);
    clear<Rows, Groups>(halves[1]);
    multiply(block, halves);
    MXACT_UNROLL for (size_t v = 0; v < 2 * Groups; ++v) {
      MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) {
        float* const at = totals[v / 2] + m * kColumns + v % 2 * kWidth;
        store(at, settle(v, sum(halves[1][m][v], halves[0][m][v]), load(at)));
      }
    }
    forget_registers();
  }
}

template <class Codes, class Fold, size_t Rows, size_t Groups>
void pair_codes(const Job& job, size_t group, float* const* totals) {
  const TileArgs& args = job.args;
  const size_t step = args.scale_block < kScaleBlock ? args.scale_block : kScaleBlock;
  const float* x = one_tile(args, 0);
  CodePlace place = place_of(args, group, Groups);
  const uint8_t* scales[Groups];
  MXACT_UNROLL for (size_t g = 0; g < Groups; ++g) scales[g] = group_scales(args, group + g, Fold::kBytes);
  Fold folds[Groups];
  const auto multiply = [&](size_t block, Halves<Rows, Groups> & halves) __attribute__((always_inline)) {
    for (size_t k = 0; k < kScaleBlock; k += step, x += step * Rows) {
      if ((block * kScaleBlock + k) % args.scale_block == 0) {
        MXACT_UNROLL for (size_t g = 0; g < Groups; ++g) {
          ask_for_later(args, scales[g]);
          folds[g] = Fold::of(job, scales[g]);
          scales[g] += kPanelColumns * Fold::kBytes;
        }
      }
      multiply_codes<Codes, Rows, Groups>(
          halves, place, x, step, [&](size_t v, const auto& weight) __attribute__((always_inline)) { return folds[v / 2](v % 2, weight); });
    }
  };
  each_block<Rows, Groups>(args, totals, multiply, [](size_t, Floats of_block, Floats total) { return sum(total, of_block); });
}

/// The same by weights without their scales, E8M0: sums of blocks are scaled as they are added (TileArgs::in_units).
template <class Codes, size_t Rows, size_t Groups>
void pair_unit_codes(const Job& job, size_t group, float* const* totals) {
  const TileArgs& args = job.args;
  const float* x = one_tile(args, 0);
  CodePlace place = place_of(args, group, Groups);
  const uint8_t* scales[Groups];
  MXACT_UNROLL for (size_t g = 0; g < Groups; ++g) scales[g] = group_scales(args, group + g, 1);
  Floats values[2 * Groups];
  const auto multiply = [&](size_t, Halves<Rows, Groups> & halves) __attribute__((always_inline)) {
    MXACT_UNROLL for (size_t g = 0; g < Groups; ++g) {
      ask_for_later(args, scales[g]);
      MXACT_UNROLL for (size_t v = 0; v < 2; ++v) values[2 * g + v] = scale_values(scales[g] + v * kWidth);
      scales[g] += kPanelColumns;
    }
    multiply_codes<Codes, Rows, Groups>(halves, place, x, kScaleBlock, AsIs());
    x += kScaleBlock * Rows;
  };
  each_block<Rows, Groups>(args, totals, multiply, [&](size_t v, Floats of_block, Floats total) { return fused(of_block, values[v], total); });
}

/// Two chains take twice the registers of one.
template <class Codes, class Fold>
constexpr ByShape<FewCodes> kPairCodes{
    {{pair_codes<Codes, Fold, 1, 1>, pair_codes<Codes, Fold, 2, 1>, kWidth == 16 ? pair_codes<Codes, Fold, 3, 1> : nullptr,
      kWidth == 16 ? pair_codes<Codes, Fold, 4, 1> : nullptr},
     {kWidth == 16 ? pair_codes<Codes, Fold, 1, 2> : nullptr, kWidth == 16 ? pair_codes<Codes, Fold, 2, 2> : nullptr}}};
template <class Codes>
constexpr ByShape<FewCodes> kPairUnitCodes{
    {{pair_unit_codes<Codes, 1, 1>, pair_unit_codes<Codes, 2, 1>, pair_unit_codes<Codes, 3, 1>, kWidth == 16 ? pair_unit_codes<Codes, 4, 1> : nullptr,
      kWidth == 16 ? pair_unit_codes<Codes, 5, 1> : nullptr, kWidth == 16 ? pair_unit_codes<Codes, 6, 1> : nullptr},
     {pair_unit_codes<Codes, 1, 2>, kWidth == 16 ? pair_unit_codes<Codes, 2, 2> : nullptr}}};

}  // namespace
}  // namespace mx::kernels::moe
