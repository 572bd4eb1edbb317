#include "tests/kernels/moe_cases.hpp"

#include <algorithm>

#include "model/numerics/f32.hpp"
#include "model/numerics/profile.hpp"

namespace mx::test {

using kernels::IsaTier;
using kernels::moe::FusedLayer;
using kernels::moe::PanelLayer;
using mx::moe::ScaledChoices;
using mx::moe::WeightPlace;

namespace {

/// A recipe that takes fp32 rows and gives blocks of the format.
const Recipe& recipe_for(std::string_view profile, const BlockFormat& format) { return recipe(profile_named(profile), format); }

}  // namespace

Case any_case(std::mt19937& random, bool extreme, WeightFormat format, bool gated) {
  const auto experts = 1 + static_cast<std::int64_t>(random() % 5);
  const std::int64_t intermediate = 32 * (1 + static_cast<std::int64_t>(random() % 3));
  const std::int64_t hidden = 32 * (1 + static_cast<std::int64_t>(random() % 4));
  const SourceOrder order = gated && format == WeightFormat::mxfp4 && random() % 2 == 0 ? SourceOrder::gpt_oss : SourceOrder::standard;
  Case c{any_layer(format, experts, intermediate, hidden, order, gated, random), {}, {}, {}, {}, 1 + random() % 3};
  const Sizes& sizes = c.layer.sizes;
  if (extreme) {
    for (const Role role : {Role::w13_weight_scale, Role::w2_weight_scale}) {
      for (std::uint8_t& byte : c.layer[role]) {
        if (random() % 5 == 0) byte = static_cast<std::uint8_t>(random());
      }
    }
  }
  if (random() % 3 == 0) {
    c.layer[Role::w13_bias].clear();
    c.layer[Role::w2_bias].clear();
  }
  const std::size_t tokens = 1 + random() % 20;
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

ScaledChoices any_choices(std::mt19937& random, Contract contract, bool gated, std::int64_t k) {
  std::vector<const mx::moe::Activation*> rows;
  for (const mx::moe::Activation& row : mx::moe::all_activations()) {
    if ((row.join != mx::moe::Join::none) == gated) rows.push_back(&row);
  }
  const mx::moe::Activation& row = *rows[random() % rows.size()];
  ScaledChoices choices{.contract = contract, .activation = &row, .constants = row.constants};
  if (contract == Contract::int8_block) choices.recipe = &recipe(profile_named(kOcp), kMxint8Block);
  if (contract != Contract::int8_block) {
    const Recipe* const recipes[] = {nullptr, &recipe_for(kOcp, kMxfp8E4m3), &recipe_for(kOcp, kMxfp8E5m2), &recipe_for("vllm-fp8-token", kFp8E4m3),
                                     k % 128 == 0 ? &recipe_for("deepgemm", kFp8Group128) : nullptr};
    choices.recipe = recipes[random() % std::size(recipes)];
  }
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

}  // namespace mx::test
