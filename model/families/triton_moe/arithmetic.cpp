// How vLLM's Triton kernels compute. Sources: vllm at 7e1b45a09 and its libraries, files named in each row.

#include <array>
#include <string>

#include "model/families/arithmetic_rows.hpp"
#include "model/families/between.hpp"
#include "model/families/launch.hpp"
#include "model/families/triton_moe/family.hpp"
#include "model/families/triton_moe_product.hpp"

namespace mx::families {
namespace {

using layout::WeightFormat;
using triton_moe::Scales;

constexpr std::string_view kProducts = "golden/witness/hardware/fp8_products_h100";
constexpr std::string_view kSwap = "golden/witness/hardware/fp8_swap_h100";
constexpr std::string_view kSums = "golden/witness/hardware/slot_sum_h100";
constexpr std::array kBlockRuns{Recording{"golden/witness/hardware/fp8_layer_h100", "triton."}, Recording{kProducts, "triton.block"},
                                Recording{kSwap, ".block."}, Recording{kSwap, "sum."}, Recording{"golden/witness/hardware/fp8_squares_h200"}};
constexpr std::array kRowRuns{Recording{kProducts, "triton.channel"}, Recording{kSwap, ".channel."}, Recording{kSums}};
constexpr std::array kHeldBlocks{HeldOn{on_sm90, Grounds::run, kBlockRuns}};
constexpr std::array kHeldRows{HeldOn{on_sm90, Grounds::run_by_parts, kRowRuns}};

constexpr auto kSinceAugust = deployment::since(deployment::kVllm2026_08);
constexpr std::array kRowChanges{KnownDifference{on_sm90, "tiles of 16 or 32 tokens: operands are exchanged", kSwap, kSinceAugust}, kZeroIsAdded};
constexpr std::array kBlockChanges{
    kRowChanges.front(), kZeroIsAdded,
    KnownDifference{on_sm90, "tiles of 16 or 32 tokens: of scales per 128 the weight's is multiplied first", kSwap, kSinceAugust}};

/// Between the products of squares of 128: one kernel for SiLU and the quantizer, which reads no limit. Source: E/triton_moe.py, TritonExperts.apply;
/// 0.33.0 takes it without a limit alone.
bool joins_silu(const LaunchFacts& facts) {
  const bool takes_squares = on_nvidia(facts.operation.arch) && facts.operation.block == layout::kBlockSide && !uses_e8m0(facts);
  return takes_squares && facts.activation == "SILU" && (!facts.limited || deployment::before(deployment::kVllm2026_11).has(facts.engine));
}

/// In batch-invariant mode the engine reads no tuned file.
bool is_tuned(const LaunchChoice& choice) { return choice.tuned && !is_batch_invariant(choice); }

std::string tile_text(const triton_moe::Launch& tile, const LaunchFacts& facts) {
  const LaunchChoice& given = facts.choice;
  const std::string text = launch_text(LaunchKey::block_m, tile.block_m, given) + ", " + launch_text(LaunchKey::block_n, tile.block_n, given) + ", " +
                           launch_text(LaunchKey::step_k, tile.block_k, given);
  const std::string tokens = std::to_string(facts.tokens) + " tokens";
  if (is_tuned(given)) return text + ": " + given.tuned->file + " for " + tokens;
  return text + (given.has_tile() ? "" : ": the engine's tile for " + tokens + " without a tuned file");
}

/// The tile that the engine takes where no number of it is given.
triton_moe::Launch chosen_tile(Scales scales, const LaunchFacts& facts, std::int64_t tokens) {
  if (!is_tuned(facts.choice))
    return triton_moe::default_launch(scales, tokens, facts.engine, is_batch_invariant(facts.choice), facts.operation.block);
  const TunedTile& tuned = facts.choice.tuned->of(tokens);
  return {tuned.block_m, tuned.block_n, tuned.step_k};
}

triton_moe::Launch tile_of(Scales scales, const LaunchFacts& facts, std::int64_t tokens) {
  const triton_moe::Launch chosen = chosen_tile(scales, facts, tokens);
  const auto or_given = [&](LaunchKey key, std::int64_t value) { return facts.choice.find(key).value_or(value); };
  return {or_given(LaunchKey::block_m, chosen.block_m), or_given(LaunchKey::block_n, chosen.block_n), or_given(LaunchKey::step_k, chosen.block_k)};
}

template <Scales kScales, bool kBatched>
std::string contract_of(const LaunchFacts& facts, std::int64_t tokens) {
  const triton_moe::Launch tile = tile_of(kScales, facts, tokens);
  return kBatched ? triton_moe::batched_contract(tile, kScales) : triton_moe::contract_text(tile, kScales, facts.engine, facts.operation.block);
}

template <Scales kScales, bool kBatched>
void launch(const LaunchFacts& facts, Launched& made) {
  if (kScales == Scales::blocks && !kBatched && joins_silu(facts)) made.between = &between_named("silu_and_mul_per_block_quant");
  if (facts.operation.arch != Arch::sm90) return;
  const bool is_finer = kScales == Scales::blocks && facts.operation.block != layout::kBlockSide;
  // Of batches of finer squares no launch is recorded: each scale has a sum of its own, as on any device.
  if (kBatched && is_finer) return;
  const triton_moe::Launch tile = tile_of(kScales, facts, facts.tokens);
  made.contract = contract_of<kScales, kBatched>(facts, facts.tokens);
  made.text = tile_text(tile, facts);
  if (kScales == Scales::blocks && kBatched) made.reading.scales_every = triton_moe::blocks_of_one_scale(tile);
}

/// Weights that the layout table has no row for stay as they were loaded.
constexpr ExecutionRow triton(WeightFormat format, std::string_view backend, SlotSum sum) {
  const bool in_blocks = format == WeightFormat::fp8_block;
  ExecutionRow triton = fp8_row(format, backend, {}, Grounds::read, "E/triton_moe.py, fused_batched_moe.py; fused_moe_kernel (read)");
  if (in_blocks) triton.unit = MatrixUnit::fp8_blocks_in_order;
  triton.epilogue = EpilogueScale::activation_first;
  triton.bias = BiasEntry::f32;
  triton.swiglu_oai = kOaiWired;
  triton.silu = kTorchLimitedSilu;
  triton.others = kApplied;
  triton.callback = true;
  triton.slot = SlotRule::weighted_rounded;
  triton.sum = sum;
  triton.launch = in_blocks ? launch<Scales::blocks, false> : launch<Scales::rows, false>;
  triton.held = in_blocks ? std::span<const HeldOn>(kHeldBlocks) : std::span<const HeldOn>(kHeldRows);
  triton.changes = in_blocks ? std::span<const KnownDifference>(kBlockChanges) : std::span<const KnownDifference>(kRowChanges);
  return triton;
}
constexpr ExecutionRow batched(WeightFormat format) {
  ExecutionRow row = triton(format, "BATCHED_TRITON", SlotSum::bf16);
  row.launch = format == WeightFormat::fp8_block ? launch<Scales::blocks, true> : launch<Scales::rows, true>;
  row.held = {};
  row.changes = {};
  return row;
}

constexpr std::array kRows{
    triton(WeightFormat::fp8_tensor, "TRITON", SlotSum::moe_sum),
    triton(WeightFormat::fp8_channel, "TRITON", SlotSum::moe_sum),
    triton(WeightFormat::fp8_block, "TRITON", SlotSum::moe_sum),
    batched(WeightFormat::fp8_tensor),
    batched(WeightFormat::fp8_channel),
    batched(WeightFormat::fp8_block),
};

}  // namespace

constinit const std::span<const ExecutionRow> kTritonMoeExecutions{kRows};

}  // namespace mx::families
