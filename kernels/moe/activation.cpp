#include "kernels/moe/activation.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "model/numerics/format.hpp"

namespace mx::kernels::moe {
namespace {

using mx::moe::Activation;
using mx::moe::ActivationConstants;
using mx::moe::Clamp;
using mx::moe::Curve;
using mx::moe::Join;

constexpr std::array kSwishKernels {
  KernelRow<SwishFunction>{"swish portable", 0, swish_portable},
#if defined(__x86_64__) && !defined(MXACT_PORTABLE)
      KernelRow<SwishFunction>{"swish avx2", kAvx2, swish_avx2}, KernelRow<SwishFunction>{"swish avx512", kAvx2 | kAvx512, swish_avx512},
#endif
};

struct JoinRow {
  Join from;
  SwishJoin to;
};
constexpr std::array kJoins{JoinRow{Join::times_up, SwishJoin::times_up}, JoinRow{Join::times_up_and_beta, SwishJoin::times_up_and_beta},
                            JoinRow{Join::fused, SwishJoin::fused}, JoinRow{Join::before_division, SwishJoin::before_division}};

struct CurveRow {
  Curve curve;
  bool by_alpha;
  bool by_sigmoid;
};
constexpr std::array kCurves{CurveRow{Curve::silu, false, false}, CurveRow{Curve::swish, true, false}, CurveRow{Curve::swish_by_sigmoid, true, true}};

std::uint32_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }
float value(std::uint32_t x) { return std::bit_cast<float>(x); }

}  // namespace

std::optional<Swish> as_swish(const Activation& row, const ActivationConstants& constants) {
  const auto* const curve = std::ranges::find(kCurves, row.curve, &CurveRow::curve);
  const auto* const join = std::ranges::find(kJoins, row.join, &JoinRow::from);
  const bool bounded = !row.limit_is_optional || value(constants.limit) > 0;
  const bool clamps = (row.gate_clamp == Clamp::none || row.gate_clamp == Clamp::above) &&
                      (row.up_clamp == Clamp::none || row.up_clamp == Clamp::both) && row.curve_clamp == Clamp::none;
  if (curve == kCurves.end() || join == kJoins.end() || !clamps) return std::nullopt;
  return Swish{.gate_clamped = bounded && row.gate_clamp == Clamp::above,
               .up_clamped = bounded && row.up_clamp == Clamp::both,
               .by_alpha = curve->by_alpha,
               .by_sigmoid = curve->by_sigmoid,
               .join = join->to,
               .alpha = value(constants.alpha),
               .beta = value(constants.beta),
               .limit = value(constants.limit)};
}

TileActivation::TileActivation(const Activation& row, const ActivationConstants& constants, const IsaTier& tier)
    : row_(&row), constants_(constants), swish_(as_swish(row, constants)), run_(kernel_for(kSwishKernels, tier).run), tier_(tier) {
  require_runs_here(tier, "activation");
  mx::moe::activate(row, kF32, 0, 0, constants);  // refuses constants that it cannot take
}

void TileActivation::by_swish(const SwishTile& tile) const {
  run_(*swish_, tile);
  for (std::size_t row = 0; row < tile.rows; ++row) {
    const float* const gate = tile.gate + row * tile.stride;
    const float* const up = tile.up + row * tile.stride;
    for (std::uint32_t left = tile.unsure[row]; left != 0; left &= left - 1) {
      const auto i = static_cast<std::size_t>(std::countr_zero(left));
      tile.out[row * tile.out_stride + i] = value(mx::moe::activate(*row_, kF32, bits(gate[i]), bits(up[i]), constants_));
    }
  }
}

void TileActivation::operator()(const float* gate, const float* up, std::size_t rows, std::size_t stride, float* out, std::size_t out_stride,
                                CurveScratch& scratch) const {
  if (swish_) {
    scratch.unsure.resize(rows);
    return by_swish({gate, up, stride, rows, out, out_stride, scratch.unsure.data()});
  }
  // The whole tile at once: the functions are the faster the more they are given.
  const auto gathered = [&](const float* from, std::vector<float>& to) {
    to.clear();
    for (std::size_t row = 0; row < rows; ++row) to.insert(to.end(), from + row * stride, from + row * stride + kSwishColumns);
  };
  gathered(gate, scratch.tile_gate);
  if (gated()) gathered(up, scratch.tile_up);
  scratch.tile_out.resize(rows * kSwishColumns);
  activate_all(*row_, constants_, scratch.tile_gate, scratch.tile_up, scratch.tile_out, scratch, tier_);
  for (std::size_t row = 0; row < rows; ++row) std::copy_n(scratch.tile_out.data() + row * kSwishColumns, kSwishColumns, out + row * out_stride);
}

}  // namespace mx::kernels::moe
