// The layer from codes and scales: where scales are folded into weights it is the layer of values; where they are not, a layer whose numbers are so
// simple that every contract gives the exact result.

#include "model/moe/scaled_layer.hpp"

#include <bit>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "model/error.hpp"
#include "model/moe/layer.hpp"
#include "model/numerics/profile.hpp"
#include "tests/catch.hpp"
#include "tests/engine/vllm/expect_error.hpp"
#include "tests/moe/activation_formulas.hpp"
#include "tests/moe/any_layer.hpp"

using namespace mx;
using namespace mx::moe;
using namespace mx::tests;

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

ScaledChoices squared_relu() {
  const Activation& row = activation_named("relu2_no_mul");
  return {.contract = Contract::f32_sequential, .activation = &row, .constants = row.constants};
}

/// An NVFP4 layer whose experts' scales are 3/4, 3/8: with 2 bits of a code and 4 of a block's scale every weight is an fp32 number.
CanonicalLayer nvfp4_layer(bool gated) {
  std::mt19937 random(11);
  CanonicalLayer layer = any_layer(WeightFormat::nvfp4, 2, 32, 48, SourceOrder::standard, gated, random);
  for (const Role role : {Role::w13_global_scale, Role::w2_global_scale}) {
    std::vector<std::uint8_t>& bytes = layer[role];
    REQUIRE(bytes.size() == 2 * 4);
    for (std::size_t e = 0; e < 2; ++e)
      for (std::size_t b = 0; b < 4; ++b) bytes[e * 4 + b] = static_cast<std::uint8_t>(bits(e == 0 ? 0.75F : 0.375F) >> (8 * b));
  }
  return layer;
}

/// One weight by NVFP4's definition: code, times the e4m3 scale of its 16, times the expert's.
float nvfp4_at(const CanonicalLayer& layer, Role weight, Role scale, std::int64_t expert, std::int64_t row, std::int64_t k, std::int64_t length) {
  const std::uint8_t byte = layer[weight][static_cast<std::size_t>((row * length + k) / 2)];
  const double code = mx::tests::kE2m1Numbers[k % 2 == 0 ? byte & 0xFU : byte >> 4U];
  const std::uint8_t of_block = layer[scale][static_cast<std::size_t>(row * length / 16 + k / 16)];
  const double block = std::ldexp(8 + (of_block & 7), (of_block >> 3) - 10);  // all are normal
  return static_cast<float>(code * block * (expert == 0 ? 0.75 : 0.375));
}

/// One expert's output for one row: fp32 loops, the activation by MPFR.
std::vector<float> nvfp4_output(const CanonicalLayer& layer, const Activation& activation, std::int64_t expert, const std::vector<float>& x) {
  const std::int64_t intermediate = layer.sizes.intermediate;
  const std::int64_t hidden = layer.sizes.hidden;
  const std::int64_t halves = layer.form.gated ? 2 : 1;
  const auto product = [&](Role weight, Role scale, Role bias, std::int64_t row, const std::vector<float>& a) {
    float sum = 0;
    const auto length = static_cast<std::int64_t>(a.size());
    for (std::int64_t k = 0; k < length; ++k)
      sum = std::fma(a[static_cast<std::size_t>(k)], nvfp4_at(layer, weight, scale, expert, row, k, length), sum);
    return sum + static_cast<float>(bias_at(layer, bias, row));
  };
  const ActivationConstants& c = activation.constants;
  const FormulaSetting setting{Single::of(c.alpha), Single::of(c.beta), Single::of(c.limit), Single::of(c.linear_beta), kF32Range};
  std::vector<float> act;
  for (std::int64_t i = 0; i < intermediate; ++i) {
    const auto half = [&](std::int64_t which) {
      return Single(product(Role::w13_weight, Role::w13_weight_scale, Role::w13_bias, (expert * halves + which) * intermediate + i, x));
    };
    const Single up = halves == 2 ? half(1) : Single(0);
    act.push_back(std::bit_cast<float>(activation_formulas().at(activation.name)(half(0), up, setting).pattern()));
  }
  std::vector<float> out;
  for (std::int64_t n = 0; n < hidden; ++n) out.push_back(product(Role::w2_weight, Role::w2_weight_scale, Role::w2_bias, expert * hidden + n, act));
  return out;
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

TEST_CASE("NVFP4: the expert's scale multiplies the blocks', of gated experts and of those that are not") {
  for (const bool gated : {false, true}) {
    const CanonicalLayer layer = nvfp4_layer(gated);
    const ScaledChoices choices = gated ? oai(Contract::f32_sequential) : squared_relu();
    std::vector<std::uint32_t> x;
    std::vector<float> x_values;
    for (int k = 0; k < 48; ++k) {
      x_values.push_back(static_cast<float>(k * 5 % 11 - 5) * 0.125F);
      x.push_back(bf16(x_values.back()));
    }
    const std::vector<std::vector<Slot>> slots{{{1, bits(0.6F)}, {0, bits(0.4F)}}};
    std::vector<float> expected(48, 0.0F);
    for (const Slot& slot : slots[0]) {
      const std::vector<float> out = nvfp4_output(layer, *choices.activation, slot.expert, x_values);
      for (std::size_t n = 0; n < 48; ++n) expected[n] = std::fma(std::bit_cast<float>(slot.weight), out[n], expected[n]);
    }
    const std::vector<std::uint32_t> got = run_scaled_layer(layer, choices, x, slots, {});
    for (std::size_t n = 0; n < 48; ++n) {
      INFO((gated ? "gated, column " : "not gated, column ") << n);
      CHECK(got[n] == bits(expected[n]));
    }
  }
}

TEST_CASE("what a layer from codes and scales cannot run is refused with its numbers") {
  std::mt19937 random(12);
  const CanonicalLayer gated = random_layer(kSizes, SourceOrder::standard, 8);
  const CanonicalLayer not_gated = any_layer(WeightFormat::mxfp4, 3, 32, 64, SourceOrder::standard, false, random);
  const CanonicalLayer int4 = any_layer(WeightFormat::int4, 3, 128, 128, SourceOrder::standard, true, random);
  CanonicalLayer headless = gated;
  headless[Role::w2_weight_scale].clear();
  const ScaledChoices plain = oai(Contract::f32_sequential);
  const ScaledChoices of_one_row = squared_relu();
  ScaledChoices groups = plain;
  groups.recipe = &recipe(profile_named("deepgemm"), kFp8Group128);
  struct Refused {
    const CanonicalLayer& layer;
    const ScaledChoices& choices;
    std::vector<std::uint32_t> x;
    std::int64_t expert;
    ErrorCode code;
    std::string part;
  };
  const Refused cases[] = {
      {int4, plain, some_x(2), 0, ErrorCode::unsupported, "no contract takes codes and scales of int4"},
      {headless, plain, some_x(1), 0, ErrorCode::usage, "w2_weight_scale: missing from the layer"},
      {gated, of_one_row, some_x(1), 0, ErrorCode::usage, "experts are gated, relu2_no_mul is an activation of one row"},
      {not_gated, plain, some_x(1), 0, ErrorCode::usage, "experts are not gated, swiglu_oai is an activation of gate and up"},
      {gated, plain, some_x(2), 0, ErrorCode::usage, "x has 128 values for 1 tokens of 64"},
      {gated, plain, some_x(1), -1, ErrorCode::usage, "expert -1 is not in 0..2"},
      {gated, groups, some_x(1), 0, ErrorCode::usage, "a row of 64 is not whole blocks of 128, those of fp8_e4m3_g128"},
  };
  for (const Refused& c : cases) {
    const std::vector<std::vector<Slot>> slots{{{c.expert, bits(1.0F)}}};
    const std::string message = message_of(c.code, [&] { run_scaled_layer(c.layer, c.choices, c.x, slots, {}); });
    INFO(message);
    CHECK(says(message, c.part));
  }
  const std::vector<std::vector<Slot>> slots{{{1, bits(1.0F)}}};
  const std::vector<std::int64_t> below{0, -2};
  CHECK(says(message_of(ErrorCode::usage, [&] { run_scaled_layer(gated, plain, some_x(1), slots, below); }),
             "the map sends expert 1 to -2, the layer holds 3"));
}
