// Activations against MPFR: every row against the operations that it declares, typed in again in activation_formulas.cpp.

#include "model/moe/activation.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "model/error.hpp"
#include "model/numerics/f32.hpp"
#include "tests/catch.hpp"
#include "tests/moe/activation_formulas.hpp"

namespace {

using namespace mx::moe;
using mx::Error;
using mx::tests::activation_formulas;
using mx::tests::FormulaSetting;
using mx::tests::IeeeRange;
using mx::tests::kBf16Range;
using mx::tests::kF32Range;
using mx::tests::kFp16Range;
using mx::tests::Single;

std::uint32_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }
float number(std::uint32_t pattern) { return std::bit_cast<float>(pattern); }

struct Type {
  const mx::Format& format;
  IeeeRange range;
};
const std::vector<Type>& types() {
  static const std::vector<Type> kTypes{{mx::kF32, kF32Range}, {mx::kBf16, kBf16Range}, {mx::kFp16, kFp16Range}};
  return kTypes;
}

/// NaN, infinities, zeros, subnormals, limits and their neighbours.
const std::vector<std::uint32_t>& special_patterns() {
  static const std::vector<std::uint32_t> kPatterns{
      0x7FC00000U, 0xFF800001U, 0x7F800000U, 0xFF800000U, 0,           0x80000000U, 1,           0x80000001U, 0x00800000U, 0x7F7FFFFFU, 0xFF7FFFFFU,
      0x40E00000U, 0xC0E00000U, 0x40DFFFFFU, 0x40E00001U, 0xC0E00001U, 0xBF800000U, 0x42B80000U, 0xC2B80000U, 0x43800000U, 0xC3800000U, 0x3F800000U};
  return kPatterns;
}

FormulaSetting setting_of(const ActivationConstants& constants, const IeeeRange& range) {
  return {Single::of(constants.alpha), Single::of(constants.beta), Single::of(constants.limit), Single::of(constants.linear_beta), range};
}

std::string text(const Activation& row, const mx::Format& type, std::uint32_t gate, std::uint32_t up) {
  return std::string(row.name) + " in " + std::string(type.name) + " of " + std::to_string(number(gate)) + ", " + std::to_string(number(up));
}

}  // namespace

TEST_CASE("every activation equals its declared operations in MPFR, bit for bit") {
  REQUIRE(activation_formulas().size() == all_activations().size());
  for (const Activation& row : all_activations()) {
    INFO(row.name);
    REQUIRE(activation_formulas().contains(row.name));
    const mx::tests::Formula formula = activation_formulas().at(row.name);
    for (const Type& type : types()) {
      const FormulaSetting setting = setting_of(row.constants, type.range);
      const auto check = [&](std::uint32_t gate, std::uint32_t up) {
        const std::uint32_t expected = formula(Single::of(gate), Single::of(up), setting).pattern();
        const std::uint32_t got = activate(row, type.format, gate, up, row.constants);
        if (got == expected) return;
        INFO(text(row, type.format, gate, up));
        REQUIRE(got == expected);
      };
      for (std::uint32_t gate : special_patterns()) {
        for (std::uint32_t up : special_patterns()) check(gate, up);
      }
      std::mt19937 random(3);
      for (int i = 0; i < 3000; ++i) {
        // -16 to 16; half of them numbers of the type.
        const Single gate(static_cast<float>(static_cast<std::int32_t>(random())) * 0x1p-27F);
        const Single up(static_cast<float>(static_cast<std::int32_t>(random())) * 0x1p-27F);
        if (i % 2 == 0) check(gate.pattern(), up.pattern());
        if (i % 2 == 1) check(setting.t(gate).pattern(), setting.t(up).pattern());
      }
    }
  }
}

TEST_CASE("activations under other constants than the source's") {
  std::mt19937 random(4);
  for (int i = 0; i < 3000; ++i) {
    const ActivationConstants constants{bits(1.0F), bits(0.0F), i % 3 == 0 ? 0x7F800000U : bits(2.5F), i % 2 == 0 ? 0 : bits(3.0F)};
    const auto gate = bits(static_cast<float>(static_cast<std::int32_t>(random())) * 0x1p-27F);
    const auto up = bits(static_cast<float>(static_cast<std::int32_t>(random())) * 0x1p-27F);
    for (std::string_view name : {"swiglu_oai", "swiglu_oai_flashinfer", "silu_and_mul_clamp_cuda"}) {
      const Activation& row = activation_named(name);
      INFO(text(row, mx::kBf16, gate, up));
      const FormulaSetting setting = setting_of(constants, kBf16Range);
      REQUIRE(activate(row, mx::kBf16, gate, up, constants) == activation_formulas().at(name)(Single::of(gate), Single::of(up), setting).pattern());
    }
    ActivationConstants situ = constants;
    situ.beta = bits(1.5F);
    const Activation& row = activation_named("situ_and_mul");
    const Single expected = activation_formulas().at(row.name)(Single::of(gate), Single::of(up), setting_of(situ, kF32Range));
    REQUIRE(activate(row, mx::kF32, gate, up, situ) == expected.pattern());
  }
}

TEST_CASE("a limit that bounds nothing is taken by torch's form alone") {
  const Activation& torch = activation_named("silu_and_mul_clamp_torch");
  const Activation& plain = activation_named("silu_and_mul");
  for (float limit : {0.0F, -1.0F}) {
    const ActivationConstants constants{0, 0, bits(limit), 0};
    CHECK(activate(torch, mx::kBf16, bits(9.0F), bits(-30.0F), constants) == activate(plain, mx::kBf16, bits(9.0F), bits(-30.0F), constants));
    CHECK_THROWS_AS(activate(activation_named("silu_and_mul_clamp_cuda"), mx::kBf16, 0, 0, constants), Error);
    CHECK_THROWS_AS(activate(activation_named("swiglu_step"), mx::kBf16, 0, 0, constants), Error);
    CHECK_THROWS_AS(activate(activation_named("swiglu_oai"), mx::kBf16, 0, 0, constants), Error);
  }
  CHECK_THROWS_AS(activate(activation_named("swiglu_oai"), mx::kF32, 0, 0, {0, 0, 0x7FC00000U, 0}), Error);
}

TEST_CASE("activations refuse types and constants that they have no rule for") {
  const Activation& situ = activation_named("situ_and_mul");
  CHECK_THROWS_AS(activate(situ, mx::kE4m3fn, 0, 0, situ.constants), Error);
  for (std::uint32_t beta : {0U, bits(-1.0F), 0x7F800000U, 0x7FC00000U}) {
    CHECK_THROWS_AS(activate(situ, mx::kF32, 0, 0, {0, beta, 0, 0}), Error);
  }
  CHECK_THROWS_WITH(activation_named("swiglu_oia"), Catch::Contains("swiglu_oai"));
}

TEST_CASE("constants that an implementation has compiled in are refused when they differ") {
  const auto attempt = [](std::string_view name, const ActivationConstants& constants) {
    return activate(activation_named(name), mx::kF32, bits(2.0F), bits(3.0F), constants);
  };
  const ActivationConstants oai{bits(1.702F), bits(1.0F), bits(7.0F), 0};
  for (std::string_view name : {"swiglu_oai_cuda", "swiglu_oai_triton", "swiglu_oai_aiter"}) {
    INFO(name);
    CHECK_NOTHROW(attempt(name, oai));
    ActivationConstants other = oai;
    other.beta = 0;
    CHECK_THROWS_WITH(attempt(name, other), Catch::Contains("beta is compiled in as 0x3f800000: it cannot be 0x00000000"));
  }
  ActivationConstants alpha = oai;
  alpha.alpha = bits(1.0F);
  ActivationConstants limit = oai;
  limit.limit = bits(10.0F);
  CHECK_THROWS_WITH(attempt("swiglu_oai_aiter", alpha), Catch::Contains("alpha is compiled in as 0x3fd9db23"));
  CHECK_THROWS_WITH(attempt("swiglu_oai_aiter", limit), Catch::Contains("the limit is compiled in as 0x40e00000"));
  CHECK_NOTHROW(attempt("swiglu_oai_cuda", alpha));
  CHECK_NOTHROW(attempt("swiglu_oai_cuda", limit));
}

TEST_CASE("flashinfer's first GEMM has up first, and its constants bound and add nothing unless they are given") {
  const Activation& row = activation_named("swiglu_oai_flashinfer");
  CHECK(row.pairing == Pairing::halves_up_first);
  CHECK(row.constants == ActivationConstants{bits(1.0F), bits(0.0F), bits(HUGE_VALF), 0});
  CHECK(activation_named("swiglu_oai_aiter").pairing == Pairing::halves);
}

TEST_CASE("rows are unique and say where they come from") {
  std::set<std::string_view> names;
  for (const Activation& row : all_activations()) {
    INFO(row.name);
    CHECK(names.insert(row.name).second);
    CHECK_FALSE(row.formula.empty());
    CHECK_FALSE(row.source.empty());
    CHECK((row.pairing == Pairing::single) == (row.join == Join::none));
  }
}

TEST_CASE("functions of routers equal their declared operations in MPFR") {
  std::mt19937 random(6);
  std::vector<std::uint32_t> patterns = special_patterns();
  // Around softplus' threshold, and everywhere.
  for (std::uint32_t x = 0x419FFF00U; x < 0x41A00100U; ++x) patterns.push_back(x);
  for (int i = 0; i < 20000; ++i) {
    const Single wide(static_cast<float>(static_cast<std::int32_t>(random())) * 0x1p-24F);
    patterns.push_back(i % 4 == 0 ? static_cast<std::uint32_t>(random()) : wide.pattern());
  }
  for (std::uint32_t pattern : patterns) {
    const Single x = Single::of(pattern);
    const Single soft = Single(20) < x ? x : log1p(exp(x));
    INFO(number(pattern));
    REQUIRE(sigmoid(pattern) == sg(x).pattern());
    REQUIRE(silu(pattern) == silu_of(x).pattern());
    REQUIRE(softplus(pattern) == soft.pattern());
    REQUIRE(sqrt_softplus(pattern) == sqrt(soft).pattern());
  }
}

TEST_CASE("softmax subtracts the largest, sums upwards and divides") {
  std::mt19937 random(8);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::uint32_t> row(1 + random() % 40U);
    for (std::uint32_t& x : row) x = bits(static_cast<float>(static_cast<std::int32_t>(random())) * 0x1p-26F);
    if (round % 5 == 0) row[0] = 0xFF800000U;
    Single largest = Single::of(0xFF800000U);
    for (std::uint32_t x : row) largest = largest < Single::of(x) ? Single::of(x) : largest;
    Single total(0);
    for (std::uint32_t x : row) total = total + exp(Single::of(x) + -largest);
    const std::vector<std::uint32_t> got = softmax(row);
    REQUIRE(got.size() == row.size());
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (row.size() == 1 && row[0] == 0xFF800000U) break;
      REQUIRE(got[i] == (exp(Single::of(row[i]) + -largest) / total).pattern());
    }
  }
  const std::uint32_t nan = 0x7FC00000U;
  CHECK(softmax(std::vector<std::uint32_t>{bits(1.0F), nan}) == std::vector<std::uint32_t>{nan, nan});
  CHECK(softmax(std::vector<std::uint32_t>{0xFF800000U, 0xFF800000U}) == std::vector<std::uint32_t>{nan, nan});
  CHECK(softmax(std::vector<std::uint32_t>{}).empty());
}

TEST_CASE("swiglu_oai clamps above only for the gate, on both sides for up") {
  const SwigluOai constants;
  CHECK(swiglu_oai(bits(7.0F), bits(3.0F), constants) == swiglu_oai(bits(100.0F), bits(3.0F), constants));
  CHECK(swiglu_oai(bits(-7.0F), bits(3.0F), constants) != swiglu_oai(bits(-9.0F), bits(3.0F), constants));
  CHECK(swiglu_oai(bits(2.0F), bits(7.0F), constants) == swiglu_oai(bits(2.0F), bits(8.0F), constants));
  CHECK(swiglu_oai(bits(2.0F), bits(-7.0F), constants) == swiglu_oai(bits(2.0F), bits(-8.0F), constants));
}

TEST_CASE("swiglu_oai of zeros is zero, so padding is neutral, and NaN stays NaN") {
  const SwigluOai constants;
  CHECK(swiglu_oai(0, 0, constants) == 0);
  CHECK(swiglu_oai(mx::f32::kNan, bits(1.0F), constants) == mx::f32::kNan);
  CHECK(swiglu_oai(bits(1.0F), mx::f32::kNan, constants) == mx::f32::kNan);
}

TEST_CASE("every constant of swiglu_oai matters") {
  const SwigluOai constants;
  const std::uint32_t gate = bits(1.5F);
  const std::uint32_t up = bits(0.75F);
  const std::uint32_t result = swiglu_oai(gate, up, constants);
  CHECK(swiglu_oai(gate, up, {bits(1.0F), constants.beta, constants.limit}) != result);
  CHECK(swiglu_oai(gate, up, {constants.alpha, bits(0.0F), constants.limit}) != result);
  CHECK(swiglu_oai(gate, up, {constants.alpha, constants.beta, bits(1.0F)}) != result);
}
