// Comparing conversions: counts held against a restatement of the recorded disagreements (numerics specification 1.2) that knows only doubles and
// the facts of the formats, over all bf16 and fp16 inputs; over all fp32 inputs against counts that follow from the fp32 bits of the thresholds.

#include <bit>
#include <cmath>
#include <functional>
#include <map>
#include <string>

#include "model/error.hpp"
#include "tests/catch.hpp"
#include "verbs/compare/compare.hpp"

namespace {

using mx::Conversion;
using mx::Format;
using mx::NanRule;
using mx::Overflow;
using mx::Rounding;
using mx::verbs::compare_conversions;
using mx::verbs::ConversionComparison;

Conversion nearest(Overflow overflow, std::uint32_t nan_positive, std::uint32_t nan_negative) {
  return {Rounding::nearest_even, overflow, NanRule::fixed, nan_positive, nan_negative, 0, false};
}

/// Rows of the table of numerics specification 1.2.
const Conversion kCudaSatE4m3 = nearest(Overflow::saturate, 0x7F, 0x7F);
const Conversion kMlDtypesE4m3 = nearest(Overflow::nan, 0x7F, 0xFF);
const Conversion kHipSatE4m3 = nearest(Overflow::saturate, 0x7F, 0xFF);
const Conversion kHipNosatE4m3 = nearest(Overflow::nan_unrounded, 0x7F, 0xFF);
const Conversion kMlDtypesE5m2 = nearest(Overflow::inf, 0x7E, 0xFE);
const Conversion kTorchE5m2 = nearest(Overflow::inf, 0x7F, 0xFF);
const Conversion kHipSatE5m2 = nearest(Overflow::saturate, 0x7F, 0xFF);
const Conversion kHipNosatE5m2 = nearest(Overflow::inf_unrounded, 0x7F, 0xFF);
const Conversion kHipSatFnuz = nearest(Overflow::saturate, 0x7F, 0xFF);
const Conversion kHipNosatFnuz = nearest(Overflow::nan_unrounded, 0x80, 0x80);

double fp16_value(std::uint32_t code) {
  const int field = static_cast<int>(code >> 10U & 31U);
  const double mantissa = static_cast<double>(code & 1023U);
  const double sign = (code & 0x8000U) != 0 ? -1.0 : 1.0;
  if (field == 31) return mantissa == 0 ? sign * INFINITY : NAN;
  return sign * (field == 0 ? std::ldexp(mantissa, -24) : std::ldexp(mantissa + 1024, field - 25));
}

double value_of(const Format& from, std::uint32_t code) {
  if (from == mx::kFp16) return fp16_value(code);
  return static_cast<double>(std::bit_cast<float>(from == mx::kBf16 ? code << 16U : code));
}

/// Class of an input that differs, empty when it does not; `negative` is the sign bit.
using Restatement = std::function<std::string(double x, bool negative)>;
using Counts = std::map<std::string, std::uint64_t>;

Counts by_restatement(const Format& from, const Restatement& restated) {
  Counts counts;
  for (std::uint32_t code = 0; code >> static_cast<unsigned>(from.width) == 0; ++code) {
    const bool negative = (code >> static_cast<unsigned>(from.width - 1) & 1U) != 0;
    const std::string name = restated(value_of(from, code), negative);
    if (!name.empty()) ++counts[name];
  }
  return counts;
}

Counts counts_of(const ConversionComparison& result) {
  Counts counts;
  std::uint64_t sum = 0;
  for (const auto& row : result.classes) {
    if (row.count != 0) counts[std::string(row.difference.name)] = row.count;
    CHECK(row.example.has_value() == (row.count != 0));
    sum += row.count;
  }
  CHECK(sum == result.differing);
  return counts;
}

struct Pair {
  const char* name;
  const Format* to;
  Conversion first;
  Conversion second;
  Restatement restated;
};

const std::vector<Pair>& pairs() {
  static const std::vector<Pair> table{
      {"ml_dtypes and torch differ in NaN codes alone", &mx::kE5m2, kMlDtypesE5m2, kTorchE5m2,
       [](double x, bool) { return std::isnan(x) ? "NaN code" : ""; }},
      {"satfinite drops a NaN's sign and saturates", &mx::kE4m3fn, kCudaSatE4m3, kMlDtypesE4m3,
       [](double x, bool negative) {
         if (std::isnan(x)) return negative ? "NaN code" : "";
         if (std::isinf(x)) return "infinity";
         return std::fabs(x) > 464 ? "overflow" : "";
       }},
      {"HIP nosat tests the range before rounding", &mx::kE4m3fn, kHipNosatE4m3, kHipSatE4m3,
       [](double x, bool) {
         if (std::isnan(x)) return "";
         if (std::isinf(x)) return "infinity";
         return std::fabs(x) > 448 ? "overflow" : "";
       }},
      {"HIP nosat e5m2 against torch: Inf without rounding first", &mx::kE5m2, kHipNosatE5m2, kTorchE5m2,
       [](double x, bool) { return std::fabs(x) > 57344 && std::fabs(x) < 61440 ? "overflow" : ""; }},
      {"HIP sat e5m2 against nosat", &mx::kE5m2, kHipSatE5m2, kHipNosatE5m2,
       [](double x, bool) {
         if (std::isnan(x)) return "";
         if (std::isinf(x)) return "infinity";
         return std::fabs(x) > 57344 ? "overflow" : "";
       }},
      {"HIP fnuz with saturation loses NaN", &mx::kE4m3fnuz, kHipSatFnuz, kHipNosatFnuz,
       [](double x, bool) {
         if (std::isnan(x)) return "NaN or number";
         if (std::isinf(x)) return "infinity";
         return std::fabs(x) > 240 ? "overflow" : "";
       }},
  };
  return table;
}

}  // namespace

TEST_CASE("compared conversions differ where the recorded ones do: all bf16 and fp16 inputs") {
  for (const Pair& pair : pairs()) {
    for (const Format* from : {&mx::kBf16, &mx::kFp16}) {
      const ConversionComparison result = compare_conversions(pair.first, pair.second, *from, *pair.to);
      INFO(pair.name << ", from " << from->name);
      CHECK(result.inputs == 65536);
      CHECK(counts_of(result) == by_restatement(*from, pair.restated));
    }
  }
}

TEST_CASE("rounding classes: a nearest and a truncating conversion part at ties and above them") {
  const Conversion truncating{Rounding::toward_zero, Overflow::saturate, NanRule::fixed, 0x7F, 0x7F, 0, false};
  // e4m3fn keeps 3 of bf16's 7 mantissa bits: of the 16 values from one grid point to the next, nearest even rounds up the 7 above the middle, and
  // the middle itself when the grid point below it is odd.
  const auto restated = [](double x, bool) -> std::string {
    const double magnitude = std::fabs(x);
    if (std::isnan(x) || magnitude >= 448 || magnitude <= std::ldexp(1.0, -10)) return "";
    int exponent = 0;
    std::frexp(magnitude, &exponent);
    const double unit = std::ldexp(1.0, std::max(exponent - 4, -9));
    const double below = std::floor(magnitude / unit);
    const double rest = magnitude / unit - below;
    if (rest < 0.5 || (rest == 0.5 && std::fmod(below, 2) == 0)) return "";
    if (magnitude < std::ldexp(1.0, -6)) return "underflow";
    return rest == 0.5 ? "tie" : "rounding";
  };
  const ConversionComparison result = compare_conversions(kCudaSatE4m3, truncating, mx::kBf16, mx::kE4m3fn);
  CHECK(counts_of(result) == by_restatement(mx::kBf16, restated));
  // The first tie of an odd grid point: 2^-6 * (1 + 1/8 + 1/16), whose neighbours are 0x09 and 0x0A.
  for (const auto& row : result.classes) {
    if (row.difference.name != "tie") continue;
    CHECK(row.example->input == 0x3C98);
    CHECK(row.example->first == 0x0A);
    CHECK(row.example->second == 0x09);
  }
}

TEST_CASE("E8M0 classes: ml_dtypes against the CUDA conversion toward zero") {
  const Conversion ml_dtypes{Rounding::nearest_up, Overflow::nan, NanRule::fixed, 0xFF, 0xFF, 0xFF, true};
  const Conversion cuda{Rounding::toward_zero, Overflow::saturate, NanRule::fixed, 0xFF, 0xFF, 0x00, false};
  const auto restated = [](double x, bool negative) -> std::string {
    if (std::isnan(x)) return "";
    if (std::isinf(x)) return "infinity";
    if (x == 0) return "E8M0 zero";
    if (negative) return "E8M0 negative";
    int exponent = 0;
    const double fraction = std::frexp(x, &exponent);  // x = fraction * 2^exponent, 0.5 <= fraction < 1
    if (x > std::ldexp(1.0, 127) && fraction >= 0.75) return "overflow";
    if (x <= std::ldexp(1.0, -127)) return "";
    const bool lowest = x < std::ldexp(1.0, -126);
    if (fraction == 0.75) return lowest ? "subnormal source" : "tie";
    if (lowest) return "subnormal source";
    return fraction > 0.75 ? "rounding" : "";
  };
  CHECK(counts_of(compare_conversions(ml_dtypes, cuda, mx::kBf16, mx::kE8m0)) == by_restatement(mx::kBf16, restated));
}

TEST_CASE("a zero's sign and flushed subnormals have classes of their own") {
  Conversion keeps = nearest(Overflow::ieee, 0x7FC0, 0xFFC0);
  Conversion up = keeps;
  up.rounding = Rounding::toward_positive;
  // Toward +Inf, negative fp16 values below bf16's unit go up; nothing else of this pair underflows.
  const ConversionComparison result = compare_conversions(keeps, up, mx::kFp16, mx::kBf16);
  CHECK(counts_of(result).count("rounding") == 1);
  CHECK(result.classes.back().count == 0);
}

TEST_CASE("a NaN that one side refuses is a class of its own, and no difference when both do") {
  Conversion refusing = nearest(Overflow::saturate, 0, 0);
  refusing.nan_rule = NanRule::refused;
  const Conversion cuda = nearest(Overflow::saturate, 0x7, 0x7);
  const ConversionComparison one = compare_conversions(cuda, refusing, mx::kBf16, mx::kE2m1);
  CHECK(counts_of(one) == Counts{{"refused", 254}});
  CHECK(one.classes[0].example->first == 0x7U);
  CHECK_FALSE(one.classes[0].example->second.has_value());
  CHECK(compare_conversions(refusing, refusing, mx::kBf16, mx::kE2m1).differing == 0);
}

TEST_CASE("a conversion compared with itself differs nowhere") {
  const ConversionComparison result = compare_conversions(kHipSatE4m3, kHipSatE4m3, mx::kFp16, mx::kE4m3fn);
  CHECK(result.inputs == 65536);
  CHECK(result.differing == 0);
  CHECK(counts_of(result).empty());
}

TEST_CASE("the order of the sides changes the examples' sides and nothing else") {
  const ConversionComparison one = compare_conversions(kCudaSatE4m3, kMlDtypesE4m3, mx::kBf16, mx::kE4m3fn);
  const ConversionComparison other = compare_conversions(kMlDtypesE4m3, kCudaSatE4m3, mx::kBf16, mx::kE4m3fn);
  CHECK(counts_of(one) == counts_of(other));
  for (std::size_t i = 0; i < one.classes.size(); ++i) {
    if (!one.classes[i].example) continue;
    CHECK(one.classes[i].example->input == other.classes[i].example->input);
    CHECK(one.classes[i].example->first == other.classes[i].example->second);
  }
}

TEST_CASE("stochastic conversions cannot be compared") {
  const Conversion stochastic{Rounding::stochastic_floor, Overflow::saturate, NanRule::fixed, 0x7F, 0x7F, 0, false, 8};
  CHECK_THROWS_AS(compare_conversions(stochastic, kCudaSatE4m3, mx::kBf16, mx::kE4m3fn), mx::Error);
}

TEST_CASE("compared conversions differ where the recorded ones do: all fp32 inputs", "[.sweep]") {
  constexpr std::uint64_t kNansOfOneSign = 0x7FFFFF;
  constexpr std::uint32_t kTopFinite = 0x7F7FFFFF;
  const auto above = [](float limit) { return std::uint64_t{2} * (kTopFinite - std::bit_cast<std::uint32_t>(limit)); };
  CHECK(counts_of(compare_conversions(kMlDtypesE5m2, kTorchE5m2, mx::kF32, mx::kE5m2)) == Counts{{"NaN code", 2 * kNansOfOneSign}});
  CHECK(counts_of(compare_conversions(kCudaSatE4m3, kMlDtypesE4m3, mx::kF32, mx::kE4m3fn)) ==
        Counts{{"NaN code", kNansOfOneSign}, {"infinity", 2}, {"overflow", above(464.0F)}});
  CHECK(counts_of(compare_conversions(kHipNosatE4m3, kHipSatE4m3, mx::kF32, mx::kE4m3fn)) == Counts{{"infinity", 2}, {"overflow", above(448.0F)}});
}
