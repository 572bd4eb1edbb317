#include "tests/kernels/moe_cases.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>

#include "model/numerics/f32.hpp"
#include "model/numerics/profile.hpp"
#include "tests/kernels/moe_draws.hpp"

namespace mx::tests {

using kernels::IsaTier;
using kernels::moe::FusedLayer;
using kernels::moe::PanelLayer;
using mx::moe::ScaledChoices;
using mx::moe::WeightPlace;

namespace {

/// A number of so many steps between two.
float between(std::mt19937& random, float least, float most) {
  constexpr std::uint32_t kSteps = 4096;
  return least + (most - least) * static_cast<float>(random() % (kSteps + 1)) / kSteps;
}

/// Products that the model makes of a layer about, and of one token at least.
std::size_t products_of(Width width) { return width == Width::wide ? 2400000 : 600000; }

/// Sizes of layers that take the model a moment. Wide ones reach over several stretches of K or several squares.
struct LayerSizes {
  std::int64_t intermediate;
  std::int64_t hidden;
};
LayerSizes any_sizes(std::mt19937& random, Width width) {
  const auto blocks = [&](std::uint32_t least, std::uint32_t most) { return 32 * static_cast<std::int64_t>(least + random() % (most - least + 1)); };
  // Groups of 128 want both.
  if (random() % 4 == 0) return {128, width == Width::wide && random() % 2 == 0 ? 256 : 128};
  if (width == Width::wide) {
    switch (random() % 6) {
      case 0: return {blocks(1, 3), blocks(5, 20)};
      case 1: return {blocks(5, 20), blocks(1, 3)};
      case 2: return {blocks(5, 9), blocks(5, 9)};
      default: break;
    }
  }
  return {blocks(1, 3), blocks(1, 4)};
}

/// Some scales become anything, of fp32 often near the ends: a fifth of them, or so few that most outputs stay numbers.
void make_extreme(CanonicalLayer& layer, std::mt19937& random) {
  const std::uint32_t one_in = random() % 2 == 0 ? 5 : 100;
  for (const Role role : {Role::w13_weight_scale, Role::w13_global_scale, Role::w2_weight_scale, Role::w2_global_scale}) {
    std::vector<std::uint8_t>& bytes = layer[role];
    const std::size_t unit = bytes.empty() ? 1 : static_cast<std::size_t>(layout::unit_bits(role, layer.form.format)) / 8;
    for (std::size_t at = 0; at < bytes.size(); at += unit) {
      if (random() % one_in != 0) continue;
      const std::uint32_t word = unit == 1 ? static_cast<std::uint32_t>(random()) : any_f32_scale(random, Kind::everything);
      for (std::size_t i = 0; i < unit; ++i) bytes[at + i] = static_cast<std::uint8_t>(word >> (8 * i));
    }
  }
}

/// True for a recipe of which a contract can take what it gives: fp32 rows come in, blocks along a row come out that need no number of the tensor.
/// bf16-block has chains of 32, 64, 128 or all of K.
bool suits(const Recipe& recipe, Contract contract, std::int64_t k) {
  const BlockFormat& format = *recipe.format;
  if ((*format.element == kMxint8) != (contract == Contract::int8_block)) return false;
  if (!gives_codes(recipe) || !takes_source(recipe, kF32) || format.block_rows != 1 || format.element->width > 8) return false;
  const TensorNeeds needs = tensor_needs(recipe);
  const auto block = static_cast<std::int64_t>(format.block);
  return !needs.encode && !needs.decode && (block == 0 || ((block == 32 || block == 64 || block == 128) && k % block == 0));
}

/// Any way to quantize rows that the contract takes, every length of blocks as often as every other; null: bf16 as it is.
const Recipe* any_recipe(std::mt19937& random, Contract contract, std::int64_t k) {
  std::map<int, std::vector<const Recipe*>> of_blocks;
  for (const Profile& profile : all_profiles()) {
    for (const Recipe& recipe : profile.recipes) {
      if (suits(recipe, contract, k)) of_blocks[recipe.format->block].push_back(&recipe);
    }
  }
  if (contract != Contract::int8_block) of_blocks[-1] = {nullptr};
  const auto& [block, recipes] = *std::next(of_blocks.begin(), static_cast<std::ptrdiff_t>(random() % of_blocks.size()));
  return recipes[random() % recipes.size()];
}

}  // namespace

Case any_case(std::mt19937& random, bool extreme, WeightFormat format, bool gated, Width width) {
  const auto experts = 1 + static_cast<std::int64_t>(random() % 5);
  const auto [intermediate, hidden] = any_sizes(random, width);
  const SourceOrder order = gated && format == WeightFormat::mxfp4 && random() % 2 == 0 ? SourceOrder::gpt_oss : SourceOrder::standard;
  Case c{any_layer(format, experts, intermediate, hidden, order, gated, random), {}, {}, {}, {}, 1 + random() % 3};
  const Sizes& sizes = c.layer.sizes;
  if (extreme) make_extreme(c.layer, random);
  if (random() % 3 == 0) {
    c.layer[Role::w13_bias].clear();
    c.layer[Role::w2_bias].clear();
  }
  const std::size_t products = products_of(width) / (c.top_k * static_cast<std::size_t>(3 * intermediate * hidden));
  const std::size_t tokens = 1 + random() % std::clamp<std::size_t>(products, 1, 20);
  for (std::size_t i = 0; i < tokens * c.hidden(); ++i) {
    const auto draw = static_cast<std::uint32_t>(random());
    const bool any = extreme && draw % 61 == 0;
    c.x.push_back(static_cast<std::uint16_t>(any ? draw >> 16 : (draw & 0x807FU) | (120 + (draw >> 16 & 7U)) << 7));
  }
  const bool mapped = random() % 2 == 0;
  const auto known = static_cast<std::uint32_t>(sizes.experts) + (mapped ? 2 : 0);
  for (std::uint32_t e = 0; mapped && e < known; ++e)
    c.map.push_back(static_cast<std::int32_t>(e % (static_cast<std::uint32_t>(sizes.experts) + 1)) - 1);
  const bool crowded = random() % 4 == 0;
  for (std::size_t i = 0; i < tokens * c.top_k; ++i) {
    c.experts.push_back(crowded ? 0 : static_cast<std::int32_t>(random() % known));
    c.weights.push_back(static_cast<float>(static_cast<int>(random() % 41) - 20) / 16);
  }
  return c;
}

mx::moe::ActivationConstants any_constants(std::mt19937& random, const mx::moe::Activation& row) {
  mx::moe::ActivationConstants constants{bits(between(random, -0.5F, 3)), bits(between(random, -2, 2)), bits(between(random, 0.25F, 6)),
                                         bits(between(random, -2, 6))};
  if (row.curve == mx::moe::Curve::situ) constants.beta = bits(between(random, 0.25F, 6));
  // A limit of 0 or less is none.
  if (row.limit_is_optional && random() % 2 == 0) constants.limit = bits(random() % 2 == 0 ? 0.0F : between(random, -4, -0.25F));
  if (row.wired.alpha) constants.alpha = row.constants.alpha;
  if (row.wired.beta) constants.beta = row.constants.beta;
  if (row.wired.limit) constants.limit = row.constants.limit;
  return constants;
}

ScaledChoices any_choices(std::mt19937& random, Contract contract, const Case& c) {
  std::vector<const mx::moe::Activation*> rows;
  for (const mx::moe::Activation& row : mx::moe::all_activations()) {
    if ((row.join != mx::moe::Join::none) == c.layer.form.gated) rows.push_back(&row);
  }
  const mx::moe::Activation& row = *rows[random() % rows.size()];
  ScaledChoices choices{.contract = contract, .activation = &row, .constants = random() % 4 == 0 ? row.constants : any_constants(random, row)};
  choices.recipe = any_recipe(random, contract, std::gcd(c.layer.sizes.hidden, c.layer.sizes.intermediate));
  if (random() % 3 == 0) choices.weight_on = WeightPlace::input;
  choices.add_w2_bias = random() % 3 != 0;
  return choices;
}

std::vector<std::uint32_t> modelled(const Case& c, const ScaledChoices& choices) {
  std::vector<std::vector<mx::moe::Slot>> slots(c.tokens());
  for (std::size_t i = 0; i < c.experts.size(); ++i) slots[i / c.top_k].push_back({c.experts[i], bits(c.weights[i])});
  const std::vector<std::uint32_t> x(c.x.begin(), c.x.end());
  return mx::moe::run_scaled_layer(c.layer, choices, x, slots, std::vector<std::int64_t>(c.map.begin(), c.map.end()));
}

std::vector<std::uint32_t> bits_of(std::span<const float> values) {
  std::vector<std::uint32_t> out;
  for (const float value : values) out.push_back(bits(value));
  return out;
}

std::vector<std::uint32_t> run(const PanelLayer& panels, const Case& c, const ScaledChoices& choices, const IsaTier& tier, int threads) {
  std::vector<float> out(c.tokens() * c.hidden(), -1);
  FusedLayer(panels, choices, tier).run(c.routed(), out, threads);
  return bits_of(out);
}

std::string difference(const std::vector<std::uint32_t>& found, const std::vector<std::uint32_t>& expected) {
  if (found.size() != expected.size()) return std::to_string(found.size()) + " values, not " + std::to_string(expected.size());
  const auto [here, there] = std::mismatch(found.begin(), found.end(), expected.begin());
  if (here == found.end()) return {};
  return "value " + std::to_string(here - found.begin()) + " is " + f32::text(*here) + ", not " + f32::text(*there);
}

std::vector<std::uint32_t> run_split(const PanelLayer& panels, const Case& c, const ScaledChoices& choices, const IsaTier& tier, int threads,
                                     std::size_t tokens) {
  FusedLayer layer(panels, choices, tier);
  std::vector<float> out(c.tokens() * c.hidden(), -1);
  for (std::size_t first = 0; first < c.tokens(); first += tokens) {
    const std::size_t count = std::min(tokens, c.tokens() - first);
    const kernels::moe::RoutedTokens all = c.routed();
    layer.run({.x = all.x.subspan(first * c.hidden(), count * c.hidden()),
               .experts = all.experts.subspan(first * c.top_k, count * c.top_k),
               .weights = all.weights.subspan(first * c.top_k, count * c.top_k),
               .top_k = c.top_k,
               .expert_map = all.expert_map},
              std::span(out).subspan(first * c.hidden(), count * c.hidden()), threads);
  }
  return bits_of(out);
}

}  // namespace mx::tests
