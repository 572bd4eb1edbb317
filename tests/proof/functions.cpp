#include "tests/proof/functions.hpp"

#include <mpfr.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <string>

#include "model/error.hpp"
#include "model/numerics/f32.hpp"
#include "tests/numerics/mpfr_number.hpp"
#include "tests/numerics/search_encoder.hpp"
#include "tests/proof/check.hpp"

namespace mx::tests {
namespace {

/// The model's function, the C library's in double, MPFR's.
struct Function {
  std::string_view name;
  std::uint32_t (*model)(std::uint32_t);
  double (*approximate)(double);
  int (*exact)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
};

constexpr std::array<Function, 6> kFunctions{{
    {"exp", f32::exp, [](double x) { return std::exp(x); }, mpfr_exp},
    {"exp2", f32::exp2, [](double x) { return std::exp2(x); }, mpfr_exp2},
    {"log2", f32::log2, [](double x) { return std::log2(x); }, mpfr_log2},
    {"log1p", f32::log1p, [](double x) { return std::log1p(x); }, mpfr_log1p},
    {"tanh", f32::tanh, [](double x) { return std::tanh(x); }, mpfr_tanh},
    {"erf", f32::erf, [](double x) { return std::erf(x); }, mpfr_erf},
}};

/// The correctly rounded result of a function. The C library's double decides where everything within 64 units of its last place (it promises two
/// at most, see "Known Maximum Errors in Math Functions" in the glibc manual) rounds to the same fp32 number; MPFR decides the rest.
class Rounded {
 public:
  explicit Rounded(const Function& function) : function_(function) {}

  std::uint32_t operator()(std::uint32_t x) {
    const double argument = f32_value(x);
    const double approximate = function_.approximate(argument);
    if (std::isnan(approximate)) return f32::kNan;
    const auto low = static_cast<float>(approximate * (1 - 0x1p-46));
    const auto high = static_cast<float>(approximate * (1 + 0x1p-46));
    if (low == high) return std::bit_cast<std::uint32_t>(high);
    mpfr_set_d(argument_.get(), argument, MPFR_RNDN);
    const int inexact = function_.exact(result_.get(), argument_.get(), MPFR_RNDN);
    if (inexact != 0) measure(middle(low, high));
    return rounded_bits(result_.get(), kF32Range);
  }

  /// log2 of the smallest distance of a result from a midpoint, relative to the result; ties are no distance. 0 when MPFR decided nothing.
  double nearest_log2() const { return nearest_log2_; }

 private:
  /// The midpoint of two neighbours, the upper of which may be the infinite one that stands for 2^128.
  static double middle(float low, float high) {
    const auto finite = [](float value) {
      return std::isinf(value) ? std::copysign(0x1p128, static_cast<double>(value)) : static_cast<double>(value);
    };
    return (finite(low) + finite(high)) / 2;
  }

  void measure(double midpoint) {
    mpfr_sub_d(distance_.get(), result_.get(), midpoint, MPFR_RNDN);
    mpfr_div(distance_.get(), distance_.get(), result_.get(), MPFR_RNDN);
    nearest_log2_ = std::min(nearest_log2_, std::log2(std::fabs(mpfr_get_d(distance_.get(), MPFR_RNDN))));
  }

  const Function& function_;
  MpfrNumber argument_{24};
  MpfrNumber result_{160};
  MpfrNumber distance_{160};
  double nearest_log2_ = 0;
};

const Function& row_of(std::string_view function) {
  const auto row = std::ranges::find(kFunctions, function, &Function::name);
  if (row == kFunctions.end()) throw Error(ErrorCode::usage, "no proof of the function '" + std::string(function) + "'");
  return *row;
}

}  // namespace

ChunkResult check_function_chunk(std::string_view function, std::uint32_t chunk) {
  const ManyResults model = [&](std::span<const std::uint32_t> x, std::span<std::uint32_t> y) {
    std::ranges::transform(x, y.begin(), row_of(function).model);
  };
  return check_function_chunk(function, chunk, {&model, 1});
}

ChunkResult check_function_chunk(std::string_view function, std::uint32_t chunk, std::span<const ManyResults> implementations) {
  constexpr std::uint32_t kStep = 1U << 12;
  if (chunk >= kChunks) throw Error(ErrorCode::usage, "chunk " + std::to_string(chunk) + " is not in 0..255");
  Rounded rounded(row_of(function));
  ChunkResult result;
  std::array<std::uint32_t, kStep> x;
  std::array<std::uint32_t, kStep> want;
  std::array<std::uint32_t, kStep> got;
  std::array<bool, kStep> wrong;
  for (std::uint32_t first = 0; first < kChunkInputs; first += kStep) {
    std::iota(x.begin(), x.end(), chunk * kChunkInputs + first);
    std::ranges::transform(x, want.begin(), std::ref(rounded));
    wrong.fill(false);
    for (const ManyResults& implementation : implementations) {
      implementation(x, got);
      for (std::uint32_t i = 0; i < kStep; ++i) wrong[i] = wrong[i] || got[i] != want[i];
    }
    for (std::uint32_t i = 0; i < kStep; ++i) {
      ++result.inputs;
      if (wrong[i] && result.wrong++ == 0) result.first_wrong = x[i];
    }
  }
  result.nearest_log2 = rounded.nearest_log2();
  mpfr_free_cache();
  return result;
}

}  // namespace mx::tests
