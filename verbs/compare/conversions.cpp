// Two conversions over a whole domain. A class looks at the input as fp32 bits, which hold every source exactly, and at the two codes.

#include <algorithm>
#include <array>
#include <string>

#include "kernels/sweep/encode.hpp"
#include "model/error.hpp"
#include "verbs/compare/compare.hpp"
#include "verbs/compare/pieces.hpp"

namespace mx::verbs {
namespace {

constexpr std::uint32_t kMagnitude = 0x7FFFFFFFU;
constexpr std::uint32_t kInfinity = 0x7F800000U;

/// Where the formats' ranges end, as fp32 magnitudes.
struct Range {
  const Format* to;
  std::uint32_t largest;              ///< largest finite value of the target
  std::uint32_t least_normal;         ///< smallest normal one; of formats without subnormals the smallest positive one
  std::uint32_t source_least_normal;  ///< smallest normal value of the source
};

/// Smallest positive code that is not subnormal.
std::uint32_t least_normal_code(const Format& format) {
  switch (format.encoding) {
    case Encoding::floating: return 1U << static_cast<unsigned>(format.mantissa_bits);
    case Encoding::exponent_only: return 0;  // no zero: code 0 is its smallest value
    case Encoding::fixed_point: break;
  }
  return 1;
}

Range range_of(const Format& from, const Format& to) {
  return {&to, to_f32(max_finite_code(to), to), to_f32(least_normal_code(to), to), to_f32(least_normal_code(from), from)};
}

/// One input that the conversions treat differently.
struct Difference {
  std::uint32_t f32;
  Outcome first;
  Outcome second;

  std::uint32_t magnitude() const { return f32 & kMagnitude; }
  bool negative() const { return f32 != magnitude(); }
};

bool refused(const Difference& d, const Range&) { return !d.first || !d.second; }

bool is_nan(const Difference& d, const Range&) { return d.magnitude() > kInfinity; }

bool both_nan_codes(const Difference& d, const Range& range) {
  return is_nan(d, range) && is_nan_code(*range.to, *d.first) && is_nan_code(*range.to, *d.second);
}

bool is_infinite(const Difference& d, const Range&) { return d.magnitude() == kInfinity; }

bool e8m0_zero(const Difference& d, const Range& range) { return !range.to->has_sign && d.magnitude() == 0; }

bool e8m0_negative(const Difference& d, const Range& range) { return !range.to->has_sign && d.negative(); }

bool above_range(const Difference& d, const Range& range) { return d.magnitude() > range.largest; }

bool zero_sign(const Difference& d, const Range& range) {
  const auto is_zero = [&](std::uint32_t code) { return decode(*range.to, code).cls == ValueClass::zero; };
  return is_zero(*d.first) && is_zero(*d.second);
}

bool below_normal(const Difference& d, const Range& range) { return d.magnitude() < range.least_normal; }

bool subnormal_source(const Difference& d, const Range& range) { return d.magnitude() < range.source_least_normal; }

/// Exactly between two neighbours of the target's grid. Only for magnitudes that are normal in the target and not above its range.
bool is_tie(const Difference& d, const Range& range) {
  const Format& to = *range.to;
  const std::uint32_t field = d.magnitude() >> 23U;
  const std::uint32_t mantissa = d.magnitude() & 0x7FFFFFU;
  // fp32 subnormals are normal in E8M0 alone, which has one binade there: [2^-127, 2^-126).
  if (field == 0) return mantissa == 0x600000U && to.encoding == Encoding::exponent_only;
  const int kept = to.encoding == Encoding::fixed_point ? static_cast<int>(field) - 127 + to.mantissa_bits : to.mantissa_bits;
  const int dropped = 23 - kept;
  if (dropped < 1) return false;
  const std::uint32_t significand = mantissa | 0x800000U;
  return (significand & ((2U << static_cast<unsigned>(dropped - 1)) - 1U)) == 1U << static_cast<unsigned>(dropped - 1);
}

/// The exact value lies on the target's grid, so that rounding is not what differs.
bool needs_no_rounding(const Difference& d, const Range& range) {
  Flags flags;
  round_to(decode(kF32, d.f32), *range.to, Rounding::toward_zero, flags);
  return !flags.inexact;
}

bool is_rounded(const Difference& d, const Range& range) { return !needs_no_rounding(d, range); }

bool any(const Difference&, const Range&) { return true; }

struct ClassRow {
  DifferenceClass difference;
  bool (*takes)(const Difference&, const Range&);
};

constexpr std::array<ClassRow, 13> kClasses{{
    {{"refused", "one side refuses the input with an error"}, refused},
    {{"NaN code", "NaN input, two different NaN codes"}, both_nan_codes},
    {{"NaN or number", "NaN input that becomes a number on at least one side"}, is_nan},
    {{"infinity", "infinite input"}, is_infinite},
    {{"E8M0 zero", "zero into a format that has none"}, e8m0_zero},
    {{"E8M0 negative", "negative input into a format without sign"}, e8m0_negative},
    {{"overflow", "finite magnitude above the target's largest"}, above_range},
    {{"zero sign", "two zeros of different sign"}, zero_sign},
    {{"underflow", "magnitude below the target's smallest normal number"}, below_normal},
    {{"subnormal source", "subnormal input, normal in the target"}, subnormal_source},
    {{"tie", "exactly between two neighbours"}, is_tie},
    {{"rounding", "between two neighbours, not in the middle"}, is_rounded},
    {{"other", "none of the above"}, any},
}};

using Tally = std::array<ConversionClassCount, kClasses.size()>;

void count(Tally& tally, const Difference& difference, std::uint32_t input, const Range& range) {
  std::size_t row = 0;
  while (!kClasses[row].takes(difference, range)) ++row;
  if (tally[row].count++ == 0) tally[row].example = ConversionExample{input, difference.first, difference.second};
}

Outcome outcome(std::uint32_t input, const Format& from, const Format& to, const Conversion& how) {
  if (how.nan_rule == NanRule::refused && is_nan_code(from, input)) return std::nullopt;
  return convert(input, from, to, how);
}

Tally piece_by_model(std::uint64_t first_input, std::uint64_t inputs, const Conversion& first, const Conversion& second, const Format& from,
                     const Range& range) {
  Tally tally{};
  for (std::uint64_t i = first_input; i < first_input + inputs; ++i) {
    const auto input = static_cast<std::uint32_t>(i);
    const Outcome code = outcome(input, from, *range.to, first);
    const Outcome other = outcome(input, from, *range.to, second);
    if (code != other) count(tally, {to_f32(input, from), code, other}, input, range);
  }
  return tally;
}

Tally piece_by_twin(std::uint64_t first_input, std::uint64_t inputs, const Conversion& first, const Conversion& second, const Range& range) {
  constexpr std::size_t kStep = 4096;
  std::array<std::uint32_t, kStep> input;
  std::array<std::uint32_t, kStep> code;
  std::array<std::uint32_t, kStep> other;
  Tally tally{};
  for (std::uint64_t begin = first_input; begin < first_input + inputs; begin += kStep) {
    for (std::size_t i = 0; i < kStep; ++i) input[i] = static_cast<std::uint32_t>(begin + i);
    kernels::encode(input, *range.to, first, code);
    kernels::encode(input, *range.to, second, other);
    if (code == other) continue;
    for (std::size_t i = 0; i < kStep; ++i) {
      if (code[i] != other[i]) count(tally, {input[i], code[i], other[i]}, input[i], range);
    }
  }
  return tally;
}

void require_deterministic(const Conversion& how) {
  if (how.random_bits == 0) return;
  throw Error(ErrorCode::usage, "rounding '" + std::string(name_of(how.rounding)) + "' takes random bits: its result is no function of the input");
}

}  // namespace

ConversionComparison compare_conversions(const Conversion& first, const Conversion& second, const Format& from, const Format& to,
                                         const Progress& progress) {
  require_deterministic(first);
  require_deterministic(second);
  const Range range = range_of(from, to);
  ConversionComparison result;
  result.inputs = pattern_count(from);
  result.twin = from == kF32 && kernels::has_encode(to, first) && kernels::has_encode(to, second);
  for (const ClassRow& row : kClasses) result.classes.push_back({row.difference, 0, {}});
  if (&first == &second) return result;
  const auto run = [&](std::uint64_t begin, std::uint64_t inputs) {
    return result.twin ? piece_by_twin(begin, inputs, first, second, range) : piece_by_model(begin, inputs, first, second, from, range);
  };
  const auto tallies = in_pieces(result.inputs, progress, run);
  result.interrupted = !tallies;
  if (!tallies) return result;
  for (const Tally& tally : *tallies) {
    for (std::size_t row = 0; row < tally.size(); ++row) {
      ConversionClassCount& total = result.classes[row];
      if (total.count == 0) total.example = tally[row].example;
      total.count += tally[row].count;
      result.differing += tally[row].count;
    }
  }
  return result;
}

}  // namespace mx::verbs
