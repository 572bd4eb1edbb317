#include "model/numerics/block_composition.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "model/error.hpp"
#include "model/numerics/block.hpp"
#include "model/numerics/element_step.hpp"
#include "model/numerics/f32.hpp"
#include "model/numerics/rounding.hpp"

namespace mx {
namespace {

constexpr std::uint32_t kSix = 0x40C00000, kOneAndHalf = 0x3FC00000, kHalf = 0x3F000000;
constexpr std::uint32_t kLargest = 0x7F7FFFFF, kLargestBf16 = 0x7F7F0000;

constexpr Conversion saturating(Rounding rounding) { return {rounding, Overflow::saturate, NanRule::fixed, 0x7F, 0xFF, 0, false}; }

std::uint32_t magnitude(std::uint32_t bits) { return bits & ~f32::kSign; }

std::uint32_t rounded(std::uint32_t bits, const Format& format) {
  constexpr Conversion kNearest{Rounding::nearest_even, Overflow::ieee, NanRule::fixed, 0x7FC0, 0xFFC0, 0, false};
  return to_f32(convert(bits, kF32, format, kNearest), format);
}

std::uint32_t capped(std::uint32_t bits, std::uint32_t most) { return f32::less(most, bits) ? most : bits; }

/// The largest of the numbers.
std::uint32_t largest_number(std::span<const std::uint32_t> x) {
  std::uint32_t amax = 0;
  for (const std::uint32_t bits : x) {
    if (!f32::is_nan(bits) && f32::less(amax, magnitude(bits))) amax = magnitude(bits);
  }
  return amax;
}

std::uint32_t encode_scale(const BlockComposition& how) {
  if (!how.tensor_amax) return f32::kOne;
  const std::uint32_t most = f32::mul(kSix, how.largest_scale);
  const std::uint32_t enc = capped(f32::div(most, *how.tensor_amax), how.factor_in_bf16 ? kLargestBf16 : kLargest);
  return magnitude(enc) == 0 || magnitude(*how.tensor_amax) == 0 ? f32::kOne : enc;
}

std::uint32_t wrapped_log2(std::uint32_t amax, const BlockComposition& how) {
  if (amax == 0) return 0;
  constexpr std::uint32_t kByte = 0xFF;
  return static_cast<std::uint32_t>(floor_of(f32::log2(amax)) - max_exponent(*how.element) + how.scale->bias) & kByte;
}

std::uint32_t nearest_log2_code(std::uint32_t amax, const BlockComposition& how) {
  const std::uint32_t quotient = f32::div(amax, to_f32(max_finite_code(*how.element), *how.element));
  if (quotient == 0) return 0;
  return convert(quotient, kF32, *how.scale, saturating(Rounding::nearest_log2_away));
}

/// ggml's float to UE4M3, with what it does below the least normal number and from 248 on.
std::uint32_t ggml_ue4m3(std::uint32_t x) {
  constexpr std::uint32_t k512 = 0x44000000, kLeastNormal = 0x3C800000, k248 = 0x43780000;
  constexpr int kMostSubnormal = 7;
  constexpr std::uint32_t kTop = 0x7E;
  if (!f32::less(0, x)) return 0;
  if (f32::less(x, kLeastNormal)) return static_cast<std::uint32_t>(std::min(floor_of(f32::add(f32::mul(x, k512), kHalf)), kMostSubnormal));
  if (!f32::less(x, k248)) return kTop;
  return convert(x, kF32, kUe4m3, saturating(Rounding::nearest_away));
}

std::uint32_t into_scale(std::uint32_t wanted, const BlockComposition& how) {
  return convert(wanted, kF32, *how.scale, saturating(Rounding::nearest_even));
}

std::uint32_t scale_code(std::uint32_t amax, std::uint32_t enc, const BlockComposition& how) {
  switch (how.scale_step) {
    case ScaleStep::floor_log2_wrapping: return wrapped_log2(amax, how);
    case ScaleStep::nearest_log2: return nearest_log2_code(amax, how);
    case ScaleStep::ggml_ue4m3: return ggml_ue4m3(f32::div(amax, kSix));
    case ScaleStep::product: return into_scale(f32::mul(amax, f32::mul(enc, f32::div(f32::kOne, kSix))), how);
    case ScaleStep::quotient:
    case ScaleStep::two_candidates: break;
  }
  return into_scale(f32::mul(f32::div(amax, kSix), enc), how);
}

std::uint32_t factor_of(std::uint32_t s, std::uint32_t enc, const BlockComposition& how) {
  if (magnitude(s) == 0) return how.factor_in_bf16 ? rounded(capped(how.factor_of_zero, kLargestBf16), kBf16) : how.factor_of_zero;
  const std::uint32_t factor = how.factor == FactorStep::reciprocal_of_product ? f32::div(f32::kOne, f32::mul(s, f32::div(f32::kOne, enc)))
                                                                               : f32::div(how.factor == FactorStep::reciprocal ? f32::kOne : enc, s);
  const std::uint32_t most = capped(factor, how.factor_in_bf16 ? std::min(how.largest_factor, kLargestBf16) : how.largest_factor);
  return how.factor_in_bf16 ? rounded(most, kBf16) : most;
}

/// Exactly: whether |x| is above the middle of two neighbouring codes times the scale.
bool is_above_middle(const Value& x, std::uint32_t code, const Format& element, const Value& scale) {
  const Value low = decode(element, code), high = decode(element, code + 1);
  // Both numbers and their sum are multiples of the grid's smallest unit: the sum of two fp32 numbers of so few bits is exact.
  const Value middle = decode(kF32, f32::mul(kHalf, f32::add(to_f32(low), to_f32(high))));
  const Value bound = exact_product(middle, scale);
  return rounding::exceeds(x, bound);
}

/// The code whose value times the scale is nearest, ties toward zero; a NaN and whatever becomes zero give code 0.
std::uint32_t nearest_code(std::uint32_t bits, const Format& element, const Value& scale) {
  const Value x = decode(kF32, bits);
  if (x.cls == ValueClass::nan || x.cls == ValueClass::zero || scale.cls != ValueClass::finite) return 0;
  std::uint32_t code = 0;
  const std::uint32_t last = max_finite_code(element);
  while (code < last && (x.cls == ValueClass::infinity || is_above_middle(x, code, element, scale))) ++code;
  return code == 0 || !x.negative ? code : code | (1U << (element.width - 1));
}

Value scale_value(std::uint32_t code, const BlockComposition& how) {
  // A byte that wrapped stands for its power of two, 0xFF for 2^128.
  if (how.scale->encoding == Encoding::exponent_only)
    return {.significand = 1, .exponent = static_cast<int>(code) - how.scale->bias, .cls = ValueClass::finite, .negative = false};
  return decode(*how.scale, code);
}

std::uint32_t product_code(std::uint32_t x, std::uint32_t factor, const BlockComposition& how) {
  return convert(f32::mul(x, factor), kF32, *how.element, how.encode);
}

std::vector<std::uint32_t> codes_of(std::span<const std::uint32_t> x, std::uint32_t scale, std::uint32_t enc, const BlockComposition& how) {
  std::vector<std::uint32_t> codes;
  codes.reserve(x.size());
  if (how.factor == FactorStep::none) {
    for (const std::uint32_t bits : x) codes.push_back(nearest_code(bits, *how.element, scale_value(scale, how)));
    return codes;
  }
  const std::uint32_t factor = factor_of(to_f32(scale_value(scale, how)), enc, how);
  for (const std::uint32_t bits : x) codes.push_back(product_code(bits, factor, how));
  return codes;
}

/// The error of one row of a candidate, in fp32, its elements in order.
std::uint32_t row_error(std::span<const std::uint32_t> x, std::span<const std::uint32_t> codes, std::uint32_t scale, std::uint32_t enc,
                        const BlockComposition& how) {
  const std::uint32_t s = to_f32(scale, *how.scale), most = f32::mul(kSix, how.largest_scale);
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::uint32_t decoded = f32::mul(to_f32(codes[i], *how.element), s);
    const std::uint32_t d = how.error.scaled_fp16 ? f32::sub(rounded(decoded, kFp16), f32::mul(x[i], enc))
                                                  : f32::sub(f32::div(f32::mul(decoded, how.tensor_amax.value_or(f32::kOne)), most), x[i]);
    sum = f32::add(sum, how.error.squared ? f32::mul(d, d) : magnitude(d));
  }
  return sum;
}

/// Of all rows, added pairwise: 8 and 8, then 4, 2, 1.
std::uint32_t error_of(std::span<const std::uint32_t> x, const ComposedBlock& made, std::uint32_t enc, const BlockComposition& how,
                       std::size_t rows) {
  const auto block = static_cast<std::size_t>(how.block);
  std::vector<std::uint32_t> sums;
  for (std::size_t row = 0; row < rows; ++row)
    sums.push_back(row_error(x.subspan(row * block, block), std::span(made.codes).subspan(row * block, block), made.scale, enc, how));
  for (std::size_t half = rows / 2; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) sums[i] = f32::add(sums[i], sums[i + half]);
  }
  return sums[0];
}

ComposedBlock candidate(std::span<const std::uint32_t> x, std::uint32_t wanted, std::uint32_t enc, const BlockComposition& how) {
  const std::uint32_t scale = into_scale(wanted, how);
  return {scale, codes_of(x, scale, enc, how)};
}

}  // namespace

ComposedBlock quantize_composed(std::span<const std::uint32_t> x, const BlockComposition& how, std::size_t rows) {
  const auto block = static_cast<std::size_t>(how.block);
  if (rows == 0 || x.size() != rows * block || (how.scale_step == ScaleStep::two_candidates && !std::has_single_bit(rows))) {
    throw Error(ErrorCode::usage, std::to_string(x.size()) + " elements are no " + std::to_string(rows) + " rows of " + std::to_string(block));
  }
  const std::uint32_t amax = largest_number(x), enc = encode_scale(how);
  if (how.scale_step != ScaleStep::two_candidates) {
    const std::uint32_t scale = scale_code(amax, enc, how);
    return {scale, codes_of(x, scale, enc, how)};
  }
  const std::uint32_t base = f32::mul(f32::div(amax, kSix), enc);
  ComposedBlock six = candidate(x, base, enc, how), four = candidate(x, f32::mul(base, kOneAndHalf), enc, how);
  return f32::less(error_of(x, four, enc, how, rows), error_of(x, six, enc, how, rows)) ? four : six;
}

}  // namespace mx
