#include "model/numerics/integer.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <span>

#include "model/error.hpp"
#include "model/fault.hpp"
#include "model/numerics/rows.hpp"
#include "model/numerics/rule_words.hpp"
#include "model/numerics/wide_source.hpp"

namespace mx {
namespace {

using fault::Fault;
using fault::planted;

constexpr int kMostBits = 64;

constexpr std::array kRules{rows::Word<OutOfRange>{OutOfRange::saturate, "saturate"}, rows::Word<OutOfRange>{OutOfRange::riscv, "riscv"},
                            rows::Word<OutOfRange>{OutOfRange::x86, "x86"}, rows::Word<OutOfRange>{OutOfRange::wrap, "wrap"}};

constexpr std::array kRoundings{Rounding::nearest_even,
                                Rounding::nearest_away,
                                Rounding::nearest_toward_zero,
                                Rounding::toward_zero,
                                Rounding::toward_positive,
                                Rounding::toward_negative,
                                Rounding::to_odd,
                                Rounding::away};

/// A prefix of names; `point`: two numbers follow, with a point between.
struct Prefix {
  std::string_view word;
  bool has_sign;
  bool point;
};
constexpr std::array kPrefixes{Prefix{"int", true, false}, Prefix{"uint", false, false}, Prefix{"i", true, false},
                               Prefix{"u", false, false},  Prefix{"q", true, true},      Prefix{"uq", false, true}};

/// Up to three digits at the front, which are taken out.
std::optional<int> taken_number(std::string_view& text) {
  constexpr std::ptrdiff_t kMostDigits = 3;
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || text.front() == '-' || end - text.data() > kMostDigits) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

/// What a word says, whether or not there is such a width.
std::optional<Integer> read(std::string_view word) {
  for (const Prefix& prefix : kPrefixes) {
    if (word.size() <= prefix.word.size() || !same_name(word.substr(0, prefix.word.size()), prefix.word)) continue;
    std::string_view rest = word.substr(prefix.word.size());
    const auto whole = taken_number(rest);
    if (!whole) continue;
    if (!prefix.point && rest.empty()) return Integer{*whole, 0, prefix.has_sign};
    if (!prefix.point || rest.empty() || rest.front() != '.') continue;
    rest.remove_prefix(1);
    const auto fraction = rest.empty() ? std::nullopt : taken_number(rest);
    if (fraction && rest.empty()) return Integer{*whole + *fraction, *fraction, prefix.has_sign};
  }
  return std::nullopt;
}

Integer checked(std::string_view text, std::string_view word) {
  const std::optional<Integer> integer = read(word);
  if (!integer) throw Error(ErrorCode::usage, "'" + printable(text) + "' is no integer: i32, u8, or fixed point as q4.12, uq0.16");
  if (!is_possible(*integer))
    throw Error(ErrorCode::usage,
                "'" + printable(text) + "': integers have 2 to 64 bits, the sign one of those before the point; without a sign 1 to 64");
  return *integer;
}

std::uint64_t low_bits(int width) { return width == kMostBits ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1U; }
std::uint64_t largest(const Integer& integer) { return low_bits(integer.has_sign ? integer.width - 1 : integer.width); }
std::uint64_t least(const Integer& integer) { return integer.has_sign ? std::uint64_t{1} << (integer.width - 1) : 0U; }

/// How far a negative number may be from 0.
std::uint64_t most_below(const Integer& integer) {
  return integer.has_sign && planted(Fault::least_integer_is_out_of_range) ? largest(integer) : least(integer);
}

/// The low 64 bits of a magnitude in units of the integer, and whether there are more.
struct Units {
  std::uint64_t low;
  bool more;
};
Units units_of(const Value& rounded, const Integer& integer) {
  if (rounded.cls == ValueClass::zero) return {0, false};
  const int up = rounded.exponent + integer.fraction_bits;
  return {up >= kMostBits ? 0U : rounded.significand << up, static_cast<int>(std::bit_width(rounded.significand)) + up > kMostBits};
}

/// What is out of range gives: `low` are the low bits of a number, 0 of an infinity.
std::uint64_t out_of_range(const Integer& integer, OutOfRange rule, bool negative, std::uint64_t low) {
  switch (rule) {
    case OutOfRange::saturate:
    case OutOfRange::riscv: return negative ? least(integer) : largest(integer);
    case OutOfRange::x86: return integer.has_sign ? least(integer) : largest(integer);
    case OutOfRange::wrap: break;
  }
  return low;
}

std::uint64_t of_nan(const Integer& integer, OutOfRange rule) {
  if (rule == OutOfRange::riscv) return largest(integer);
  return rule == OutOfRange::x86 ? out_of_range(integer, rule, false, 0) : 0U;
}

}  // namespace

std::string_view name_of(OutOfRange rule) { return rows::word_of<OutOfRange>(kRules, rule); }

std::string text_of(const Integer& integer) {
  const std::string sign = integer.has_sign ? "" : "u";
  if (integer.fraction_bits == 0) return (integer.has_sign ? "i" : "u") + std::to_string(integer.width);
  return sign + "q" + std::to_string(integer.width - integer.fraction_bits) + "." + std::to_string(integer.fraction_bits);
}

std::string text_of(const IntegerTarget& target) {
  return text_of(target.integer) + ",round=" + std::string(rules::word_of(target.rounding)) +
         ",overflow=" + std::string(name_of(target.out_of_range));
}

bool is_possible(const Integer& integer) {
  const int least = integer.has_sign ? 2 : 1, before = integer.width - integer.fraction_bits;
  return integer.width >= least && integer.width <= kMostBits && integer.fraction_bits >= 0 && before >= (integer.has_sign ? 1 : 0);
}

std::span<const Rounding> integer_roundings() { return kRoundings; }

bool is_integer(std::string_view text) {
  std::string_view word = text.substr(0, text.find(','));
  while (word.starts_with(' ')) word.remove_prefix(1);
  while (word.ends_with(' ')) word.remove_suffix(1);
  return read(word).has_value();
}

Integer integer_named(std::string_view text) {
  if (text.find(',') != std::string_view::npos)
    throw Error(ErrorCode::usage, "'" + printable(text) + "': rounding and overflow are of a target; " +
                                      text_of(checked(text, text.substr(0, text.find(',')))) + " is a source");
  return checked(text, text);
}

IntegerTarget integer_target(std::string_view text, const std::optional<IntegerTarget>& open) {
  const std::vector<std::string_view> parts = rules::parts_of(text);
  const Integer integer = checked(text, parts.front());
  std::optional<Rounding> rounding;
  std::optional<OutOfRange> rule;
  for (const std::string_view part : std::span(parts).subspan(1)) {
    const std::size_t equals = part.find('=');
    const std::string_view key = part.substr(0, equals), value = equals == std::string_view::npos ? "" : part.substr(equals + 1);
    if (same_name(key, "round") && !rounding) {
      rounding = rules::rounding_in(text, value);
    } else if (same_name(key, "overflow") && !rule) {
      rule = rows::named(kRules, "overflow of an integer", value).value;
    } else {
      rules::refuse(text, printable(part) + ": an integer says round= and overflow=, each once");
    }
  }
  if (!rounding && open) rounding = open->rounding;
  if (!rule && open) rule = open->out_of_range;
  if (!rounding || !rule)
    rules::refuse(text, std::string(rounding ? "overflow" : "round") + "= is missing: as " + text_of(integer) + ",round=rtz,overflow=saturate");
  if (std::ranges::find(kRoundings, *rounding) == kRoundings.end())
    rules::refuse(text, "round=" + std::string(rules::word_of(*rounding)) + " is no rounding into integers");
  return {integer, *rounding, *rule};
}

Format grid_of(const Integer& integer) {
  return {"", Encoding::fixed_point, integer.width, 0, integer.fraction_bits, 0, Specials::none, integer.has_sign, ""};
}

Value value_of(std::uint64_t bits, const Integer& integer) {
  const bool negative = integer.has_sign && (bits >> (integer.width - 1) & 1U) != 0;
  const std::uint64_t magnitude = negative ? (0U - bits) & low_bits(integer.width) : bits;
  return {magnitude, magnitude == 0 ? 0 : -integer.fraction_bits, magnitude == 0 ? ValueClass::zero : ValueClass::finite, negative};
}

std::uint64_t to_integer(std::uint64_t code, const Format& from, const IntegerTarget& to, IeeeFlags& flags) {
  const Value value = decode_source(from, code);
  const Integer& integer = to.integer;
  if (value.cls == ValueClass::nan || value.cls == ValueClass::infinity) {
    flags.invalid = true;
    return value.cls == ValueClass::nan ? of_nan(integer, to.out_of_range) : out_of_range(integer, to.out_of_range, value.negative, 0);
  }
  Flags lost;
  const Units units = units_of(round_to(value, grid_of(integer), to.rounding, lost), integer);
  const std::uint64_t low = (value.negative ? 0U - units.low : units.low) & low_bits(integer.width);
  if (units.more || units.low > (value.negative ? most_below(integer) : largest(integer))) {
    flags.invalid = true;
    return out_of_range(integer, to.out_of_range, value.negative, low);
  }
  flags.inexact |= lost.inexact;
  return low;
}

std::uint32_t from_integer(std::uint64_t bits, const Integer& from, const Format& to, const Conversion& how, IeeeFlags& flags, Random random) {
  return encode_ieee(value_of(bits, from), to, how, flags, random);
}

}  // namespace mx
