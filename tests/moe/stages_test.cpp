// What a layer does between its products, in 64-bit arithmetic: every option against a computation in fp64 from the checkpoint's bytes. Outputs are
// compared as fp32 bits: both computations are far more precise.

#include "model/moe/stages.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <vector>

#include "model/error.hpp"
#include "model/moe/layer.hpp"
#include "model/numerics/convert.hpp"
#include "model/numerics/wide.hpp"
#include "tests/catch.hpp"
#include "tests/moe/small_layer.hpp"

namespace {

using namespace mx::tests;
using mx::Value;
using mx::moe::GatedKind;
using mx::moe::LayerChoices;
using mx::moe::Quantization;
using mx::moe::StageRounding;
using mx::moe::WeightPlace;
using WideSlot = mx::moe::SlotOf<Value>;

constexpr std::int64_t kHidden = 64;
constexpr std::int64_t kIntermediate = 32;
constexpr std::int64_t kExperts = 4;

Value wide(double x) { return mx::wide::from_f64(std::bit_cast<std::uint64_t>(x)); }
double as_double(const Value& x) { return std::bit_cast<double>(mx::wide::to_f64(x)); }

/// Nearest even with 8 significant bits: scaled to an integer, which the processor rounds.
double to_bf16(double x) {
  if (x == 0) return x;
  const int exponent = std::ilogb(x) - 7;
  return std::ldexp(std::nearbyint(std::ldexp(x, -exponent)), exponent);
}

/// e4m3fn, saturating: 4 significant bits down to 2^-6, a fixed unit of 2^-9 below.
double to_e4m3(double x) {
  if (x == 0) return x;
  const int exponent = std::max(std::ilogb(x) - 3, -9);
  return std::clamp(std::ldexp(std::nearbyint(std::ldexp(x, -exponent)), exponent), -448.0, 448.0);
}

void to_mxfp8(std::vector<double>& row) {
  for (std::size_t begin = 0; begin < row.size(); begin += 32) {
    double amax = 0;
    for (std::size_t i = begin; i < begin + 32; ++i) amax = std::fmax(amax, std::fabs(row[i]));
    int scale = -127;
    while (std::ldexp(448.0, scale) < amax) ++scale;
    for (std::size_t i = begin; i < begin + 32; ++i) row[i] = std::ldexp(to_e4m3(std::ldexp(row[i], -scale)), scale);
  }
}

/// The layer of one token in fp64.
std::vector<double> reference(const CanonicalLayer& layer, const LayerChoices<Value>& choices, const std::vector<double>& x,
                              const std::vector<WideSlot>& slots) {
  const mx::moe::Stages& stages = choices.stages;
  const auto staged = [](double value, StageRounding rounding) { return rounding == StageRounding::bf16 ? to_bf16(value) : value; };
  std::vector<double> out(x.size(), 0.0);
  for (const WideSlot& slot : slots) {
    if (slot.expert / (kExperts / stages.expert_parallel.size) != stages.expert_parallel.rank) continue;
    double weight = as_double(slot.weight);
    if (stages.round_weight == StageRounding::f32) weight = static_cast<float>(weight);
    std::vector<double> input = x;
    for (double& value : input) value *= as_double(choices.input_scale) * (stages.weight_on == WeightPlace::input ? weight : 1.0);
    if (stages.quant_x == Quantization::mxfp8_rceil) to_mxfp8(input);
    std::vector<double> act;
    for (std::int64_t i = 0; i < kIntermediate; ++i) {
      const auto half = [&](std::int64_t which) {
        const std::int64_t row = w13_row(layer, slot.expert, which, i);
        double sum = bias_at(layer, Role::w13_bias, row);
        for (std::int64_t k = 0; k < kHidden; ++k)
          sum += input[static_cast<std::size_t>(k)] * weight_at(layer, Role::w13_weight, Role::w13_weight_scale, row, k, kHidden);
        return staged(sum, stages.round_h13);
      };
      double gate = half(0);
      double up = half(1);
      double inner = gate;
      if (choices.gated == GatedKind::swiglu_oai) {
        const double limit = as_double(choices.limit);
        gate = std::fmin(gate, limit);
        up = std::clamp(up, -limit, limit) + as_double(choices.beta);
        inner = as_double(choices.alpha) * gate;
      }
      act.push_back(staged(gate / (1 + std::exp(-inner)) * up, stages.round_act));
    }
    if (stages.quant_act == Quantization::mxfp8_rceil) to_mxfp8(act);
    for (std::int64_t n = 0; n < kHidden; ++n) {
      const std::int64_t row = slot.expert * kHidden + n;
      double sum = stages.add_w2_bias ? bias_at(layer, Role::w2_bias, row) : 0.0;
      for (std::int64_t i = 0; i < kIntermediate; ++i)
        sum += act[static_cast<std::size_t>(i)] * weight_at(layer, Role::w2_weight, Role::w2_weight_scale, row, i, kIntermediate);
      out[static_cast<std::size_t>(n)] += (stages.weight_on == WeightPlace::input ? 1.0 : weight) * staged(sum, stages.round_expert_out);
    }
  }
  return out;
}

std::vector<WideSlot> three_slots() {
  std::vector<WideSlot> slots(3);
  slots[0] = {3, wide(0.61)};
  slots[1] = {0, wide(0.27)};
  slots[2] = {2, wide(0.12)};
  return slots;
}

CanonicalLayer layer_in(SourceOrder order) {
  const Sizes sizes{kExperts, kIntermediate, kHidden};
  return random_layer(sizes, order, 7);
}

struct Case {
  CanonicalLayer layer = layer_in(SourceOrder::gpt_oss);
  LayerChoices<Value> choices{GatedKind::swiglu_oai, wide(1.702), wide(1.0), wide(7.0), wide(1.0), {}};
  std::vector<WideSlot> slots = three_slots();

  std::vector<double> x() const {
    std::vector<double> values;
    for (int k = 0; k < kHidden; ++k) values.push_back((k * 37 % 64 - 31) * 0.0625);
    return values;
  }
  std::vector<Value> run() const {
    std::vector<Value> x_values;
    for (double value : x()) x_values.push_back(wide(value));
    const std::vector<std::vector<WideSlot>> tokens{slots};
    const std::span<const std::vector<WideSlot>> all(tokens);
    return mx::moe::run_layer(mx::moe::WideArithmetic{}, *mx::moe::canonical_experts(layer), choices, x_values, kHidden, all, false).out;
  }
};

struct Option {
  const char* name;
  std::function<void(Case&)> set;
};
const Option kOptions[] = {
    {"plain", [](Case&) {}},
    {"silu_and_mul", [](Case& c) { c.choices.gated = GatedKind::silu_and_mul; }},
    {"halves", [](Case& c) { c.layer = layer_in(SourceOrder::standard); }},
    {"input scale", [](Case& c) { c.choices.input_scale = wide(0.125); }},
    {"other constants",
     [](Case& c) {
       c.choices.alpha = wide(1.0);
       c.choices.beta = wide(0.5);
       c.choices.limit = wide(2.0);
     }},
    {"quant_x", [](Case& c) { c.choices.stages.quant_x = Quantization::mxfp8_rceil; }},
    {"quant_act", [](Case& c) { c.choices.stages.quant_act = Quantization::mxfp8_rceil; }},
    {"round_h13", [](Case& c) { c.choices.stages.round_h13 = StageRounding::bf16; }},
    {"round_act", [](Case& c) { c.choices.stages.round_act = StageRounding::bf16; }},
    {"round_expert_out", [](Case& c) { c.choices.stages.round_expert_out = StageRounding::bf16; }},
    {"round_weight", [](Case& c) { c.choices.stages.round_weight = StageRounding::f32; }},
    {"weight_on input", [](Case& c) { c.choices.stages.weight_on = WeightPlace::input; }},
    {"weight_on input, quantized",
     [](Case& c) {
       c.choices.stages.weight_on = WeightPlace::input;
       c.choices.stages.quant_x = Quantization::mxfp8_rceil;
       c.choices.input_scale = wide(0.75);
     }},
    {"no second bias", [](Case& c) { c.choices.stages.add_w2_bias = false; }},
    {"rank 0 of 2",
     [](Case& c) {
       c.choices.stages.expert_parallel = {2, 0};
     }},
    {"rank 1 of 2",
     [](Case& c) {
       c.choices.stages.expert_parallel = {2, 1};
     }},
    {"rank 3 of 4",
     [](Case& c) {
       c.choices.stages.expert_parallel = {4, 3};
     }},
};

}  // namespace

TEST_CASE("every option of a layer gives what fp64 gives, and no two options the same") {
  std::vector<std::vector<std::uint32_t>> seen;
  for (const Option& option : kOptions) {
    INFO(option.name);
    Case one;
    option.set(one);
    const std::vector<double> expected = reference(one.layer, one.choices, one.x(), one.slots);
    const std::vector<Value> got = one.run();
    REQUIRE(got.size() == expected.size());
    std::vector<std::uint32_t> f32;
    std::vector<std::uint32_t> f32_expected;
    for (std::size_t n = 0; n < got.size(); ++n) {
      f32.push_back(mx::to_f32(got[n]));
      f32_expected.push_back(bits(static_cast<float>(expected[n])));
    }
    CHECK(f32 == f32_expected);
    if (std::string_view(option.name) == "round_weight") continue;  // moves the output by less than fp32 shows
    for (const auto& other : seen) CHECK(other != f32);
    seen.push_back(f32);
  }
}

TEST_CASE("a weight is rounded to fp32 when the stages say so") {
  Case plain;
  Case rounded;
  rounded.choices.stages.round_weight = StageRounding::f32;
  CHECK(plain.run() != rounded.run());
}

TEST_CASE("mxfp8_rceil: the scale's power of two, its ends, and blocks without numbers") {
  const auto quantized = [](std::vector<double> head) {
    std::vector<Value> row;
    for (double value : head) row.push_back(wide(value));
    row.resize(32);
    quantize_row(row, Quantization::mxfp8_rceil);
    return row;
  };
  const double above = std::nextafter(448.0, 500.0);
  CHECK(as_double(quantized({448.0, 1.0 + 0x1p-3})[1]) == 1.125);
  CHECK(as_double(quantized({448.0, 1.0 + 0x1p-4})[1]) == 1.0);
  CHECK(as_double(quantized({448.0, 17.0})[1]) == 16.0);
  // One step above 448 the scale doubles, and with it the smallest number that is left.
  CHECK(as_double(quantized({448.0, 0x1p-9})[1]) == 0x1p-9);
  CHECK(as_double(quantized({above, 0x1p-9})[1]) == 0.0);
  CHECK(as_double(quantized({above, 0x1p-8})[1]) == 0x1p-8);
  CHECK(as_double(quantized({above})[0]) == 448.0);
  CHECK(as_double(quantized({0x1p-140, 0x1p-136})[1]) == 0x1p-136);  // scale 2^-127: the unit is 2^-136
  CHECK(as_double(quantized({0x1p-140})[0]) == 0.0);
  CHECK(as_double(quantized({0x1p200})[0]) == std::ldexp(448.0, 127));
  CHECK(quantized({0.0})[0].cls == mx::ValueClass::zero);
  for (double special : {std::nan(""), HUGE_VAL}) CHECK(quantized({1.0, special})[0].cls == mx::ValueClass::nan);
  std::vector<Value> ragged(33);
  CHECK_THROWS_AS(quantize_row(ragged, Quantization::mxfp8_rceil), mx::Error);
}

TEST_CASE("stages are kept when asked for, also of experts that the rank does not hold") {
  Case one;
  one.choices.stages.expert_parallel = {4, 0};
  std::vector<Value> x;
  for (double value : one.x()) x.push_back(wide(value));
  const std::vector<std::vector<WideSlot>> tokens{one.slots};
  const std::span<const std::vector<WideSlot>> all(tokens);
  const auto experts = mx::moe::canonical_experts(one.layer);
  const auto got = mx::moe::run_layer(mx::moe::WideArithmetic{}, *experts, one.choices, x, kHidden, all, true);
  REQUIRE(got.expert_out.size() == 3);
  REQUIRE(got.h13[0].size() == 2 * kIntermediate);
  REQUIRE(got.act[2].size() == kIntermediate);
  // Only expert 0 is held: its output times its weight is all there is.
  for (std::size_t n = 0; n < kHidden; ++n) CHECK(got.out[n] == mx::wide::mul(got.expert_out[1][n], one.slots[1].weight));
}

TEST_CASE("ranks that do not divide the experts are refused") {
  for (const mx::moe::ExpertParallel parallel : {mx::moe::ExpertParallel{3, 0}, {0, 0}, {2, 2}, {2, -1}}) {
    Case one;
    one.choices.stages.expert_parallel = parallel;
    CHECK_THROWS_AS(one.run(), mx::Error);
  }
}
