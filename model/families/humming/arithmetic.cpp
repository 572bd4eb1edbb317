// How Humming computes. Sources: vllm at 7e1b45a09 and its libraries, files named in each row.

#include <array>
#include <string>
#include <vector>

#include "model/families/arithmetic_rows.hpp"
#include "model/families/humming/family.hpp"
#include "model/families/humming_product.hpp"
#include "model/families/launch.hpp"
#include "model/numerics/convert.hpp"
#include "model/numerics/f32.hpp"

namespace mx::families {
namespace {

using layout::WeightFormat;

constexpr std::string_view kProducts = "golden/witness/hardware/humming_product_h100", kStages = "golden/witness/hardware/humming_stages_h100";
constexpr std::array kRuns{Recording{kProducts, "mxa16."}, Recording{kStages, "act."}, Recording{kStages, "sum."}};
constexpr std::array kHeld{HeldOn{on_sm90, Grounds::run_by_parts, kRuns}};

constexpr std::uint32_t kFour = 0x40800000U, kOne = 0x3F800000U;
/// Weights are quarters of their numbers.
constexpr int kQuarter = -2;

std::uint32_t in_bf16(std::uint32_t f32) { return to_f32(narrowed(row_of(Contract::hopper_bf16), f32, kBf16), kBf16); }

/// The launch of one product. What is not given is as in batch-invariant mode: whole tiles, one warp along k.
humming::Launch launch_of(const LaunchFacts& facts, std::size_t product) {
  constexpr std::int64_t kColumns = 256, kLength = 128, kTile = 128, kTokens = 64, kDeep = 4;
  const bool is_first = product == kFirstProduct;
  const std::int64_t n = is_first ? facts.sizes.intermediate * (facts.gated ? 2 : 1) : facts.sizes.hidden;
  const std::int64_t k = is_first ? facts.sizes.hidden : facts.sizes.intermediate;
  const auto or_else = [&](LaunchKey key, std::int64_t value) { return facts.choice.find(key, product).value_or(value); };
  const std::int64_t block_k = or_else(LaunchKey::tile_k, kTile);
  return {.n = rounded_up(n, kColumns),
          .k = rounded_up(k, kLength),
          .token_blocks = 1,
          .block_m = or_else(LaunchKey::block_m, kTokens),
          .block_n = or_else(LaunchKey::tile_n, kTile),
          .block_k = block_k,
          .warp_k = or_else(LaunchKey::warp_k, block_k),
          .blocks = or_else(LaunchKey::blocks, 1),
          .stages = or_else(LaunchKey::stages, kDeep),
          .group = layout::group_of(WeightFormat::mxfp4),
          .stream_k = or_else(LaunchKey::stream_k, facts.choice.find(LaunchKey::blocks, product) ? 1 : 0) == 1};
}

/// Each slice is rounded, scaled and, the one of the highest k, given the bias; then they are joined in bf16.
std::uint32_t joined(const humming::Launch& launch, std::span<const std::uint32_t> sums, std::optional<std::uint32_t> bias) {
  const auto warps = static_cast<std::size_t>(launch.warps());
  std::vector<std::uint32_t> slices;
  for (std::size_t first = 0; first < sums.size(); first += warps)
    slices.push_back(in_bf16(f32::mul(in_bf16(humming::slice_sum(sums.subspan(first, warps))), kFour)));
  if (bias) slices.back() = in_bf16(f32::add(slices.back(), in_bf16(*bias)));
  return humming::joined(slices);
}

SharedSums shared_sums(const humming::Launch& launch) {
  const auto of_blocks = [=](std::int64_t blocks) {
    humming::Launch of = launch;
    of.token_blocks = blocks;
    return humming::cut_of(of);
  };
  return {.block_m = launch.block_m,
          .tile_n = launch.block_n,
          .columns = launch.n,
          .length = launch.k,
          .cut = of_blocks,
          .parted = [=](const PreparedOperand& operand) { return humming::by_warps(launch, operand); },
          .runs = [=](std::span<const KSlice> slices) { return humming::runs_of(launch, slices); },
          .joined = [=](std::span<const std::uint32_t> sums, std::optional<std::uint32_t>,
                        std::optional<std::uint32_t> bias) { return joined(launch, sums, bias); },
          .adds_bias = true};
}

std::string text_of(const humming::Launch& launch, const LaunchChoice& choice, std::size_t product) {
  const auto text = [&](LaunchKey key, std::int64_t value) { return launch_text(key, value, choice, product); };
  const std::string tile = text(LaunchKey::block_m, launch.block_m) + ", " + text(LaunchKey::tile_n, launch.block_n) + ", " +
                           text(LaunchKey::tile_k, launch.block_k) + ", " + text(LaunchKey::warp_k, launch.warp_k);
  if (!launch.stream_k) return tile + ", stream_k 0";
  return tile + ", " + text(LaunchKey::blocks, launch.blocks) + ", " + text(LaunchKey::stages, launch.stages) + ", stream_k 1";
}

void launch(const LaunchFacts& facts, Launched& made) {
  if (facts.operation.arch != Arch::sm90) return;
  made.reading.shifts_scales = true;
  made.reading.exponent = kQuarter;
  for (const std::size_t product : {kFirstProduct, kSecondProduct}) {
    const humming::Launch launch = launch_of(facts, product);
    humming::check(launch);
    made.products.at(product) = shared_sums(launch);
    made.text += (product == kFirstProduct ? "w13: " : "; w2: ") + text_of(launch, facts.choice, product);
  }
  if (!facts.choice.has_tile()) made.text += ": taken as in batch-invariant mode, for the package's tables of tiles are not in mxact";
}

constexpr ExecutionRow humming() {
  ExecutionRow row = mxfp4_row("HUMMING", Grounds::assumed, "E/fused_humming_moe.py (read) with a 16-bit input schema; sums taken as Marlin's");
  row.swiglu_oai = wired("swiglu_oai_humming");
  row.silu = {"silu_and_mul_humming", {kOne, 0, 0, 0}, false, false, true, "swiglu_oai_humming"};
  row.others = kApplied;
  row.slot = SlotRule::rounded;
  row.bias = BiasEntry::after_bf16;
  row.launch = launch;
  row.held = kHeld;
  return row;
}

constexpr std::array kRows{humming()};

}  // namespace

constinit const std::span<const ExecutionRow> kHummingExecutions{kRows};

}  // namespace mx::families
