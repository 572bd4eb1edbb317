// Activations against MPFR: the operations that each row declares, typed in again one by one, each rounded once to fp32 by a library that shares
// no code with the model, subnormals, infinities and NaNs included.

#include "model/moe/activation.hpp"

#include <mpfr.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "model/error.hpp"
#include "model/numerics/f32.hpp"
#include "tests/catch.hpp"
#include "tests/numerics/mpfr_number.hpp"

namespace {

using namespace mx::moe;
using mx::Error;
using mx::test::IeeeRange;
using mx::test::kBf16Range;
using mx::test::kF32Range;
using mx::test::MpfrNumber;
using mx::test::rounded_bits;

constexpr IeeeRange kFp16Range{11, -23, 16};

std::uint32_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }
float number(std::uint32_t pattern) { return std::bit_cast<float>(pattern); }
bool is_nan(std::uint32_t pattern) { return std::isnan(number(pattern)); }

/// fp32 numbers whose operators are MPFR's, exact or to 400 bits, rounded once to fp32.
class Single {
 public:
  explicit Single(float value) : bits_(bits(value)) {}
  static Single of(std::uint32_t pattern) { return Single(number(pattern)); }
  std::uint32_t pattern() const { return is_nan(bits_) ? 0x7FC00000U : bits_; }
  bool nan() const { return is_nan(bits_); }

  friend Single operator+(Single a, Single b) { return binary(mpfr_add, a, b); }
  friend Single operator*(Single a, Single b) { return binary(mpfr_mul, a, b); }
  friend Single operator/(Single a, Single b) { return binary(mpfr_div, a, b); }
  friend Single operator-(Single a) { return Single(-number(a.bits_)); }
  friend Single exp(Single a) { return unary(mpfr_exp, a); }
  friend Single log1p(Single a) { return unary(mpfr_log1p, a); }
  friend Single tanh(Single a) { return unary(mpfr_tanh, a); }
  friend Single erf(Single a) { return unary(mpfr_erf, a); }
  friend Single sqrt(Single a) { return unary(mpfr_sqrt, a); }
  friend Single fma(Single a, Single b, Single c) {
    MpfrNumber x(24), y(24), z(24), result(2000);
    mpfr_set_flt(x.get(), number(a.bits_), MPFR_RNDN);
    mpfr_set_flt(y.get(), number(b.bits_), MPFR_RNDN);
    mpfr_set_flt(z.get(), number(c.bits_), MPFR_RNDN);
    mpfr_fma(result.get(), x.get(), y.get(), z.get(), MPFR_RNDN);
    return rounded(result, kF32Range);
  }
  /// Rounded to a smaller type.
  Single in(const IeeeRange& range) const {
    MpfrNumber x(24);
    mpfr_set_flt(x.get(), number(bits_), MPFR_RNDN);
    return rounded(x, range);
  }
  friend bool operator<(Single a, Single b) { return number(a.bits_) < number(b.bits_); }

 private:
  template <typename Operation>
  static Single binary(Operation operation, Single a, Single b) {
    MpfrNumber x(24), y(24), result(700);
    mpfr_set_flt(x.get(), number(a.bits_), MPFR_RNDN);
    mpfr_set_flt(y.get(), number(b.bits_), MPFR_RNDN);
    operation(result.get(), x.get(), y.get(), MPFR_RNDN);
    return rounded(result, kF32Range);
  }
  template <typename Function>
  static Single unary(Function function, Single a) {
    MpfrNumber x(24), result(400);
    mpfr_set_flt(x.get(), number(a.bits_), MPFR_RNDN);
    function(result.get(), x.get(), MPFR_RNDN);
    return rounded(result, kF32Range);
  }
  static Single rounded(MpfrNumber& exact, const IeeeRange& range) {
    return of(mpfr_nan_p(exact.get()) != 0 ? 0x7FC00000U : rounded_bits(exact.get(), range));
  }

  std::uint32_t bits_;
};

/// Constants and type of one evaluation.
struct Setting {
  Single alpha, beta, limit, linear_beta;
  IeeeRange type;
  Single t(Single x) const { return x.in(type); }
};

// torch.clamp keeps a NaN; fminf and fmaxf return the bound.
Single at_most(Single x, Single bound) { return bound < x ? bound : x; }
Single within(Single x, Single bound) { return at_most(x, bound) < -bound ? -bound : at_most(x, bound); }
Single fmin_at_most(Single x, Single bound) { return x.nan() ? bound : at_most(x, bound); }
Single fmin_within(Single x, Single bound) { return x.nan() ? bound : within(x, bound); }

Single sg(Single x) { return Single(1) / (Single(1) + exp(-x)); }
Single silu_of(Single x) { return x / (Single(1) + exp(-x)); }
Single gelu_of(Single x) { return (x * Single(0.5F)) * (Single(1) + erf(x * Single(0.70710678118654752F))); }
Single gelu_tanh_of(Single x) {
  const Single inner = Single(0.79788456080286536F) * (x + Single(0.044715F) * ((x * x) * x));
  return (Single(0.5F) * x) * (Single(1) + tanh(inner));
}

using Formula = Single (*)(Single gate, Single up, const Setting& c);

/// The rows once more, by name.
const std::map<std::string_view, Formula>& formulas() {
  static const std::map<std::string_view, Formula> kFormulas{
      {"swiglu_oai",
       [](Single x, Single y, const Setting& c) {
         const Single g = at_most(x, c.limit);
         return c.t(g / (Single(1) + exp(-(c.alpha * g))) * (within(y, c.limit) + c.beta));
       }},
      {"swiglu_oai_torch",
       [](Single x, Single y, const Setting& c) {
         const Single g = c.t(at_most(x, c.limit));
         const Single u = c.t(within(y, c.limit));
         const Single glu = c.t(g * c.t(sg(c.t(g * c.alpha))));
         return c.t(c.t(u + c.beta) * glu);
       }},
      {"swiglu_oai_cuda",
       [](Single x, Single y, const Setting& c) {
         const Single g = fmin_at_most(x, c.limit);
         return c.t((fmin_within(y, c.limit) + c.beta) * g / (Single(1) + exp(-g * c.alpha)));
       }},
      {"swiglu_oai_triton",
       [](Single x, Single y, const Setting& c) {
         const Single g = fmin_at_most(x, c.limit);
         const Single s = g / (Single(1) + exp(-c.alpha * g));
         return c.t(fma(s, fmin_within(y, c.limit), s));
       }},
      {"swiglu_oai_flashinfer",
       [](Single x, Single y, const Setting& c) {
         const Single g = fmin_at_most(x, c.limit);
         return c.t(g * sg(g * c.alpha) * (fmin_within(y, c.limit) + c.beta));
       }},
      {"swiglu_oai_aiter",
       [](Single x, Single y, const Setting& c) {
         // fminf(fmaxf(y, -7), 7): a NaN meets the lower bound first.
         const Single u = y.nan() ? Single(-7) : within(y, Single(7));
         return c.t(fmin_at_most(x, Single(7)) * sg(Single(-1.702F) * -fmin_at_most(x, Single(7))) * (u + Single(1)));
       }},
      {"swiglu_oai_uninterleave",
       [](Single x, Single y, const Setting& c) {
         const Single g = c.t(fmin_at_most(x, c.limit));
         const Single u = c.t(fmin_within(y, c.limit));
         return c.t(c.t(g / (Single(1) + exp(-g * c.alpha))) * (u + c.beta));
       }},
      {"swiglu_step", [](Single x, Single y, const Setting& c) { return c.t(fmin_at_most(silu_of(x), c.limit) * fmin_within(y, c.limit)); }},
      {"silu_and_mul", [](Single x, Single y, const Setting& c) { return c.t(c.t(silu_of(x)) * y); }},
      {"silu_and_mul_clamp_torch",
       [](Single x, Single y, const Setting& c) { return c.t(c.t(silu_of(c.t(at_most(x, c.limit)))) * c.t(within(y, c.limit))); }},
      {"silu_and_mul_clamp_cuda",
       [](Single x, Single y, const Setting& c) { return c.t(c.t(silu_of(c.t(fmin_at_most(x, c.limit)))) * c.t(fmin_within(y, c.limit))); }},
      {"gelu_and_mul", [](Single x, Single y, const Setting& c) { return c.t(c.t(gelu_of(x)) * y); }},
      {"gelu_tanh_and_mul", [](Single x, Single y, const Setting& c) { return c.t(c.t(gelu_tanh_of(x)) * y); }},
      {"situ_and_mul",
       [](Single x, Single y, const Setting& c) {
         const Single gate = c.beta * tanh(x * (Single(1) / c.beta)) / (Single(1) + exp(-x));
         const Single up = Single(0) < c.linear_beta ? c.linear_beta * tanh(y * (Single(1) / c.linear_beta)) : y;
         return c.t(gate * up);
       }},
      {"silu_no_mul", [](Single x, Single, const Setting& c) { return c.t(silu_of(x)); }},
      {"gelu_no_mul", [](Single x, Single, const Setting& c) { return c.t(gelu_of(x)); }},
      {"gelu_tanh_no_mul", [](Single x, Single, const Setting& c) { return c.t(gelu_tanh_of(x)); }},
      {"relu2_no_mul", [](Single x, Single, const Setting& c) { return c.t(Single(0) < x || x.nan() ? x * x : Single(0)); }},
      {"relu2_no_mul_cuda", [](Single x, Single, const Setting& c) { return c.t(Single(0) < x ? x * x : Single(0)); }},
  };
  return kFormulas;
}

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

Setting setting_of(const ActivationConstants& constants, const IeeeRange& range) {
  return {Single::of(constants.alpha), Single::of(constants.beta), Single::of(constants.limit), Single::of(constants.linear_beta), range};
}

std::string text(const Activation& row, const mx::Format& type, std::uint32_t gate, std::uint32_t up) {
  return std::string(row.name) + " in " + std::string(type.name) + " of " + std::to_string(number(gate)) + ", " + std::to_string(number(up));
}

}  // namespace

TEST_CASE("every activation equals its declared operations in MPFR, bit for bit") {
  REQUIRE(formulas().size() == all_activations().size());
  for (const Activation& row : all_activations()) {
    INFO(row.name);
    REQUIRE(formulas().contains(row.name));
    const Formula formula = formulas().at(row.name);
    for (const Type& type : types()) {
      const Setting setting = setting_of(row.constants, type.range);
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
      const Setting setting = setting_of(constants, kBf16Range);
      REQUIRE(activate(row, mx::kBf16, gate, up, constants) == formulas().at(name)(Single::of(gate), Single::of(up), setting).pattern());
    }
    ActivationConstants situ = constants;
    situ.beta = bits(1.5F);
    const Activation& row = activation_named("situ_and_mul");
    const Single expected = formulas().at(row.name)(Single::of(gate), Single::of(up), setting_of(situ, kF32Range));
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
