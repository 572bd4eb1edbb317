// Conversions from integers and fixed point as vectors: "i64_to_f32", "q4.12_to_bf16".

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <set>

#include "golden/vectors/integer_vectors.hpp"
#include "golden/vectors/number_bins.hpp"
#include "golden/vectors/unit_ops.hpp"
#include "golden/vectors/words.hpp"
#include "model/numerics/rounding.hpp"

namespace mx::golden::integers {
namespace {

constexpr std::array<std::string_view, 3> kTaken{"profile", "nan", "flags"};

/// Every choice of a conversion from integers under test.
struct FromSubject {
  Integer from;
  const Format* to;
  unit::Rule rule;
  bool nan_is_free;
  bool flags;

  void answer(const Conversion& how, std::uint64_t bits, MutableLanes results) const {
    IeeeFlags raised;
    results[0] = from_integer(bits, from, *to, how, raised);
    if (flags) results[1] = flag_bits(raised);
  }
};

class FromIntegerOp final : public VectorOp {
 public:
  FromIntegerOp(std::string name, FromSubject subject, Edition edition) : VectorOp(std::move(name), kFamily, edition), subject_(std::move(subject)) {
    operands_.push_back(column_of("x", subject_.from));
    results_.push_back({"r", 1, subject_.to->width, subject_.to});
    if (subject_.flags) results_.push_back({"flags", 1, 8, nullptr, true});
    axes_ = {{"rounding", place_bins()}, {"result", number_classes()}, {"event", {"exact", "inexact", "overflow"}}};
    const Conversion& how = subject_.rule.how;
    settings_ = {{"profile", subject_.rule.profile},
                 {"rounding", std::string(mx::name_of(how.rounding))},
                 {"overflow", std::string(mx::name_of(how.overflow))},
                 {"nan-compare", subject_.nan_is_free ? "free" : "exact"},
                 {"flags", subject_.flags ? "ieee" : "no"}};
  }

  void evaluate(Lanes operands, MutableLanes results) const override { subject_.answer(subject_.rule.how, bits_of(operands), results); }

  void mask(Lanes operands, Lanes results, MutableLanes masks) const override {
    VectorOp::mask(operands, results, masks);
    constexpr std::uint32_t kIeee = 0x1F;
    if (subject_.flags) masks[1] &= kIeee;
    const Format& to = *subject_.to;
    if (!subject_.nan_is_free || !is_nan_code(to, results[0])) return;
    if (!nan_is_negative_zero(to)) masks[0] &= ~unit::sign_bit(to);
    if (to.specials == Specials::ieee) masks[0] &= ~((1U << (to.mantissa_bits - 1)) - 1U);
  }

  void bins(Lanes operands, Lanes results, std::span<std::uint8_t> bins) const override {
    bins[0] = place_bin(value_of(bits_of(operands), subject_.from), *subject_.to);
    bins[1] = number_class(results[0], *subject_.to);
    bins[2] = static_cast<std::uint8_t>(event_of(operands) + 1U);
  }

  std::string why_unreachable(std::size_t axis, std::size_t bin) const override {
    const std::string from = text_of(subject_.from);
    const std::string why = axis == 1 ? why_no_class(bin, *subject_.to) : std::string();
    return why.empty() ? fmt::format("no number of {} is one in {}", from, subject_.to->name) : why;
  }

  void directed(const std::function<void(Lanes)>& sink) const override {
    std::set<std::uint64_t> seen;
    const auto add = [&](std::uint64_t bits) {
      if (!seen.insert(bits).second) return;
      std::array<std::uint32_t, 2> lanes{};
      split(bits, operands_[0], lanes);
      sink(Lanes(lanes).first(static_cast<std::size_t>(operands_[0].lanes)));
    };
    const int width = subject_.from.width;
    if (width <= kNarrow) {
      for (std::uint64_t bits = 0; bits >> width == 0; ++bits) add(bits);
      return;
    }
    const std::uint64_t ones = all_ones(width);
    const auto both = [&](std::uint64_t magnitude) {
      for (const std::uint64_t near : {magnitude, magnitude - 1U, magnitude + 1U}) {
        add(near & ones);
        add((0U - near) & ones);
      }
    };
    for (int bit = 0; bit < width; ++bit) both(std::uint64_t{1} << bit);
    both(ones >> 1U);
    for (const std::uint32_t code : unit::magnitudes(*subject_.to)) {
      const Value value = decode(*subject_.to, code);
      if (value.cls != ValueClass::finite) continue;
      for (const Value& about : eighths(value.significand, rounding::unit_exponent(value, *subject_.to), false)) add_magnitude(about, both);
    }
  }

  void random(support::SplitMix64& random, MutableLanes operands) const override {
    const std::uint64_t word = random.next(), shift = random.next() % static_cast<std::uint64_t>(subject_.from.width);
    // Magnitudes of every length.
    const std::uint64_t magnitude = (word & all_ones(subject_.from.width)) >> shift;
    split(((random.next() & 1U) != 0 ? 0U - magnitude : magnitude) & all_ones(subject_.from.width), operands_[0], operands);
  }

  std::string_view kind(Lanes operands, Lanes /*right*/) const override {
    constexpr std::array<std::string_view, 3> kKinds{"exact", "inexact", "overflow"};
    return kKinds[event_of(operands)];
  }

  std::vector<WrongRule> wrong_rules() const override {
    std::vector<WrongRule> rules;
    const auto other = [&](FaultClass cls, std::string name, const Conversion& how) {
      rules.push_back({cls, std::move(name), [subject = subject_, how, bits = operands_[0].bits](Lanes operands, Lanes, MutableLanes answer) {
                         subject.answer(how, joined(operands, bits), answer);
                       }});
    };
    for (const Rounding rounding : integer_roundings()) {
      Conversion how = subject_.rule.how;
      how.rounding = rounding;
      if (rounding != subject_.rule.how.rounding) other(FaultClass::rounding, fmt::format("rounding {}", mx::name_of(rounding)), how);
    }
    for (const Overflow overflow : {Overflow::saturate, Overflow::ieee, Overflow::nan, Overflow::wrap}) {
      Conversion how = subject_.rule.how;
      how.overflow = overflow;
      const bool possible = overflow != Overflow::nan || has_nan(*subject_.to);
      if (possible && overflow != subject_.rule.how.overflow) other(FaultClass::saturation, fmt::format("overflow {}", mx::name_of(overflow)), how);
    }
    Conversion twice = subject_.rule.how;
    twice.before.through = &kF32;
    if (subject_.from.width > kF32.mantissa_bits && *subject_.to != kF32) other(FaultClass::rounding, "rounded to f32 first", twice);
    Integer unlike = subject_.from;
    unlike.has_sign = !unlike.has_sign;
    rules.push_back({FaultClass::sign, unlike.has_sign ? "the top bit is a sign" : "the top bit is no sign",
                     [subject = subject_, unlike, bits = operands_[0].bits](Lanes operands, Lanes, MutableLanes answer) {
                       FromSubject wrong = subject;
                       wrong.from = unlike;
                       wrong.answer(subject.rule.how, joined(operands, bits), answer);
                     }});
    for (WrongRule& rule : common_wrong_rules(results_)) rules.push_back(std::move(rule));
    return rules;
  }

 private:
  /// The integer at a positive value or below it, where there is one.
  template <typename Add>
  void add_magnitude(const Value& value, const Add& add) const {
    const int up = value.exponent + subject_.from.fraction_bits;
    if (static_cast<int>(std::bit_width(value.significand)) + up > subject_.from.width) return;
    add(up >= 0 ? value.significand << up : -up >= 64 ? 0U : value.significand >> -up);
  }

  std::uint64_t bits_of(Lanes operands) const { return joined(operands, operands_[0].bits); }

  std::size_t event_of(Lanes operands) const {
    IeeeFlags flags;
    from_integer(bits_of(operands), subject_.from, *subject_.to, subject_.rule.how, flags);
    return flags.overflow ? 2 : flags.inexact ? 1 : 0;
  }

  FromSubject subject_;
};

}  // namespace

std::unique_ptr<VectorOp> make_from(std::string_view from_name, std::string_view to_name, const OpOptions& options) {
  const Integer from = integer_named(from_name);
  const Format& to = unit::format_with_arithmetic(to_name);
  const std::string canonical = fmt::format("{}_to_{}", text_of(from), to.name);
  require_taken(canonical, options, kTaken);
  const bool nan_is_free = yes_or_no("nan", options.get_or("nan", "exact"), "free", "exact");
  return std::make_unique<FromIntegerOp>(
      canonical, FromSubject{from, &to, unit::rule_for(options, to, false), nan_is_free, unit::wants_flags(options)}, options.edition());
}

}  // namespace mx::golden::integers
