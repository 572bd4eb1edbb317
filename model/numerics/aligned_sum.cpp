// The group step of tensor cores that align products to the largest of them and truncate.

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

constexpr int kF32Unit = -149;
/// Below every exponent of a product of two fp32 numbers.
constexpr std::int32_t kNoExponent = -1000;
constexpr std::size_t kLargestGroup = 32;

/// One addend of a group: a product, or the sum before it.
struct Addend {
  Value value;
  std::int32_t nominal_exponent;
};

Addend addend_of(const Factor& a, const Factor& b) {
  const Value value = exact_product(a.value, b.value);
  const std::int32_t nominal = a.nominal_exponent + b.nominal_exponent;
  const bool counts = value.cls == ValueClass::finite || planted(Fault::zero_product_counts);
  const bool carried = planted(Fault::product_normalized) && value.exponent + static_cast<int>(std::bit_width(value.significand)) - 1 > nominal;
  return {value, !counts ? kNoExponent : carried ? nominal + 1 : nominal};
}

Addend sum_before(std::uint32_t f32) {
  const Value value = decode(kF32, f32);
  return {value, value.cls == ValueClass::finite ? nominal_exponent(value, kF32) : kNoExponent};
}

/// The addend in units of 2^unit, truncated toward zero; a planted fault rounds it.
std::int64_t in_units(const Value& value, int unit) {
  if (value.cls != ValueClass::finite) return 0;
  const int shift = value.exponent - unit;
  std::uint64_t magnitude = 0;
  if (shift >= 0) magnitude = value.significand << shift;
  if (shift < 0 && shift > -64) magnitude = value.significand >> -shift;
  if (planted(Fault::aligned_rounds) && shift < 0 && shift > -64) magnitude += (value.significand >> (-shift - 1)) & 1U;
  return value.negative ? -static_cast<std::int64_t>(magnitude) : static_cast<std::int64_t>(magnitude);
}

/// fp32 bits of sum * 2^unit, truncated toward zero to `kept` significant bits and to fp32's subnormals.
std::uint32_t truncated(std::int64_t sum, int unit, int kept) {
  if (sum == 0) return 0;
  const bool negative = sum < 0;
  auto magnitude = static_cast<std::uint64_t>(negative ? -sum : sum);
  const int dropped = std::max(static_cast<int>(std::bit_width(magnitude)) - kept, kF32Unit - unit);
  if (dropped >= 64) return 0;
  if (dropped > 0) magnitude = magnitude >> dropped << dropped;
  if (magnitude == 0) return 0;
  return to_f32(Value{.significand = magnitude, .exponent = unit, .cls = ValueClass::finite, .negative = negative});
}

/// The result when an addend is NaN or infinite.
std::uint32_t special_sum(std::span<const Addend> addends) {
  const auto has_infinity = [&](bool negative) {
    return std::ranges::any_of(addends,
                               [=](const Addend& addend) { return addend.value.cls == ValueClass::infinity && addend.value.negative == negative; });
  };
  const bool has_nan = std::ranges::any_of(addends, [](const Addend& addend) { return addend.value.cls == ValueClass::nan; });
  if (has_nan || (has_infinity(false) && has_infinity(true))) return f32::kNan;
  return to_f32(Value{.significand = 0, .exponent = 0, .cls = ValueClass::infinity, .negative = has_infinity(true)});
}

}  // namespace

std::int32_t nominal_exponent(const Value& value, const Format& format) {
  if (value.cls != ValueClass::finite) return 1 - format.bias;
  const std::int32_t exponent = value.exponent + static_cast<std::int32_t>(std::bit_width(value.significand)) - 1;
  return std::max(exponent, 1 - format.bias);
}

std::uint32_t aligned_sum(const ContractRow& row, std::span<const Factor> a, std::span<const Factor> b, std::uint32_t c) {
  assert(a.size() <= kLargestGroup);
  std::array<Addend, kLargestGroup + 1> storage;
  storage[0] = sum_before(c);
  for (std::size_t i = 0; i < a.size(); ++i) storage[i + 1] = addend_of(a[i], b[i]);
  const std::span<const Addend> addends = std::span(storage).first(a.size() + 1);
  const auto is_special = [](const Addend& addend) { return addend.value.cls == ValueClass::nan || addend.value.cls == ValueClass::infinity; };
  if (std::ranges::any_of(addends, is_special)) return special_sum(addends);

  std::int32_t largest = std::ranges::max(addends, {}, &Addend::nominal_exponent).nominal_exponent;
  if (largest == kNoExponent) return 0;
  largest = std::max(largest, row.least_exponent);
  if (planted(Fault::alignment_has_floor)) largest = std::max(largest, 0);
  const int unit = largest - row.alignment_bits + (planted(Fault::alignment_off_by_one) ? 1 : 0);
  std::int64_t sum = 0;
  for (const Addend& addend : addends) sum += in_units(addend.value, unit);
  return truncated(sum, unit, row.kept_bits - (planted(Fault::kept_off_by_one) ? 1 : 0));
}

}  // namespace mx
