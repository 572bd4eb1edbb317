#include "model/families/launch.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <vector>

#include "model/error.hpp"
#include "model/families/between.hpp"
#include "model/names.hpp"
#include "model/numerics/rows.hpp"

namespace mx::families {
namespace {

constexpr std::int64_t kMostTokens = std::int64_t{1} << 20, kMostTile = 1024, kMostThreads = 1024, kMostBlocks = std::int64_t{1} << 16;
constexpr std::array<LaunchKeyRow, kLaunchKeys> kKeys{{
    {LaunchKey::tokens, "tokens", 1, kMostTokens, "tokens of the launch, where they are more than those that are run"},
    {LaunchKey::block_m, "block_m", 8, kMostTile, "rows of tokens of a tile, and slots of an expert that a block takes"},
    {LaunchKey::block_n, "block_n", 16, kMostTile, "rows of weights of a tile"},
    {LaunchKey::step_k, "step_k", 32, kMostTile, "k of one step of the kernel's loop"},
    {LaunchKey::e8m0, "e8m0", 0, 1, "1: scales of groups of 128 are rounded up to powers of two"},
    {LaunchKey::batch_invariant, "batch_invariant", 0, 1, "1: VLLM_BATCH_INVARIANT"},
    {LaunchKey::tile_k, "tile_k", 16, kMostTile, "k of a tile"},
    {LaunchKey::tile_n, "tile_n", 64, kMostTile, "rows of weights of a tile whose k warps share"},
    {LaunchKey::threads, "threads", 32, kMostThreads, "of a block"},
    {LaunchKey::blocks, "blocks", 1, kMostBlocks, "of the grid"},
    {LaunchKey::warp_k, "warp_k", 16, kMostTile, "k of a warp in a tile"},
    {LaunchKey::stages, "stages", 1, 16, "of the pipeline"},
    {LaunchKey::stream_k, "stream_k", 0, 1, "0: no tile's k is cut"},
}};

const LaunchKeyRow& row_of(LaunchKey key) { return kKeys.at(static_cast<std::size_t>(key)); }

std::int64_t number(std::string_view text, const LaunchKeyRow& row) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value >= row.least && value <= row.most) return value;
  throw Error(ErrorCode::usage,
              "is '" + printable(text) + "', must be a number from " + std::to_string(row.least) + " to " + std::to_string(row.most),
              "launch: " + std::string(row.name));
}

constexpr std::string_view kGroupPowers = "fp8-group128-ue8m0";

/// What the engine applies between two products, by its name of the activation. Source: vllm 0.22.1, 0.29.0 and 0.33.0 fused_moe/activation.py,
/// and marlin_moe.py, which hands the routing on.
struct AppliedRow {
  std::string_view activation;
  std::optional<bool> limited;  ///< of a model with a limit; none: either
  std::optional<bool> mapped;   ///< where experts lie on several ranks, and the row hands the routing on; none: either
  deployment::Versions engines;
  std::string_view kernel;
};
constexpr deployment::Versions kEver = deployment::since(deployment::kVllm2026_05), kSinceAugust = deployment::since(deployment::kVllm2026_08);
constexpr std::array kApplied{
    AppliedRow{"SILU", false, std::nullopt, kEver, "silu_and_mul"},
    AppliedRow{"SILU", true, false, kSinceAugust, "silu_and_mul_with_clamp"},
    AppliedRow{"SILU", true, true, kSinceAugust, "swiglu_limit_pad_aware"},
    AppliedRow{"GELU", std::nullopt, std::nullopt, kEver, "gelu_and_mul"},
    AppliedRow{"GELU_TANH", std::nullopt, std::nullopt, kEver, "gelu_tanh_and_mul"},
};

bool is_of_both(LaunchKey key) { return key == LaunchKey::tokens || key == LaunchKey::e8m0 || key == LaunchKey::batch_invariant; }

}  // namespace

std::span<const LaunchKeyRow> launch_keys() { return kKeys; }

void LaunchChoice::set(LaunchKey key, std::int64_t value) {
  for (auto& product : given) product.at(static_cast<std::size_t>(key)) = value;
}

bool LaunchChoice::has_tile() const {
  return std::ranges::any_of(
      kKeys, [&](const LaunchKeyRow& row) { return !is_of_both(row.key) && (find(row.key, kFirstProduct) || find(row.key, kSecondProduct)); });
}

LaunchChoice read_launch(std::string_view text) {
  constexpr std::string_view kSecond = "w2.";
  LaunchChoice choice;
  std::array<std::optional<std::int64_t>, kLaunchKeys> both, second;
  while (!text.empty()) {
    const std::string_view field = text.substr(0, text.find(','));
    text.remove_prefix(std::min(field.size() + 1, text.size()));
    const std::size_t sign = field.find('=');
    if (sign == std::string_view::npos) throw Error(ErrorCode::usage, "'" + printable(field) + "' is no KEY=NUMBER, as block_m=16", "launch");
    std::string_view name = field.substr(0, sign);
    const bool is_second = name.starts_with(kSecond);
    if (is_second) name.remove_prefix(kSecond.size());
    const LaunchKeyRow& row = rows::named(kKeys, "key of a launch", name);
    if (is_second && is_of_both(row.key)) throw Error(ErrorCode::usage, "is one for both products", "launch: " + std::string(row.name));
    std::optional<std::int64_t>& value = (is_second ? second : both).at(static_cast<std::size_t>(row.key));
    if (value) throw Error(ErrorCode::usage, "is given twice", "launch: " + std::string(is_second ? kSecond : "") + std::string(row.name));
    value = number(field.substr(sign + 1), row);
  }
  // What is of the second product alone holds there, whatever stands behind it.
  for (const LaunchKeyRow& row : kKeys) {
    const auto key = static_cast<std::size_t>(row.key);
    if (both.at(key)) choice.set(row.key, *both.at(key));
    if (second.at(key)) choice.given.at(kSecondProduct).at(key) = second.at(key);
  }
  return choice;
}

const TunedTile& TunedTiles::of(std::int64_t tokens) const {
  return *std::ranges::min_element(tiles, {}, [&](const TunedTile& tile) { return std::abs(tile.tokens - tokens); });
}

bool TunedTiles::is_one() const {
  const auto tile = [](const TunedTile& row) { return std::tuple(row.block_m, row.block_n, row.step_k); };
  return std::ranges::all_of(tiles, [&](const TunedTile& row) { return tile(row) == tile(tiles.front()); });
}

std::string launch_text(LaunchKey key, std::int64_t value, const LaunchChoice& choice, std::size_t product) {
  return std::string(row_of(key).name) + " " + std::to_string(value) + (choice.find(key, product) ? " (given)" : "");
}

bool runs_deep_gemm(const LaunchFacts& facts) {
  const Arch arch = facts.operation.arch;
  return arch == Arch::sm90 || arch == Arch::sm100 || (arch == Arch::sm120 && deployment::since(deployment::kVllm2026_08).has(facts.engine));
}

bool uses_e8m0(const LaunchFacts& facts) {
  return runs_deep_gemm(facts) && facts.choice.find(LaunchKey::e8m0).value_or(facts.operation.e8m0 ? 1 : 0) == 1;
}

const Between* applied_by(const ExecutionRow& row, const AppliedFacts& facts) {
  if (!row.callback || platform_of(facts.arch) != deployment::PlatformKind::cuda) return nullptr;
  const auto* const applied = std::ranges::find_if(kApplied, [&](const AppliedRow& one) {
    const bool is_mapped = facts.mapped && row.hands_routing_on;
    return one.activation == facts.activation && one.limited.value_or(facts.limited) == facts.limited &&
           one.mapped.value_or(is_mapped) == is_mapped && one.engines.has(facts.engine);
  });
  return applied == kApplied.end() ? nullptr : &between_named(applied->kernel);
}

const Between* activates(const Launched& made) { return made.between != nullptr ? made.between : made.applied; }

Launched launched(const ExecutionRow& row, const LaunchFacts& facts) {
  Launched made;
  const bool in_groups = row.first == kGroupQuantizer || row.second == kGroupQuantizer;
  if (in_groups && uses_e8m0(facts)) made.quantizer = kGroupPowers;
  made.applied = applied_by(row, {facts.operation.arch, facts.engine, facts.activation, facts.limited, facts.mapped});
  if (row.launch != nullptr) row.launch(facts, made);
  if (in_groups && runs_deep_gemm(facts)) {
    const std::string scales =
        uses_e8m0(facts) ? "scales of groups are powers of two (e8m0=0: they are not)" : "scales of groups in fp32 (e8m0=1: powers of two)";
    made.text = made.text.empty() ? scales : made.text + "; " + scales;
  }
  return made;
}

}  // namespace mx::families
