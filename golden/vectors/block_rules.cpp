#include "golden/vectors/block_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include "model/numerics/f32.hpp"

namespace mx::golden {
namespace {

constexpr std::uint32_t kMagnitude = 0x7FFFFFFFU;
constexpr std::uint32_t kInfinity = 0x7F800000U;

/// A format that the largest value goes through before the scale is taken from it.
struct Through {
  const Format* format;
  Rounding rounding;
  std::string_view words;
  bool overflow_is_nan = false;  ///< what it cannot hold counts as NaN, else as Inf
};
constexpr std::array kThrough{Through{&kBf16, Rounding::nearest_even, "rounded"},
                              Through{&kFp16, Rounding::nearest_even, "rounded"},
                              Through{&kBf16, Rounding::nearest_even, "rounded", true},
                              Through{&kFp16, Rounding::nearest_even, "rounded", true},
                              Through{&kBf16, Rounding::toward_zero, "cut"},
                              Through{&kFp16, Rounding::toward_zero, "cut"}};

bool is_narrower(const Format& middle, const Format& source) { return middle.mantissa_bits < source.mantissa_bits; }

std::string name_of(const Through& row) {
  return fmt::format("the largest value is {} to {} first{}", row.words, row.format->name, row.overflow_is_nan ? ", overflow NaN" : "");
}

std::uint32_t through(std::uint32_t code, const Format& source, const Through& row) {
  constexpr Conversion kPlain{Rounding::nearest_even, Overflow::ieee, NanRule::fixed, 0x7FC00000U, 0xFFC00000U, 0, false};
  if (decode(source, code).cls != ValueClass::finite) return code;
  Conversion there = kPlain;
  there.rounding = row.rounding;
  const std::uint32_t narrow = convert(code, source, *row.format, there);
  if (row.overflow_is_nan && is_inf_code(*row.format, narrow)) return convert(0x7FC00000U, kF32, source, kPlain);
  return convert(narrow, *row.format, source, kPlain);
}

std::uint32_t magnitude_of(std::uint32_t code, const Format& source) { return code & ((1U << (source.width - 1)) - 1U); }

/// fp32 bits of a block, and of its largest magnitude under the recipe's bounds; nothing for a block with NaN or Inf, or of zeros alone.
struct Numbers {
  std::vector<std::uint32_t> x;
  std::uint32_t amax = 0;
};

std::uint32_t least_amax(const Recipe& recipe) {
  if (const auto* mx = std::get_if<MxRecipe>(&recipe.how)) return mx->scale.least_amax;
  if (const auto* group = std::get_if<GroupRecipe>(&recipe.how)) return group->amax_floor;
  if (const auto* fp8 = std::get_if<Fp8Recipe>(&recipe.how)) return fp8->least_amax;
  return 0;
}

std::optional<Numbers> numbers_of(Lanes block, const BlockSubject& subject) {
  Numbers numbers;
  for (const std::uint32_t code : block) {
    numbers.x.push_back(to_f32(code, *subject.source));
    numbers.amax = std::max(numbers.amax, numbers.x.back() & kMagnitude);
  }
  if (numbers.amax == 0 || numbers.amax >= kInfinity) return std::nullopt;
  numbers.amax = std::max(numbers.amax, least_amax(subject.recipe));
  return numbers;
}

/// x * most / amax with a sticky bit: exact for any rounding to fewer than 32 bits.
Value ratio(std::uint32_t x, std::uint32_t most, std::uint32_t amax) {
  const Value a = decode(kF32, x);
  const Value m = decode(kF32, most);
  const Value b = decode(kF32, amax & kMagnitude);
  if (a.cls == ValueClass::zero) return a;
  const int lift = 63 - static_cast<int>(std::bit_width(a.significand * m.significand));
  const std::uint64_t over = a.significand * m.significand << lift;
  const std::uint64_t sticky = over % b.significand != 0 ? 1U : 0U;
  return {over / b.significand << 1U | sticky, a.exponent + m.exponent - lift - b.exponent - 1, ValueClass::finite, a.negative};
}

/// Codes of x * largest / amax, whatever the scale became. A scale format that ends early clamps such a scale, and its codes too.
void codes_of_unrounded_scale(const BlockSubject& subject, Lanes operands, MutableLanes answer) {
  const auto size = static_cast<std::size_t>(subject.block);
  const std::optional<Numbers> numbers = numbers_of(operands.first(size), subject);
  if (!numbers) return;
  const Format& element = *subject.format->element;
  const std::uint32_t most = to_f32(max_finite_code(element), element);
  if (*subject.format->scale == kE4m3fn) {
    const std::uint32_t g = tensor_of(subject.needs, operands, size).encode.value_or(f32::kOne);
    const std::uint32_t wanted = f32::div(f32::mul(numbers->amax, g), most);
    if (answer[0] == 0 || f32::less(to_f32(max_finite_code(kE4m3fn), kE4m3fn), wanted)) return;
  }
  const Conversion& how = element_conversion(subject.recipe);
  for (std::size_t i = 0; i < size; ++i) {
    Flags flags;
    answer[1 + i] = encode(ratio(numbers->x[i], most, numbers->amax), element, how, flags);
  }
}

/// A reciprocal that overflows fp32, and what a device makes of the block then.
struct Reciprocal {
  std::string_view words;
  bool of_scale;    ///< 1 / scale, else largest / amax
  bool zero_scale;  ///< the scale is that of zero, else it stays
};
constexpr std::array kReciprocals{
    Reciprocal{"the reciprocal of the scale overflows: the scale is zero, codes are the largest", false, true},
    Reciprocal{"the reciprocal of the scale overflows: codes are the largest", false, false},
    Reciprocal{"the reciprocal of the rounded scale overflows: the scale is zero, codes are the largest", true, true},
    Reciprocal{"the reciprocal of the rounded scale overflows: codes are the largest", true, false},
};

/// fp32 bits of a scale code.
std::uint32_t scale_value(std::uint32_t code, const BlockSubject& subject) {
  return *subject.format->scale == kF32 ? code : to_f32(code, *subject.format->scale);
}

void overflowing_reciprocal(const Reciprocal& row, bool zeros_are_nan, const BlockSubject& subject, Lanes operands, MutableLanes answer) {
  const std::optional<Numbers> numbers = numbers_of(operands.first(answer.size() - 1), subject);
  if (!numbers) return;
  const Format& element = *subject.format->element;
  const std::uint32_t most = to_f32(max_finite_code(element), element);
  const std::uint32_t factor = row.of_scale ? f32::div(f32::kOne, scale_value(answer[0], subject)) : f32::div(most, numbers->amax);
  if (factor != kInfinity) return;
  const Conversion& how = element_conversion(subject.recipe);
  for (std::size_t i = 0; i < numbers->x.size(); ++i) {
    const bool is_zero = (numbers->x[i] & kMagnitude) == 0;
    const Value infinite{0, 0, ValueClass::infinity, numbers->x[i] >> 31U != 0};
    const Value zero{0, 0, zeros_are_nan ? ValueClass::nan : ValueClass::zero, infinite.negative};
    Flags flags;
    answer[1 + i] = encode(is_zero ? zero : infinite, element, how, flags);
  }
  if (row.zero_scale) answer[0] = 0;
}

/// Blocks that have a scale of their own, whatever their codes are.
enum class Special { nan, infinity, zeros };

bool is_special(Lanes block, const Format& source, Special kind) {
  const auto any = [&](ValueClass cls) { return std::ranges::any_of(block, [&](std::uint32_t code) { return decode(source, code).cls == cls; }); };
  if (kind == Special::nan) return any(ValueClass::nan);
  if (kind == Special::infinity) return any(ValueClass::infinity) && !any(ValueClass::nan);
  return std::ranges::all_of(block, [&](std::uint32_t code) { return magnitude_of(code, source) == 0; });
}

/// Such a block with another scale, its codes as they were.
void add_special_scales(const BlockSubject& subject, std::vector<WrongRule>& rules) {
  struct Row {
    FaultClass cls;
    std::string_view words;
    Special kind;
  };
  constexpr std::array kRows{Row{FaultClass::nan, "a block with a NaN", Special::nan},
                             Row{FaultClass::saturation, "a block with an infinity", Special::infinity},
                             Row{FaultClass::scale, "a block of zeros", Special::zeros}};
  const Format& scale = *subject.format->scale;
  constexpr Conversion kPlain{Rounding::nearest_even, Overflow::saturate, NanRule::fixed, 0, 0, 0, false};
  const std::uint32_t one = convert(f32::kOne, kF32, scale, kPlain);
  struct Code {
    std::string_view words;
    std::uint32_t code;
  };
  for (const Row& row : kRows) {
    for (const Code& to : {Code{"0", 0}, Code{"1", one}, Code{"the largest", max_finite_code(scale)}, Code{"NaN", max_finite_code(scale) + 1U}}) {
      if (to.words == "NaN" && !is_nan_code(scale, to.code)) continue;
      // The least power of two is what code 0 of E8M0 stands for.
      const std::string words = to.code == 0 && scale.encoding == Encoding::exponent_only ? "code 0" : std::string(to.words);
      rules.push_back({row.cls, fmt::format("the scale of {} is {}, its codes as they were", row.words, words),
                       [subject, kind = row.kind, code = to.code](Lanes operands, Lanes right, MutableLanes answer) {
                         std::ranges::copy(right, answer.begin());
                         if (is_special(operands.first(static_cast<std::size_t>(subject.block)), *subject.source, kind)) answer[0] = code;
                       }});
    }
  }
}

}  // namespace

std::vector<WrongRule> scale_step_rules(const BlockSubject& subject) {
  std::vector<WrongRule> rules;
  for (const Through& row : kThrough) {
    if (!is_narrower(*row.format, *subject.source)) continue;
    rules.push_back({FaultClass::scale, name_of(row), [row, subject](Lanes operands, Lanes, MutableLanes answer) {
                       std::vector<std::uint32_t> block(static_cast<std::size_t>(subject.block));
                       block[0] = through(operands[0], *subject.source, row);
                       answer[0] = block_scale(block, *subject.source, subject.recipe, tensor_of(subject.needs, operands, 1));
                     }});
  }
  return rules;
}

std::vector<WrongRule> block_step_rules(const BlockSubject& subject) {
  std::vector<WrongRule> rules;
  const auto size = static_cast<std::size_t>(subject.block);
  for (const Through& row : kThrough) {
    if (!is_narrower(*row.format, *subject.source)) continue;
    rules.push_back({FaultClass::scale, name_of(row), [row, subject, size](Lanes operands, Lanes, MutableLanes answer) {
                       std::vector<std::uint32_t> block(operands.begin(), operands.begin() + static_cast<std::ptrdiff_t>(size));
                       std::uint32_t largest = 0;
                       for (std::uint32_t code : block) largest = std::max(largest, magnitude_of(code, *subject.source));
                       for (std::uint32_t& code : block) {
                         if (magnitude_of(code, *subject.source) == largest) code = through(code, *subject.source, row);
                       }
                       const QuantizedBlock made = quantize_block(block, *subject.source, subject.recipe, tensor_of(subject.needs, operands, size));
                       answer[0] = made.scale;
                       std::ranges::copy(made.codes, answer.begin() + 1);
                     }});
  }
  rules.push_back({FaultClass::scale, "codes follow the scale before it was rounded", [subject](Lanes operands, Lanes right, MutableLanes answer) {
                     std::ranges::copy(right, answer.begin());
                     codes_of_unrounded_scale(subject, operands, answer);
                   }});
  add_special_scales(subject, rules);
  for (const Reciprocal& row : kReciprocals) {
    for (const bool zeros_are_nan : {false, true}) {
      rules.push_back({FaultClass::scale, fmt::format("{}{}", row.words, zeros_are_nan ? ", of zeros NaN" : ""),
                       [row, zeros_are_nan, subject](Lanes operands, Lanes right, MutableLanes answer) {
                         std::ranges::copy(right, answer.begin());
                         overflowing_reciprocal(row, zeros_are_nan, subject, operands, answer);
                       }});
    }
  }
  return rules;
}

}  // namespace mx::golden
