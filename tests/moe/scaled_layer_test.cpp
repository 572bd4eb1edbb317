// The layer from codes and scales: where scales are folded into weights it is the layer of values; where they are not, a layer whose numbers are so
// simple that every contract gives the exact result.

#include "model/moe/scaled_layer.hpp"

#include <bit>
#include <vector>

#include "model/error.hpp"
#include "model/moe/layer.hpp"
#include "model/numerics/profile.hpp"
#include "tests/catch.hpp"
#include "tests/moe/small_layer.hpp"

using namespace mx;
using namespace mx::moe;
using namespace mx::test;

namespace {

constexpr Sizes kSizes{.experts = 3, .intermediate = 32, .hidden = 64, .group = 32};

std::vector<std::uint32_t> some_x(std::size_t tokens) {
  std::vector<std::uint32_t> x;
  for (std::size_t i = 0; i < tokens * 64; ++i) x.push_back(bf16(static_cast<float>(static_cast<int>(i * 7 % 17) - 8) * 0.125F));
  return x;
}

std::vector<std::vector<Slot>> some_slots() {
  return {{{2, bits(0.75F)}, {0, bits(0.25F)}}, {{1, bits(0.625F)}, {2, bits(0.375F)}}, {{0, bits(1.0F)}, {1, bits(-0.5F)}}};
}

ScaledChoices oai(Contract contract) {
  const Activation& row = activation_named("swiglu_oai");
  return {.contract = contract, .activation = &row, .constants = row.constants};
}

}  // namespace

TEST_CASE("with scales in the weights, codes and scales give what values give") {
  for (const SourceOrder order : {SourceOrder::gpt_oss, SourceOrder::standard}) {
    const CanonicalLayer layer = random_layer(kSizes, order, 3);
    for (const Contract contract : {Contract::f32_sequential, Contract::bf16_chain}) {
      const std::vector<std::uint32_t> values =
          run_experts(*canonical_experts(layer), {.contract = contract, .activation = {}}, some_x(3), kSizes.hidden, some_slots());
      CHECK(run_scaled_layer(layer, oai(contract), some_x(3), some_slots(), {}) == values);
    }
  }
}

TEST_CASE("where every sum is exact, scales of blocks give the same as scales in weights") {
  CanonicalLayer layer = random_layer(kSizes, SourceOrder::standard, 4);
  // Integers and one scale: products of x, multiples of 1/8, are exact in every order. The activation's are too when w2 is a single 1 per row.
  for (std::uint8_t& byte : layer[Role::w2_weight]) byte = 0;
  const std::size_t row_bytes = static_cast<std::size_t>(kSizes.intermediate) / 2;
  for (std::size_t first = 0; first < layer[Role::w2_weight].size(); first += row_bytes)
    layer[Role::w2_weight][first + first / row_bytes % row_bytes] = 2;
  const auto chain = run_scaled_layer(layer, oai(Contract::bf16_chain), some_x(3), some_slots(), {});
  CHECK(run_scaled_layer(layer, oai(Contract::bf16_block), some_x(3), some_slots(), {}) == chain);
}

TEST_CASE("experts of other ranks add nothing, and a map renames") {
  const CanonicalLayer layer = random_layer(kSizes, SourceOrder::standard, 5);
  const std::vector<std::vector<Slot>> own{{{2, bits(0.75F)}}, {{2, bits(0.375F)}}, {}};
  const std::vector<std::int64_t> map{-1, -1, 2, 0};
  const auto choices = oai(Contract::bf16_block);
  CHECK(run_scaled_layer(layer, choices, some_x(3), some_slots(), map) == run_scaled_layer(layer, choices, some_x(3), own, {}));
  CHECK_THROWS_AS(run_scaled_layer(layer, choices, some_x(3), some_slots(), std::vector<std::int64_t>{0, 1, 3}), Error);
  CHECK_THROWS_AS(run_scaled_layer(layer, choices, some_x(3), {{{{3, 0}}, {}, {}}}, {}), Error);
}

TEST_CASE("a weight on the input is multiplied into x, and into nothing else") {
  const CanonicalLayer layer = random_layer(kSizes, SourceOrder::standard, 6);
  ScaledChoices choices = oai(Contract::bf16_chain);
  choices.weight_on = WeightPlace::input;
  std::vector<std::uint32_t> half = some_x(1);
  for (std::uint32_t& code : half) code = bf16(std::bit_cast<float>(code << 16) * 0.5F);
  const std::vector<std::vector<Slot>> slots{{{1, bits(0.5F)}}};
  CHECK(run_scaled_layer(layer, choices, some_x(1), slots, {}) ==
        run_scaled_layer(layer, oai(Contract::bf16_chain), half, {{{{1, bits(1.0F)}}}}, {}));
}

TEST_CASE("int8-block needs quantized activations") {
  const CanonicalLayer layer = random_layer(kSizes, SourceOrder::standard, 7);
  ScaledChoices choices = oai(Contract::int8_block);
  CHECK_THROWS_AS(run_scaled_layer(layer, choices, some_x(3), some_slots(), {}), Error);
  choices.recipe = &recipe(profile_named(kOcp), kMxint8Block);
  CHECK(run_scaled_layer(layer, choices, some_x(3), some_slots(), {}).size() == 3 * 64);
}
