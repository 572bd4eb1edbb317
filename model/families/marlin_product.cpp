#include "model/families/marlin_product.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "model/error.hpp"
#include "model/families/marlin/values.hpp"
#include "model/families/shifted_scale.hpp"
#include "model/numerics/chain.hpp"
#include "model/numerics/convert.hpp"
#include "model/numerics/f32.hpp"

namespace mx::families::marlin {
namespace {

constexpr std::int64_t kWarpK = 32;
constexpr std::int64_t kHopperMultiprocessors = 132;

/// What one block has: w0 + w1, or w0 + (w1 + (w3 + w2)).
std::uint32_t block_sum(std::span<const std::uint32_t> sums) {
  if (sums.size() == 1) return sums[0];
  if (sums.size() == 2) return f32::add(sums[0], sums[1]);
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

std::vector<KSlice> runs_of(const Launch& launch, std::int64_t k, std::span<const KSlice> slices) {
  std::vector<KSlice> runs;
  const std::int64_t warps = launch.warps(), own = k / warps;
  for (const KSlice& slice : slices) {
    for (std::int64_t warp = 0; warp < warps; ++warp) runs.push_back({warp * own + slice.first * kWarpK, warp * own + slice.last * kWarpK});
  }
  return runs;
}

std::uint32_t joined(const Launch& launch, std::span<const std::uint32_t> sums, std::optional<std::uint32_t> scale) {
  const auto warps = static_cast<std::size_t>(launch.warps());
  std::optional<std::uint32_t> total;
  for (std::size_t first = sums.size(); first > 0;) {
    first -= warps;
    std::uint32_t sum = block_sum(sums.subspan(first, warps));
    if (scale) sum = f32::mul(sum, *scale);
    total = total ? f32::add(sum, *total) : sum;
  }
  return total.value_or(0);
}

std::uint32_t sum_of(const Launch& launch, const ContractRow& row, const PreparedOperand& a, const PreparedOperand& b, std::span<const KSlice> slices,
                     std::optional<std::uint32_t> scale) {
  std::vector<std::uint32_t> sums;
  for (const KSlice& run : runs_of(launch, static_cast<std::int64_t>(a.factors.size()), slices)) {
    const auto first = static_cast<std::size_t>(run.first), count = static_cast<std::size_t>(run.last - run.first);
    sums.push_back(chain(row, std::span(a.factors).subspan(first, count), std::span(b.factors).subspan(first, count), {}, {}));
  }
  return joined(launch, sums, scale);
}

namespace {

/// A tile and its threads, and how many blocks of it a multiprocessor holds whatever registers they take.
struct Configuration {
  std::int64_t tile_k, tile_n, threads, held;
};
constexpr std::array kFewTokens{Configuration{128, 128, 256, 1}, Configuration{64, 128, 128, 2}, Configuration{128, 64, 128, 2}};
constexpr std::array kManyTokens{Configuration{64, 256, 256, 1}, Configuration{64, 128, 128, 2}, Configuration{128, 64, 128, 2}};

}  // namespace

bool fits(std::int64_t n, std::int64_t k) {
  return std::ranges::any_of(kFewTokens, [&](const Configuration& one) { return n % one.tile_n == 0 && k % one.tile_k == 0; });
}

Launch default_launch(std::int64_t slots, std::int64_t experts, std::int64_t n, std::int64_t k) {
  constexpr std::array<std::int64_t, 5> kBlocks{8, 16, 32, 48, 64};
  constexpr std::int64_t kOneBlock = 16, kShare = 4;
  // The first that a mean expert's slots fill to less than nine tenths.
  const auto* const fitting = std::ranges::find_if(kBlocks, [&](std::int64_t block) { return 10 * slots < 9 * experts * block; });
  Launch launch{fitting == kBlocks.end() ? kBlocks.back() : *fitting, 0, 0, 0, 0};
  std::int64_t most = 0;
  for (const Configuration& one : launch.moe_block > kOneBlock ? kManyTokens : kFewTokens) {
    if (n % one.tile_n != 0 || k % one.tile_k != 0) continue;
    const std::int64_t work = n / one.tile_n * slots * kShare;
    const std::int64_t held = work < kHopperMultiprocessors * one.held ? std::max<std::int64_t>(work / kHopperMultiprocessors, 1) : one.held;
    if (held <= most) continue;
    most = held;
    launch = {launch.moe_block, one.tile_k, one.tile_n, one.threads, held * kHopperMultiprocessors};
  }
  if (most == 0) {
    throw Error(ErrorCode::usage, std::to_string(n) + " columns and k " + std::to_string(k) + " are whole tiles of no configuration",
                "launch of MARLIN");
  }
  return launch;
}

Value fp8_weight(std::uint32_t code) {
  Value value = moved_weight(code);
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
