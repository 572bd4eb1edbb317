// N14: the elementary functions against the C library's in double, wherever that decides; their order and their symmetry.

#include <rapidcheck.h>

#include <array>
#include <bit>
#include <cmath>

#include "model/numerics/f32.hpp"
#include "props/numerics/grid.hpp"
#include "props/numerics/laws.hpp"

namespace mx::props::numerics {
namespace {

constexpr std::uint32_t kSign = 0x80000000U;
constexpr std::uint32_t kInfinity = 0x7F800000U;

/// What is known of a function without evaluating it. All six never decrease.
struct Function {
  std::string_view name;
  std::uint32_t (*model)(std::uint32_t);
  double (*reference)(double);
  bool odd;
};

constexpr std::array<Function, 6> kFunctions{{
    {"exp", f32::exp, [](double x) { return std::exp(x); }, false},
    {"exp2", f32::exp2, [](double x) { return std::exp2(x); }, false},
    {"log2", f32::log2, [](double x) { return std::log2(x); }, false},
    {"log1p", f32::log1p, [](double x) { return std::log1p(x); }, false},
    {"tanh", f32::tanh, [](double x) { return std::tanh(x); }, true},
    {"erf", f32::erf, [](double x) { return std::erf(x); }, true},
}};

const Function& function_of(const Law& law) {
  for (const Function& function : kFunctions) {
    if (function.name == subject_of(law)) return function;
  }
  throw std::logic_error("no function " + std::string(law.id));
}

bool is_nan(std::uint32_t x) { return (x & ~kSign) > kInfinity; }

/// Magnitudes from 2^-30 to 2^8 in three of four cases, zeros, subnormals, powers of two and any pattern in the others.
std::uint32_t pick_argument() {
  const std::uint32_t sign = pick_uniform(0, 1) << 31;
  const std::uint32_t mantissa = pick_uniform(0, 0x7FFFFF);
  switch (pick_uniform(0, 7)) {
    case 0: return sign | pick_uniform(0, kInfinity);
    case 1: return sign | (mantissa & pick_uniform(0, 3));
    default: break;
  }
  return sign | (pick_uniform(97, 135) << 23) | mantissa;
}

/// Both results as numbers: a is at most b.
bool at_most(std::uint32_t a, std::uint32_t b) { return std::bit_cast<float>(a) <= std::bit_cast<float>(b); }

/// The C library's result rounded to fp32, unless another number lies within 64 units of its last place.
bool agrees_with_double(const Function& function, std::uint32_t x) {
  const double reference = function.reference(static_cast<double>(std::bit_cast<float>(x)));
  const std::uint32_t got = function.model(x);
  if (std::isnan(reference)) return got == f32::kNan;
  const auto low = static_cast<float>(reference * (1 - 0x1p-46));
  const auto high = static_cast<float>(reference * (1 + 0x1p-46));
  return got == std::bit_cast<std::uint32_t>(low) || got == std::bit_cast<std::uint32_t>(high);
}

}  // namespace

Outcome functions_round_once(const Law& law) {
  const Function& function = function_of(law);
  return check_property(law, [&] {
    // Sixteen arguments a case: a wrong digit far down shows in few of them.
    for (int i = 0; i < 16; ++i) {
      const std::uint32_t x = pick_argument();
      RC_ASSERT(agrees_with_double(function, x));
      const std::uint32_t y = function.model(x);
      if (function.odd) RC_ASSERT(function.model(x ^ kSign) == (y ^ kSign));
      // The next larger number.
      if ((x & ~kSign) == 0 || (x & ~kSign) >= kInfinity) continue;
      const std::uint32_t next = function.model((x & kSign) != 0 ? x - 1 : x + 1);
      if (!is_nan(y) && !is_nan(next)) RC_ASSERT(at_most(y, next));
    }
  });
}

}  // namespace mx::props::numerics
