#include "model/numerics/element_step.hpp"

#include <algorithm>
#include <string>

#include "model/error.hpp"
#include "model/fault.hpp"
#include "model/numerics/device.hpp"
#include "model/numerics/f32.hpp"

namespace mx {
namespace {

using fault::Fault;
using fault::planted;

constexpr std::uint32_t kInfinity = 0x7F800000U;
constexpr std::uint32_t kSmallestNormal = 0x00800000U;

std::uint32_t nan_of(std::uint32_t x, std::uint32_t factor, NanSign rule) {
  const auto own = [](std::uint32_t nan) { return (nan & f32::kSign) | f32::kNan; };
  switch (planted(Fault::element_nan_positive) ? NanSign::positive : rule) {
    case NanSign::positive: return f32::kNan;
    case NanSign::element_first: return f32::is_nan(x) ? own(x) : f32::is_nan(factor) ? own(factor) : f32::kSign | f32::kNan;
    case NanSign::factor_first: break;
  }
  return f32::is_nan(factor) ? own(factor) : f32::is_nan(x) ? own(x) : f32::kSign | f32::kNan;
}

std::uint32_t quotient_or_product(ElementOperation operation, std::uint32_t operand, std::uint32_t factor) {
  if (operation == ElementOperation::divide_full) return device::div_full(operand, factor);
  return operation == ElementOperation::divide ? f32::div(operand, factor) : f32::mul(operand, factor);
}

std::uint32_t fp32_result(std::uint32_t x, std::uint32_t factor, const ElementStep& step) {
  const std::uint32_t operand = step.flush_subnormals ? flushed(x) : x;
  const std::uint32_t result = quotient_or_product(step.operation, operand, factor);
  if (f32::is_nan(result)) return nan_of(x, factor, step.nan_sign);
  return step.flush_subnormals ? flushed(result) : result;
}

/// x * factor without rounding; a NaN factor or element gives a positive NaN.
Value exact_result(std::uint32_t x, std::uint32_t factor) {
  Value value = decode(kF32, x);
  const Value by = decode(kF32, factor);
  if (by.cls == ValueClass::nan || value.cls == ValueClass::nan) return {.significand = 0, .exponent = 0, .cls = ValueClass::nan};
  if (value.cls == ValueClass::finite) {
    value.significand *= by.significand;
    value.exponent += by.exponent;
  }
  return value;
}

/// fp32 bits of half of the format's smallest positive value.
std::uint32_t half_of_smallest(const Format& format) {
  Value half = decode(format, 1);
  --half.exponent;
  return to_f32(half);
}

/// A quotient just below 2^e whose logarithm is e in fp32: the largest multiple below 2^e of the unit that the binade of 2^e has. Others as they are.
std::uint32_t truncated_by_log2(std::uint32_t quotient, const Format& format) {
  const std::uint32_t magnitude = quotient & ~f32::kSign;
  if (format.encoding != Encoding::floating || magnitude < kSmallestNormal || magnitude >= kInfinity) return quotient;
  const int above = static_cast<int>(magnitude >> kF32.mantissa_bits) - kF32.bias + 1;
  const int smallest = 1 - format.bias;  // below it the unit no longer changes
  if (above <= smallest || floor_of(f32::log2(magnitude)) != above) return quotient;
  const std::uint32_t power = static_cast<std::uint32_t>(above + kF32.bias) << kF32.mantissa_bits;
  return (quotient & f32::kSign) | (power - (1U << (kF32.mantissa_bits + 1 - format.mantissa_bits)));
}

}  // namespace

std::uint32_t flushed(std::uint32_t f32) { return (f32 & ~f32::kSign) < kSmallestNormal ? f32 & f32::kSign : f32; }

int floor_of(std::uint32_t f32) {
  const Value value = decode(kF32, f32);
  if (value.cls == ValueClass::zero) return 0;
  const int shift = std::min(-value.exponent, 63);
  const auto whole = static_cast<int>(value.significand >> shift);
  const bool fraction = (value.significand & ((std::uint64_t{1} << shift) - 1U)) != 0;
  return value.negative ? -whole - (fraction ? 1 : 0) : whole;
}

std::uint32_t largest_magnitude(std::span<const std::uint32_t> f32, AmaxNan nans) {
  std::uint32_t amax = 0;
  std::size_t nan_count = 0;
  for (std::uint32_t bits : f32) {
    const std::uint32_t magnitude = bits & ~f32::kSign;
    nan_count += magnitude > kInfinity ? 1 : 0;
    if (magnitude <= kInfinity) amax = std::max(amax, magnitude);
  }
  const bool is_nan = nans == AmaxNan::propagates ? nan_count > 0 && !planted(Fault::amax_ignores_nan) : nan_count == f32.size();
  return is_nan ? f32::kNan : amax;
}

bool holds(const Sources& sources, const Format& source) {
  return (source == kF32 && sources.f32) || (source == kBf16 && sources.bf16) || (source == kFp16 && sources.fp16);
}

std::vector<std::uint32_t> widened(std::span<const std::uint32_t> x, const Format& source, const Sources& taken, std::string_view block_format) {
  if (!holds(taken, source)) {
    std::string message = "this recipe for " + std::string(block_format) + " does not take " + std::string(source.name) + " elements; it takes";
    if (taken.f32) message += " f32";
    if (taken.bf16) message += " bf16";
    if (taken.fp16) message += " fp16";
    throw Error(ErrorCode::usage, message);
  }
  std::vector<std::uint32_t> f32;
  f32.reserve(x.size());
  for (std::uint32_t bits : x) f32.push_back(source == kF32 ? bits : to_f32(bits, source));
  return f32;
}

void require_no_tensor_scale(const TensorScale& tensor, std::string_view block_format) {
  const std::string name(block_format);
  if (tensor.encode || tensor.decode) throw Error(ErrorCode::usage, name + " takes no scale of the tensor");
  if (tensor.amax_bound) throw Error(ErrorCode::usage, name + " takes no bound on amax");
}

namespace {

/// What a quotient of 0 is encoded as.
std::uint32_t zero_quotient(std::uint32_t quotient, ZeroSign zeros) {
  if (zeros == ZeroSign::lost_before_rounding) return 0;
  return zeros == ZeroSign::negative_before_rounding ? f32::kSign : quotient;
}

}  // namespace

std::uint32_t held_in(const Format& type, std::uint32_t f32) {
  if (type == kF32 || f32::is_nan(f32)) return f32;
  constexpr Conversion kNearest{Rounding::nearest_even, Overflow::ieee, NanRule::fixed, 0, 0, 0, false};
  return to_f32(convert(f32, kF32, type, kNearest), type);
}

std::uint32_t encode_element(std::uint32_t x, std::uint32_t factor, const Format& format, const ElementStep& step, const Format& source,
                             Flags& flags) {
  if (step.operation == ElementOperation::exact) return encode(exact_result(x, factor), format, step.encode, flags);
  std::uint32_t quotient = fp32_result(x, factor, step);
  // A NaN loses its sign in a bf16 variable, as recorded of each implementation that has such variables.
  if (step.in_source_type) quotient = source == kBf16 && f32::is_nan(quotient) ? f32::kNan : held_in(source, quotient);
  const ZeroSign zeros = planted(Fault::element_keeps_zero_sign) ? ZeroSign::kept : step.zero_sign;
  if ((quotient & ~f32::kSign) == 0) quotient = zero_quotient(quotient, zeros);
  if (step.half_is_added && !planted(Fault::element_half_not_added) && (quotient & ~f32::kSign) == half_of_smallest(format) - 1U) quotient += 2U;
  if (step.unit_by_log2 && !planted(Fault::element_unit_from_exponent)) quotient = truncated_by_log2(quotient, format);
  const std::uint32_t code = encode(decode(kF32, quotient), format, step.encode, flags);
  const bool negative_zero = zeros == ZeroSign::lost && decode(format, code).cls == ValueClass::zero;
  return negative_zero ? 0 : code;
}

std::uint32_t encode_element(std::uint32_t x, std::uint32_t factor, const Format& format, const ElementStep& step) {
  Flags flags;
  return encode_element(x, factor, format, step, kF32, flags);
}

}  // namespace mx
