// Formats as words.

#include <algorithm>
#include <array>
#include <charconv>

#include "model/numerics/further_formats.hpp"
#include "model/numerics/rounding.hpp"
#include "model/numerics/rows.hpp"
#include "model/numerics/rule_words.hpp"

namespace mx {
namespace rules {
namespace {

constexpr std::array kNamed{&kE4m3fn, &kE5m2, &kE4m3fnuz, &kE5m2fnuz, &kE2m3,  &kE3m2, &kE2m1,     &kE8m0, &kUe4m3,
                            &kMxint8, &kBf16, &kFp16,     &kF32,      &kUe5m3, &kTf32, &kE4m3Ieee, &kE3m4, &kE4m3b11fnuz};

/// What the codes at the end of a format are.
struct SpecialsWord {
  std::string_view word;
  Specials specials;
};
constexpr std::array kSpecials{SpecialsWord{"ieee", Specials::ieee}, SpecialsWord{"fn", Specials::nan_all_ones},
                               SpecialsWord{"fnuz", Specials::nan_negative_zero}, SpecialsWord{"inf-top", Specials::inf_top},
                               SpecialsWord{"finite", Specials::none}};
constexpr std::string_view kNoZero = "no-zero";

bool is_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// "e4" of the letter e.
std::optional<int> counted(std::string_view& text, char letter) {
  if (text.empty() || (text.front() | 0x20) != letter) return std::nullopt;
  std::size_t end = 1;
  while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
  const std::string_view digits = text.substr(1, end - 1);
  constexpr std::size_t kMostDigits = 4;
  if (!is_digits(digits) || digits.size() > kMostDigits) return std::nullopt;
  int number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  text.remove_prefix(end);
  return number;
}

/// The widths that "e4m3", "ue4m3", "s2f6" say. Specials and bias follow.
struct Shape {
  Format format;
  bool says_specials;
};

std::optional<Shape> fixed_shape(std::string_view word) {
  const auto whole = counted(word, 's'), fraction = counted(word, 'f');
  if (!whole || !fraction || !word.empty()) return std::nullopt;
  return Shape{{"", Encoding::fixed_point, *whole + *fraction, 0, *fraction, 0, Specials::none, true, ""}, true};
}

std::optional<Shape> floating_shape(std::string_view word) {
  const char first = static_cast<char>(word.empty() ? 0 : word.front() | 0x20);
  if (first == 's' || first == 'u') word.remove_prefix(1);
  const auto exponent = counted(word, 'e'), mantissa = counted(word, 'm');
  if (!exponent || !mantissa || !word.empty()) return std::nullopt;
  const bool has_sign = first != 'u';
  const int bias = *exponent >= 1 && *exponent <= 16 ? (1 << (*exponent - 1)) - 1 : 0;
  return Shape{{"", Encoding::floating, (has_sign ? 1 : 0) + *exponent + *mantissa, *exponent, *mantissa, bias, Specials::none, has_sign, ""}, false};
}

/// P3109's name "binary8p3se": K bits, precision P, signed or not, finite or extended.
std::optional<Shape> p3109_shape(std::string_view word) {
  constexpr std::string_view kPrefix = "binary";
  if (word.size() < kPrefix.size() || !same_name(word.substr(0, kPrefix.size()), kPrefix)) return std::nullopt;
  const std::string digits = "k" + std::string(word.substr(kPrefix.size()));
  std::string_view rest = digits;
  const auto bits = counted(rest, 'k'), precision = counted(rest, 'p');
  constexpr std::size_t kLetters = 2;
  if (!bits || !precision || rest.size() != kLetters) return std::nullopt;
  const char sign = static_cast<char>(rest[0] | 0x20), domain = static_cast<char>(rest[1] | 0x20);
  const bool has_sign = sign == 's', extended = domain == 'e';
  const int exponent = *bits - *precision + (has_sign ? 0 : 1);
  if ((!has_sign && sign != 'u') || (!extended && domain != 'f') || exponent < 1 || exponent > 16 || *precision < 1) return std::nullopt;
  const Specials specials = extended ? Specials::inf_top : has_sign ? Specials::nan_negative_zero : Specials::nan_all_ones;
  return Shape{{"", Encoding::floating, *bits, exponent, *precision - 1, 1 << (exponent - 1), specials, has_sign, ""}, true};
}

std::optional<Shape> shape_of(std::string_view word) {
  if (const Format* named = find_named_format(word)) return Shape{*named, true};
  if (const auto p3109 = p3109_shape(word)) return p3109;
  const auto fixed = fixed_shape(word);
  return fixed ? fixed : floating_shape(word);
}

void check(std::string_view text, const Format& format, Range range) {
  const bool fixed = format.encoding == Encoding::fixed_point, powers = format.encoding == Encoding::exponent_only;
  const bool floats = !fixed && !powers;
  constexpr int kMostFixed = 16, kMostExponent = 16, kMostMantissa = 23, kMostWidth = 32;
  struct Rule {
    bool broken;
    std::string_view words;
  };
  const Rule rules[] = {
      {fixed && (format.width < 2 || format.width > kMostFixed || format.width - format.mantissa_bits < 1),
       "fixed point sIfF has I of 1 and more, and 2 to 16 bits in all"},
      {!fixed && (format.exponent_bits < 1 || format.exponent_bits > kMostExponent), "eEmM has E from 1 to 16, and to 8 of numbers of fp32"},
      {!fixed && format.mantissa_bits > kMostMantissa, "eEmM has M from 0 to 23"},
      {!fixed && (format.width < 2 || format.width > kMostWidth), "a code has 2 to 32 bits"},
      {floats && format.specials == Specials::ieee && (format.mantissa_bits < 1 || format.exponent_bits < 2),
       "ieee needs E of 2 and more, M of 1 and more: Inf and NaN are codes of the top exponent beside numbers"},
      {floats && format.specials == Specials::nan_negative_zero && !format.has_sign, "fnuz needs a sign: its NaN is the code of -0"},
      {powers && (format.has_sign || format.mantissa_bits != 0 || format.specials != Specials::nan_top_code),
       "no-zero is of powers of two alone, without sign, with one NaN: ue8m0,fn,no-zero"},
  };
  for (const Rule& rule : rules) {
    if (rule.broken) refuse(text, std::string(rule.words));
  }
  if (max_finite_code(format) == 0 || max_finite_code(format) > magnitude_mask(format)) refuse(text, "no code is a positive number");
  if (range == Range::of_f32 && !fits_f32(format))
    refuse(text,
           "it has numbers that fp32 does not hold, which encode and decode take alone: bias and E keep all of them from 2^-149 "
           "to below 2^128");
}

std::vector<std::string_view> known_words() {
  std::vector<std::string_view> known{"eEmM", "ueEmM", "sIfF", "binary8p3se"};
  for (const SpecialsWord& row : kSpecials) known.push_back(row.word);
  known.push_back(kNoZero);
  for (const Format* format : kNamed) known.push_back(format->name);
  return known;
}

/// Takes the words that are read out of the parts.
struct Words {
  std::optional<Specials> specials;
  std::optional<int> bias;
  bool no_zero = false;
};
Words taken_words(std::string_view text, std::vector<std::string_view>& parts) {
  Words words;
  const auto read = [&](std::string_view part) {
    if (const std::size_t equals = part.find('='); equals != std::string_view::npos) {
      if (!same_name(part.substr(0, equals), "bias")) return false;
      if (words.bias) refuse(text, "bias is said twice");
      constexpr int kFar = 1 << 16;
      words.bias = number_in(text, "bias", part.substr(equals + 1), -kFar, kFar);
      return true;
    }
    if (same_name(part, kNoZero)) {
      words.no_zero = true;
      return true;
    }
    const auto row = std::ranges::find_if(kSpecials, [&](const SpecialsWord& r) { return same_name(r.word, part); });
    if (row == kSpecials.end()) refuse_word(text, "word", part, known_words());
    if (words.specials && *words.specials != row->specials) refuse(text, "a format is one of ieee, fn, fnuz, inf-top, finite");
    words.specials = row->specials;
    return true;
  };
  std::erase_if(parts, read);
  return words;
}

}  // namespace

bool is_shape(std::string_view word) { return find_named_format(word) == nullptr && shape_of(word).has_value(); }

const Format* find_named_format(std::string_view name) {
  const std::string_view meant = same_name(name, "fp32") ? kF32.name : same_name(name, "e4m3") ? kE4m3fn.name : name;
  const auto found = std::ranges::find_if(kNamed, [&](const Format* format) { return same_name(format->name, meant); });
  return found == kNamed.end() ? nullptr : *found;
}

const Format* same_format(const Format& format) {
  const auto same = [&](const Format* named) {
    Format other = *named;
    other.name = format.name;
    other.source = format.source;
    return other == format;
  };
  const auto found = std::ranges::find_if(kNamed, same);
  return found == kNamed.end() ? nullptr : *found;
}

std::optional<Format> read_format(std::string_view text, std::vector<std::string_view>& parts, Range range) {
  const std::string_view first = parts.front();
  if (first.find('=') != std::string_view::npos) {
    // Rules alone: what is left are words with a value that is no bias.
    for (const std::string_view part : parts) {
      if (part.find('=') == std::string_view::npos) refuse(text, "the format is the first word: e4m3," + std::string(text));
      if (same_name(part.substr(0, part.find('=')), "bias")) refuse(text, "bias is of a format, which is the first word: e4m3,bias=7");
    }
    return std::nullopt;
  }
  const std::optional<Shape> shape = shape_of(first);
  if (!shape) refuse_word(text, "format", first, known_words());
  parts.erase(parts.begin());
  Format format = shape->format;
  const Words words = taken_words(text, parts);
  if (words.specials) format.specials = *words.specials;
  if (!words.specials && !shape->says_specials)
    refuse(text,
           printable(first) +
               " does not say what its last codes are: ieee (Inf and NaN), fn (one NaN), fnuz (NaN for -0), inf-top (Inf the largest code), finite");
  if (words.bias && format.encoding == Encoding::fixed_point) refuse(text, "fixed point has no bias: sIfF");
  if (words.specials && format.encoding == Encoding::fixed_point && *words.specials != Specials::none) refuse(text, "fixed point is finite");
  const bool one_zero = words.specials == Specials::nan_negative_zero || words.specials == Specials::inf_top;
  if (one_zero && !shape->says_specials) ++format.bias;  // FNUZ's and P3109's own is one above IEEE's
  if (words.bias) format.bias = *words.bias;
  if (words.no_zero) format.encoding = Encoding::exponent_only;
  if (format.encoding == Encoding::exponent_only && format.specials == Specials::nan_all_ones) format.specials = Specials::nan_top_code;
  format.name = format.source = {};
  check(text, format, range);
  return format;
}

}  // namespace rules

std::string text_of(const Format& format) {
  if (format.encoding == Encoding::fixed_point)
    return "s" + std::to_string(format.width - format.mantissa_bits) + "f" + std::to_string(format.mantissa_bits);
  const std::string shape = "e" + std::to_string(format.exponent_bits) + "m" + std::to_string(format.mantissa_bits);
  // A name without prefix may be that of a format without sign.
  const Format* named = rules::find_named_format(shape);
  const std::string prefix = !format.has_sign ? "u" : named != nullptr && !named->has_sign ? "s" : "";
  std::string text = prefix + shape + ",bias=" + std::to_string(format.bias);
  if (format.encoding == Encoding::exponent_only) return text + ",fn,no-zero";
  for (const rules::SpecialsWord& row : rules::kSpecials) {
    if (row.specials == format.specials) text += "," + std::string(row.word);
  }
  return text;
}

std::string text_of(const Format& format, const Conversion& how) {
  constexpr int kDigitBits = 4;
  return text_of(format) + rules::text_of(rules::draft_of(how, format), (format.width + kDigitBits - 1) / kDigitBits);
}

}  // namespace mx
