// The fast routers against the model, bit for bit: ties, groups, NaN and Inf among the logits.

#include <bit>
#include <limits>
#include <random>
#include <vector>

#include "kernels/moe/routing.hpp"
#include "model/error.hpp"
#include "tests/catch.hpp"

using namespace mx;
using mx::kernels::IsaTier;
using mx::moe::RouterRecipe;
using mx::moe::RouterSizes;

namespace {

std::uint32_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }

std::vector<std::uint32_t> bits_of(std::span<const float> values) {
  std::vector<std::uint32_t> out;
  for (const float value : values) out.push_back(bits(value));
  return out;
}

float any_logit(std::mt19937& random, bool special) {
  constexpr float kSpecial[] = {std::numeric_limits<float>::quiet_NaN(),
                                std::numeric_limits<float>::infinity(),
                                -std::numeric_limits<float>::infinity(),
                                -0.0F,
                                0.0F,
                                100,
                                -100,
                                20};
  if (special && random() % 7 == 0) return kSpecial[random() % std::size(kSpecial)];
  const auto draw = static_cast<int>(random() % 4096) - 2048;
  return random() % 3 == 0 ? static_cast<float>(draw % 4) : static_cast<float>(draw) / 100;
}

}  // namespace

TEST_CASE("the fast routers are the model's on every tier") {
  std::mt19937 random(21);
  constexpr std::size_t kTokens = 19;
  for (const RouterRecipe& recipe : mx::moe::all_routers()) {
    for (int round = 0; round < 4; ++round) {
      const bool grouped = recipe.group_score != mx::moe::GroupScore::none;
      const RouterSizes sizes{.top_k = 1 + static_cast<std::int64_t>(random() % 4),
                              .groups = grouped ? 4 : 1,
                              .topk_groups = grouped ? 2 : 1,
                              .factor = decode(kF32, bits(2.5F))};
      const std::size_t experts = 16;
      std::vector<float> logits(kTokens * experts), bias(recipe.choice == mx::moe::Choice::score_plus_bias ? experts : 0);
      for (float& logit : logits) logit = any_logit(random, round % 2 == 1);
      for (float& number : bias) number = static_cast<float>(static_cast<int>(random() % 9) - 4) / 8;
      std::vector<std::int32_t> expected_experts;
      std::vector<std::uint32_t> expected_weights;
      for (std::size_t token = 0; token < kTokens; ++token) {
        const auto slots =
            mx::moe::route_logits<mx::moe::F32Arithmetic>(recipe, sizes, bits_of(std::span(logits).subspan(token * experts, experts)), bits_of(bias));
        for (const mx::moe::Slot& slot : slots) {
          expected_experts.push_back(static_cast<std::int32_t>(slot.expert));
          expected_weights.push_back(slot.weight);
        }
      }
      for (const IsaTier& tier : kernels::isa_tiers()) {
        if (!kernels::runs_here(tier)) continue;
        for (const int threads : {1, 3}) {
          std::vector<std::int32_t> chosen(expected_experts.size());
          std::vector<float> weights(chosen.size());
          kernels::moe::route(recipe, sizes, logits, experts, bias, {chosen, weights}, tier, threads);
          INFO(recipe.name << ", " << tier.name << ", round " << round);
          CHECK(chosen == expected_experts);
          CHECK(bits_of(weights) == expected_weights);
        }
      }
    }
  }
}

TEST_CASE("routers refuse before they write") {
  const RouterRecipe& recipe = mx::moe::router_named("gpt-oss");
  const IsaTier& tier = kernels::isa_tier();
  const std::vector<float> logits(8, 1.0F);
  std::vector<std::int32_t> experts(4, -7);
  std::vector<float> weights(4, -7);
  const auto refused = [&](const RouterSizes& sizes, std::span<const float> from, std::size_t count, std::span<float> to, int threads,
                           const std::string& words) {
    CHECK_THROWS_WITH(kernels::moe::route(recipe, sizes, from, count, {}, {experts, to}, tier, threads), Catch::Matchers::Contains(words));
    CHECK(experts == std::vector<std::int32_t>(4, -7));
    CHECK(weights == std::vector<float>(4, -7));
  };
  refused({.top_k = 5}, logits, 4, weights, 1, "top_k 5 is not in 1..4");
  refused({.top_k = 2}, logits, 3, weights, 1, "8 logits are not rows of 3");
  refused({.top_k = 2}, logits, 4, std::span(weights).first(3), 1, "weights has room for 3");
  refused({.top_k = 2}, logits, 4, weights, 0, "0 threads");
  refused({.top_k = 2}, std::span<const float>(weights), 2, weights, 1, "weights overlaps logits");
}
