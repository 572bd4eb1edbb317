// How Humming computes. Sources: vllm at 7e1b45a09 and its libraries, files named in each row.

#include <array>
#include <string>
#include <vector>

#include "model/families/arithmetic_rows.hpp"
#include "model/families/humming/family.hpp"
#include "model/families/humming_product.hpp"
#include "model/families/launch.hpp"
#include "model/families/shifted_scale.hpp"
#include "model/numerics/convert.hpp"
#include "model/numerics/f32.hpp"

namespace mx::families {
namespace {

using layout::WeightFormat;

constexpr std::string_view kProducts = "golden/witness/hardware/humming_product_h100", kStages = "golden/witness/hardware/humming_stages_h100";

constexpr std::uint32_t kFour = 0x40800000U, kOne = 0x3F800000U;

std::uint32_t in_bf16(std::uint32_t f32) { return to_f32(narrowed(row_of(Contract::hopper_bf16), f32, kBf16), kBf16); }
std::uint32_t bf16_code(std::uint32_t f32) { return in_bf16(f32) >> 16U; }

/// What a form's kernel reads, and what it makes of a slice's sum. `scale`: the one of the row or the expert, fp32 bits.
struct Form {
  WeightFormat format;
  WeightReading reading;
  std::int64_t group;  ///< the longest run of k that shares a scale
  std::uint32_t (*finished)(std::uint32_t sum, std::uint32_t scale);
  std::array<Recording, 3> runs;
};
constexpr std::array<Recording, 3> runs_of(std::string_view products) { return {{{kProducts, products}, {kStages, "act."}, {kStages, "sum."}}}; }
/// e2m1 weights are quarters of their numbers; of 8-bit ones 0x7F and 0xFF are 480 and -480.
constexpr int kQuarter = -2;
constexpr std::array kForms{
    Form{WeightFormat::mxfp4,
         {.shifts_scales = true, .exponent = kQuarter},
         32,
         [](std::uint32_t sum, std::uint32_t) { return in_bf16(f32::mul(in_bf16(sum), kFour)); },
         runs_of("mxa16.")},
    Form{WeightFormat::nvfp4,
         {.exponent = kQuarter},
         16,
         [](std::uint32_t sum, std::uint32_t scale) { return in_bf16(f32::mul(sum, f32::mul(scale, kFour))); },
         runs_of("nva16.")},
    Form{WeightFormat::mxfp8,
         {.shifts_scales = true, .code = moved_weight},
         32,
         [](std::uint32_t sum, std::uint32_t) { return in_bf16(sum); },
         runs_of("m8a16.")},
    Form{WeightFormat::fp8_block,
         {.code = moved_weight, .scale = bf16_code},
         layout::kBlockSide,
         [](std::uint32_t sum, std::uint32_t) { return in_bf16(sum); },
         runs_of("f8a16.")},
    Form{WeightFormat::fp8_channel,
         {.code = moved_weight, .scale = bf16_code},
         1,
         [](std::uint32_t sum, std::uint32_t scale) { return in_bf16(f32::mul(in_bf16(sum), scale)); },
         runs_of("f8ca16.")},
};

/// The launch of one product. What is not given is as in batch-invariant mode: whole tiles, one warp along k.
humming::Launch launch_of(const LaunchFacts& facts, std::int64_t group, std::size_t product) {
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
          .group = group,
          .stream_k = or_else(LaunchKey::stream_k, facts.choice.find(LaunchKey::blocks, product) ? 1 : 0) == 1};
}

/// Each slice is finished and, the one of the highest k, given the bias; then they are joined in bf16.
std::vector<std::uint32_t> slices_of(const humming::Launch& launch, const Form& form, std::span<const std::uint32_t> sums,
                                     std::optional<std::uint32_t> scale, std::optional<std::uint32_t> bias) {
  const auto warps = static_cast<std::size_t>(launch.warps());
  std::vector<std::uint32_t> slices;
  for (std::size_t first = 0; first < sums.size(); first += warps)
    slices.push_back(form.finished(humming::slice_sum(sums.subspan(first, warps)), scale.value_or(kOne)));
  if (bias) slices.back() = in_bf16(f32::add(slices.back(), in_bf16(*bias)));
  return slices;
}

using Sets = decltype(SharedSums::possible);

SharedSums shared_sums(const humming::Launch& launch, const Form& form) {
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
          .joined = [=, &form](auto sums, auto scale, auto bias) { return humming::joined(slices_of(launch, form, sums, scale, bias)); },
          .possible = !launch.stream_k ? nullptr : Sets([=, &form](auto sums, auto scale, auto bias) {
            return humming::possible(slices_of(launch, form, sums, scale, bias));
          }),
          .scales_slices = form.format == WeightFormat::nvfp4 || form.format == WeightFormat::fp8_channel,
          .adds_bias = true};
}

std::string text_of(const humming::Launch& launch, const LaunchChoice& choice, std::size_t product) {
  const auto text = [&](LaunchKey key, std::int64_t value) { return launch_text(key, value, choice, product); };
  const std::string tile = text(LaunchKey::block_m, launch.block_m) + ", " + text(LaunchKey::tile_n, launch.block_n) + ", " +
                           text(LaunchKey::tile_k, launch.block_k) + ", " + text(LaunchKey::warp_k, launch.warp_k);
  if (!launch.stream_k) return tile + ", stream_k 0";
  return tile + ", " + text(LaunchKey::blocks, launch.blocks) + ", " + text(LaunchKey::stages, launch.stages) + ", stream_k 1";
}

template <std::size_t kForm>
void launch(const LaunchFacts& facts, Launched& made) {
  if (facts.operation.arch != Arch::sm90) return;
  const Form& form = kForms[kForm];
  made.reading = form.reading;
  for (const std::size_t product : {kFirstProduct, kSecondProduct}) {
    const humming::Launch launch = launch_of(facts, form.group, product);
    humming::check(launch);
    made.products.at(product) = shared_sums(launch, form);
    made.text += (product == kFirstProduct ? "w13: " : "; w2: ") + text_of(launch, facts.choice, product);
  }
  if (!facts.choice.has_tile()) made.text += ": taken as in batch-invariant mode, for the package's tables of tiles are not in mxact";
}

constexpr std::array kOf8Bits{KnownDifference{on_sm90, kWith8Bits, kProducts, deployment::since(deployment::kVllm2026_05), true}};

template <std::size_t kForm>
constexpr std::array kHeld{HeldOn{on_sm90, Grounds::run_by_parts, kForms[kForm].runs}};

/// 16-bit activations: what the engine hands every checkpoint's weights unless its configuration of inputs says otherwise.
template <std::size_t kForm>
constexpr ExecutionRow humming() {
  constexpr std::string_view kSource =
      "E/fused_humming_moe.py (read) with a 16-bit input schema; on other devices than sm_90 sums are taken as Marlin's";
  ExecutionRow row = mxfp4_row("HUMMING", Grounds::assumed, kSource);
  row.format = kForms[kForm].format;
  if (row.format != WeightFormat::mxfp4) row.oai_order = layout::SourceOrder::standard;
  row.swiglu_oai = wired("swiglu_oai_humming");
  row.silu = {"silu_and_mul_humming", {kOne, 0, 0, 0}, false, false, true, "swiglu_oai_humming"};
  row.others = kApplied;
  row.slot = SlotRule::rounded;
  row.bias = BiasEntry::after_bf16;
  row.launch = launch<kForm>;
  row.held = kHeld<kForm>;
  row.differences = kOf8Bits;
  return row;
}

constexpr std::array kRows{humming<0>(), humming<1>(), humming<2>(), humming<3>(), humming<4>()};

}  // namespace

constinit const std::span<const ExecutionRow> kHummingExecutions{kRows};

}  // namespace mx::families
