#include "model/families/marlin_product.hpp"

#include <array>
#include <string>

#include "model/error.hpp"
#include "model/families/marlin/values.hpp"
#include "model/numerics/chain.hpp"
#include "model/numerics/convert.hpp"
#include "model/numerics/f32.hpp"

namespace mx::families::marlin {
namespace {

constexpr std::int64_t kWarpK = 32;
constexpr std::size_t kMostWarps = 4;

std::span<const Factor> of_warp(const PreparedOperand& operand, std::size_t warps, std::size_t warp, KSlice slice) {
  const std::size_t own = operand.factors.size() / warps;
  const auto first = static_cast<std::size_t>(slice.first * kWarpK), last = static_cast<std::size_t>(slice.last * kWarpK);
  return std::span(operand.factors).subspan(warp * own + first, last - first);
}

/// What one block has: w0 + w1, or w0 + (w1 + (w3 + w2)).
std::uint32_t block_sum(std::size_t warps, const ContractRow& row, const PreparedOperand& a, const PreparedOperand& b, KSlice slice) {
  std::array<std::uint32_t, kMostWarps> sums{};
  for (std::size_t warp = 0; warp < warps; ++warp) sums[warp] = chain(row, of_warp(a, warps, warp, slice), of_warp(b, warps, warp, slice), {}, {});
  if (warps == 1) return sums[0];
  if (warps == 2) return f32::add(sums[0], sums[1]);
  return f32::add(sums[0], f32::add(sums[1], f32::add(sums[3], sums[2])));
}

std::uint32_t to_bf16(const ContractRow& row, std::uint32_t f32) { return to_f32(narrowed(row, f32, kBf16), kBf16); }

}  // namespace

void check(const Launch& launch, std::int64_t n, std::int64_t k) {
  const auto refuse = [](const std::string& text) { throw Error(ErrorCode::usage, text, "launch of MARLIN"); };
  const auto text = [](std::int64_t number) { return std::to_string(number); };
  for (const std::int64_t number : {launch.moe_block, launch.tile_k, launch.tile_n, launch.threads, launch.blocks}) {
    if (number < 1) refuse(text(number) + " is not positive");
  }
  if (launch.tile_n % 64 != 0 || launch.threads % 32 != 0) {
    refuse("a tile of " + text(launch.tile_n) + " columns for " + text(launch.threads) + " threads: multiples of 64 and of 32");
  }
  const std::int64_t warps = launch.warps();
  if (warps != 1 && warps != 2 && warps != 4) refuse(text(warps) + " warps share k, must be 1, 2 or 4");
  if (launch.tile_k != warps * kWarpK) {
    refuse("a tile of " + text(launch.tile_k) + " of k for " + text(warps) + " warps, each takes " + text(kWarpK));
  }
  if (n % launch.tile_n != 0 || k % launch.tile_k != 0) {
    refuse(text(n) + " columns and k " + text(k) + " are not whole tiles of " + text(launch.tile_n) + " by " + text(launch.tile_k));
  }
}

KCut cut_of(const Launch& launch, std::int64_t token_blocks, std::int64_t n, std::int64_t k, std::int64_t group) {
  check(launch, n, k);
  const std::int64_t grid = launch.blocks;
  KCut cut{token_blocks * (n / launch.tile_n), 0, k / launch.tile_k, 0};
  cut.shared = cut.tiles;
  if (cut.tiles > grid) {
    cut.shared = cut.tiles % grid;
    if (3 * cut.shared <= grid) cut.shared += grid;
  }
  cut.length = ceil_div(cut.steps * cut.shared, grid);
  if (group > launch.tile_k) cut.length = rounded_up(cut.length, group / launch.tile_k);
  return cut;
}

PreparedOperand by_warps(const Launch& launch, const PreparedOperand& operand) {
  PreparedOperand parted{operand.elements, {}, operand.scales, operand.block};
  parted.factors.reserve(operand.factors.size());
  const auto tile = static_cast<std::size_t>(launch.tile_k), own = static_cast<std::size_t>(kWarpK);
  for (std::size_t warp = 0; warp < tile / own; ++warp) {
    for (std::size_t first = warp * own; first < operand.factors.size(); first += tile) {
      for (std::size_t i = first; i < first + own; ++i) parted.factors.push_back(operand.factors[i]);
    }
  }
  return parted;
}

std::uint32_t sum_of(const Launch& launch, const ContractRow& row, const PreparedOperand& a, const PreparedOperand& b, std::span<const KSlice> slices,
                     std::optional<std::uint32_t> scale) {
  const auto warps = static_cast<std::size_t>(launch.warps());
  std::optional<std::uint32_t> total;
  for (std::size_t i = slices.size(); i-- > 0;) {
    std::uint32_t sum = block_sum(warps, row, a, b, slices[i]);
    if (scale) sum = f32::mul(sum, *scale);
    total = total ? f32::add(sum, *total) : sum;
  }
  return total.value_or(0);
}

Value fp8_weight(std::uint32_t code) {
  constexpr std::uint32_t kMagnitude = 0x7F;
  constexpr std::uint64_t k480 = 480;
  Value value = decode(kE4m3fn, code);
  if ((code & kMagnitude) == kMagnitude)
    value = {.significand = k480, .exponent = 0, .cls = ValueClass::finite, .negative = value.negative || code > kMagnitude};
  if (value.cls == ValueClass::finite) value.exponent -= 120;
  return value;
}

std::uint32_t bf16_scale(std::uint32_t f32) { return fp8_scale(f32, ParamsDtype::bf16); }

std::uint32_t slot_value(std::uint32_t sum, std::optional<std::uint32_t> weight, std::optional<std::uint32_t> global) {
  const ContractRow& row = row_of(Contract::hopper_bf16);
  const std::uint32_t g = global.value_or(f32::kOne);
  if (!weight) return to_bf16(row, global ? f32::mul(sum, g) : sum);
  return to_bf16(row, f32::mul(to_bf16(row, sum), to_bf16(row, f32::mul(*weight, g))));
}

}  // namespace mx::families::marlin
