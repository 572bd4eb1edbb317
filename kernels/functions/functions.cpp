#include "kernels/functions/functions.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "kernels/functions/evaluate.hpp"
#include "kernels/word_by_word.hpp"
#include "model/error.hpp"
#include "model/fault.hpp"
#include "model/names.hpp"
#include "model/numerics/f32.hpp"

namespace mx::kernels {
namespace {

constexpr std::array<ElementaryFunction, 6> kFunctions{
    {{"exp", f32::exp}, {"exp2", f32::exp2}, {"log2", f32::log2}, {"log1p", f32::log1p}, {"tanh", f32::tanh}, {"erf", f32::erf}}};

/// The evaluators of a tier.
struct EvaluatorRow {
  std::uint32_t needs;
  const Evaluators* evaluators;
};

#if defined(__x86_64__) && !defined(MXACT_PORTABLE)
constexpr std::array kRows{EvaluatorRow{0, &kEvaluatorsPortable}, EvaluatorRow{kAvx2, &kEvaluatorsAvx2}, EvaluatorRow{kAvx512, &kEvaluatorsAvx512}};
#else
constexpr std::array kRows{EvaluatorRow{0, &kEvaluatorsPortable}};
#endif

/// Taylor coefficients of erf at the centers. Its derivative g satisfies g' = -2 x g, so that the coefficients of g follow
/// (n + 1) g[n+1] = -2 x g[n] - 2 g[n-1], and those of erf are g[n-1] / n. From center to center by the series itself, in long double: 64 bits of
/// significand on x86-64, 113 on AArch64.
ErfTable erf_table() {
  constexpr std::size_t kTerms = 24;
  ErfTable table{};
  long double value = 0;
  long double derivative = 1.128379167095512573896158903121545172L;  // 2 / sqrt(pi), OEIS A190732
  for (std::size_t i = 0; i < kErfCenters; ++i) {
    const long double x = static_cast<long double>(i) / 16;
    std::array<long double, kTerms + 1> g{derivative, -2 * x * derivative};
    for (std::size_t n = 1; n < kTerms; ++n) g[n + 1] = (-2 * x * g[n] - 2 * g[n - 1]) / static_cast<long double>(n + 1);
    table.coefficient[i] = static_cast<double>(value);
    for (std::size_t n = 1; n < kErfTerms; ++n) table.coefficient[n * kErfCenters + i] = static_cast<double>(g[n - 1] / static_cast<long double>(n));
    long double next_derivative = 0;
    long double next_value = 0;
    for (std::size_t n = kTerms; n > 0; --n) {
      next_derivative = next_derivative / 16 + g[n];
      next_value = (next_value + g[n - 1] / static_cast<long double>(n)) / 16;
    }
    value += next_value;
    derivative = next_derivative / 16 + g[0];
  }
  return table;
}

}  // namespace

std::span<const ElementaryFunction> elementary_functions() { return kFunctions; }

const ElementaryFunction& elementary_function_named(std::string_view name) {
  const auto row = std::ranges::find(kFunctions, name, &ElementaryFunction::name);
  if (row != kFunctions.end()) return *row;
  std::vector<std::string_view> names;
  for (const ElementaryFunction& function : kFunctions) names.push_back(function.name);
  throw Error(ErrorCode::usage, unknown_name("elementary function", name, names));
}

void apply(const ElementaryFunction& function, std::span<const std::uint32_t> x, std::span<std::uint32_t> y, const IsaTier& tier) {
  constexpr std::size_t kChunk = 512;
  require_word_by_word({"arguments", x}, {"results", y});
  require_runs_here(tier);
  static const ErfTable kErf = erf_table();
  const ElementaryFunction& row = elementary_function_named(function.name);
  Evaluate* const evaluate = kernel_for(kRows, tier).evaluators->run[&row - kFunctions.data()];
  std::array<std::uint32_t, kChunk> results;
  std::array<std::uint32_t, kChunk> doubt;
  for (std::size_t first = 0; first < x.size(); first += kChunk) {
    const std::size_t count = std::min(kChunk, x.size() - first);
    evaluate(x.data() + first, count, kErf, results.data(), doubt.data());
    for (std::size_t i = 0; i < count; ++i) {
      const bool settled = doubt[i] == 0 || fault::planted(fault::Fault::kernel_trusts_double);
      y[first + i] = settled ? results[i] : function.model(x[first + i]);
    }
  }
}

}  // namespace mx::kernels
