// Activations and quantizers of sm_90 once more, operation by operation in fp32; exp and division of the device are held by
// tests/numerics/device.cpp.

#include "model/families/device_rows.hpp"

#include <bit>
#include <cmath>
#include <functional>
#include <map>
#include <random>

#include "model/error.hpp"
#include "model/families/between.hpp"
#include "model/numerics/device.hpp"
#include "tests/catch.hpp"

using namespace mx;
using namespace mx::families;

namespace {

float of(std::uint32_t bits) { return std::bit_cast<float>(bits); }
std::uint32_t bits(float x) { return std::isnan(x) ? 0x7FC00000U : std::bit_cast<std::uint32_t>(x); }
float cuda_exp(float x) { return of(device::expf(bits(x))); }
float triton_exp(float x) { return of(device::triton_exp(bits(x))); }
float div_full(float a, float b) { return of(device::div_full(bits(a), bits(b))); }

float bf16(float x) {
  if (std::isnan(x)) return x;
  const std::uint32_t word = bits(x);
  return of((word + 0x7FFFU + ((word >> 16U) & 1U)) & 0xFFFF0000U);
}

struct Constants {
  float alpha, beta, limit;
};
float above(float x, float limit) { return std::fmin(x, limit); }
float within(float x, float limit) { return std::fmax(std::fmin(x, limit), -limit); }

float triton_swiglu(float g, float up, const Constants& c) {
  const float gate = above(g, c.limit);
  const float s = div_full(gate, 1.0F + triton_exp(-(c.alpha * gate)));
  return std::fma(s, up, s);
}

/// Of min(gate, limit) and clamp(up, limit), the lower bound where up is NaN; `rounds` these and the curve.
float triton_silu(float g, float up, const Constants& c, bool rounds) {
  const auto typed = [&](float x) { return rounds ? bf16(x) : x; };
  const float gate = typed(above(g, c.limit)), bounded = typed(std::isnan(up) ? -c.limit : within(up, c.limit));
  return typed(div_full(gate, 1.0F + triton_exp(-gate))) * bounded;
}

using Formula = std::function<float(float, float, const Constants&)>;
const std::map<std::string_view, Formula>& formulas() {
  static const std::map<std::string_view, Formula> kFormulas{
      {"swiglu_oai_cuda_sm90",
       [](float g, float u, const Constants& c) {
         const float gate = above(g, c.limit);
         return ((within(u, c.limit) + c.beta) * gate) / (1.0F + cuda_exp(-(c.alpha * gate)));
       }},
      {"swiglu_oai_triton_sm90", [](float g, float u, const Constants& c) { return triton_swiglu(g, within(u, c.limit), c); }},
      {"swiglu_oai_triton_sm90_3.6",
       [](float g, float u, const Constants& c) { return triton_swiglu(g, std::isnan(u) ? -c.limit : within(u, c.limit), c); }},
      {"swiglu_oai_humming",
       [](float g, float u, const Constants& c) {
         const float gate = above(g, c.limit);
         return gate / (1.0F + cuda_exp(-(c.alpha * gate))) * (within(u, c.limit) + c.beta);
       }},
      {"silu_and_mul_block_quant", [](float g, float u, const Constants&) { return g * (1.0F / (1.0F + cuda_exp(-g))) * u; }},
      {"silu_and_mul_humming", [](float g, float u, const Constants&) { return g / (1.0F + cuda_exp(-g)) * u; }},
      {"silu_and_mul_triton_sm90", [](float g, float u, const Constants&) { return bf16(div_full(g, 1.0F + triton_exp(-g))) * u; }},
      {"silu_and_mul_limit_triton_sm90", [](float g, float u, const Constants& c) { return triton_silu(g, u, c, true); }},
      {"silu_and_mul_triton_sm90_once", [](float g, float u, const Constants&) { return div_full(g, 1.0F + triton_exp(-g)) * u; }},
      {"silu_and_mul_limit_triton_sm90_once", [](float g, float u, const Constants& c) { return triton_silu(g, u, c, false); }},
  };
  return kFormulas;
}

std::vector<float> inputs(std::uint32_t seed) {
  std::vector<float> all{0.0F, -0.0F, INFINITY, -INFINITY, NAN, 7.0F, -7.0F, 8.0F, -8.0F, 88.0F, -88.0F, 3e38F, -3e38F, 1e-40F, 1.0F};
  std::mt19937 random(seed);
  for (int i = 0; i < 200; ++i) all.push_back(bf16(std::ldexp(static_cast<float>(static_cast<std::int32_t>(random())), -28)));
  return all;
}

}  // namespace

TEST_CASE("every activation of sm_90 is its formula", "[families][device]") {
  REQUIRE(formulas().size() == device_activations().size());
  for (const moe::Activation& row : device_activations()) {
    INFO(row.name);
    const Formula& formula = formulas().at(row.name);
    const Constants c{of(row.constants.alpha), of(row.constants.beta), of(row.constants.limit)};
    for (const Format* type : {&kF32, &kBf16}) {
      // In fp32 silu_and_mul's curve is not rounded on the way.
      if (row.rounding == moe::TypeRounding::clamps_and_curve && *type == kF32) continue;
      for (const float gate : inputs(1)) {
        for (const float up : inputs(2)) {
          const float exact = formula(gate, up, c);
          REQUIRE(moe::activate(row, *type, bits(gate), bits(up), row.constants) == bits(*type == kF32 ? exact : bf16(exact)));
        }
      }
    }
  }
  CHECK(&activation_row("silu_and_mul") == &moe::activation_named("silu_and_mul"));
  CHECK_THROWS_AS(activation_row("silu_and_multiply"), Error);
}

// The scale of a group whose largest magnitude is 3: by one division, or by a product that is one unit away from it.
TEST_CASE("quantizers of sm_90 on groups of which each shows another rule", "[families][device]") {
  std::vector<std::uint32_t> x(128, 0);
  const auto scale = [&](std::string_view name) { return quantize_block(x, kF32, device_recipe(name)).scale; };
  const auto code = [&](std::string_view name) { return quantize_block(x, kF32, device_recipe(name)).codes[1]; };
  for (const float amax : {3.0F, 1e-12F, 5e-9F}) {
    x[0] = bits(-amax);
    CHECK(scale("vllm-group-cuda") == bits(std::fmax(amax, 1e-10F) / 448.0F));
    CHECK(scale("vllm-group-cuda-times-reciprocal") == scale("vllm-group-cuda"));
    CHECK(scale("vllm-silu-packed") == bits(std::exp2(std::ceil(std::log2(std::fmax(amax / 448.0F, 1e-10F))))));
    CHECK(scale("vllm-group-triton") == bits(std::fmax(amax, 1e-10F) * (1.0F / 448.0F)));
    CHECK(scale("vllm-group-cuda-ue8m0") == bits(std::exp2(std::ceil(std::log2(std::fmax(std::fmax(amax, 1e-10F) / 448.0F, 1e-10F))))));
    CHECK(scale("vllm-group-triton-ue8m0") == bits(std::exp2(std::ceil(std::log2(std::fmax(amax, 1e-10F) * (1.0F / 448.0F))))));
    CHECK(scale("vllm-silu-block") == bits(std::fmax(amax / 448.0F, 1.0F / (448.0F * 512.0F))));
    CHECK(scale("humming-group") == bits(std::fmax(amax / 448.0F, 1e-30F)));
    CHECK(scale("humming-token") == scale("humming-group"));
  }
  x[0] = bits(448.0F);
  x[1] = 0x7FC00000U;
  CHECK(code("vllm-group-cuda") == 0xFE);
  CHECK(code("vllm-group-cuda-times-reciprocal") == 0xFE);
  CHECK(code("vllm-group-triton") == 0x7E);
  CHECK(code("vllm-silu-block") == 0x7E);
  CHECK(code("humming-group") == 0x7F);
}

TEST_CASE("a group of Humming's with a thread full of NaN has the least scale", "[families][device]") {
  const Between& kernel = between_named("humming_process_input");
  std::vector<std::uint32_t> act(256, bits(100.0F));
  for (std::size_t i = 130; i < 134; ++i) act[i] = 0x7FC00000U;
  CHECK(quantize_between(kernel, false, act).scales == std::vector<std::uint32_t>(2, bits(100.0F / 448.0F)));  // no thread has all four
  act[134] = act[135] = 0x7FC00000U;
  const QuantizedRow made = quantize_between(kernel, false, act);
  CHECK(made.scales == std::vector<std::uint32_t>{bits(100.0F / 448.0F), bits(1e-30F)});
  CHECK(made.codes[128] == 0x7E);
  CHECK(made.codes[130] == 0x7F);
  CHECK(quantize_between(between_named("silu_and_mul_per_block_quant"), false, act).scales[1] == bits(100.0F / 448.0F));
  CHECK_THROWS_AS(between_named("silu"), Error);
}

// 103.5 is three quarters of 138, so that its quotient by the scale is 336, halfway between 320 and 352; times the scale's rounded reciprocal it is a
// unit above.
TEST_CASE("since 0.33.0 a group's elements meet the rounded reciprocal of its scale", "[families][device]") {
  for (const std::string_view side : {"", "-g64", "-g32"}) {
    std::vector<std::uint32_t> x(side.empty() ? 128 : side == "-g64" ? 64 : 32, 0);
    x[0] = bits(138.0F);
    x[1] = bits(103.5F);
    const auto code = [&](std::string_view name) { return quantize_block(x, kF32, device_recipe(std::string(name) + std::string(side))).codes[1]; };
    CHECK(code("vllm-group-cuda") == 0x7A);
    CHECK(code("vllm-group-cuda-times-reciprocal") == 0x7B);
  }
  const auto profile = [](deployment::Engine engine, Arch arch) { return quantizer_on("fp8-group128", arch, engine).profile; };
  CHECK(profile(deployment::kVllm2026_08, Arch::sm90) == "vllm-group-cuda");
  CHECK(profile(deployment::kVllm2026_11, Arch::sm90) == "vllm-group-cuda-times-reciprocal");
  CHECK(profile(deployment::kVllm2026_11, Arch::sm100) == "vllm-group-cuda-times-reciprocal");
  CHECK(profile(deployment::kVllm2026_11, Arch::gfx942) == "vllm-group");
  const Quantizer& finer = in_groups_of(quantizer_on("fp8-group128", Arch::sm90, deployment::kVllm2026_11), 64, Arch::sm90, deployment::kVllm2026_11);
  CHECK(finer.profile == "vllm-group-cuda-times-reciprocal-g64");
}
