#include "sim/study/study.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>

#include "model/error.hpp"
#include "model/names.hpp"
#include "model/numerics/convert.hpp"
#include "model/numerics/f32.hpp"
#include "model/numerics/rows.hpp"
#include "support/random.hpp"

namespace mx::sim {
namespace {

/// Nearest bf16 code of an integer times a power of two.
std::uint32_t bf16_of(std::int64_t integer, int exponent) {
  if (integer == 0) return 0;
  constexpr Conversion kNearest{Rounding::nearest_even, Overflow::ieee, NanRule::fixed, 0x7FC0, 0x7FC0, 0, false};
  const auto magnitude = static_cast<std::uint64_t>(integer < 0 ? -integer : integer);
  Flags flags;
  return encode({.significand = magnitude, .exponent = exponent, .cls = ValueClass::finite, .negative = integer < 0}, kBf16, kNearest, flags);
}

constexpr int kUniformBits = 24;

/// -2^23 .. 2^23 - 1.
std::int64_t uniform(support::SplitMix64& random) {
  return static_cast<std::int64_t>(random.next() >> (64 - kUniformBits)) - (std::int64_t{1} << (kUniformBits - 1));
}

/// The sum of twelve uniform numbers: standard deviation 2^24, in these units.
std::int64_t bell(support::SplitMix64& random) {
  std::int64_t sum = 0;
  for (int i = 0; i < 12; ++i) sum += uniform(random);
  return sum;
}

template <class Make>
std::vector<std::uint32_t> values_of(std::int64_t count, std::uint64_t seed, Make make) {
  support::SplitMix64 random(seed);
  std::vector<std::uint32_t> codes;
  for (std::int64_t i = 0; i < count; ++i) codes.push_back(make(random, i));
  return codes;
}

std::vector<std::uint32_t> make_uniform(std::int64_t count, std::uint64_t seed) {
  return values_of(count, seed, [](support::SplitMix64& random, std::int64_t) { return bf16_of(uniform(random), 1 - kUniformBits); });
}
std::vector<std::uint32_t> make_normal(std::int64_t count, std::uint64_t seed) {
  return values_of(count, seed, [](support::SplitMix64& random, std::int64_t) { return bf16_of(bell(random), -kUniformBits); });
}
/// Each further binade half as likely.
std::vector<std::uint32_t> make_heavy(std::int64_t count, std::uint64_t seed) {
  return values_of(count, seed, [](support::SplitMix64& random, std::int64_t) {
    const int binades = std::min(std::countr_zero(random.next() | std::uint64_t{1} << 16U), 16);
    return bf16_of(bell(random), -kUniformBits + binades);
  });
}
constexpr std::int64_t kOutlierEvery = 128;
constexpr int kOutlierBinades = 6;
std::vector<std::uint32_t> make_outliers(std::int64_t count, std::uint64_t seed) {
  return values_of(count, seed, [](support::SplitMix64& random, std::int64_t i) {
    return bf16_of(bell(random), -kUniformBits + (i % kOutlierEvery == kOutlierEvery / 2 ? kOutlierBinades : 0));
  });
}
/// As behind SiLU: mostly small and negative, some large and positive.
std::vector<std::uint32_t> make_gated(std::int64_t count, std::uint64_t seed) {
  return values_of(count, seed, [](support::SplitMix64& random, std::int64_t) {
    const std::int64_t value = bell(random);
    return bf16_of(value, -kUniformBits - (value < 0 ? 4 : 0));
  });
}
std::vector<std::uint32_t> make_tiny(std::int64_t count, std::uint64_t seed) {
  return values_of(count, seed, [](support::SplitMix64& random, std::int64_t) { return bf16_of(bell(random), -kUniformBits - 120); });
}

constexpr std::array kDistributions{
    Distribution{"uniform", "evenly within -1 and 1", make_uniform},
    Distribution{"normal", "standard deviation 1 (twelve uniform numbers)", make_normal},
    Distribution{"heavy", "normal, each doubling half as likely as the one before", make_heavy},
    Distribution{"outliers", "normal, every 128th value 64 times as large", make_outliers},
    Distribution{"gated", "normal, negative ones a sixteenth as large: behind SiLU", make_gated},
    Distribution{"tiny", "normal times 2^-120", make_tiny},
};

double number(const Value& value) {
  if (value.cls == ValueClass::nan) return std::numeric_limits<double>::quiet_NaN();
  if (value.cls == ValueClass::infinity) return std::numeric_limits<double>::infinity();
  const double magnitude = value.cls == ValueClass::zero ? 0 : std::ldexp(static_cast<double>(value.significand), value.exponent);
  return value.negative ? -magnitude : magnitude;
}

/// A tensor's own numbers, from its largest magnitude: NVFP4's encode scale 448 * 6 / amax, or a static scale amax / max.
TensorScale tensor_scale(const Recipe& recipe, double largest) {
  const TensorNeeds needs = tensor_needs(recipe);
  const auto bits = [](double value) { return std::bit_cast<std::uint32_t>(static_cast<float>(value)); };
  const double element = number(decode(*recipe.format->element, max_finite_code(*recipe.format->element)));
  const bool two_level = *recipe.format->scale == kE4m3fn;
  const double reach = two_level ? element * number(decode(kE4m3fn, max_finite_code(kE4m3fn))) : element;
  TensorScale tensor;
  // Of tiny data the reciprocal is beyond fp32.
  if (needs.encode) tensor.encode = bits(std::min(reach / largest, static_cast<double>(std::numeric_limits<float>::max())));
  if (needs.decode) tensor.decode = bits(largest / reach);
  return tensor;
}

/// What the tensor's own scale multiplies every dequantized number by.
double outer_scale(const Recipe& recipe, const TensorScale& tensor) {
  if (*recipe.format->scale != kE4m3fn) return 1;
  if (tensor.encode) return 1 / number(decode(kF32, *tensor.encode));
  return tensor.decode ? number(decode(kF32, *tensor.decode)) : 1;
}

StudyCell measure(const Recipe& recipe, std::span<const std::uint32_t> codes) {
  const BlockFormat& format = *recipe.format;
  const auto length = static_cast<std::size_t>(format.block == 0 ? static_cast<int>(codes.size()) : format.block);
  double largest = 0;
  for (const std::uint32_t code : codes) largest = std::max(largest, std::abs(number(decode(kBf16, code))));
  const TensorScale tensor = tensor_scale(recipe, largest);
  const double outer = outer_scale(recipe, tensor);
  const double reach = number(decode(*format.element, max_finite_code(*format.element)));
  StudyCell cell{0, 0, 0, 0};
  double signal = 0;
  double noise = 0;
  for (std::size_t at = 0; at < codes.size(); at += length) {
    const auto block = codes.subspan(at, length);
    const QuantizedBlock quantized = quantize_block(block, kBf16, recipe, tensor);
    const double scale = number(decode(*format.scale, quantized.scale)) * outer;
    for (std::size_t i = 0; i < length; ++i) {
      const double value = number(decode(kBf16, block[i]));
      const double back = number(decode(*format.element, quantized.codes[i])) * scale;
      const double error = std::abs(value - back);
      signal += value * value;
      noise += error * error;
      cell.max_error = std::max(cell.max_error, error / largest);
      if (std::abs(value) > reach * scale) ++cell.saturated;
      if (value != 0 && back == 0) ++cell.flushed;
    }
  }
  // A NaN among the results is no loss that decibels could say.
  cell.sqnr_db = noise == 0 ? std::numeric_limits<double>::infinity() : 10 * std::log10(signal / noise);
  return cell;
}

bool wanted(const std::vector<std::string>& names, std::string_view name) {
  return names.empty() || std::ranges::any_of(names, [&](const std::string& one) { return same_name(one, name); });
}

// A name without a version is the newest release of its profile.
bool asked(const std::vector<std::string>& names, const Profile& profile) {
  return names.empty() || std::ranges::any_of(names, [&](const std::string& one) { return &profile_named(one) == &profile; });
}

void check(const StudyOptions& options) {
  for (const std::string& name : options.profiles) profile_named(name);
  for (const std::string& name : options.formats) block_format_named(name);
  if (options.values < kStudyUnit || options.values % kStudyUnit != 0)
    throw Error(ErrorCode::usage, std::to_string(options.values) + " values are not whole tiles of " + std::to_string(kStudyUnit));
}

}  // namespace

std::span<const Distribution> all_distributions() { return kDistributions; }
const Distribution& distribution_named(std::string_view name) { return rows::named(kDistributions, "distribution", name); }

Study run_study(const StudyOptions& options) {
  check(options);
  Study study{{}, {}, options.values};
  for (const Distribution& distribution : kDistributions) {
    if (options.distributions.empty()) study.distributions.push_back(&distribution);
  }
  for (const std::string& name : options.distributions) study.distributions.push_back(&distribution_named(name));
  std::vector<std::vector<std::uint32_t>> data;
  for (const Distribution* distribution : study.distributions) data.push_back(distribution->make(options.values, options.seed));
  const std::span<const Profile> profiles = all_profiles();
  for (const Profile& profile : profiles) {
    if (!asked(options.profiles, profile)) continue;
    if (options.progress) options.progress(std::string(profile.name), static_cast<std::uint64_t>(&profile - profiles.data()), profiles.size());
    for (const Recipe& recipe : profile.recipes) {
      if (!wanted(options.formats, recipe.format->name) || !gives_codes(recipe) || !takes_source(recipe, kBf16)) continue;
      StudyRow row{std::string(profile.name), std::string(recipe.format->name), std::string(scale_rule_name(recipe)), {}};
      for (const auto& codes : data) row.cells.push_back(measure(recipe, codes));
      study.rows.push_back(std::move(row));
    }
  }
  if (study.rows.empty()) throw Error(ErrorCode::usage, "no recipe of these profiles and formats takes bf16 numbers and gives codes");
  return study;
}

}  // namespace mx::sim
