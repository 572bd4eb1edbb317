#include "golden/vectors/dot_operand_c.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "golden/vectors/dot_patterns.hpp"
#include "model/numerics/chain.hpp"
#include "model/numerics/exact_sum.hpp"
#include "model/numerics/f32.hpp"

namespace mx::golden {
namespace {

constexpr std::uint32_t kInfinity = 0x7F800000U;
constexpr std::uint32_t kLargest = 0x7F7FFFFFU;
constexpr std::string_view kLast = "C added last";
constexpr std::string_view kFirst = "C added first";
constexpr std::string_view kLaneByLane = "each chain of a block added to the sum before by itself";
constexpr std::string_view kBehindGroups = "C and the sums before added behind each group";

/// +-0, the least number, 1, the largest, infinity; quiet and signalling NaN.
constexpr std::array<std::uint32_t, 13> kSpecials{0x00000000U, 0x80000000U, f32::kOne,   0xBF800000U, 0x00000001U, 0x80000001U, kLargest,
                                                  0xFF7FFFFFU, kInfinity,   0xFF800000U, 0x7FC00000U, 0xFFC00001U, 0x7F800001U};

bool is_zero(std::uint32_t f32) { return (f32 & ~f32::kSign) == 0; }
bool is_infinity(std::uint32_t f32) { return (f32 & ~f32::kSign) == kInfinity; }

/// fp32 bits of +-2^exponent; exponents beyond fp32's become its ends.
std::uint32_t power(int exponent, bool negative) {
  const int field = std::clamp(exponent + 127, 1, 254);
  const std::uint32_t magnitude = exponent < -126 ? 1U << std::max(exponent + 149, 0) : static_cast<std::uint32_t>(field) << 23U;
  return magnitude | (negative ? f32::kSign : 0U);
}

/// Exponent of the leading bit of a number.
int exponent_of(std::uint32_t f32) { return top_exponent(decode(kF32, f32)); }

/// The row whose chains are as long as `length` products, each added to the total.
ContractRow with_chains(ContractRow row, int length) {
  row.restart = length;
  return row;
}

std::uint32_t added_last(const DotSubject& subject, Lanes operands) {
  const ContractRow& row = row_of(subject.contract);
  const std::uint32_t sum = f32::add(dot_without_c(subject, row, operands), operands.back());
  return f32::is_nan(sum) ? row.nan : sum;
}

std::uint32_t behind_groups(const DotSubject& subject, Lanes operands) {
  const ContractRow& row = row_of(subject.contract);
  return dot_of(subject, with_chains(row, row.group), operands);
}

/// Products in the first chain of a contract that restarts.
std::size_t first_chain(const ContractRow& row, const DotSides& sides) {
  if (row.restart > 0) return std::min(static_cast<std::size_t>(row.restart), sides.a.factors.size());
  std::size_t length = sides.a.factors.size();
  for (const PreparedOperand* side : {&sides.a, &sides.b}) {
    if (!side->scales.empty()) length = std::min(length, side->block);
  }
  return length;
}

/// The first factors alone, without scales.
PreparedOperand first_of(const PreparedOperand& side, std::size_t count) {
  return {.elements = count, .factors = {side.factors.begin(), side.factors.begin() + static_cast<std::ptrdiff_t>(count)}, .scales = {}, .block = 0};
}

/// The operand without its first factors, a chain or one product; of scales along k, one for each chain that is left.
PreparedOperand rest_of(const PreparedOperand& side, std::size_t count) {
  PreparedOperand rest{.elements = side.factors.size() - count,
                       .factors = {side.factors.begin() + static_cast<std::ptrdiff_t>(count), side.factors.end()},
                       .scales = {},
                       .block = count};
  for (std::size_t k = count; side.scales.size() > 1 && k < side.factors.size(); k += count) rest.scales.push_back(side.scales[k / side.block]);
  if (side.scales.size() == 1) rest.scales = side.scales;
  return rest;
}

/// Chains side by side: a sum of fused steps in several lanes.
bool has_chains_aside(const ContractRow& row) { return row.step == Step::fused && row.lanes > 1; }

/// The chain of one lane over so many products from `first` on.
std::uint32_t lane_chain(const ContractRow& row, const DotSides& sides, std::size_t first, std::size_t count, std::size_t lane, std::uint32_t start) {
  ContractRow alone = row;
  alone.lanes = 1;
  std::array<std::vector<Factor>, 2> factors;
  for (std::size_t k = first + lane; k < first + count; k += static_cast<std::size_t>(row.lanes)) {
    factors[0].push_back(sides.a.factors[k]);
    factors[1].push_back(sides.b.factors[k]);
  }
  return chain(alone, factors[0], factors[1], start, {});
}

std::uint32_t lane_by_lane(const DotSubject& subject, Lanes operands) {
  const ContractRow& row = row_of(subject.contract);
  const DotSides sides = prepared(subject, row, operands);
  const std::size_t all = sides.a.factors.size();
  const std::size_t block = row.restart > 0 ? static_cast<std::size_t>(row.restart) : all;
  std::uint32_t total = subject.c_of(operands).value_or(0);
  for (std::size_t first = 0; first < all; first += block) {
    for (std::size_t lane = 0; lane < static_cast<std::size_t>(row.lanes); ++lane)
      total = added(row, total, lane_chain(row, sides, first, std::min(block, all - first), lane, 0));
  }
  return finished(row, total, f32::kOne, f32::kOne, {});
}

/// The first block's sum where C is what its first lane begins with.
std::uint32_t from_first_lane(const ContractRow& row, const DotSides& sides, std::size_t count, std::uint32_t c) {
  std::uint32_t sum = lane_chain(row, sides, 0, count, 0, c);
  for (std::size_t lane = 1; lane < static_cast<std::size_t>(row.lanes); ++lane) sum = added(row, sum, lane_chain(row, sides, 0, count, lane, 0));
  return sum;
}

/// C starts the first chain and is scaled with it; without restarts, it and the first product are rounded to fp32 before the others are added.
std::uint32_t added_first(const DotSubject& subject, Lanes operands) {
  const ContractRow& row = row_of(subject.contract);
  if (row.restart == 0 && row.step == Step::fused) return dot_of(subject, row, operands);
  DotSides sides = prepared(subject, row, operands);
  std::uint32_t start = operands.back();
  if (row.restart == 0) {
    ExactSum sum;
    sum.add_product(sides.a.factors.front().value, sides.b.factors.front().value);
    sum.add(decode(kF32, start));
    start = sum.to_f32();
    for (PreparedOperand* side : {&sides.a, &sides.b}) {
      // A group keeps its places; an exact sum would take a zero for an addend, whose sign counts.
      if (row.step == Step::exact)
        side->factors.erase(side->factors.begin());
      else
        side->factors.front() = Factor{Value{}, side->factors.front().nominal_exponent, 0};
    }
    return dot(row, sides.a, sides.b, {.c = start, .bias = {}});
  }
  const std::size_t length = first_chain(row, sides);
  ContractRow alone = with_chains(row, 0);
  alone.scales = ScaleEntry::operand;
  start = has_chains_aside(row) ? from_first_lane(row, sides, length, start)
                                : dot(alone, first_of(sides.a, length), first_of(sides.b, length), {.c = start, .bias = {}});
  const std::uint32_t scale_a = sides.a.scales.empty() ? f32::kOne : sides.a.scales.front();
  const std::uint32_t scale_b = sides.b.scales.empty() ? f32::kOne : sides.b.scales.front();
  if (row.scales == ScaleEntry::chain_product) start = f32::fma(start, f32::mul(scale_a, scale_b), 0);
  if (row.scales == ScaleEntry::chain_one_by_one) start = f32::fma(f32::mul(start, scale_a), scale_b, 0);
  if (row.scales == ScaleEntry::chain_b_first) start = f32::fma(f32::mul(start, scale_b), scale_a, 0);
  if (length == sides.a.factors.size() && row.restart == kScaleBlock) return start;
  return dot(row, rest_of(sides.a, length), rest_of(sides.b, length), {.c = start, .bias = {}});
}

std::uint32_t in_format(std::uint32_t f32, const Format& format) { return to_f32(decode(format, narrowed(row_of(Contract::exact), f32, format))); }

/// The rule that the device follows with another C.
WrongRule with_c(FaultClass cls, std::string name, const DotSubject& subject, std::uint32_t (*change)(std::uint32_t c)) {
  return {cls, std::move(name), [subject, change](Lanes operands, Lanes, MutableLanes answer) {
            std::vector<std::uint32_t> other(operands.begin(), operands.end());
            other.back() = change(other.back());
            answer[0] = dot_of(subject, row_of(subject.contract), other);
          }};
}

}  // namespace

std::vector<std::string> operand_c_bins() {
  return {"NaN",
          "+ infinity",
          "- infinity",
          "+ zero beside a sum of zero",
          "- zero beside a sum of zero",
          "zero beside another sum",
          "a number beside a sum of zero",
          "decides alone, far above the sum",
          "is lost, far below the sum",
          "cancels the sum",
          "cancels in part",
          "does not cancel"};
}

std::uint8_t operand_c_bin(std::uint32_t c, std::uint32_t result, std::uint32_t without_c) {
  const bool is_negative = (c & f32::kSign) != 0;
  if (f32::is_nan(c)) return 1;
  if (is_infinity(c)) return is_negative ? 3 : 2;
  if (f32::is_nan(without_c) || is_infinity(without_c)) return 0;
  if (is_zero(c)) return !is_zero(without_c) ? 6 : is_negative ? 5 : 4;
  if (is_zero(without_c)) return 7;
  if (result == c) return 8;
  if (result == without_c) return 9;
  if (is_zero(result)) return 10;
  return ((c ^ without_c) & f32::kSign) != 0 ? 11 : 12;
}

std::vector<OperandCRival> operand_c_rivals(const DotSubject& subject) {
  const ContractRow& row = row_of(subject.contract);
  std::vector<OperandCRival> rivals;
  if (has_chains_aside(row)) rivals.push_back({std::string(kLaneByLane), lane_by_lane});
  if (!subject.has_c) return rivals;
  rivals.push_back({std::string(kLast), added_last});
  rivals.push_back({std::string(kFirst), added_first});
  if (row.step == Step::aligned && row.restart == 0) rivals.push_back({std::string(kBehindGroups), behind_groups});
  return rivals;
}

std::string why_same_place(const DotSubject& subject, const OperandCRival& rival) {
  const ContractRow& row = row_of(subject.contract);
  const bool one_block = static_cast<int>(subject.length) <= row.restart;
  if (rival.name == kLaneByLane && one_block && !subject.has_c) return "one block holds all products, and there is no operand C";
  if (rival.name == kFirst && row.restart == 0 && row.step == Step::fused) return "the contract's own chain begins so";
  const std::string why = why_short(subject);
  return rival.name == kLast && subject.contract == Contract::exact && !why.empty() ? why + ", and C is added once" : "";
}

std::vector<WrongRule> operand_c_rules(const DotSubject& subject) {
  std::vector<WrongRule> rules;
  for (const OperandCRival& rival : operand_c_rivals(subject)) {
    rules.push_back({FaultClass::rounding, rival.name,
                     [rival, subject](Lanes operands, Lanes, MutableLanes answer) { answer[0] = rival.sum(subject, operands); }});
  }
  if (!subject.has_c) return rules;
  rules.push_back({FaultClass::value, "C is left out", [subject](Lanes operands, Lanes, MutableLanes answer) {
                     answer[0] = dot_without_c(subject, row_of(subject.contract), operands);
                   }});
  rules.push_back(with_c(FaultClass::sign, "C with the other sign", subject, [](std::uint32_t c) { return c ^ f32::kSign; }));
  rules.push_back(with_c(FaultClass::rounding, "C is rounded to bf16 first", subject, [](std::uint32_t c) { return in_format(c, kBf16); }));
  rules.push_back(with_c(FaultClass::rounding, "C is rounded to fp16 first", subject, [](std::uint32_t c) { return in_format(c, kFp16); }));
  rules.push_back(
      with_c(FaultClass::subnormal, "a subnormal C is flushed", subject, [](std::uint32_t c) { return (c & kInfinity) == 0 ? c & f32::kSign : c; }));
  return rules;
}

std::uint32_t c_beside(std::uint32_t sum, std::size_t turn) {
  if (is_zero(sum) || is_infinity(sum) || f32::is_nan(sum)) return kSpecials[turn % kSpecials.size()];
  const std::uint32_t other = sum ^ f32::kSign;
  const int exponent = exponent_of(sum);
  const bool negative = turn / 17 % 2 == 1;
  switch (turn % 17) {
    case 0: return other;
    case 1: return is_infinity(other + 1) ? other : other + 1;
    case 2: return other - 1;
    case 3: return power(exponent + 24, negative);
    case 4: return power(exponent + 25, negative) + 1;
    case 5: return power(exponent - 23, negative);
    case 6: return power(exponent - 24, negative);
    case 7: return power(exponent - 24, !negative) + 1;
    case 8: return power(exponent - 25, negative);
    case 9: return power(exponent - 26, negative) + 0x5A5A5U;
    case 10: return power(exponent + 13, negative) + 0x123457U;
    case 11: return power(exponent + 7, !negative) + 1;
    case 12: return power(exponent, negative);
    case 13: return power(exponent - 12, !negative) + 0x2AAAABU;
    case 14: return 0x00000001U | (negative ? f32::kSign : 0U);
    case 15: return negative ? f32::kSign : 0U;
    default: return kLargest | (negative ? f32::kSign : 0U);
  }
}

std::uint32_t random_c(std::uint32_t sum, support::SplitMix64& random) {
  constexpr std::uint64_t kDistances = 65;
  const std::uint64_t word = random.next();
  if (word % 16U == 0) return c_beside(sum, static_cast<std::size_t>(word >> 8U) % 256U);
  const bool is_number = !is_zero(sum) && !is_infinity(sum) && !f32::is_nan(sum);
  const int exponent = (is_number ? exponent_of(sum) : 0) + static_cast<int>((word >> 8U) % kDistances) - static_cast<int>(kDistances / 2);
  return power(exponent, (word & 0x80U) != 0) | (static_cast<std::uint32_t>(word >> 32U) & 0x7FFFFFU);
}

namespace {

/// Every special C beside no product, products of -0, one product, and two that cancel.
void specials(DotPatterns& patterns) {
  const std::size_t n = patterns.length();
  for (const std::uint32_t c : kSpecials) {
    for (int pattern = 0; pattern < 4; ++pattern) {
      patterns.clear();
      patterns.set_c(c);
      for (std::size_t k = 0; pattern == 1 && k < n; ++k) {
        patterns.place(k, 0, true);
        (patterns.element(false).has_sign ? patterns.b() : patterns.a())[k] = 0;
      }
      if (pattern >= 2) patterns.place(0, 0, pattern == 2);
      if (pattern == 3) patterns.place(n - 1, 0, true);
      patterns.give();
    }
  }
}

/// A large number, the same with the other sign, and a small one at every distance below: C is each of them in turn.
void places(DotPatterns& patterns) {
  constexpr int kFarthest = 40;
  const std::size_t n = patterns.length();
  bool negative = false;
  std::size_t at = 0;
  for (int below = 0; below <= kFarthest; ++below) {
    const std::size_t next = (at + std::max<std::size_t>(n / 2, 1)) % n;
    const int large = patterns.top();
    const int small = std::max(patterns.bottom(), large - below);
    patterns.clear();
    patterns.set_c(power(large, negative));
    patterns.place(at, large, !negative);
    patterns.place(next, small, false);
    patterns.give();
    patterns.clear();
    patterns.set_c(power(large - below, negative));
    patterns.place(at, large, negative);
    patterns.place(next, large, !negative);
    patterns.give();
    // Products that are lost one by one in a C far above them, and that together are not.
    patterns.clear();
    patterns.set_c(power(patterns.bottom() + below, negative) | 1U);
    for (std::size_t k = 0; k < n; ++k) patterns.place(k, patterns.bottom() + static_cast<int>(k % 3), negative);
    patterns.give();
    negative = !negative;
    at = (at + 5) % n;
  }
}

/// A sum half way between two of fp32's subnormals: it goes to the even one, with C and without.
void tiny_ties(DotPatterns& patterns) {
  constexpr int kHalf = -150;
  for (const bool of_b : {false, true}) {
    if (patterns.scale(of_b) == nullptr || patterns.scale(of_b)->encoding != Encoding::exponent_only) return;
  }
  for (const std::uint32_t c : {0x00000001U, 0x80000001U, 0x00000002U, 0x00800001U}) {
    for (const bool negative : {false, true}) {
      patterns.clear();
      for (const bool of_b : {false, true})
        std::ranges::fill(patterns.scales(of_b), static_cast<std::uint32_t>(patterns.scale(of_b)->bias + kHalf / 2));
      patterns.set_c(c);
      patterns.place(patterns.length() / 2, 0, negative);
      patterns.give();
    }
  }
}

}  // namespace

void deciding_operand_c(const DotSubject& subject, const std::function<void(Lanes operands)>& sink) {
  DotPatterns patterns(subject, sink);
  specials(patterns);
  if (subject.length > 1) places(patterns);
  tiny_ties(patterns);
}

}  // namespace mx::golden
