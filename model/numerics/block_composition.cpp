#include "model/numerics/block_composition.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <vector>

#include "model/error.hpp"
#include "model/numerics/f32.hpp"
#include "model/numerics/rounding.hpp"
#include "model/numerics/rows.hpp"

namespace mx {
namespace {

constexpr std::uint32_t kSix = 0x40C00000, kOneAndHalf = 0x3FC00000, kHalf = 0x3F000000;
constexpr std::uint32_t kLargest = 0x7F7FFFFF, kLargestBf16 = 0x7F7F0000, kInf = 0x7F800000;

constexpr Conversion saturating(Rounding rounding) { return {rounding, Overflow::saturate, NanRule::fixed, 0x7F, 0xFF, 0, false}; }

std::uint32_t magnitude(std::uint32_t bits) { return bits & ~f32::kSign; }

std::uint32_t rounded(std::uint32_t bits, const Format& format) {
  constexpr Conversion kNearest{Rounding::nearest_even, Overflow::ieee, NanRule::fixed, 0x7FC0, 0xFFC0, 0, false};
  return to_f32(convert(bits, kF32, format, kNearest), format);
}

std::uint32_t capped(std::uint32_t bits, std::uint32_t most) { return f32::less(most, bits) ? most : bits; }

constexpr std::array kSteps{rows::Word<ScaleStep>{ScaleStep::floor_log2_wrapping, "floor-log2-wrapping"},
                            rows::Word<ScaleStep>{ScaleStep::nearest_log2, "nearest-log2"},
                            rows::Word<ScaleStep>{ScaleStep::quotient, "quotient"},
                            rows::Word<ScaleStep>{ScaleStep::product, "product"},
                            rows::Word<ScaleStep>{ScaleStep::two_candidates, "two-candidates"},
                            rows::Word<ScaleStep>{ScaleStep::ggml_ue4m3, "ggml-ue4m3"}};

/// A quantizer with its formats and the tensor's encode scale.
struct Steps {
  const BlockFormat& format;
  const BlockComposition& how;
  std::uint32_t enc;
};

/// The largest of the numbers.
std::uint32_t largest_number(std::span<const std::uint32_t> x) {
  std::uint32_t amax = 0;
  for (const std::uint32_t bits : x) {
    if (!f32::is_nan(bits) && f32::less(amax, magnitude(bits))) amax = magnitude(bits);
  }
  return amax;
}

std::uint32_t encode_scale(const BlockComposition& how, const TensorScale& tensor) {
  if (!how.tensor_amax) return tensor.encode.value_or(f32::kOne);
  const std::uint32_t most = f32::mul(kSix, how.largest_scale);
  const std::uint32_t enc = capped(f32::div(most, *how.tensor_amax), how.factor_in_bf16 ? kLargestBf16 : kLargest);
  return magnitude(enc) == 0 || magnitude(*how.tensor_amax) == 0 ? f32::kOne : enc;
}

std::uint32_t wrapped_log2(std::uint32_t amax, const BlockFormat& how) {
  if (amax == 0) return 0;
  constexpr std::uint32_t kByte = 0xFF;
  return static_cast<std::uint32_t>(floor_of(f32::log2(amax)) - max_exponent(*how.element) + how.scale->bias) & kByte;
}

std::uint32_t nearest_log2_code(std::uint32_t amax, const BlockFormat& how) {
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

std::uint32_t into_scale(std::uint32_t wanted, const BlockFormat& how) {
  return convert(wanted, kF32, *how.scale, saturating(Rounding::nearest_even));
}

std::uint32_t scale_code(std::uint32_t amax, const Steps& steps) {
  switch (steps.how.scale_step) {
    case ScaleStep::floor_log2_wrapping: return wrapped_log2(amax, steps.format);
    case ScaleStep::nearest_log2: return nearest_log2_code(amax, steps.format);
    case ScaleStep::ggml_ue4m3: return ggml_ue4m3(f32::div(amax, kSix));
    case ScaleStep::product: return into_scale(f32::mul(amax, f32::mul(steps.enc, f32::div(f32::kOne, kSix))), steps.format);
    case ScaleStep::quotient:
    case ScaleStep::two_candidates: break;
  }
  return into_scale(f32::mul(f32::div(amax, kSix), steps.enc), steps.format);
}

std::uint32_t factor_of(std::uint32_t s, const Steps& steps) {
  const BlockComposition& how = steps.how;
  if (magnitude(s) == 0) return how.factor_in_bf16 ? rounded(capped(how.factor_of_zero, kLargestBf16), kBf16) : how.factor_of_zero;
  const std::uint32_t factor = how.factor == FactorStep::reciprocal_of_product
                                   ? f32::div(f32::kOne, f32::mul(s, f32::div(f32::kOne, steps.enc)))
                                   : f32::div(how.factor == FactorStep::reciprocal ? f32::kOne : steps.enc, s);
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

/// What the nearest code makes of x, as a rounding of x over the scale.
Flags flags_of_nearest(const Value& x, std::uint32_t code, const Format& element, const Value& scale) {
  const Value held = exact_product(decode(element, code & magnitude_mask(element)), scale);
  Flags flags;
  flags.invalid = x.cls == ValueClass::nan;
  if (x.cls == ValueClass::nan || x.cls == ValueClass::zero || scale.cls != ValueClass::finite) return flags;
  const std::uint32_t top = max_finite_code(element);
  flags.inexact = x.cls == ValueClass::infinity || rounding::exceeds(x, held) || rounding::exceeds(held, x);
  // Above the largest number by half a step and more.
  flags.overflow = x.cls == ValueClass::infinity;
  if (!flags.overflow && (code & magnitude_mask(element)) == top) {
    const Value half = decode(kF32, f32::mul(kHalf, f32::sub(to_f32(top, element), to_f32(top - 1U, element))));
    const Value end = decode(kF32, f32::add(to_f32(top, element), to_f32(half)));
    flags.overflow = rounding::exceeds(x, exact_product(end, scale));
  }
  const Value least{.significand = 1, .exponent = rounding::min_exponent(element), .cls = ValueClass::finite, .negative = false};
  flags.underflow = flags.inexact && rounding::exceeds(exact_product(least, scale), x);
  return flags;
}

/// The code whose value times the scale is nearest, ties toward zero; a NaN and whatever becomes zero give code 0.
std::uint32_t nearest_code(std::uint32_t bits, const Format& element, const Value& scale, Flags& flags) {
  const Value x = decode(kF32, bits);
  std::uint32_t code = 0;
  if (x.cls != ValueClass::nan && x.cls != ValueClass::zero && scale.cls == ValueClass::finite) {
    const std::uint32_t last = max_finite_code(element);
    while (code < last && (x.cls == ValueClass::infinity || is_above_middle(x, code, element, scale))) ++code;
  }
  flags = flags_of_nearest(x, code, element, scale);
  return code == 0 || !x.negative ? code : code | (1U << (element.width - 1));
}

Value scale_value(std::uint32_t code, const Format& scale) {
  // A byte that wrapped stands for its power of two, 0xFF for 2^128.
  if (scale.encoding == Encoding::exponent_only)
    return {.significand = 1, .exponent = static_cast<int>(code) - scale.bias, .cls = ValueClass::finite, .negative = false};
  return decode(scale, code);
}

QuantizedBlock with_scale(std::span<const std::uint32_t> x, std::uint32_t scale, const Steps& steps) {
  const Format& element = *steps.format.element;
  const Value s = scale_value(scale, *steps.format.scale);
  const bool searches = steps.how.factor == FactorStep::none;
  const std::uint32_t factor = searches ? 0 : factor_of(to_f32(s), steps);
  QuantizedBlock block{scale, {}, {}};
  for (const std::uint32_t bits : x) {
    Flags flags;
    block.codes.push_back(searches ? nearest_code(bits, element, s, flags) : convert(f32::mul(bits, factor), kF32, element, steps.how.encode, flags));
    block.flags.push_back(flags);
  }
  return block;
}

/// The error of one row of a candidate, in fp32, its elements in order.
std::uint32_t row_error(std::span<const std::uint32_t> x, std::span<const std::uint32_t> codes, std::uint32_t scale, const Steps& steps) {
  const BlockComposition& how = steps.how;
  const std::uint32_t s = to_f32(scale, *steps.format.scale), most = f32::mul(kSix, how.largest_scale);
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::uint32_t decoded = f32::mul(to_f32(codes[i], *steps.format.element), s);
    const std::uint32_t d = how.error.scaled_fp16 ? f32::sub(rounded(decoded, kFp16), f32::mul(x[i], steps.enc))
                                                  : f32::sub(f32::div(f32::mul(decoded, how.tensor_amax.value_or(f32::kOne)), most), x[i]);
    sum = f32::add(sum, how.error.squared ? f32::mul(d, d) : magnitude(d));
  }
  return sum;
}

/// Of all rows, added pairwise: 8 and 8, then 4, 2, 1.
std::uint32_t error_of(std::span<const std::uint32_t> x, const QuantizedBlock& made, const Steps& steps) {
  const auto rows = static_cast<std::size_t>(steps.format.block_rows), columns = x.size() / rows;
  std::vector<std::uint32_t> sums;
  for (std::size_t row = 0; row < rows; ++row)
    sums.push_back(row_error(x.subspan(row * columns, columns), std::span(made.codes).subspan(row * columns, columns), made.scale, steps));
  for (std::size_t half = rows / 2; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) sums[i] = f32::add(sums[i], sums[i + half]);
  }
  return sums[0];
}

void check_tensor(const BlockFormat& format, const BlockComposition& how, const TensorScale& tensor) {
  const bool takes = how.takes_encode && !how.tensor_amax, candidates = how.scale_step == ScaleStep::two_candidates;
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorCode::usage, "scale rule '" + std::string(name_of(how.scale_step)) + "' of " + std::string(format.name) + " " + why);
  };
  if (tensor.encode && !takes) refuse("takes no encode scale of the tensor");
  if (tensor.decode) refuse("takes no decode scale of the tensor");
  if (tensor.amax_bound) refuse("takes no bound on amax");
  if (takes && !tensor.encode) refuse("needs the encode scale of the tensor, or its largest magnitude among the rules: tensor-amax=41000000");
  if (candidates && !how.tensor_amax) refuse("needs the tensor's largest magnitude among the rules: tensor-amax=41000000");
  if (candidates && !std::has_single_bit(static_cast<unsigned>(format.block_rows)))
    refuse("adds the errors of rows pairwise: " + std::to_string(format.block_rows) + " rows are no power of two");
  if (tensor.encode && (*tensor.encode == 0 || *tensor.encode >= kInf))
    refuse("has an encode scale of fp32 bits " + f32::text(*tensor.encode) + ", which are no positive finite number");
}

}  // namespace

std::string_view name_of(ScaleStep step) { return rows::word_of<ScaleStep>(kSteps, step); }

TensorNeeds tensor_needs(const BlockComposition& how) { return {.encode = how.takes_encode && !how.tensor_amax}; }

BlockScaling block_scaling(std::uint32_t amax_f32, const Format&, const BlockFormat& format, const BlockComposition& how, const TensorScale& tensor) {
  check_tensor(format, how, tensor);
  if (how.scale_step == ScaleStep::two_candidates)
    throw Error(ErrorCode::usage, "scale rule 'two-candidates' looks at the elements, and has no scale of a largest magnitude alone");
  const Steps steps{format, how, encode_scale(how, tensor)};
  const std::uint32_t amax = f32::is_nan(amax_f32) ? 0 : magnitude(amax_f32), scale = scale_code(amax, steps);
  const std::uint32_t s = to_f32(scale_value(scale, *format.scale));
  return {scale, how.factor == FactorStep::none ? s : factor_of(s, steps)};
}

QuantizedBlock quantize(std::span<const std::uint32_t> x, const Format& source, const BlockFormat& format, const BlockComposition& how,
                        const TensorScale& tensor) {
  check_tensor(format, how, tensor);
  const std::vector<std::uint32_t> f32 = widened(x, source, how.sources, format.name);
  const Steps steps{format, how, encode_scale(how, tensor)};
  const std::uint32_t amax = largest_number(f32);
  if (how.scale_step != ScaleStep::two_candidates) return with_scale(f32, scale_code(amax, steps), steps);
  const std::uint32_t base = f32::mul(f32::div(amax, kSix), steps.enc);
  QuantizedBlock six = with_scale(f32, into_scale(base, format), steps);
  QuantizedBlock four = with_scale(f32, into_scale(f32::mul(base, kOneAndHalf), format), steps);
  return f32::less(error_of(f32, four, steps), error_of(f32, six, steps)) ? four : six;
}

}  // namespace mx
