// The fused layer against the model's, bit for bit, and against itself: tiers, threads and batches must not show.

#include <algorithm>
#include <bit>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "kernels/moe/layer.hpp"
#include "model/error.hpp"
#include "model/numerics/f32.hpp"
#include "model/numerics/profile.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/moe_cases.hpp"

using namespace mx;
using namespace mx::kernels;
using namespace mx::kernels::moe;
using namespace mx::deployment;
using namespace mx::tests;
using mx::moe::ScaledChoices;
using mx::moe::WeightPlace;

TEST_CASE("the fused layer is the model's on every tier and any number of threads") {
  std::mt19937 random(11);
  for (int round = 0; round < 14; ++round) {
    const Case c = any_case(random, round % 2 == 1);
    const PanelLayer panels = pack(c.layer);
    for (const Contract contract : kContracts) {
      const ScaledChoices choices = any_choices(random, contract, c);
      const std::vector<std::uint32_t> expected = modelled(c, choices);
      for (const IsaTier& tier : isa_tiers()) {
        if (!runs_here(tier)) continue;
        for (const int threads : {1, 2, 3, 8}) {
          INFO("round " << round << ", " << name_of(contract) << ", " << choices.activation->name << ", " << tier.name << ", " << threads
                        << " threads");
          CHECK(difference(run(panels, c, choices, tier, threads), expected) == "");
        }
      }
    }
  }
}

TEST_CASE("layers in every format, gated or not, with every activation and activations with scales") {
  std::mt19937 random(15);
  for (int round = 0; round < 48; ++round) {
    const WeightFormat format = kFormats[static_cast<std::size_t>(round) % std::size(kFormats)];
    const bool gated = round % 4 != 3;
    const Case c = any_case(random, round / 6 % 2 == 1, format, gated);
    const PanelLayer panels = pack(c.layer);
    for (const Contract contract : kContracts) {
      // bf16-block has the most kinds of activations.
      if (!takes(contract, format) || (contract != Contract::bf16_block && round / 6 % 3 != 0)) continue;
      const ScaledChoices choices = any_choices(random, contract, c);
      const std::vector<std::uint32_t> expected = modelled(c, choices);
      for (const IsaTier& tier : isa_tiers()) {
        if (!runs_here(tier)) continue;
        INFO("round " << round << ", " << name_of(contract) << ", " << layout::name_of(format) << (gated ? "" : " not gated") << ", "
                      << choices.activation->name << ", x as " << (choices.recipe == nullptr ? "bf16" : choices.recipe->format->name) << ", "
                      << tier.name);
        CHECK(difference(run(panels, c, choices, tier, 1), expected) == "");
      }
    }
  }
}

TEST_CASE("both contracts of bf16 take activations of every format that bf16 holds, with every kind of scale") {
  std::mt19937 random(20);
  struct Named {
    std::string_view profile;
    const BlockFormat& format;
  };
  const Named recipes[] = {{kOcp, kMxfp8E4m3}, {kOcp, kMxfp8E5m2},           {kOcp, kMxfp6E2m3},        {kOcp, kMxfp6E3m2},
                           {kOcp, kMxfp4},     {"vllm-fp8-token", kFp8E4m3}, {"deepgemm", kFp8Group128}};
  constexpr std::size_t kTokens = 9;
  constexpr std::int64_t kHidden = 256;
  Case c{any_layer(WeightFormat::mxfp4, 2, 128, kHidden, SourceOrder::standard, true, random), {}, {}, {}, {}, 1};
  for (std::size_t i = 0; i < kTokens * c.hidden(); ++i) {
    // Tokens of all sizes: scales come near both ends of fp32, their products beyond those of bf16.
    const auto bits = static_cast<std::uint32_t>(random());
    const std::uint32_t field = (static_cast<std::uint32_t>(i / c.hidden()) * 29 + (bits >> 16 & 7U)) & 0xFFU;
    c.x.push_back(static_cast<std::uint16_t>((bits & 0x807FU) | field << 7));
  }
  for (std::size_t i = 0; i < kTokens; ++i) {
    c.experts.push_back(static_cast<std::int32_t>(i % 2));
    c.weights.push_back(0.75F);
  }
  const PanelLayer panels = pack(c.layer);
  for (const Contract contract : {Contract::bf16_chain, Contract::bf16_block}) {
    for (const Named& named : recipes) {
      const ScaledChoices choices{.contract = contract,
                                  .activation = &mx::moe::activation_named("silu_and_mul"),
                                  .constants = {},
                                  .recipe = &recipe(profile_named(named.profile), named.format)};
      const std::vector<std::uint32_t> expected = modelled(c, choices);
      CHECK(std::ranges::count_if(expected, [](std::uint32_t value) { return !f32::is_nan(value); }) * 2 >
            static_cast<std::ptrdiff_t>(expected.size()));
      for (const IsaTier& tier : isa_tiers()) {
        if (!runs_here(tier)) continue;
        INFO(name_of(contract) << ", " << named.format.name << ", " << tier.name);
        CHECK(difference(run(panels, c, choices, tier, 2), expected) == "");
      }
    }
  }
}

TEST_CASE("activations on arrays are the model's, whatever the numbers") {
  std::mt19937 random(16);
  std::vector<float> gate{0.0F, -0.0F, 1e-40F, -1e-40F, 7, -7, 90, -90, 200, -200, 3e38F, -3e38F, 0.5F, 1, 1, 1};
  std::vector<float> up{7, -7, 8, -8, 1e-40F, 0.0F, -0.0F, 3, 1, 1e38F, 2, -2, std::numeric_limits<float>::infinity(), 0, -1, 1};
  gate[12] = std::numeric_limits<float>::infinity();
  gate[13] = -gate[12];
  gate[14] = std::numeric_limits<float>::quiet_NaN();
  up[15] = gate[14];
  while (gate.size() < 16 * 12) {
    gate.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(random())));
    up.push_back(static_cast<float>(static_cast<int>(random() % 4001) - 2000) / 128);
  }
  for (const mx::moe::Activation& row : mx::moe::all_activations()) {
    for (int round = 0; round < 6; ++round) {
      const mx::moe::ActivationConstants constants = round == 0 ? row.constants : any_constants(random, row);
      std::vector<std::uint32_t> expected;
      for (std::size_t i = 0; i < gate.size(); ++i) expected.push_back(mx::moe::activate(row, kF32, bits(gate[i]), bits(up[i]), constants));
      for (const IsaTier& tier : isa_tiers()) {
        if (!runs_here(tier)) continue;
        CurveScratch scratch;
        std::vector<float> by_curve(gate.size()), by_tile(gate.size());
        activate_all(row, constants, gate, up, by_curve, scratch, tier);
        TileActivation(row, constants, tier)(gate.data(), up.data(), gate.size() / 16, 16, by_tile.data(), 16, scratch);
        INFO(row.name << " with alpha " << f32::text(constants.alpha) << ", beta " << f32::text(constants.beta) << ", limit "
                      << f32::text(constants.limit) << ", linear beta " << f32::text(constants.linear_beta) << ", " << tier.name);
        CHECK(difference(bits_of(by_curve), expected) == "");
        CHECK(difference(bits_of(by_tile), expected) == "");
      }
    }
  }
}

TEST_CASE("a swish of any moderate number is the model's, on every tier") {
  // Where the exponential counts, and as many as it takes to find one that is wrong by 2^-40 of itself: one in 2^16 is then rounded to another
  // number.
  constexpr std::size_t kRows = 1 << 17;
  const mx::moe::Activation& row = mx::moe::activation_named("silu_and_mul");
  std::mt19937 random(40);
  std::vector<float> gate(kRows * kSwishColumns), up(gate.size(), 1.0F);
  std::vector<std::uint32_t> expected;
  for (float& g : gate) {
    g = -std::ldexp(static_cast<float>(random() % (1U << 24)), -18);
    expected.push_back(mx::moe::activate(row, kF32, bits(g), bits(1.0F), row.constants));
  }
  for (const IsaTier& tier : isa_tiers()) {
    if (!runs_here(tier)) continue;
    INFO(tier.name);
    CurveScratch scratch;
    std::vector<float> out(gate.size());
    TileActivation(row, row.constants, tier)(gate.data(), up.data(), kRows, kSwishColumns, out.data(), kSwishColumns, scratch);
    CHECK(difference(bits_of(out), expected) == "");
  }
}

TEST_CASE("every tier, number of threads and split of a batch gives one output") {
  std::mt19937 random(12);
  for (int round = 0; round < 9; ++round) {
    const Contract contract = kContracts[static_cast<std::size_t>(round) % std::size(kContracts)];
    const WeightFormat drawn = kFormats[static_cast<std::size_t>(round + round / 3) % std::size(kFormats)];
    const WeightFormat format = takes(contract, drawn) ? drawn : WeightFormat::nvfp4;
    const Case c = any_case(random, round % 2 == 1, format);
    const PanelLayer panels = pack(c.layer);
    const ScaledChoices choices = any_choices(random, contract, c);
    std::set<std::vector<std::uint32_t>> outputs;
    for (const IsaTier& tier : isa_tiers()) {
      if (!runs_here(tier)) continue;
      for (const int threads : {1, 2, 3, 8}) {
        for (const std::size_t tokens : {std::size_t{1}, std::size_t{3}, c.tokens()}) {
          outputs.insert(run_split(panels, c, choices, tier, threads, tokens));
        }
      }
    }
    INFO(name_of(contract) << ", " << layout::name_of(format) << ", " << choices.activation->name);
    CHECK(outputs.size() == 1);
  }
}

TEST_CASE("tokens that lie by expert give their experts' outputs in every kernel") {
  std::mt19937 random(13);
  constexpr std::size_t kRoom = 4;
  for (const WeightFormat format : kFormats) {
    const Case c = any_case(random, false, format);
    const PanelLayer panels = pack(c.layer);
    const auto experts = static_cast<std::size_t>(c.layer.sizes.experts);
    std::vector<std::uint16_t> x;
    for (std::size_t i = 0; i < experts * kRoom * c.hidden(); ++i) x.push_back(c.x[i % c.x.size()]);
    std::vector<std::int32_t> counts;
    for (std::size_t e = 0; e < experts; ++e) counts.push_back(static_cast<std::int32_t>((e + 3) % (kRoom + 1)));
    for (const Contract contract : kContracts) {
      if (!takes(contract, format)) continue;
      ScaledChoices choices{.contract = contract, .activation = &mx::moe::activation_named("silu_and_mul"), .constants = {}};
      if (contract == Contract::int8_block) choices.recipe = &recipe(profile_named(kOcp), kMxint8Block);
      // What is beyond the counts is left alone.
      std::vector<std::uint32_t> expected(x.size(), bits(-1.0F));
      for (std::size_t row = 0; row < experts * kRoom; ++row) {
        if (row % kRoom >= static_cast<std::size_t>(counts[row / kRoom])) continue;
        const std::vector<std::uint32_t> token(x.begin() + static_cast<std::ptrdiff_t>(row * c.hidden()),
                                               x.begin() + static_cast<std::ptrdiff_t>((row + 1) * c.hidden()));
        const std::vector<std::uint32_t> out =
            mx::moe::run_scaled_layer(c.layer, choices, token, {{{{static_cast<std::int64_t>(row / kRoom), bits(1.0F)}}}}, {});
        std::ranges::copy(out, expected.begin() + static_cast<std::ptrdiff_t>(row * c.hidden()));
      }
      for (const IsaTier& tier : isa_tiers()) {
        if (!runs_here(tier)) continue;
        std::vector<float> out(x.size(), -1);
        FusedLayer(panels, choices, tier).run_batched({.x = x, .counts = counts, .room = kRoom}, out, 2);
        INFO(name_of(contract) << ", " << layout::name_of(format) << ", " << tier.name);
        CHECK(difference(bits_of(out), expected) == "");
      }
    }
  }
}

TEST_CASE("bad input is refused before anything is written") {
  std::mt19937 random(14);
  Case c = any_case(random, false);
  c.map.clear();
  for (std::int32_t& expert : c.experts) expert = 0;
  const PanelLayer panels = pack(c.layer);
  const ScaledChoices choices{.contract = Contract::bf16_block, .activation = &mx::moe::activation_named("silu_and_mul"), .constants = {}};
  FusedLayer layer(panels, choices, isa_tier());
  std::vector<float> out(c.tokens() * c.hidden(), -1);
  const auto refused = [&](const RoutedTokens& tokens, std::span<float> to, int threads, const std::string& words) {
    const std::vector<float> before = out;
    CHECK_THROWS_WITH(layer.run(tokens, to, threads), Catch::Matchers::Contains(words));
    CHECK(out == before);
  };
  RoutedTokens tokens = c.routed();
  refused(tokens, std::span(out).first(out.size() - 1), 1, "out has");
  refused(tokens, out, 0, "0 threads");
  std::vector<float> weights = c.weights;
  weights.back() = std::numeric_limits<float>::infinity();
  tokens.weights = weights;
  refused(tokens, out, 1, "not finite");
  weights.back() = std::numeric_limits<float>::quiet_NaN();
  refused(tokens, out, 1, "not finite");
  tokens = c.routed();
  std::vector<std::int32_t> experts = c.experts;
  experts.back() = static_cast<std::int32_t>(c.layer.sizes.experts);
  tokens.experts = experts;
  refused(tokens, out, 1, "is not in 0..");
  experts.back() = -1;
  refused(tokens, out, 1, "is not in 0..");
  tokens = c.routed();
  const std::vector<std::int32_t> map{static_cast<std::int32_t>(c.layer.sizes.experts)};
  tokens.expert_map = map;
  refused(tokens, out, 1, "the map sends expert 0");
  tokens = c.routed();
  std::vector<float> shared(out.size() + c.weights.size());
  tokens.weights = std::span<const float>(shared).first(c.weights.size());
  CHECK_THROWS_WITH(layer.run(tokens, std::span(shared).first(out.size()), 1), Catch::Matchers::Contains("out overlaps weights"));
  CHECK_THROWS_AS(FusedLayer(panels, {.contract = Contract::int8_block, .activation = choices.activation, .constants = {}}, isa_tier()), Error);
  CHECK_THROWS_AS(FusedLayer(panels, {.contract = Contract::exact, .activation = choices.activation, .constants = {}}, isa_tier()), Error);
  const mx::moe::Activation& alone = mx::moe::activation_named("silu_no_mul");
  CHECK_THROWS_WITH(FusedLayer(panels, {.contract = Contract::bf16_chain, .activation = &alone, .constants = {}}, isa_tier()),
                    Catch::Matchers::Contains("experts are gated, silu_no_mul is an activation of one row"));
  const Recipe* const nvfp4 = &recipe(profile_named("vllm-nvfp4"), kNvfp4);
  CHECK_THROWS_AS(
      FusedLayer(panels, {.contract = Contract::bf16_block, .activation = choices.activation, .constants = {}, .recipe = nvfp4}, isa_tier()), Error);
  const Case fp8 = any_case(random, false, WeightFormat::fp8_channel);
  const PanelLayer fp8_panels = pack(fp8.layer);
  CHECK_THROWS_WITH(FusedLayer(fp8_panels, {.contract = Contract::int8_block, .activation = choices.activation, .constants = {}}, isa_tier()),
                    Catch::Matchers::Contains("no kernel computes the contract int8-block of weights in fp8_channel"));
}

TEST_CASE("misaligned and overlapping memory is refused before anything is written") {
  std::mt19937 random(18);
  Case c = any_case(random, false);
  const PanelLayer panels = pack(c.layer);
  FusedLayer layer(panels, {.contract = Contract::bf16_block, .activation = &mx::moe::activation_named("silu_and_mul"), .constants = {}}, isa_tier());
  const std::vector<std::int32_t> experts(c.experts.size(), 0);
  const std::vector<std::int32_t> map(static_cast<std::size_t>(c.layer.sizes.experts), 0);
  const RoutedTokens good{.x = c.x, .experts = experts, .weights = c.weights, .top_k = c.top_k, .expert_map = map};
  // Room for the output and whatever shares its memory, at any alignment.
  std::vector<float> memory(c.tokens() * c.hidden() + c.x.size() + experts.size() + map.size() + 1, -1);
  const std::vector<float> before = memory;
  const std::span<float> out = std::span(memory).first(c.tokens() * c.hidden());
  const auto refused = [&](const RoutedTokens& tokens, std::span<float> to, const std::string& words) {
    CHECK_THROWS_WITH(layer.run(tokens, to, 1), Catch::Matchers::Contains(words));
    CHECK(memory == before);
  };
  const auto inside = [&]<class T>(std::span<T> like, std::size_t first_byte) {
    return std::span<T>(reinterpret_cast<T*>(reinterpret_cast<char*>(memory.data()) + first_byte), like.size());
  };
  const std::size_t beyond = out.size_bytes();
  refused(good, inside(out, 1), "out is misaligned: it must begin at a multiple of 4 bytes");
  const auto with = [&](auto member, std::size_t first_byte) {
    RoutedTokens tokens = good;
    tokens.*member = inside(tokens.*member, first_byte);
    return tokens;
  };
  refused(with(&RoutedTokens::x, beyond + 1), out, "x is misaligned: it must begin at a multiple of 2 bytes");
  refused(with(&RoutedTokens::weights, beyond + 2), out, "weights is misaligned");
  refused(with(&RoutedTokens::experts, beyond + 2), out, "experts is misaligned");
  refused(with(&RoutedTokens::expert_map, beyond + 2), out, "expert_map is misaligned");
  refused(with(&RoutedTokens::x, beyond - 2), out, "out overlaps x");
  refused(with(&RoutedTokens::weights, beyond - 4), out, "out overlaps weights");
  refused(with(&RoutedTokens::experts, beyond - 4), out, "out overlaps experts");
  refused(with(&RoutedTokens::expert_map, beyond - 4), out, "out overlaps expert_map");
  CHECK_NOTHROW(layer.run(good, out, 1));
}

TEST_CASE("layers refuse matrices, tiers and batched tokens that do not fit before anything is written") {
  std::mt19937 random(19);
  const Case c = any_case(random, false);
  const PanelLayer panels = pack(c.layer);
  const ScaledChoices choices{.contract = Contract::bf16_block, .activation = &mx::moe::activation_named("silu_and_mul"), .constants = {}};
  CHECK_THROWS_WITH(FusedLayer({.w13 = panels.w13, .w2 = panels.w13}, choices, isa_tier()), Catch::Matchers::Contains("not one layer's"));
  // No processor has all extensions of both architectures.
  CHECK_THROWS_WITH(FusedLayer(panels, choices, IsaTier{"all", ~0U}), Catch::Matchers::Contains("cannot run the instruction sets 'all'"));
  FusedLayer layer(panels, choices, isa_tier());
  std::vector<float> out(c.tokens() * c.hidden(), -1);
  const std::vector<float> before = out;
  RoutedTokens tokens = c.routed();
  tokens.top_k = 0;
  CHECK_THROWS_WITH(layer.run(tokens, out, 1), Catch::Matchers::Contains("are not rows of top_k 0"));
  constexpr std::size_t kRoom = 2;
  const auto experts = static_cast<std::size_t>(c.layer.sizes.experts);
  const std::vector<std::uint16_t> x(experts * kRoom * c.hidden(), 0x3F80);
  std::vector<float> room(x.size(), -1);
  std::vector<std::int32_t> counts(experts, 1);
  const auto refused = [&](FusedLayer& by, std::span<const std::int32_t> of, std::span<float> to, int threads, const std::string& words) {
    CHECK_THROWS_WITH(by.run_batched({.x = x, .counts = of, .room = kRoom}, to, threads), Catch::Matchers::Contains(words));
    CHECK(room == std::vector<float>(x.size(), -1));
  };
  refused(layer, std::span(counts).first(experts - 1), room, 1, "counts has");
  refused(layer, counts, std::span(room).first(room.size() - 1), 1, "out has");
  refused(layer, counts, room, 0, "0 threads");
  counts.back() = 3;
  refused(layer, counts, room, 1, "has 3 tokens in room for 2");
  counts.back() = -1;
  refused(layer, counts, room, 1, "has -1 tokens in room for 2");
  ScaledChoices on_input = choices;
  on_input.weight_on = WeightPlace::input;
  FusedLayer weighs(panels, on_input, isa_tier());
  counts.back() = 1;
  refused(weighs, counts, room, 1, "batched tokens come without weights");
  CHECK(out == before);
}
