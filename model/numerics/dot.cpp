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

bool is_total(ScaleEntry entry) { return entry == ScaleEntry::total_product || entry == ScaleEntry::total_one_by_one; }

/// The NaN of an IEEE format with the sign clear and only the top mantissa bit set.
std::uint32_t quiet_nan(const Format& format) { return (max_finite_code(format) + 1U) | (1U << (format.mantissa_bits - 1)); }

Conversion nearest(std::uint32_t nan) {
  return {.rounding = Rounding::nearest_even,
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

/// The value as the contract's multiplier sees it.
Value cast(const ContractRow& row, const Value& value) {
  if (row.cast == nullptr) return value;
  Flags flags;
  const Value rounded = decode(*row.cast, encode(value, *row.cast, nearest(quiet_nan(*row.cast)), flags));
  return row.flush ? flushed(rounded, *row.cast) : rounded;
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

void check_scales(const ContractRow& row, const Operand& operand) {
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

std::uint32_t total_with(const ContractRow& row, std::uint32_t total, std::uint32_t sum, std::uint32_t scale_a, std::uint32_t scale_b) {
  switch (row.scales) {
    case ScaleEntry::chain_product: return f32::fma(sum, f32::mul(scale_a, scale_b), total);
    case ScaleEntry::chain_one_by_one: return f32::fma(f32::mul(sum, scale_a), scale_b, total);
    default: break;
  }
  return planted(Fault::chain_replaces_total) ? sum : f32::add(total, sum);
}

/// The chains one after the other.
std::uint32_t restarted(const ContractRow& row, const PreparedOperand& a, const PreparedOperand& b, std::uint32_t c) {
  const std::size_t length = chain_length(row, a, b);
  std::uint32_t total = c;
  for (std::size_t first = 0; first < a.factors.size(); first += length) {
    const std::size_t count = std::min(length, a.factors.size() - first);
    const std::span<const Factor> factors_a = std::span(a.factors).subspan(first, count);
    const std::span<const Factor> factors_b = std::span(b.factors).subspan(first, count);
    if (planted(Fault::c_starts_chain)) {
      total = chain(row, factors_a, factors_b, total, {});
      continue;
    }
    total = total_with(row, total, chain(row, factors_a, factors_b, {}, {}), scale_at(row, a, first, length), scale_at(row, b, first, length));
  }
  return total;
}

std::uint32_t with_total_scales(const ContractRow& row, std::uint32_t total, const PreparedOperand& a, const PreparedOperand& b) {
  if (!is_total(row.scales)) return total;
  const std::uint32_t scale_a = a.scales.empty() ? f32::kOne : a.scales.front();
  const std::uint32_t scale_b = b.scales.empty() ? f32::kOne : b.scales.front();
  if (row.scales == ScaleEntry::total_product) return f32::mul(total, f32::mul(scale_a, scale_b));
  return f32::mul(f32::mul(total, scale_a), scale_b);
}

}  // namespace

PreparedOperand prepare(const ContractRow& row, Side side, const Operand& operand) {
  check_format(row, side, operand);
  check_scales(row, operand);
  const std::size_t period = row.order.size();
  const std::size_t count = operand.elements.size();
  const bool folded = row.scales == ScaleEntry::operand && !operand.scales.empty();
  PreparedOperand prepared{.elements = count, .factors = {}, .scales = {}, .block = static_cast<std::size_t>(operand.block)};
  for (std::size_t i = 0; i < (count + period - 1) / period * period; ++i) {
    const std::size_t place = planted(Fault::order_ascending) ? i % period : row.order[i % period];
    const std::size_t k = i / period * period + place;
    Value value = k < count ? operand.elements[k] : Value{};
    // NOLINTNEXTLINE(clang-analyzer-core.DivideZero): check_scales() refuses scales without a block.
    if (folded && k < count) value = exact_product(value, operand.scales[k / static_cast<std::size_t>(operand.block)]);
    prepared.factors.push_back(factor_of(row, operand, value));
  }
  if (row.scales == ScaleEntry::operand) return prepared;
  for (const Value& scale : operand.scales) prepared.scales.push_back(to_f32(scale));
  return prepared;
}

std::uint32_t dot(const ContractRow& row, const PreparedOperand& a, const PreparedOperand& b, const Addends& addends) {
  if (a.elements != b.elements) refuse(row, "a dot product of " + std::to_string(a.elements) + " by " + std::to_string(b.elements) + " elements");
  const std::optional<std::uint32_t> term = row.bias_in_sum ? addends.bias : std::nullopt;
  std::uint32_t total = row.restart == 0 ? chain(row, a.factors, b.factors, addends.c, term) : restarted(row, a, b, addends.c.value_or(0));
  total = with_total_scales(row, total, a, b);
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
