// The group step of tensor and matrix cores that align terms to the largest of them and cut off what lies below.

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>

#include "model/fault.hpp"
#include "model/numerics/chain.hpp"
#include "model/numerics/convert.hpp"
#include "model/numerics/f32.hpp"

namespace mx {
namespace {

using fault::Fault;
using fault::planted;

__extension__ using Int128 = __int128;
__extension__ using Uint128 = unsigned __int128;

/// Below every exponent of a product of two fp32 numbers.
constexpr std::int32_t kNoExponent = -1000;
/// Beyond any shift that leaves a bit, and a shift that Int128 has.
constexpr int kAllBits = 126;

/// One term of a group: a product, a few products summed exactly, or the sum before. Its number is significand * 2^unit.
struct Term {
  Int128 significand = 0;
  int unit = 0;
  ValueClass cls = ValueClass::zero;
  bool negative = false;
  std::int32_t exponent = kNoExponent;  ///< what it is aligned by; kNoExponent: it does not count
};

int bits_of(Int128 number) {
  const auto magnitude = static_cast<Uint128>(number < 0 ? -number : number);
  const auto high = static_cast<std::uint64_t>(magnitude >> 64);
  return static_cast<int>(high != 0 ? 64 + std::bit_width(high) : std::bit_width(static_cast<std::uint64_t>(magnitude)));
}

/// number / 2^shift, a whole number. Shifts of nothing and less multiply.
Int128 cut(Int128 number, int shift, Loss loss) {
  if (shift <= 0) return number << -shift;
  const bool negative = number < 0;
  const Int128 magnitude = negative ? -number : number;
  const Int128 whole = shift > kAllBits ? 0 : magnitude >> shift;
  const Int128 rest = shift > kAllBits ? magnitude : magnitude - (whole << shift);
  bool up = false;
  switch (loss) {
    case Loss::toward_zero: up = planted(Fault::aligned_rounds) && shift <= kAllBits && ((magnitude >> (shift - 1)) & 1) != 0; break;
    case Loss::floor: up = negative && rest != 0; break;
    case Loss::nearest_even: {
      if (shift > kAllBits) break;
      const Int128 half = Int128{1} << (shift - 1);
      up = rest > half || (rest == half && (whole & 1) != 0);
      break;
    }
    case Loss::odd: up = rest != 0 && (whole & 1) == 0; break;
  }
  const Int128 result = whole + (up ? 1 : 0);
  return negative ? -result : result;
}

Int128 in_units(const Term& term, int unit, Loss loss) { return term.cls == ValueClass::finite ? cut(term.significand, unit - term.unit, loss) : 0; }

Term term_of(const Value& value, std::int32_t exponent) {
  const auto magnitude = static_cast<Int128>(value.significand);
  return {value.negative ? -magnitude : magnitude, value.exponent, value.cls, value.negative, exponent};
}

Term product_of(const ContractRow& row, const Factor& a, const Factor& b) {
  Value value = rounded_product(row, exact_product(a.value, b.value));
  if (row.product_limit != 0 && value.cls == ValueClass::finite &&
      value.exponent + static_cast<int>(std::bit_width(value.significand)) > row.product_limit)
    value = {.significand = 0, .exponent = 0, .cls = ValueClass::infinity, .negative = value.negative};
  const std::int32_t nominal = a.nominal_exponent + b.nominal_exponent;
  const bool carried = planted(Fault::product_normalized) && value.exponent + static_cast<int>(std::bit_width(value.significand)) - 1 > nominal;
  const bool counts = value.cls == ValueClass::finite || planted(Fault::zero_product_counts);
  return term_of(value, !counts ? row.zero_exponent : carried ? nominal + 1 : nominal);
}

/// Neighbouring products, summed exactly. One that cancels keeps the exponent of its products.
Term presum_of(const ContractRow& row, std::span<const Factor> a, std::span<const Factor> b) {
  Term sum = product_of(row, a[0], b[0]);
  for (std::size_t i = 1; i < a.size(); ++i) {
    const Term next = product_of(row, a[i], b[i]);
    sum.exponent = std::max(sum.exponent, next.exponent);
    const bool opposite = sum.cls == ValueClass::infinity && next.cls == ValueClass::infinity && sum.negative != next.negative;
    if (sum.cls == ValueClass::nan || next.cls == ValueClass::nan || opposite) {
      sum.cls = ValueClass::nan;
    } else if (sum.cls == ValueClass::infinity || next.cls == ValueClass::infinity) {
      sum = sum.cls == ValueClass::infinity ? sum : next;
    } else if (next.cls == ValueClass::finite) {
      const int unit = sum.cls == ValueClass::finite ? std::min(sum.unit, next.unit) : next.unit;
      const Int128 before = sum.cls == ValueClass::finite ? cut(sum.significand, unit - sum.unit, Loss::toward_zero) : 0;
      sum = {before + cut(next.significand, unit - next.unit, Loss::toward_zero), unit, ValueClass::finite, false, sum.exponent};
    }
  }
  return sum;
}

Term sum_before(const ContractRow& row, std::uint32_t f32, const Format& format) {
  const Value value = decode(kF32, f32);
  return term_of(value, value.cls == ValueClass::finite ? nominal_exponent(value, format) : row.zero_exponent);
}

/// The result when a term is NaN or infinite.
std::uint32_t special_sum(std::span<const Term> terms) {
  const auto has_infinity = [&](bool negative) {
    return std::ranges::any_of(terms, [=](const Term& term) { return term.cls == ValueClass::infinity && term.negative == negative; });
  };
  const bool has_nan = std::ranges::any_of(terms, [](const Term& term) { return term.cls == ValueClass::nan; });
  if (has_nan || (has_infinity(false) && has_infinity(true))) return f32::kNan;
  return to_f32(Value{.significand = 0, .exponent = 0, .cls = ValueClass::infinity, .negative = has_infinity(true)});
}

/// A number that is to become a result: significand * 2^unit.
struct Sum {
  Int128 significand = 0;
  int unit = 0;
};

/// fp32 bits of the sum, rounded as the row says to its kept bits and to the result's subnormals.
std::uint32_t rounded(const ContractRow& row, Sum sum, bool only_negative_zeros) {
  const auto zero = [](bool negative) { return negative ? f32::kSign : 0U; };
  if (sum.significand == 0) return zero(only_negative_zeros && row.zero_sign == SumZero::ieee);
  const bool negative = sum.significand < 0;
  const int kept = row.kept_bits - (planted(Fault::kept_off_by_one) ? 1 : 0);
  const int least = 1 - row.result->bias - (kept - 1);
  const int unit = std::max({sum.unit, sum.unit + bits_of(sum.significand) - kept, least});
  const Int128 significand = cut(sum.significand, unit - sum.unit, row.result_loss);
  if (significand == 0) return zero(negative && row.zero_sign != SumZero::plus);
  if (unit + bits_of(significand) - 1 > max_exponent(*row.result)) {
    const Value largest = decode(*row.result, max_finite_code(*row.result));
    const ValueClass cls = row.overflow_is_largest ? ValueClass::finite : ValueClass::infinity;
    return to_f32(Value{.significand = largest.significand, .exponent = largest.exponent, .cls = cls, .negative = negative});
  }
  const auto magnitude = static_cast<std::uint64_t>(negative ? -significand : significand);
  return to_f32(Value{.significand = magnitude, .exponent = unit, .cls = ValueClass::finite, .negative = negative});
}

/// The products' sum, whose unit lies alignment_bits below `largest`, and the sum before.
std::uint32_t joined(const ContractRow& row, Sum products, std::int32_t largest, const Term& before) {
  const std::int32_t of_before = before.cls == ValueClass::finite ? before.exponent : 1 - row.result->bias;
  const std::int32_t top = std::max(largest, of_before);
  const Join& join = row.join;
  const int unit = top - std::max(join.sum_bits, join.addend_bits);
  const Int128 sum = cut(products.significand, top - join.sum_bits - products.unit, Loss::floor) << (top - join.sum_bits - unit);
  const bool in_reach = join.addend_reach == 0 || of_before >= top - join.addend_reach || planted(Fault::join_forgets_reach);
  const Int128 addend = in_reach ? in_units(before, top - join.addend_bits, Loss::floor) << (top - join.addend_bits - unit) : 0;
  Sum total{sum + addend, unit};
  if (total.significand == 0) return rounded(row, total, false);
  const int exponent = std::max(total.unit + bits_of(total.significand) - 1, 1 - row.result->bias);
  const int last = std::max(total.unit, exponent - join.normal_bits);
  total = {cut(total.significand, last - total.unit, Loss::floor), last};
  return rounded(row, total, false);
}

}  // namespace

std::int32_t nominal_exponent(const Value& value, const Format& format) {
  // E8M0 has no subnormals: its code 0 stands for 2^-127.
  const std::int32_t least = format.encoding == Encoding::exponent_only ? -format.bias : 1 - format.bias;
  if (value.cls != ValueClass::finite) return least;
  const std::int32_t exponent = value.exponent + static_cast<std::int32_t>(std::bit_width(value.significand)) - 1;
  return std::max(exponent, least);
}

std::uint32_t aligned_sum(const ContractRow& row, std::span<const Factor> a, std::span<const Factor> b, std::uint32_t c, const Format& c_format) {
  const auto run = static_cast<std::size_t>(row.presum);
  const std::size_t count = (a.size() + run - 1) / run;
  assert(count <= kLargestGroup);
  std::array<Term, kLargestGroup + 1> storage;
  storage[0] = sum_before(row, c, c_format);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t length = std::min(run, a.size() - i * run);
    storage[i + 1] = presum_of(row, a.subspan(i * run, length), b.subspan(i * run, length));
  }
  const std::span<const Term> terms = std::span(storage).first(count + 1);
  const auto is_special = [](const Term& term) { return term.cls == ValueClass::nan || term.cls == ValueClass::infinity; };
  if (std::ranges::any_of(terms, is_special)) return special_sum(terms);

  const bool joins = row.addend_place == AddendPlace::joined;
  const auto lanes = static_cast<std::size_t>(planted(Fault::lanes_align_together) ? 1 : row.lanes);
  const auto exponent_of = [&](std::span<const Term> some, std::size_t lane) {
    std::int32_t largest = kNoExponent;
    for (std::size_t i = lane; i < some.size(); i += lanes) largest = std::max(largest, some[i].exponent);
    if (largest == kNoExponent) return largest;
    largest = std::max(largest, row.least_exponent);
    return planted(Fault::alignment_has_floor) ? std::max(largest, 0) : largest;
  };
  const std::span<const Term> aligned = joins ? terms.subspan(1) : terms;
  std::int32_t largest = kNoExponent;
  for (std::size_t lane = 0; lane < lanes; ++lane) largest = std::max(largest, exponent_of(aligned, lane));
  const int below = row.alignment_bits - (planted(Fault::alignment_off_by_one) ? 1 : 0);
  Sum sum{0, largest - below};
  for (std::size_t lane = 0; lane < lanes && largest != kNoExponent; ++lane) {
    const std::int32_t of_lane = exponent_of(aligned, lane);
    Int128 lane_sum = 0;
    for (std::size_t i = lane; i < aligned.size(); i += lanes) lane_sum += in_units(aligned[i], of_lane - below, row.alignment_loss);
    if (of_lane != kNoExponent) sum.significand += cut(lane_sum, largest - of_lane, Loss::floor);
  }
  if (joins) return joined(row, sum, largest, terms[0]);
  const bool only_negative_zeros = std::ranges::all_of(terms, [](const Term& term) { return term.cls == ValueClass::zero && term.negative; });
  return rounded(row, sum, only_negative_zeros);
}

}  // namespace mx
