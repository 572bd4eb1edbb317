// Two block recipes over a whole domain. A class looks at the block's largest magnitude and at what came out on both sides.

#include <algorithm>
#include <array>
#include <ranges>
#include <string>

#include "model/error.hpp"
#include "verbs/compare/compare.hpp"
#include "verbs/compare/pieces.hpp"

namespace mx::verbs {
namespace {

constexpr std::uint32_t kMagnitude = 0x7FFFFFFFU;
constexpr std::uint32_t kInfinity = 0x7F800000U;
constexpr std::uint32_t kLeastNormal = 0x00800000U;

using Side = BlockExample::Side;

/// One block that the recipes treat differently.
struct Difference {
  std::uint32_t amax;  ///< fp32 bits; as integers NaN is above Inf, so a NaN in the block wins
  Side first;
  Side second;
};

bool scales_differ(const Difference& d) { return d.first.scale != d.second.scale; }
bool codes_differ(const Difference& d) { return d.first.code != d.second.code || d.first.rest_code != d.second.rest_code; }

/// The first element code that differs, on both sides; the scales are equal.
struct CodePair {
  std::uint32_t first;
  std::uint32_t second;
};
CodePair differing_codes(const Difference& d) {
  if (d.first.code != d.second.code) return {d.first.code, d.second.code};
  return {d.first.rest_code, d.second.rest_code};
}

bool nan_block(const Difference& d, const BlockFormat&) { return d.amax > kInfinity; }
bool inf_block(const Difference& d, const BlockFormat&) { return d.amax == kInfinity; }
bool zero_block(const Difference& d, const BlockFormat&) { return d.amax == 0; }
bool subnormal_amax(const Difference& d, const BlockFormat&) { return d.amax < kLeastNormal; }

/// Zero, the smallest or the largest scale, or none.
bool at_an_end(std::uint32_t scale, const Format& format) {
  const Value value = decode(format, scale);
  if (value.cls != ValueClass::finite || value.negative) return true;
  const std::uint32_t least = format.encoding == Encoding::exponent_only ? 0 : 1;
  return scale == least || scale == max_finite_code(format);
}

bool scale_at_an_end(const Difference& d, const BlockFormat& format) {
  return scales_differ(d) && (at_an_end(d.first.scale, *format.scale) || at_an_end(d.second.scale, *format.scale));
}

bool scale_one_step(const Difference& d, const BlockFormat&) { return d.first.scale + 1U == d.second.scale || d.second.scale + 1U == d.first.scale; }

bool scale_further(const Difference& d, const BlockFormat&) { return scales_differ(d); }

bool is_finite(const Value& value) { return value.cls == ValueClass::zero || value.cls == ValueClass::finite; }

bool one_is_special(const Difference& d, const BlockFormat& format) {
  const auto [first, second] = differing_codes(d);
  return !is_finite(decode(*format.element, first)) || !is_finite(decode(*format.element, second));
}

bool two_zeros(const Difference& d, const BlockFormat& format) {
  const auto [first, second] = differing_codes(d);
  return decode(*format.element, first).cls == ValueClass::zero && decode(*format.element, second).cls == ValueClass::zero;
}

bool one_is_zero(const Difference& d, const BlockFormat& format) {
  const auto [first, second] = differing_codes(d);
  return decode(*format.element, first).cls == ValueClass::zero || decode(*format.element, second).cls == ValueClass::zero;
}

/// Neighbours on the grid, between which a rounding decides. Codes of one sign count up with the magnitude, two's complement ones with the value.
bool code_one_step(const Difference& d, const BlockFormat&) {
  const auto [first, second] = differing_codes(d);
  return first + 1U == second || second + 1U == first;
}

bool any(const Difference&, const BlockFormat&) { return true; }

struct ClassRow {
  DifferenceClass difference;
  bool (*takes)(const Difference&, const BlockFormat&);
};

constexpr std::array<ClassRow, 12> kClasses{{
    {{"NaN block", "a NaN in the block"}, nan_block},
    {{"Inf block", "an infinity in the block, no NaN"}, inf_block},
    {{"zero block", "every element zero"}, zero_block},
    {{"subnormal amax", "largest magnitude below 2^-126"}, subnormal_amax},
    {{"scale at the end of its range", "scales differ, and one is zero, the smallest, the largest or no finite number"}, scale_at_an_end},
    {{"scale one step apart", "neighbouring scale codes"}, scale_one_step},
    {{"scale further apart", "scales differ by more"}, scale_further},
    {{"NaN or Inf element", "equal scales, one element code is no number"}, one_is_special},
    {{"zero sign", "equal scales, two zeros of different sign"}, two_zeros},
    {{"element one step apart", "equal scales, neighbouring element codes: rounding"}, code_one_step},
    {{"zero or number", "equal scales, one element code is zero, the other more than a step away"}, one_is_zero},
    {{"other", "none of the above"}, any},
}};

/// What is counted of one piece: the texts of the classes are added at the end.
struct Counted {
  std::uint64_t blocks = 0;
  std::uint64_t scales = 0;
  std::uint64_t codes = 0;
  std::optional<BlockExample> example;
};
using Tally = std::array<Counted, kClasses.size()>;

/// So many neighbours from `input` on, which differ alike.
void count(Tally& tally, const Difference& difference, std::uint32_t input, std::uint64_t blocks, const BlockFormat& format) {
  std::size_t row = 0;
  while (!kClasses[row].takes(difference, format)) ++row;
  Counted& counted = tally[row];
  if (counted.blocks == 0) counted.example = BlockExample{input, difference.first, difference.second};
  counted.blocks += blocks;
  counted.scales += scales_differ(difference) ? blocks : 0U;
  counted.codes += codes_differ(difference) ? blocks : 0U;
}

/// Behind the last pattern of x's sign and exponent; zero and infinity stand alone.
std::uint64_t end_of_binade(std::uint64_t x, const Format& from) {
  const std::uint64_t mantissas = std::uint64_t{1} << static_cast<unsigned>(from.mantissa_bits);
  return x % mantissas == 0 ? x + 1 : (x / mantissas + 1) * mantissas;
}

/// The recipe on blocks of two: x and one that stands for all others, which are alike and get the same code.
class PairQuantizer {
 public:
  PairQuantizer(const RecipeSide& side, bool scales_alone)
      : format_(*side.recipe->format), recipe_{&format_, side.recipe->how, side.recipe->source}, tensor_(side.tensor), scales_alone_(scales_alone) {
    constexpr int kPair = 2;
    format_.block = kPair;
  }
  PairQuantizer(const PairQuantizer&) = delete;
  PairQuantizer& operator=(const PairQuantizer&) = delete;

  Side operator()(std::uint32_t x, std::uint32_t rest, const Format& from) const {
    const std::array<std::uint32_t, 2> block{x, rest};
    if (scales_alone_) return {block_scale(block, from, recipe_, tensor_), 0, 0};
    const QuantizedBlock quantized = quantize_block(block, from, recipe_, tensor_);
    return {quantized.scale, quantized.codes[0], quantized.codes[1]};
  }

 private:
  BlockFormat format_;
  Recipe recipe_;
  TensorScale tensor_;
  bool scales_alone_;
};

void require_same_format(const Recipe& first, const Recipe& second) {
  if (first.format->name == second.format->name) return;
  throw Error(ErrorCode::usage, "recipes of " + std::string(first.format->name) + " and of " + std::string(second.format->name));
}

}  // namespace

RecipeComparison compare_recipes(const RecipeSide& first, const RecipeSide& second, const Format& from, const BlockPattern& pattern,
                                 const Progress& progress) {
  require_same_format(*first.recipe, *second.recipe);
  const BlockFormat& format = *first.recipe->format;
  RecipeComparison result;
  result.blocks = pattern_count(from);
  result.scales_alone = !gives_codes(*first.recipe) || !gives_codes(*second.recipe);
  const PairQuantizer quantize_first(first, result.scales_alone);
  const PairQuantizer quantize_second(second, result.scales_alone);
  const std::uint32_t rest_magnitude = to_f32(pattern.rest, from) & kMagnitude;
  const auto run = [&](std::uint64_t begin, std::uint64_t blocks) {
    Tally tally{};
    // Within a binade a scale never falls when x grows, and under one scale a code never steps back: what x makes, it makes until it is left for
    // good.
    for (std::uint64_t first_of_run = begin; first_of_run < begin + blocks;) {
      const auto x = static_cast<std::uint32_t>(first_of_run);
      const Side a = quantize_first(x, pattern.rest, from);
      const Side b = quantize_second(x, pattern.rest, from);
      const auto makes_the_same = [&](std::uint64_t other) {
        const auto y = static_cast<std::uint32_t>(other);
        return quantize_first(y, pattern.rest, from) == a && quantize_second(y, pattern.rest, from) == b;
      };
      const std::uint64_t end = std::min(begin + blocks, end_of_binade(first_of_run, from));
      const auto others = std::views::iota(first_of_run + 1, end);
      const std::uint64_t next = others.empty() || makes_the_same(end - 1) ? end : *std::ranges::partition_point(others, makes_the_same);
      const Difference difference{std::max(to_f32(x, from) & kMagnitude, rest_magnitude), a, b};
      if (a != b) count(tally, difference, x, next - first_of_run, format);
      first_of_run = next;
    }
    return tally;
  };
  for (const ClassRow& row : kClasses) result.classes.push_back({row.difference, 0, 0, 0, {}});
  const auto tallies = in_pieces(result.blocks, progress, run);
  result.interrupted = !tallies;
  if (!tallies) return result;
  for (const Tally& tally : *tallies) {
    for (std::size_t row = 0; row < tally.size(); ++row) {
      BlockClassCount& total = result.classes[row];
      if (total.blocks == 0) total.example = tally[row].example;
      total.blocks += tally[row].blocks;
      total.scales += tally[row].scales;
      total.codes += tally[row].codes;
      result.differing += tally[row].blocks;
      result.scales += tally[row].scales;
      result.codes += tally[row].codes;
    }
  }
  return result;
}

}  // namespace mx::verbs
