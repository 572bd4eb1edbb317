#include "model/numerics/dot.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "model/error.hpp"
#include "model/fault.hpp"
#include "model/numerics/chain.hpp"
#include "model/numerics/convert.hpp"
#include "model/numerics/f32.hpp"

namespace mx {
namespace {

using fault::Fault;
using fault::planted;

bool is_total(ScaleEntry entry) {
  return entry == ScaleEntry::total_product || entry == ScaleEntry::total_one_by_one || entry == ScaleEntry::total_b_first ||
         entry == ScaleEntry::total_product_plus_zero;
}

bool is_folded(ScaleEntry entry) { return entry == ScaleEntry::operand || entry == ScaleEntry::term; }

/// The NaN of an IEEE format with the sign clear and only the top mantissa bit set.
std::uint32_t quiet_nan(const Format& format) { return (max_finite_code(format) + 1U) | (1U << (format.mantissa_bits - 1)); }

Conversion nearest(std::uint32_t nan, Rounding rounding = Rounding::nearest_even) {
  return {.rounding = rounding,
          .overflow = Overflow::ieee,
          .nan_rule = NanRule::fixed,
          .nan_positive = nan,
          .nan_negative = nan,
          .zero_code = 0,
          .negative_is_nan = false};
}

Value flushed(const Value& value, const Format& format) {
  const bool subnormal = value.cls == ValueClass::finite && value.exponent + static_cast<int>(std::bit_width(value.significand)) <= 1 - format.bias;
  if (!subnormal || planted(Fault::flush_lost)) return value;
  return {.significand = 0, .exponent = 0, .cls = ValueClass::zero, .negative = value.negative};
}

/// Inf is no number to truncate: it stays what it is.
Value cut(const Value& value, const Format& format) {
  if (value.cls != ValueClass::finite) return value;
  Flags flags;
  return decode(format, encode(value, format, nearest(quiet_nan(format), Rounding::toward_zero), flags));
}

/// The value as the contract's multiplier sees it.
Value cast(const ContractRow& row, const Value& value) {
  if (row.cast == nullptr) return value;
  Flags flags;
  Value result = row.cast_cuts ? cut(value, *row.cast) : decode(*row.cast, encode(value, *row.cast, nearest(quiet_nan(*row.cast)), flags));
  if (row.flush) result = flushed(result, *row.cast);
  if (row.flush_to_plus && result.cls == ValueClass::zero) result.negative = false;
  return result;
}

Factor factor_of(const ContractRow& row, const Operand& operand, const Value& value) {
  Factor factor{cast(row, value), 0, 0};
  factor.f32 = to_f32(factor.value);
  const Format* format = row.cast != nullptr ? row.cast : operand.format;
  // NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): check_format() refuses an operand without a format.
  if (row.step == Step::aligned) factor.nominal_exponent = nominal_exponent(factor.value, *format);
  return factor;
}

[[noreturn]] void refuse(const ContractRow& row, const std::string& message) {
  throw Error(ErrorCode::usage, "contract " + std::string(row.name) + ": " + message);
}

void check_format(const ContractRow& row, Side side, const Operand& operand) {
  const std::span<const Format* const> accepted = side == Side::a ? row.a_formats : row.b_formats;
  const auto same = [&](const Format* format) { return operand.format != nullptr && *format == *operand.format; };
  if (accepted.empty() || std::ranges::any_of(accepted, same)) return;
  std::string names;
  for (const Format* format : accepted) names += (names.empty() ? "" : ", ") + std::string(format->name);
  refuse(row, "operand " + std::string(side == Side::a ? "a" : "b") + " is " +
                  (operand.format == nullptr ? "of no named format" : std::string(operand.format->name)) + ", it takes " + names);
}

/// Scales that multiply terms: of the format that the row names, or of one that has the same numbers and a sign that is not read.
void check_term_scales(const ContractRow& row, const Operand& operand) {
  const Format& needed = *row.scale_format;
  const std::string takes = "it takes " + std::string(needed.name) + ", one for each " + std::to_string(row.scale_block);
  if (operand.scales.empty()) refuse(row, "no scales, " + takes);
  const Format* given = operand.scale_format;
  if (given == nullptr) refuse(row, "scales of no named format, " + takes);
  const bool same = given->encoding == needed.encoding && given->exponent_bits == needed.exponent_bits && given->bias == needed.bias &&
                    given->mantissa_bits == needed.mantissa_bits && given->specials == needed.specials;
  if (!same || operand.block != row.scale_block)
    refuse(row, "scales of " + std::string(given->name) + " for " + std::to_string(operand.block) + " elements each, " + takes);
}

void check_scales(const ContractRow& row, const Operand& operand) {
  if (row.scales == ScaleEntry::term) check_term_scales(row, operand);
  if (operand.scales.empty()) return;
  const auto block = static_cast<std::size_t>(std::max(operand.block, 1));
  if (operand.block < 1 || operand.scales.size() != (operand.elements.size() + block - 1) / block) {
    refuse(row, std::to_string(operand.scales.size()) + " scales for " + std::to_string(operand.elements.size()) + " elements in blocks of " +
                    std::to_string(operand.block));
  }
  const bool one = operand.scales.size() == 1;
  if (is_total(row.scales) && !one) refuse(row, std::to_string(operand.scales.size()) + " scales along k, it takes one for all k");
  if (row.restart == kScaleBlock && !one && block % row.order.size() != 0) {
    refuse(row, "a scale block of " + std::to_string(operand.block) + " is not a multiple of " + std::to_string(row.order.size()));
  }
}

/// Products in each chain, of a contract that restarts.
std::size_t chain_length(const ContractRow& row, const PreparedOperand& a, const PreparedOperand& b) {
  const std::size_t all = std::max<std::size_t>(a.factors.size(), 1);
  if (row.restart == kScaleBlock) {
    if (a.scales.empty() && b.scales.empty()) refuse(row, "neither operand has scales, whose blocks its chains are");
    return std::min(a.scales.empty() ? all : a.block, b.scales.empty() ? all : b.block);
  }
  return static_cast<std::size_t>(row.restart) * (planted(Fault::restart_doubled) ? 2 : 1);
}

std::uint32_t scale_at(const ContractRow& row, const PreparedOperand& operand, std::size_t k, std::size_t length) {
  if (operand.scales.empty()) return f32::kOne;
  if (operand.scales.size() == 1 || planted(Fault::first_scale_serves_all)) return operand.scales.front();
  if (operand.block % length != 0)
    refuse(row, "a scale block of " + std::to_string(operand.block) + " is not made of chains of " + std::to_string(length));
  return operand.scales[k / operand.block];
}

/// A run of an operand's factors, which begins at a multiple of its chains.
struct Run {
  std::size_t first, count;
  std::span<const Factor> of(const PreparedOperand& operand) const { return std::span(operand.factors).subspan(first, count); }
};

/// The chains of a run one after the other.
std::uint32_t restarted(const ContractRow& row, const PreparedOperand& a, const PreparedOperand& b, Run all, std::uint32_t c) {
  const std::size_t length = chain_length(row, a, b);
  std::uint32_t total = c;
  for (std::size_t first = all.first; first < all.first + all.count; first += length) {
    const Run run{first, std::min(length, all.first + all.count - first)};
    if (planted(Fault::c_starts_chain)) {
      total = chain(row, run.of(a), run.of(b), total, {});
      continue;
    }
    total = entered(row, total, chain(row, run.of(a), run.of(b), {}, {}), scale_at(row, a, first, length), scale_at(row, b, first, length));
  }
  return total;
}

std::uint32_t sum_of(const ContractRow& row, const PreparedOperand& a, const PreparedOperand& b, Run run, std::optional<std::uint32_t> c,
                     std::optional<std::uint32_t> term) {
  if (row.restart != 0) return restarted(row, a, b, run, c.value_or(0));
  // An exact sum without C has one term less; the others begin with +0.
  const std::optional<std::uint32_t> start = row.step == Step::exact ? c : c.value_or(0U);
  return chain(row, run.of(a), run.of(b), start, term, c ? *row.addend : *row.result);
}

/// All of k: in one run, or in row.split parts of as many whole tiles each, whose sums are added in order. The last parts may be short or empty.
std::uint32_t total_of(const ContractRow& row, const PreparedOperand& a, const PreparedOperand& b, std::optional<std::uint32_t> c,
                       std::optional<std::uint32_t> term) {
  const std::size_t all = a.factors.size();
  if (row.split == 1) return sum_of(row, a, b, {0, all}, c, term);
  const auto tile = static_cast<std::size_t>(row.split_tile);
  const auto parts = static_cast<std::size_t>(row.split);
  const std::size_t tiles = (all + tile - 1) / tile;
  const std::size_t length = std::max<std::size_t>((tiles + parts - 1) / parts * tile, 1);
  std::uint32_t total = sum_of(row, a, b, {0, std::min(length, all)}, {}, {});
  for (std::size_t first = length; first < all; first += length)
    total = added(row, total, sum_of(row, a, b, {first, std::min(length, all - first)}, {}, {}));
  return total;
}

bool adds_c_last(const ContractRow& row) { return row.addend_place == AddendPlace::last || row.split > 1; }

std::uint32_t with_total_scales(const ContractRow& row, std::uint32_t total, std::uint32_t scale_a, std::uint32_t scale_b) {
  if (!is_total(row.scales)) return total;
  switch (row.scales) {
    case ScaleEntry::total_product: return f32::mul(total, f32::mul(scale_a, scale_b));
    case ScaleEntry::total_product_plus_zero: {
      const std::uint32_t product = f32::mul(scale_a, scale_b);
      return planted(Fault::total_zero_keeps_sign) ? f32::mul(total, product) : f32::fma(total, product, 0);
    }
    case ScaleEntry::total_b_first: return f32::mul(f32::mul(total, scale_b), scale_a);
    default: break;
  }
  return f32::mul(f32::mul(total, scale_a), scale_b);
}

/// The factor beside its scale, whose sign is not read.
void take_scale(const ContractRow& row, const Operand& operand, Factor& factor, Value scale) {
  scale.negative = false;
  const std::int32_t exponent = nominal_exponent(scale, *operand.scale_format);
  factor.value = exact_product(factor.value, scale);
  factor.f32 = to_f32(factor.value);
  const std::int32_t own = row.reference == Reference::scale ? 0 : factor.nominal_exponent;
  factor.nominal_exponent = planted(Fault::scale_exponent_forgotten) ? factor.nominal_exponent : own + exponent;
}

}  // namespace

PreparedOperand prepare(const ContractRow& row, Side side, const Operand& operand) {
  check_format(row, side, operand);
  check_scales(row, operand);
  const std::size_t period = row.order.size();
  const std::size_t count = operand.elements.size();
  const bool scaled = is_folded(row.scales) && !operand.scales.empty();
  PreparedOperand prepared{.elements = count, .factors = {}, .scales = {}, .block = static_cast<std::size_t>(operand.block)};
  for (std::size_t i = 0; i < (count + period - 1) / period * period; ++i) {
    const std::size_t place = planted(Fault::order_ascending) ? i % period : row.order[i % period];
    const std::size_t k = i / period * period + place;
    Value value = k < count ? operand.elements[k] : Value{};
    // NOLINTNEXTLINE(clang-analyzer-core.DivideZero): check_scales() refuses scales without a block.
    const Value scale = scaled && k < count ? operand.scales[k / static_cast<std::size_t>(operand.block)] : Value{};
    if (scaled && k < count && row.scales == ScaleEntry::operand) value = exact_product(value, scale);
    prepared.factors.push_back(factor_of(row, operand, value));
    if (scaled && k < count && row.scales == ScaleEntry::term) take_scale(row, operand, prepared.factors.back(), scale);
  }
  if (is_folded(row.scales)) return prepared;
  for (const Value& scale : operand.scales) prepared.scales.push_back(to_f32(scale));
  return prepared;
}

std::uint32_t dot(const ContractRow& row, const PreparedOperand& a, const PreparedOperand& b, const Addends& addends) {
  if (a.elements != b.elements) refuse(row, "a dot product of " + std::to_string(a.elements) + " by " + std::to_string(b.elements) + " elements");
  const std::optional<std::uint32_t> term = row.bias_in_sum ? addends.bias : std::nullopt;
  const std::uint32_t sum = total_of(row, a, b, adds_c_last(row) ? std::nullopt : addends.c, term);
  const auto scale_of = [](const PreparedOperand& operand) { return operand.scales.empty() ? f32::kOne : operand.scales.front(); };
  return finished(row, sum, scale_of(a), scale_of(b), addends);
}

std::uint32_t entered(const ContractRow& row, std::uint32_t total, std::uint32_t sum, std::uint32_t scale_a, std::uint32_t scale_b) {
  switch (row.scales) {
    case ScaleEntry::chain_product: return f32::fma(sum, f32::mul(scale_a, scale_b), total);
    case ScaleEntry::chain_one_by_one: return f32::fma(f32::mul(sum, scale_a), scale_b, total);
    case ScaleEntry::chain_b_first: return f32::fma(f32::mul(sum, scale_b), scale_a, total);
    default: break;
  }
  return planted(Fault::chain_replaces_total) ? sum : added(row, total, sum);
}

std::uint32_t finished(const ContractRow& row, std::uint32_t sum, std::uint32_t scale_a, std::uint32_t scale_b, const Addends& addends) {
  std::uint32_t total = adds_c_last(row) && addends.c ? added(row, sum, *addends.c) : sum;
  total = with_total_scales(row, total, scale_a, scale_b);
  if (addends.bias && !row.bias_in_sum) total = f32::add(total, *addends.bias);
  return f32::is_nan(total) ? row.nan : total;
}

std::uint32_t dot(const ContractRow& row, const Operand& a, const Operand& b, const Addends& addends) {
  const PreparedOperand prepared_a = prepare(row, Side::a, a);
  const PreparedOperand prepared_b = prepare(row, Side::b, b);
  return dot(row, prepared_a, prepared_b, addends);
}

std::uint32_t dot(Contract contract, std::span<const Value> a, std::span<const Value> b, std::uint32_t bias_f32) {
  return dot(row_of(contract), Operand{.elements = a}, Operand{.elements = b}, {.c = {}, .bias = bias_f32});
}

std::uint32_t narrowed(const ContractRow& row, std::uint32_t f32, const Format& format) {
  Flags flags;
  return encode(decode(kF32, f32), format, nearest(row.nan >> (kF32.width - format.width)), flags);
}

}  // namespace mx
