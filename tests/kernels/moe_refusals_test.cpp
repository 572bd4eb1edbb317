// What the fused layer, its products, its panels and its routers refuse: with an Error that names the value, and before they write or take memory.

#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "kernels/moe/routing.hpp"
#include "model/error.hpp"
#include "model/numerics/profile.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/moe_cases.hpp"

using namespace mx;
using namespace mx::kernels;
using namespace mx::kernels::moe;
using namespace mx::tests;
using namespace mx::deployment;
using mx::moe::ScaledChoices;

namespace {

constexpr std::uint32_t kNobodys = 1U << 31;  // an instruction set that no processor has
constexpr std::size_t kHuge = std::numeric_limits<std::size_t>::max();

/// One token for each of two experts of `length` x `length`.
Case two_tokens(std::mt19937& random, WeightFormat format, std::int64_t length) {
  Case c{any_layer(format, 2, length, length, SourceOrder::standard, true, random), {}, {0, 1}, {1, 0.75F}, {}, 1};
  for (std::size_t i = 0; i < 2 * c.hidden(); ++i) c.x.push_back(static_cast<std::uint16_t>((random() & 0x807FU) | (120 + random() % 8) << 7));
  return c;
}

ScaledChoices choices_of(Contract contract) {
  return {.contract = contract, .activation = &mx::moe::activation_named("silu_and_mul"), .constants = {}};
}

template <class Call>
void refused(Call call, const std::string& words) {
  CHECK_THROWS_AS(call(), Error);
  CHECK_THROWS_WITH(call(), Catch::Matchers::Contains(words));
}

}  // namespace

TEST_CASE("each recipe of activations gives the model's bits, or both refuse, but for blocks that no kernel has chains for") {
  std::mt19937 random(5);
  const Case c = two_tokens(random, WeightFormat::mxfp4, 128);
  const PanelLayer panels = pack(c.layer);
  int taken = 0;
  int refused_by_both = 0;
  // bf16-block has chains of 32, 64, 128 or all of K.
  const auto has_chains = [](const Recipe& recipe, Contract contract) {
    const auto block = recipe.format->block;
    return contract != Contract::bf16_block || block == 0 || block == 32 || block == 64 || block == 128;
  };
  for (const Profile& profile : all_profiles()) {
    for (const Recipe& recipe : profile.recipes) {
      for (const Contract contract : kContracts) {
        ScaledChoices choices = choices_of(contract);
        choices.recipe = &recipe;
        INFO(profile.name << ", " << recipe.format->name << ", " << name_of(contract));
        std::vector<std::uint32_t> expected;
        bool model_takes = true;
        try {
          expected = modelled(c, choices);
        } catch (const Error&) {
          model_takes = false;
        }
        try {
          const std::vector<std::uint32_t> found = run(panels, c, choices, isa_tier(), 1);
          CHECK(model_takes);
          CHECK(difference(found, expected) == "");
          ++taken;
        } catch (const Error& error) {
          INFO(error.what());
          CHECK((!model_takes || !has_chains(recipe, contract)));
          refused_by_both += model_takes ? 0 : 1;
        }
      }
    }
  }
  CHECK(taken > 0);
  CHECK(refused_by_both > 0);
}

TEST_CASE("instruction sets that this processor lacks are refused, not run") {
  std::mt19937 random(6);
  const Case c = two_tokens(random, WeightFormat::mxfp4, 32);
  const PanelLayer panels = pack(c.layer);
  const IsaTier nobodys{"nobody's", kNobodys};
  std::vector<float> out(64, -1);
  const std::vector<float> before = out;
  for (GemmKernel kernel : gemm_kernels()) {
    if (kernel.kind != PanelKind::mxfp4 || kernel.contract == Contract::int8_block) continue;
    kernel.needs |= kNobodys;
    refused([&] { gemm(kernel, panels.w13, 0, Bf16Rows{std::span(c.x).first(32)}, out, 1); }, "cannot run the instruction sets");
    CHECK(out == before);
  }
  const ScaledChoices choices = choices_of(Contract::bf16_block);
  refused([&] { FusedLayer(panels, choices, nobodys); }, "cannot run the instruction sets 'nobody's'");
  refused([&] { TileActivation(*choices.activation, choices.constants, nobodys); }, "cannot run the instruction sets 'nobody's'");
  refused([&] { RowStage(Contract::bf16_block, nullptr, nobodys); }, "cannot run the instruction sets 'nobody's'");
}

TEST_CASE("a layer does not need the tier that it was made with any more") {
  std::mt19937 random(7);
  const Case c = two_tokens(random, WeightFormat::mxfp4, 64);
  const PanelLayer panels = pack(c.layer);
  ScaledChoices choices = choices_of(Contract::bf16_chain);
  choices.recipe = &recipe(profile_named(kOcp), kMxfp8E4m3);
  auto tier = std::make_unique<IsaTier>(isa_tier());
  FusedLayer layer(panels, choices, *tier);
  tier->needs = kNobodys;
  tier.reset();
  std::vector<float> out(2 * c.hidden());
  layer.run(c.routed(), out, 1);
  CHECK(difference(bits_of(out), modelled(c, choices)) == "");
}

TEST_CASE("an output that is part of the weights is refused") {
  std::mt19937 random(8);
  Case c = two_tokens(random, WeightFormat::nvfp4, 64);
  PanelLayer panels = pack(c.layer);
  if (panels.w2.bias.empty()) panels.w2.bias.assign(2 * panels.w2.shape.panels() * kPanelColumns, 0.25F);
  if (panels.w13.bias.empty()) panels.w13.bias.assign(2 * panels.w13.shape.panels() * kPanelColumns, 0.25F);
  const GemmKernel& kernel = gemm_kernel_for(Contract::bf16_block, *panels.w2.format, isa_tier());
  const std::span<const std::uint16_t> row = std::span(c.x).first(64);
  const auto floats_in = [](Lines<std::uint8_t>& bytes) { return std::span(reinterpret_cast<float*>(bytes.data()), 64); };
  const Lines<std::uint8_t> codes = panels.w2.codes;
  const std::vector<float> bias = panels.w2.bias;
  refused([&] { gemm(kernel, panels.w2, 0, Bf16Rows{row}, floats_in(panels.w2.codes), 1); }, "out overlaps the weights' codes");
  refused([&] { gemm(kernel, panels.w2, 0, Bf16Rows{row}, floats_in(panels.w2.scales), 1); }, "out overlaps the weights' scales");
  refused([&] { gemm(kernel, panels.w2, 0, Bf16Rows{row}, std::span(panels.w2.bias).first(64), 1); }, "out overlaps the bias");
  FusedLayer layer(panels, choices_of(Contract::bf16_block), isa_tier());
  refused([&] { layer.run(c.routed(), std::span(panels.w2.bias).first(128), 1); }, "out overlaps the bias");
  refused([&] { layer.run(c.routed(), std::span(reinterpret_cast<float*>(panels.w13.codes.data()), 128), 1); }, "out overlaps the weights' codes");
  const std::vector<std::int32_t> counts{1, 1};
  refused([&] { layer.run_batched({.x = c.x, .counts = counts, .room = 1}, std::span(panels.w2.bias).first(128), 1); }, "out overlaps the bias");
  CHECK(std::ranges::equal(panels.w2.codes, codes));
  CHECK(panels.w2.bias == bias);
}

TEST_CASE("more threads than anybody has are refused everywhere, as none are") {
  std::mt19937 random(9);
  const Case c = two_tokens(random, WeightFormat::mxfp4, 32);
  const PanelLayer panels = pack(c.layer);
  FusedLayer layer(panels, choices_of(Contract::bf16_block), isa_tier());
  const GemmKernel& kernel = gemm_kernel_for(Contract::bf16_block, *panels.w13.format, isa_tier());
  std::vector<float> out(64, -1);
  const std::vector<std::int32_t> counts{1, 1};
  std::vector<std::int32_t> experts(1);
  std::vector<float> weights(1);
  for (const int threads : {0, -1, 1025, 100000, std::numeric_limits<int>::max()}) {
    const std::string words = std::to_string(threads) + " threads, allowed are 1 to 1024";
    refused([&] { gemm(kernel, panels.w13, 0, Bf16Rows{std::span(c.x).first(32)}, out, threads); }, words);
    refused([&] { layer.run(c.routed(), out, threads); }, words);
    refused([&] { layer.run_batched({.x = c.x, .counts = counts, .room = 1}, out, threads); }, words);
    refused(
        [&] {
          route(mx::moe::router_named("gpt-oss"), {.top_k = 1}, std::vector<float>(2, 1.0F), 2, {}, {experts, weights}, isa_tier(), threads);
        },
        words);
  }
  CHECK(out == std::vector<float>(64, -1));
}

TEST_CASE("batched tokens that do not fit are refused before anything is written") {
  std::mt19937 random(10);
  const Case c = two_tokens(random, WeightFormat::mxfp4, 64);
  const PanelLayer panels = pack(c.layer);
  FusedLayer layer(panels, choices_of(Contract::bf16_block), isa_tier());
  std::vector<float> out(128, -1);
  std::vector<std::int32_t> counts{1, 0};
  const auto batch = [&](std::span<const std::uint16_t> x, std::size_t room) { return BatchedTokens{.x = x, .counts = counts, .room = room}; };
  refused([&] { layer.run_batched(batch({}, std::size_t{1} << 57), {}, 1); }, "x has 0 values");
  refused([&] { layer.run_batched(batch(std::span(c.x).first(127), 1), out, 1); }, "x has 127 values, not 128");
  refused([&] { layer.run_batched(batch(c.x, 1), std::span(out).first(127), 1); }, "out has 127 values, not 128");
  const auto bytes_of_out = reinterpret_cast<char*>(out.data());
  const std::span<const std::uint16_t> inside(reinterpret_cast<const std::uint16_t*>(bytes_of_out), 128);
  refused([&] { layer.run_batched(batch(inside, 1), out, 1); }, "out overlaps x");
  const std::span<const std::uint16_t> odd(reinterpret_cast<const std::uint16_t*>(bytes_of_out + 1), 128);
  refused([&] { layer.run_batched(batch(odd, 1), std::span<float>(out), 1); }, "x is misaligned");
  counts[0] = 2;
  refused([&] { layer.run_batched(batch(c.x, 1), out, 1); }, "expert 0 has 2 tokens in room for 1");
  CHECK(out == std::vector<float>(128, -1));
}

TEST_CASE("rows' scales for more than all of K are those for all of K") {
  std::mt19937 random(11);
  const Case c = two_tokens(random, WeightFormat::mxfp4, 64);
  const PanelLayer panels = pack(c.layer);
  const GemmKernel& kernel = gemm_kernel_for(Contract::bf16_block, *panels.w2.format, isa_tier());
  const std::vector<float> scales{0.5F, 3.0F};
  std::vector<float> out(128, -1), expected(128);
  gemm(kernel, panels.w2, 1, ScaledRows{c.x, scales, 64}, expected, 1);
  gemm(kernel, panels.w2, 1, ScaledRows{c.x, scales, kHuge}, out, 1);
  CHECK(bits_of(out) == bits_of(expected));
  refused([&] { gemm(kernel, panels.w2, 1, ScaledRows{c.x, {}, kHuge}, out, 1); }, "x has 0 scales, not 2 rows of 1");
  refused([&] { gemm(kernel, panels.w2, 1, ScaledRows{c.x, scales, 0}, out, 1); }, "a scale for 0 of K");
}

TEST_CASE("panels of impossible sizes are refused before memory is taken") {
  const std::vector<std::uint8_t> scale(4, 0x3F);
  refused(
      [&] {
        pack({1, 1, std::size_t{1} << 56, 32}, panel_format_of(WeightFormat::fp8_tensor), SourceOrder::standard, {{}, scale, {}, {}});
      },
      "bytes of codes has 0, its shape needs 2305843009213693952");
  refused(
      [&] {
        pack({kHuge, 2, kHuge, 64}, panel_format_of(WeightFormat::mxfp4), SourceOrder::standard, {{}, scale, {}, {}});
      },
      "bytes of codes has 0");
  std::mt19937 random(12);
  CanonicalLayer layer = any_layer(WeightFormat::fp8_tensor, 1, 64, 64, SourceOrder::standard, true, random);
  layer.sizes.intermediate = std::int64_t{1} << 29;
  refused([&] { pack(layer); }, "bytes of codes has 8192, its shape needs 68719476736");
  const std::vector<std::uint8_t> codes(4 * 32 * 32 / 2), scales(4 * 32);
  const std::vector<float> numbers(1, 1.0F);
  refused(
      [&] {
        pack({4, 1, 32, 32}, panel_format_of(WeightFormat::mxfp4), SourceOrder::standard, {codes, scales, numbers, {}});
      },
      "experts' scales has 1, its shape needs 0");
}

TEST_CASE("experts that cannot be are refused, whether or not a slot names them") {
  const std::vector<std::int32_t> slots{0, 1, 0};
  refused([&] { sort_pairs(slots, std::vector<std::int32_t>{0, 1, 99}, 2); }, "the map sends expert 2 to 99, the layer holds 2");
  refused([&] { sort_pairs(slots, std::vector<std::int32_t>{0, 1, 1, -7}, 2); }, "the map sends expert 3 to -7, the layer holds 2");
  refused([&] { sort_pairs(slots, {}, 0); }, "a layer of 0 experts");
  refused([&] { sort_pairs(slots, {}, kHuge); }, "a layer of 18446744073709551615 experts");
  std::vector<std::int32_t> experts(1);
  std::vector<float> weights(1);
  refused(
      [&] {
        route(mx::moe::router_named("gpt-oss"), {.top_k = 1}, {}, std::size_t{1} << 62, {}, {experts, weights}, isa_tier(), 1);
      },
      "4611686018427387904 experts, at most 65536");
}

TEST_CASE("a weight that is no finite number is named, with its place") {
  std::mt19937 random(13);
  Case c = two_tokens(random, WeightFormat::mxfp4, 32);
  const PanelLayer panels = pack(c.layer);
  FusedLayer layer(panels, choices_of(Contract::bf16_block), isa_tier());
  c.weights[1] = -std::numeric_limits<float>::infinity();
  std::vector<float> out(64, -1);
  refused([&] { layer.run(c.routed(), out, 1); }, "the weight of token 1, slot 0 is -inf, not finite");
  CHECK(out == std::vector<float>(64, -1));
}

TEST_CASE("rows that are not whole blocks of their activations' format are refused") {
  std::mt19937 random(14);
  const Case c = two_tokens(random, WeightFormat::mxfp4, 64);
  const PanelLayer panels = pack(c.layer);
  ScaledChoices choices = choices_of(Contract::bf16_block);
  choices.recipe = &recipe(profile_named("deepgemm"), kFp8Group128);
  refused([&] { FusedLayer(panels, choices, isa_tier()); }, "a row of 64 is not whole blocks of 128");
}
