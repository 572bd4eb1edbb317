#include "golden/vectors/unit_ops.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "golden/vectors/words.hpp"
#include "model/error.hpp"
#include "model/numerics/profile.hpp"
#include "model/numerics/rules.hpp"

namespace mx::golden::unit {
namespace {

constexpr int kNarrow = 8;
constexpr Conversion kNearest{Rounding::nearest_even, Overflow::saturate, NanRule::fixed, 0, 0, 0, false};

/// Codes of an operand about a middle between two numbers of the target.
struct About {
  std::uint32_t middle, target;
  std::uint32_t unit;  ///< half a unit of the target
  std::uint32_t half;  ///< of the middle
  std::uint32_t one, one_and_half;
  std::uint32_t odd;  ///< between 1 and 2, another number for other targets
};

About numbers_about(const Format& format, const Value& target, const Value& middle, std::uint32_t seed) {
  const auto near = [&](const Value& value) {
    Flags ignored;
    return encode(value, format, kNearest, ignored);
  };
  const std::uint32_t binade = 1U << format.mantissa_bits, one = static_cast<std::uint32_t>(format.bias) * binade, between = near(middle);
  return {.middle = between,
          .target = near(target),
          .unit = near({1, middle.exponent, ValueClass::finite, false}),
          .half = between >= binade ? between - binade : between / 2U,
          .one = one,
          .one_and_half = one + binade / 2U,
          .odd = one + 1U + seed % (binade - 1U)};
}

/// Looks for operands whose exact result lies at one middle of the target. Of operands in one format the last or first is solved for; where they have
/// several, each in turn: one of them may be too narrow to come near.
class DecisionSearch {
 public:
  DecisionSearch(Operation operation, std::span<const Format* const> from, const Format& to, std::uint32_t target, const Add& add)
      : operation_(operation), from_(from), add_(add), mixed_(std::ranges::any_of(from, [&](const Format* format) { return *format != *from[0]; })) {
    const Value below = decode(to, target);
    Value middle = below.cls == ValueClass::zero ? Value{0, decode(to, 1).exponent, ValueClass::finite, false} : below;
    middle = {middle.significand * 2U + 1U, middle.exponent - 1, ValueClass::finite, false};
    for (const Format* format : from) about_.push_back(numbers_about(*format, below, middle, target));
    const Format& wide = mixed_ ? kF32 : *from[0];
    middle_ = {&wide, numbers_about(wide, below, middle, target).middle};
  }

  void run() const {
    for (const std::size_t moved : mixed_ ? std::vector<std::size_t>{0, 1} : std::vector<std::size_t>{usual()}) {
      switch (operation_) {
        case Operation::add:
        case Operation::subtract: add_sums(moved); break;
        case Operation::multiply: add_factors(moved); break;
        case Operation::divide: add_quotients(moved); break;
        case Operation::square_root: add_around({solved(Operation::multiply, {middle_, middle_}, 0)}, 0); break;
        case Operation::fma: add_fused(moved); break;
        default: add_(ordered(moved, about_[moved].middle, about_[1 - moved].half)); break;
      }
    }
  }

 private:
  struct Term {
    const Format* format;
    std::uint32_t code;
  };

  std::size_t usual() const { return operation_ == Operation::add || operation_ == Operation::subtract ? 1 : 0; }

  Term of(std::size_t operand, std::uint32_t code) const { return {from_[operand], code}; }
  static Term negated(Term term) { return {term.format, term.code ^ sign_bit(*term.format)}; }

  /// The number of an operand that is computed from others, nearest.
  std::uint32_t solved(Operation by, std::initializer_list<Term> terms, std::size_t into) const {
    Formats formats;
    std::vector<std::uint32_t> codes;
    for (const Term& term : terms) {
      formats.push_back(term.format);
      codes.push_back(term.code);
    }
    IeeeFlags flags;
    return operate(by, codes, formats, *from_[into], kNearest, flags);
  }

  /// Of the first two operands.
  static std::vector<std::uint32_t> ordered(std::size_t moved, std::uint32_t code, std::uint32_t other) {
    return moved == 0 ? std::vector{code, other} : std::vector{other, code};
  }

  void add_sums(std::size_t moved) const {
    const About& other = about_[1 - moved];
    const bool is_sum = operation_ == Operation::add;
    for (const std::uint32_t code : {other.middle, other.half, other.target}) {
      const Term given = of(1 - moved, code);
      // a = m - b, b = m - a; of differences a = m + b, b = a - m.
      const std::uint32_t found = is_sum       ? solved(Operation::subtract, {middle_, given}, moved)
                                  : moved == 1 ? solved(Operation::subtract, {given, middle_}, moved)
                                               : solved(Operation::add, {middle_, given}, moved);
      add_around(ordered(moved, found, code), moved);
    }
    // What is added to the target itself: half of its unit.
    std::vector<std::uint32_t> half = ordered(moved, about_[moved].unit, other.target);
    if (!is_sum) half[1] ^= sign_bit(*from_[1]);
    add_around(half, moved);
  }

  void add_factors(std::size_t moved) const {
    const About& other = about_[1 - moved];
    for (const std::uint32_t code : {other.odd, other.one_and_half, other.one})
      add_around(ordered(moved, solved(Operation::divide, {middle_, of(1 - moved, code)}, moved), code), moved);
  }

  void add_quotients(std::size_t moved) const {
    const About& other = about_[1 - moved];
    for (const std::uint32_t code : {other.odd, other.one + 1U, other.one}) {
      const Term given = of(1 - moved, code);
      const std::uint32_t found =
          moved == 0 ? solved(Operation::multiply, {middle_, given}, moved) : solved(Operation::divide, {given, middle_}, moved);
      add_around(ordered(moved, found, code), moved);
    }
  }

  void add_fused(std::size_t moved) const {
    const About &own = about_[moved], &other = about_[1 - moved];
    const auto with_c = [&](std::uint32_t code, std::uint32_t factor, std::uint32_t c) {
      std::vector<std::uint32_t> operands = ordered(moved, code, factor);
      operands.push_back(c);
      return operands;
    };
    add_around(with_c(own.unit, other.one, about_[2].target), moved);
    add_around(with_c(own.unit, other.one + 1U, about_[2].target), moved);
    add_around(with_c(solved(Operation::divide, {middle_, of(1 - moved, other.odd)}, moved), other.odd, 1U), moved);
    const std::uint32_t rest = solved(Operation::fma, {of(moved, own.half), negated(of(1 - moved, other.odd)), middle_}, 2);
    add_around(with_c(own.half, other.odd, rest), 2);
  }

  /// The operands, with one of them a step below and above, and all of it with the other sign.
  void add_around(std::vector<std::uint32_t> operands, std::size_t moved) const {
    const std::uint32_t code = operands[moved], sign = sign_bit(*from_[moved]), magnitude = code & ~sign;
    for (const int step : {0, -1, 1}) {
      if (magnitude + static_cast<std::uint32_t>(step) > max_finite_code(*from_[moved])) continue;
      operands[moved] = (magnitude + static_cast<std::uint32_t>(step)) | (code & sign);
      add_(operands);
      std::vector<std::uint32_t> negative = operands;
      for (std::size_t i = 0; i < negative.size(); ++i) {
        const bool factor = operation_ == Operation::fma && i == 1;
        const bool only_one = operation_ == Operation::multiply || operation_ == Operation::divide;
        if (!factor && (!only_one || i == 0)) negative[i] ^= sign_bit(*from_[i]);
      }
      add_(negative);
    }
  }

  Operation operation_;
  std::span<const Format* const> from_;
  const Add& add_;
  bool mixed_;
  std::vector<About> about_;
  Term middle_{};
};

}  // namespace

bool has_arithmetic(const Format& format) { return format.encoding == Encoding::floating && format.has_sign && format.mantissa_bits > 0; }

const Format& format_with_arithmetic(std::string_view name) {
  const Format& format = format_named(name);
  if (!has_arithmetic(format))
    throw Error(ErrorCode::usage, fmt::format("{} has no arithmetic: formats with a sign and a mantissa have", format.name));
  return format;
}

Formats formats_in(std::string_view text, std::string_view operation, int operands) {
  Formats formats;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('_', at), text.size());
    formats.push_back(&format_with_arithmetic(text.substr(at, end - at)));
    at = end + 1;
  }
  const auto wanted = static_cast<std::size_t>(operands);
  if (formats.size() == 1) formats.resize(wanted, formats.front());
  if (formats.size() == wanted) return formats;
  throw Error(ErrorCode::usage, fmt::format("{}_{} names {} formats: one for all operands, or {}", operation, text, formats.size(), operands));
}

std::string text_of(std::span<const Format* const> formats) {
  std::string text(formats.front()->name);
  if (std::ranges::all_of(formats, [&](const Format* format) { return *format == *formats.front(); })) return text;
  for (const Format* format : formats.subspan(1)) text += fmt::format("_{}", format->name);
  return text;
}

Rule rule_for(const OpOptions& options, const Format& to, bool with_nan) {
  const Profile& profile = profile_for(profile_named(options.get_or("profile", kOcp)), to);
  const Conversion how = conversion(profile, kF32, to);
  const bool plain = how.before == Preparation{} && how.random_bits == 0 && !reads_source_bits(how.rounding);
  if (!plain)
    throw Error(ErrorCode::usage, fmt::format("profile '{}' does more than round into {}: an operation rounds alone", profile.name, to.name));
  if (with_nan && how.nan_rule == NanRule::refused)
    throw Error(ErrorCode::usage,
                fmt::format("profile '{}' refuses NaNs into {}: say what 0 / 0 and Inf - Inf give, as nan=0", profile.name, to.name));
  return {how, std::string(profile.name)};
}

bool wants_flags(const OpOptions& options) { return yes_or_no("flags", options.get_or("flags", "no"), "ieee", "no"); }

std::vector<std::uint32_t> landmarks(const Format& format, bool few) {
  const std::uint32_t top = max_finite_code(format), normal = 1U << format.mantissa_bits;
  const std::uint32_t one = static_cast<std::uint32_t>(std::clamp(format.bias, 1, (1 << format.exponent_bits) - 1)) << format.mantissa_bits;
  const std::uint32_t last = lane_mask(format.width - (format.has_sign ? 1 : 0));
  std::set<std::uint32_t> codes{0, 1, normal - 1U, normal, one, one + 1U, top};
  if (!few) codes.insert({2, 3, normal + 1U, one - 1U, one + normal / 2U, one + normal, top - 1U});
  for (std::uint32_t code = top + 1U; code <= last && code < top + 3U; ++code) codes.insert(code);
  if (format.specials == Specials::ieee) codes.insert((top + 1U) | (1U << (format.mantissa_bits - 1)));
  std::vector<std::uint32_t> all;
  for (const std::uint32_t code : codes) {
    if (code > last) continue;
    all.push_back(code);
    if (format.has_sign) all.push_back(code | sign_bit(format));
  }
  return all;
}

std::vector<std::uint32_t> magnitudes(const Format& to) {
  std::vector<std::uint32_t> codes;
  const std::uint32_t last = max_finite_code(to);
  if (to.width <= kNarrow) {
    for (std::uint32_t code = 0; code <= last; ++code) codes.push_back(code);
    return codes;
  }
  const std::uint32_t binade = 1U << to.mantissa_bits;
  for (std::uint32_t first = 0; first <= last; first += binade) {
    for (const std::uint32_t step : {0U, 1U, binade / 2U, binade - 2U, binade - 1U}) codes.push_back(std::min(first + step, last));
  }
  return codes;
}

void add_decision(Operation operation, std::span<const Format* const> from, const Format& to, std::uint32_t target, const Add& add) {
  DecisionSearch(operation, from, to, target, add).run();
}

}  // namespace mx::golden::unit
