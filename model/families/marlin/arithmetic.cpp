// How Marlin computes. Sources: vllm at 7e1b45a09 and its libraries, files named in each row.

#include <array>
#include <string>

#include "model/families/arithmetic_rows.hpp"
#include "model/families/launch.hpp"
#include "model/families/marlin/family.hpp"
#include "model/families/marlin_product.hpp"

namespace mx::families {
namespace {

using layout::WeightFormat;

constexpr std::string_view kSplits = "golden/witness/hardware/marlin_split_h100", kNvfp4Set = "golden/witness/hardware/marlin_nvfp4_h100",
                           kFp8Set = "golden/witness/hardware/marlin_fp8_h100", kSums = "golden/witness/hardware/slot_sum_h100";
constexpr std::array kMxfp4Runs{Recording{kSplits, "marlin."}, Recording{kSums, "top_k"}};
constexpr std::array kHeldMxfp4{HeldOn{on_sm90, Grounds::run_by_parts, kMxfp4Runs}};
constexpr std::array kOf8Bits{
    KnownDifference{on_nvidia, kWith8Bits, kElsewhere, deployment::since(deployment::kVllm2026_05), true},
};
constexpr std::array kNvfp4Runs{Recording{kNvfp4Set}, Recording{kSums, "top_k"}};
constexpr std::array kHeldNvfp4{HeldOn{on_sm90, Grounds::run_by_parts, kNvfp4Runs}};
constexpr std::array kFp8Runs{Recording{kFp8Set}, Recording{kSums, "top_k"}};
constexpr std::array kHeldFp8{HeldOn{on_sm90, Grounds::run_by_parts, kFp8Runs}};

/// What the engine launches. The batched class always takes blocks of 64, and has room for 256 tokens and more of each expert, which fill every
/// multiprocessor. Source: vllm fused_moe/fused_marlin_moe.py batched_fused_marlin_moe (read).
marlin::Launch chosen_launch(const LaunchFacts& facts, bool is_batched, std::int64_t n, std::int64_t k) {
  if (!is_batched) return marlin::default_launch(facts.tokens * facts.top_k, facts.sizes.experts, n, k);
  constexpr std::int64_t kRoom = 256;
  return marlin::default_launch(facts.sizes.experts * kRoom, facts.sizes.experts, n, k);
}

/// The launch of one product: given, or the engine's.
marlin::Launch launch_of(const LaunchFacts& facts, bool is_batched, std::size_t product) {
  const bool is_first = product == kFirstProduct;
  const std::int64_t n = is_first ? facts.sizes.intermediate * (facts.gated ? 2 : 1) : facts.sizes.hidden;
  const std::int64_t k = is_first ? facts.sizes.hidden : facts.sizes.intermediate;
  const auto given = [&](LaunchKey key) { return facts.choice.find(key, product); };
  const bool is_whole =
      given(LaunchKey::tile_k) && given(LaunchKey::tile_n) && given(LaunchKey::threads) && given(LaunchKey::blocks) && given(LaunchKey::block_m);
  marlin::Launch launch = is_whole ? marlin::Launch{} : chosen_launch(facts, is_batched, n, k);
  launch.moe_block = given(LaunchKey::block_m).value_or(launch.moe_block);
  launch.tile_k = given(LaunchKey::tile_k).value_or(launch.tile_k);
  launch.tile_n = given(LaunchKey::tile_n).value_or(launch.tile_n);
  launch.threads = given(LaunchKey::threads).value_or(launch.threads);
  launch.blocks = given(LaunchKey::blocks).value_or(launch.blocks);
  marlin::check(launch, n, k);
  return launch;
}

std::string text_of(const marlin::Launch& launch, const LaunchChoice& choice, std::size_t product) {
  const auto text = [&](LaunchKey key, std::int64_t value) { return launch_text(key, value, choice, product); };
  return text(LaunchKey::block_m, launch.moe_block) + ", " + text(LaunchKey::tile_k, launch.tile_k) + ", " + text(LaunchKey::tile_n, launch.tile_n) +
         ", " + text(LaunchKey::threads, launch.threads) + ", " + text(LaunchKey::blocks, launch.blocks);
}

/// `group`: the longest run of k that shares a scale in the kernel.
SharedSums shared_sums(const marlin::Launch& launch, std::int64_t n, std::int64_t k, std::int64_t group) {
  return {.block_m = launch.moe_block,
          .tile_n = launch.tile_n,
          .columns = n,
          .length = k,
          .cut = [=](std::int64_t blocks) { return marlin::cut_of(launch, blocks, n, k, k > group ? group : 1); },
          .parted = [=](const PreparedOperand& operand) { return marlin::by_warps(launch, operand); },
          .runs = [=](std::span<const KSlice> slices) { return marlin::runs_of(launch, k, slices); },
          .joined = [=](std::span<const std::uint32_t> sums, std::optional<std::uint32_t> scale,
                        std::optional<std::uint32_t>) { return marlin::joined(launch, sums, scale); }};
}

void shifted(const LaunchFacts& facts, Launched& made) { made.reading.shifts_scales = on_nvidia(facts.operation.arch); }

/// Every device of NVIDIA runs one kernel; its grid is Hopper's here. Ranks that share a layer have grids of their own: each tile is whole then.
template <std::int64_t kGroup, bool kBatched = false>
void launch(const LaunchFacts& facts, Launched& made) {
  shifted(facts, made);
  if (facts.operation.arch != Arch::sm90) return;
  const std::int64_t columns = facts.sizes.intermediate * (facts.gated ? 2 : 1);
  const bool fits = marlin::fits(columns, facts.sizes.hidden) && marlin::fits(facts.sizes.hidden, facts.sizes.intermediate);
  if (facts.shared || (!fits && !facts.choice.has_tile())) {
    made.text = facts.shared ? "k of every tile whole: how it is cut among blocks follows from each rank's grid"
                             : "k of every tile whole: no tile of the kernel fits these sizes";
    return;
  }
  for (const std::size_t product : {kFirstProduct, kSecondProduct}) {
    const bool is_first = product == kFirstProduct;
    const std::int64_t n = is_first ? facts.sizes.intermediate * (facts.gated ? 2 : 1) : facts.sizes.hidden;
    const std::int64_t k = is_first ? facts.sizes.hidden : facts.sizes.intermediate;
    const marlin::Launch launch = launch_of(facts, kBatched, product);
    made.products.at(product) = shared_sums(launch, n, k, kGroup);
    made.text += (is_first ? "w13: " : "; w2: ") + text_of(launch, facts.choice, product);
  }
  if (!facts.choice.has_tile())
    made.text += ": the engine's for " + std::to_string(facts.tokens) + " tokens, blocks as a multiprocessor holds of any kernel";
}

/// FP8 weights are 2^-120 of their numbers; a scale of blocks multiplies them, one of the row, of the tensor or of all k each slice's sum.
/// Source: golden/witness/hardware/marlin_fp8_h100.
template <std::int64_t kBlock>
void fp8_launch(const LaunchFacts& facts, Launched& made) {
  if (!on_nvidia(facts.operation.arch)) return;
  launch<(kBlock > 1 ? kBlock : 1)>(facts, made);
  if (!made.products.front()) return;
  made.reading.code = marlin::fp8_weight;
  made.reading.scale = marlin::bf16_scale;
  for (std::optional<SharedSums>& product : made.products) product->scales_slices = product->length <= kBlock || kBlock == 0;
}

/// NVFP4: an expert's scale meets the routing weight. Source: golden/witness/hardware/marlin_nvfp4_h100.
void nvfp4_launch(const LaunchFacts& facts, Launched& made) {
  launch<1>(facts, made);
  made.global_meets_weight = on_nvidia(facts.operation.arch);
}

constexpr std::array kChanges{kZeroIsAdded, KnownDifference{on_nvidia, "experts on several ranks: SiLU with a limit is rounded once", kActivationSet,
                                                            deployment::since(deployment::kVllm2026_08)}};

/// Marlin: what leaves a product is bf16 before bias and weight, and so is the sum over at most four slots.
constexpr ExecutionRow mxfp4(std::string_view backend, bool is_batched) {
  ExecutionRow row = mxfp4_row(backend, Grounds::read, "E/marlin_moe.py; vllm csrc/moe/marlin_moe_wna16, moe_align_sum_kernels.cu (read)");
  row.bias = BiasEntry::after_bf16;
  row.silu = kTorchLimitedSilu;
  row.others = kApplied;
  row.callback = true;
  row.hands_routing_on = !is_batched;
  row.changes = kChanges;
  row.slot = SlotRule::rounded_weighted_again;
  row.sum = SlotSum::moe_sum;
  row.launch = is_batched ? launch<1, true> : launch<1>;
  if (!is_batched) row.differences = kOf8Bits;
  if (!is_batched) row.held = kHeldMxfp4;
  return row;
}

constexpr ExecutionRow nvfp4() {
  ExecutionRow marlin =
      nvfp4_row("MARLIN", ScaleMemory::row_major, ExpertAddress::map, Grounds::read, "E/marlin_moe.py; vllm csrc/moe/marlin_moe_wna16 (read)");
  marlin.unit = MatrixUnit::bf16;
  marlin.first = "none";
  marlin.second = "none";
  marlin.bias = BiasEntry::after_bf16;
  marlin.rounds_h13 = true;
  marlin.swiglu_oai = kOaiWired;
  marlin.silu = kTorchLimitedSilu;
  marlin.others = kApplied;
  marlin.callback = true;
  marlin.hands_routing_on = true;
  marlin.changes = kChanges;
  marlin.slot = SlotRule::rounded_weighted_again;
  marlin.sum = SlotSum::moe_sum;
  marlin.launch = nvfp4_launch;
  marlin.held = kHeldNvfp4;
  return marlin;
}

constexpr ExecutionRow fp8(WeightFormat format, std::string_view backend = "MARLIN") {
  ExecutionRow marlin = fp8_row(format, backend, "MARLIN", Grounds::read, "E/marlin_moe.py; vllm csrc/moe/marlin_moe_wna16 (read)");
  marlin.unit = MatrixUnit::bf16;
  marlin.first = "none";
  marlin.second = "none";
  marlin.keyed = false;
  marlin.bias = BiasEntry::after_bf16;
  marlin.swiglu_oai = kOaiWired;
  marlin.silu = kTorchLimitedSilu;
  marlin.others = kApplied;
  marlin.callback = true;
  marlin.hands_routing_on = true;
  marlin.changes = kChanges;
  marlin.slot = SlotRule::rounded_weighted_again;
  marlin.sum = SlotSum::moe_sum;
  marlin.launch = format == WeightFormat::fp8_block ? fp8_launch<128> : fp8_launch<0>;
  marlin.held = kHeldFp8;
  marlin.differences = kOf8Bits;
  return marlin;
}

constexpr ExecutionRow mxfp8() {
  ExecutionRow row = fp8(WeightFormat::mxfp8);
  row.launch = launch<1>;
  row.held = {};
  return row;
}

constexpr std::array kRows{
    mxfp4("BATCHED_MARLIN", true),  mxfp4("MARLIN", false),       nvfp4(), fp8(WeightFormat::fp8_tensor),
    fp8(WeightFormat::fp8_channel), fp8(WeightFormat::fp8_block), mxfp8(),
};

}  // namespace

constinit const std::span<const ExecutionRow> kMarlinExecutions{kRows};

}  // namespace mx::families
