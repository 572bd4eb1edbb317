#pragma once
// Few rows of bf16-chain by fused multiply-adds.

#include "kernels/moe/fma_few.hpp"
#include "kernels/moe/fma_folds.hpp"

namespace mx::kernels::moe {
namespace {

/// The function of a tile of some groups, [row][kColumns] to each one's `sums`, weights decoded in registers. To be run under flushing.
using FewCodes = void(const Job& job, size_t group, float* const* sums);

/// Whole chains.
template <class Codes, class Fold, size_t Rows, size_t Groups>
void chain_codes(const Job& job, size_t group, float* const* sums) {
  const TileArgs& args = job.args;
  const size_t length = args.blocks * kScaleBlock;
  const float* const x = one_tile(args, 0);
  CodePlace place = place_of(args, group, Groups);
  const uint8_t* scales[Groups];
  MXACT_UNROLL for (size_t g = 0; g < Groups; ++g) scales[g] = group_scales(args, group + g, Fold::kBytes);
  Floats all[1][Rows][2 * Groups];
  auto& chains = all[0];
  clear<Rows, Groups>(chains);
  for (size_t k = 0; k < length; k += args.scale_block) {
    Fold folds[Groups];
    MXACT_UNROLL for (size_t g = 0; g < Groups; ++g) {
      ask_for_later(args, scales[g]);
      folds[g] = Fold::of(job, scales[g]);
      scales[g] += kPanelColumns * Fold::kBytes;
    }
    multiply_codes<Codes, Rows, Groups>(
        all, place, x + k * Rows,
        length - k < args.scale_block ? length - k : args.scale_block, [&](size_t v, const auto& weight) __attribute__((always_inline)) {
          return folds[v / 2](v % 2, weight);
        });
  }
  store_groups<Rows, Groups>(chains, sums, 0);
}
template <class Codes, class Fold>
constexpr ByShape<FewCodes> kChainCodes{
    {{chain_codes<Codes, Fold, 1, 1>, chain_codes<Codes, Fold, 2, 1>, chain_codes<Codes, Fold, 3, 1>, chain_codes<Codes, Fold, 4, 1>,
      chain_codes<Codes, Fold, 5, 1>, chain_codes<Codes, Fold, 6, 1>},
     {chain_codes<Codes, Fold, 1, 2>, kWidth == 16 ? chain_codes<Codes, Fold, 2, 2> : nullptr,
      kWidth == 16 ? chain_codes<Codes, Fold, 3, 2> : nullptr, kWidth == 16 ? chain_codes<Codes, Fold, 4, 2> : nullptr}}};

/// The same by weights without their scales, E8M0: sums are in units of their block's (TileArgs::in_units).
template <class Codes, size_t Rows, size_t Groups>
void unit_codes(const Job& job, size_t group, float* const* sums) {
  const TileArgs& args = job.args;
  const size_t length = args.blocks * kScaleBlock;
  const float* const x = one_tile(args, 0);
  CodePlace place = place_of(args, group, Groups);
  const uint8_t* scales[Groups];
  MXACT_UNROLL for (size_t g = 0; g < Groups; ++g) scales[g] = group_scales(args, group + g, 1);
  Floats all[1][Rows][2 * Groups];
  auto& chains = all[0];
  clear<Rows, Groups>(chains);
  Dwords units[2 * Groups];
  const auto turn_into = [&](size_t v, Dwords next) __attribute__((always_inline)) {
    const Floats ratio = power_between(units[v], next);
    MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) chains[m][v] = product(chains[m][v], ratio);
    units[v] = next;
  };
  for (size_t k = 0; k < length; k += args.scale_block) {
    MXACT_UNROLL for (size_t v = 0; v < 2 * Groups; ++v) {
      if (v % 2 == 0) ask_for_later(args, scales[v / 2]);
      const Dwords fields = scale_fields(scales[v / 2] + v % 2 * kWidth);
      if (k == 0) units[v] = fields;
      turn_into(v, fields);
    }
    MXACT_UNROLL for (size_t g = 0; g < Groups; ++g) scales[g] += kPanelColumns;
    multiply_codes<Codes, Rows, Groups>(all, place, x + k * Rows, length - k < args.scale_block ? length - k : args.scale_block, AsIs());
  }
  MXACT_UNROLL for (size_t v = 0; v < 2 * Groups; ++v) turn_into(v, unit_field());
  store_groups<Rows, Groups>(chains, sums, 0);
}
template <class Codes>
constexpr ByShape<FewCodes> kUnitCodes{
    {{unit_codes<Codes, 1, 1>, unit_codes<Codes, 2, 1>, unit_codes<Codes, 3, 1>, unit_codes<Codes, 4, 1>, unit_codes<Codes, 5, 1>,
      unit_codes<Codes, 6, 1>},
     {unit_codes<Codes, 1, 2>, kWidth == 16 ? unit_codes<Codes, 2, 2> : nullptr, kWidth == 16 ? unit_codes<Codes, 3, 2> : nullptr}}};

}  // namespace
}  // namespace mx::kernels::moe
