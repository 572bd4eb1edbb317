// The operations of an arithmetic unit as vectors: "add_e4m3fn", "fma_bf16_to_f32". Operands of one format, one result, the flags of IEEE 754.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "golden/vectors/arithmetic_ops.hpp"
#include "golden/vectors/compositions.hpp"
#include "golden/vectors/conversion_op.hpp"
#include "golden/vectors/distance.hpp"
#include "golden/vectors/number_bins.hpp"
#include "golden/vectors/words.hpp"
#include "model/error.hpp"
#include "model/numerics/operation.hpp"
#include "model/numerics/rules.hpp"

namespace mx::golden {
namespace {

constexpr std::string_view kFamily = "arithmetic";
constexpr std::array<std::string_view, 3> kTaken{"profile", "nan", "flags"};
constexpr std::array<std::string_view, 6> kEvents{"exact", "inexact", "underflow", "overflow", "divide by zero", "invalid"};
constexpr int kNarrow = 8;

/// Every choice of an operation under test.
struct ScalarSubject {
  const OperationRow* row;
  const Format* from;
  const Format* to;
  Conversion how;
  std::string profile;
  bool nan_is_free;
  bool flags;
};

std::uint32_t lane_mask(int bits) { return bits == 32 ? 0xFFFFFFFFU : (1U << bits) - 1U; }
std::uint32_t sign_bit(const Format& format) { return format.has_sign ? 1U << (format.width - 1) : 0U; }
struct Answer {
  std::uint32_t code;
  IeeeFlags flags;
};

Answer answer_of(const ScalarSubject& subject, Lanes operands) {
  Answer answer{};
  answer.code = operate(subject.row->operation, operands, *subject.from, *subject.to, subject.how, answer.flags);
  return answer;
}
std::size_t event_of(const IeeeFlags& flags) {
  return flags.invalid ? 5 : flags.divide_by_zero ? 4 : flags.overflow ? 3 : flags.underflow ? 2 : flags.inexact ? 1 : 0;
}

/// The wrong rule of a unit that computes with something else than the right choices.
WrongRule other_choices(FaultClass cls, std::string name, ScalarSubject subject, const Conversion& how) {
  subject.how = how;
  return {cls, std::move(name), [subject](Lanes operands, Lanes, MutableLanes answer) {
            const Answer got = answer_of(subject, operands);
            answer[0] = got.code;
            if (subject.flags) answer[1] = flag_bits(got.flags);
          }};
}

/// Codes at which classes begin and end, and numbers around 1, of both signs; of three operands fewer of them.
std::vector<std::uint32_t> landmarks(const Format& format, bool few) {
  const std::uint32_t top = max_finite_code(format), normal = 1U << format.mantissa_bits;
  const std::uint32_t one = static_cast<std::uint32_t>(std::clamp(format.bias, 1, (1 << format.exponent_bits) - 1)) << format.mantissa_bits;
  std::set<std::uint32_t> codes{0, 1, normal - 1U, normal, one, one + 1U, top};
  if (!few) codes.insert({2, 3, normal + 1U, one - 1U, one + normal / 2U, one + normal, top - 1U});
  for (std::uint32_t code = top + 1U; code <= lane_mask(format.width - (format.has_sign ? 1 : 0)) && code < top + 3U; ++code) codes.insert(code);
  if (format.specials == Specials::ieee) codes.insert((top + 1U) | (1U << (format.mantissa_bits - 1)));
  std::vector<std::uint32_t> all;
  for (const std::uint32_t code : codes) {
    if (code > lane_mask(format.width - (format.has_sign ? 1 : 0))) continue;
    all.push_back(code);
    if (format.has_sign) all.push_back(code | sign_bit(format));
  }
  return all;
}

class ScalarOp final : public VectorOp {
 public:
  ScalarOp(std::string name, ScalarSubject subject, Edition edition) : VectorOp(std::move(name), kFamily, edition), subject_(std::move(subject)) {
    constexpr std::array<std::string_view, 3> kNames{"a", "b", "c"};
    for (int i = 0; i < subject_.row->operands; ++i) {
      const std::string operand(kNames[static_cast<std::size_t>(i)]);
      operands_.push_back({operand, 1, subject_.from->width, subject_.from});
      axes_.push_back({operand, number_classes()});
    }
    results_.push_back({"r", 1, subject_.to->width, subject_.to});
    if (subject_.flags) results_.push_back({"flags", 1, 8, nullptr, true});
    axes_.push_back({"result", number_classes()});
    axes_.push_back({"event", {kEvents.begin(), kEvents.end()}});
    settings_ = {{"profile", subject_.profile},
                 {"rounding", std::string(mx::name_of(subject_.how.rounding))},
                 {"overflow", std::string(mx::name_of(subject_.how.overflow))},
                 {"nan", nan_words(subject_.how, *subject_.to)},
                 {"nan-compare", subject_.nan_is_free ? "free" : "exact"},
                 {"flags", subject_.flags ? "ieee" : "no"}};
  }

  void evaluate(Lanes operands, MutableLanes results) const override {
    const Answer answer = answer_of(subject_, operands);
    results[0] = answer.code;
    if (subject_.flags) results[1] = flag_bits(answer.flags);
  }

  void mask(Lanes operands, Lanes results, MutableLanes masks) const override {
    VectorOp::mask(operands, results, masks);
    const Format& to = *subject_.to;
    constexpr std::uint32_t kIeee = 0x1F;
    if (subject_.flags) masks[1] &= kIeee;
    if (!subject_.nan_is_free || !is_nan_code(to, results[0])) return;
    if (!nan_is_negative_zero(to)) masks[0] &= ~sign_bit(to);
    if (to.specials == Specials::ieee) masks[0] &= ~((1U << (to.mantissa_bits - 1)) - 1U);
  }

  void bins(Lanes operands, Lanes results, std::span<std::uint8_t> bins) const override {
    std::size_t axis = 0;
    for (const std::uint32_t code : operands) bins[axis++] = number_class(code, *subject_.from);
    bins[axis++] = number_class(results[0], *subject_.to);
    bins[axis] = static_cast<std::uint8_t>(event_of(answer_of(subject_, operands).flags) + 1U);
  }

  std::string why_unreachable(std::size_t axis, std::size_t bin) const override {
    const std::size_t operands = operands_.size();
    if (axis < operands) return why_no_class(bin, *subject_.from);
    if (axis == operands) {
      const std::string why = why_no_class(bin, *subject_.to);
      return why.empty() ? fmt::format("no {} of {} is one in {}", subject_.row->name, subject_.from->name, subject_.to->name) : why;
    }
    return fmt::format("no {} of {} into {} is one", subject_.row->name, subject_.from->name, subject_.to->name);
  }

  void directed(const std::function<void(Lanes)>& sink) const override {
    std::set<std::vector<std::uint32_t>> seen;
    const auto add = [&](const std::vector<std::uint32_t>& operands) {
      if (seen.insert(operands).second) sink(operands);
    };
    add_all(add);
    if (is_whole()) return;
    for (const std::uint32_t target : targets()) add_decision(target, add);
  }

  void random(support::SplitMix64& random, MutableLanes operands) const override {
    const std::uint64_t word = random.next();
    for (std::uint32_t& code : operands) code = static_cast<std::uint32_t>(random.next()) & lane_mask(subject_.from->width);
    if ((word & 3U) == 0 || operands.size() == 1) return;
    // Operands whose exponents lie near each other: sums that cancel, and round.
    const Format& from = *subject_.from;
    const std::uint32_t fields = exponent_mask(from), middle = operands[0] & fields;
    const auto step = static_cast<int>(word >> 32U & 7U) - 3;
    const int field = std::clamp(static_cast<int>(middle >> from.mantissa_bits) + step, 0, static_cast<int>(fields >> from.mantissa_bits));
    operands.back() = (operands.back() & ~fields) | static_cast<std::uint32_t>(field) << from.mantissa_bits;
  }

  std::uint64_t exhaustive_count() const override {
    const int bits = subject_.from->width * subject_.row->operands;
    return bits <= 24 ? std::uint64_t{1} << bits : 0;
  }

  void exhaustive(std::uint64_t index, MutableLanes operands) const override {
    for (std::uint32_t& code : operands) {
      code = static_cast<std::uint32_t>(index) & lane_mask(subject_.from->width);
      index >>= static_cast<unsigned>(subject_.from->width);
    }
  }
  std::optional<Value> exact(Lanes a, Lanes, std::size_t) const override { return exact_result(subject_.row->operation, a, *subject_.from); }
  std::vector<Composition> compositions(std::span<const WrongAnswer> wrong) const override {
    const auto under = [device = subject_](const Conversion& how, Lanes operands, MutableLanes answer) mutable {
      device.how = how;
      const Answer given = answer_of(device, operands);
      answer[0] = given.code;
      if (device.flags) answer[1] = flag_bits(given.flags);
    };
    return compositions_of({fmt::format("{}_{}", subject_.row->name, subject_.from->name), nullptr, subject_.to, subject_.how, subject_.flags}, wrong,
                           under);
  }

  std::string_view kind(Lanes operands, Lanes right) const override {
    const Answer answer = answer_of(subject_, operands);
    if (decode(*subject_.to, right[0]).cls == ValueClass::nan) return "NaN result";
    return kEvents[event_of(answer.flags)];
  }

  std::vector<WrongRule> wrong_rules() const override {
    std::vector<WrongRule> rules;
    for (const Rounding rounding : {Rounding::nearest_even, Rounding::nearest_away, Rounding::nearest_toward_zero, Rounding::toward_zero,
                                    Rounding::toward_positive, Rounding::toward_negative, Rounding::to_odd, Rounding::away}) {
      if (rounding == subject_.how.rounding) continue;
      Conversion how = subject_.how;
      how.rounding = rounding;
      rules.push_back(other_choices(FaultClass::rounding, fmt::format("rounding {}", mx::name_of(rounding)), subject_, how));
    }
    for (const Overflow overflow : {Overflow::saturate, Overflow::ieee, Overflow::nan}) {
      Conversion how = subject_.how;
      how.overflow = overflow;
      const bool possible = overflow != Overflow::nan || has_nan(*subject_.to);
      if (possible && overflow != subject_.how.overflow)
        rules.push_back(other_choices(FaultClass::saturation, fmt::format("overflow {}", mx::name_of(overflow)), subject_, how));
    }
    Conversion flushing = subject_.how;
    flushing.flush = Flush::target;
    if (subject_.how.flush == Flush::none) rules.push_back(other_choices(FaultClass::subnormal, "subnormal results become zero", subject_, flushing));
    add_operand_rules(rules);
    for (WrongRule& rule : common_wrong_rules(results_)) rules.push_back(std::move(rule));
    return rules;
  }

 private:
  /// Every pair of codes of 8 bits, or every code of one operand of 16, is written down.
  bool is_whole() const {
    return operands_.size() == 1 ? subject_.from->width <= 2 * kNarrow : operands_.size() == 2 && subject_.from->width <= kNarrow;
  }

  template <typename Add>
  void add_all(const Add& add) const {
    if (is_whole()) {
      for (std::uint64_t i = 0; i < exhaustive_count(); ++i) {
        std::vector<std::uint32_t> operands(operands_.size());
        exhaustive(i, operands);
        add(operands);
      }
      return;
    }
    const std::vector<std::uint32_t> marks = landmarks(*subject_.from, operands_.size() > 2);
    std::vector<std::size_t> at(operands_.size());
    for (bool more = true; more;) {
      std::vector<std::uint32_t> operands;
      for (const std::size_t i : at) operands.push_back(marks[i]);
      add(operands);
      more = false;
      for (std::size_t& i : at) {
        if (++i < marks.size()) {
          more = true;
          break;
        }
        i = 0;
      }
    }
  }

  /// Magnitudes of the result: all of a narrow format, of a wide one some of each binade.
  std::vector<std::uint32_t> targets() const {
    const Format& to = *subject_.to;
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

  /// Operands whose exact result lies at the middle above a target code, or as near to it as the source's numbers come, on both sides.
  template <typename Add>
  void add_decision(std::uint32_t target, const Add& add) const {
    constexpr Conversion kNearest{Rounding::nearest_even, Overflow::saturate, NanRule::fixed, 0, 0, 0, false};
    const Format &from = *subject_.from, &to = *subject_.to;
    Value middle = decode(to, target);
    if (middle.cls == ValueClass::zero) middle = {0, decode(to, 1).exponent, ValueClass::finite, false};
    middle = {middle.significand * 2U + 1U, middle.exponent - 1, ValueClass::finite, false};
    Flags ignored;
    const auto near = [&](const Value& value) { return encode(value, from, kNearest, ignored); };
    const std::uint32_t whole = near(middle), one = static_cast<std::uint32_t>(from.bias) << from.mantissa_bits;
    const std::uint32_t odd = one + 1U + target % ((1U << from.mantissa_bits) - 1U);
    const std::uint32_t half = whole >= 1U << from.mantissa_bits ? whole - (1U << from.mantissa_bits) : whole / 2U;
    const auto of = [&](Operation operation, std::vector<std::uint32_t> operands) {
      IeeeFlags flags;
      return operate(operation, operands, from, from, kNearest, flags);
    };
    const auto around = [&](std::vector<std::uint32_t> operands, std::size_t solved) {
      const std::uint32_t code = operands[solved], sign = sign_bit(from), magnitude = code & ~sign;
      for (const int step : {0, -1, 1}) {
        if (magnitude + static_cast<std::uint32_t>(step) > max_finite_code(from)) continue;
        operands[solved] = (magnitude + static_cast<std::uint32_t>(step)) | (code & sign);
        add(operands);
        if (!from.has_sign) continue;
        std::vector<std::uint32_t> negative = operands;
        for (std::size_t i = 0; i < negative.size(); ++i) {
          const bool factor = subject_.row->operation == Operation::fma && i == 1;
          const bool only_one = subject_.row->operation == Operation::multiply || subject_.row->operation == Operation::divide;
          if (!factor && (!only_one || i == 0)) negative[i] ^= sign;
        }
        add(negative);
      }
    };
    switch (subject_.row->operation) {
      case Operation::add:
      case Operation::subtract: {
        const bool is_sum = subject_.row->operation == Operation::add;
        for (const std::uint32_t a : {whole, half, near(decode(to, target))})
          around({a, of(Operation::subtract, is_sum ? std::vector{whole, a} : std::vector{a, whole})}, 1);
        // What is added to the target itself: half of its unit.
        const std::uint32_t unit = near({1, middle.exponent, ValueClass::finite, false});
        around({near(decode(to, target)), is_sum ? unit : unit ^ sign_bit(from)}, 1);
        return;
      }
      case Operation::multiply:
        for (const std::uint32_t a : {odd, one + (1U << (from.mantissa_bits - 1)), one}) around({of(Operation::divide, {whole, a}), a}, 0);
        return;
      case Operation::divide:
        for (const std::uint32_t b : {odd, one + 1U, one}) around({of(Operation::multiply, {whole, b}), b}, 0);
        return;
      case Operation::square_root: around({of(Operation::multiply, {whole, whole})}, 0); return;
      case Operation::fma: {
        const std::uint32_t unit = near({1, middle.exponent, ValueClass::finite, false});
        around({unit, one, near(decode(to, target))}, 0);
        around({unit, one + 1U, near(decode(to, target))}, 0);
        around({of(Operation::divide, {whole, odd}), odd, 1U}, 0);
        around({half, odd, of(Operation::fma, {half, odd ^ sign_bit(from), whole})}, 2);
        return;
      }
      default:
        add({whole, half});
        add({half, whole});
        return;
    }
  }

  /// Wrong rules about what is computed, not how it is rounded.
  void add_operand_rules(std::vector<WrongRule>& rules) const {
    const ScalarSubject subject = subject_;
    const auto add = [&](FaultClass cls, std::string name, Operation operation, auto change) {
      rules.push_back({cls, std::move(name), [subject, operation, change](Lanes operands, Lanes, MutableLanes answer) {
                         std::vector<std::uint32_t> changed(operands.begin(), operands.end());
                         change(changed, *subject.from);
                         IeeeFlags flags;
                         answer[0] = operate(operation, changed, *subject.from, *subject.to, subject.how, flags);
                         if (subject.flags) answer[1] = flag_bits(flags);
                       }});
    };
    const Operation operation = subject_.row->operation;
    add(FaultClass::subnormal, "subnormal operands count as zero", operation, [](std::vector<std::uint32_t>& codes, const Format& from) {
      for (std::uint32_t& code : codes) {
        if ((code & exponent_mask(from)) == 0 && !is_nan_code(from, code)) code &= sign_bit(from);
      }
    });
    if (operation == Operation::subtract || operation == Operation::divide)
      add(FaultClass::order, "operands exchanged", operation,
          [](std::vector<std::uint32_t>& codes, const Format&) { std::swap(codes[0], codes[1]); });
    const auto nothing = [](std::vector<std::uint32_t>&, const Format&) {};
    constexpr std::array<std::array<Operation, 2>, 4> kNan{{{Operation::minimum, Operation::minimum_number},
                                                            {Operation::minimum_number, Operation::minimum},
                                                            {Operation::maximum, Operation::maximum_number},
                                                            {Operation::maximum_number, Operation::maximum}}};
    for (const auto& [right, wrong] : kNan) {
      if (operation == right) add(FaultClass::nan, right < wrong ? "a number wins over a NaN" : "a NaN wins over a number", wrong, nothing);
    }
    if (operation == Operation::fma) {
      rules.push_back({FaultClass::rounding, "the product is rounded before the sum", [subject](Lanes operands, Lanes, MutableLanes answer) {
                         IeeeFlags flags;
                         const std::array product{operate(Operation::multiply, operands.first(2), *subject.from, *subject.to, subject.how, flags)};
                         const std::uint32_t c = convert_ieee(operands[2], *subject.from, *subject.to, subject.how, flags);
                         answer[0] = operate(Operation::add, std::array{product[0], c}, *subject.to, *subject.to, subject.how, flags);
                         if (subject.flags) answer[1] = flag_bits(flags);
                       }});
    }
  }

  ScalarSubject subject_;
};

/// "add_e4m3fn": the word before the first '_', and the formats behind it.
const OperationRow* row_of_name(std::string_view name) {
  const std::string_view word = name.substr(0, name.find('_'));
  const auto row = std::ranges::find(all_operations(), word, &OperationRow::name);
  return row == all_operations().end() || word.size() == name.size() ? nullptr : &*row;
}

bool has_arithmetic(const Format& format) { return format.encoding == Encoding::floating && format.has_sign && format.mantissa_bits > 0; }

}  // namespace

std::vector<std::string> scalar_names() {
  std::vector<std::string> names;
  for (const OperationRow& row : all_operations()) {
    for (const Format& format : all_formats()) {
      if (has_arithmetic(format)) names.push_back(fmt::format("{}_{}", row.name, format.name));
    }
  }
  return names;
}

std::unique_ptr<VectorOp> make_scalar(std::string_view name, const OpOptions& options) {
  const OperationRow* row = row_of_name(name);
  if (row == nullptr) return nullptr;
  constexpr std::string_view kTo = "_to_";
  const std::string_view formats = name.substr(row->name.size() + 1);
  const std::size_t middle = formats.find(kTo);
  const Format& from = format_named(formats.substr(0, middle));
  const Format& to = middle == std::string_view::npos ? from : format_named(formats.substr(middle + kTo.size()));
  const std::string canonical = fmt::format("{}_{}{}", row->name, from.name, from == to ? std::string() : fmt::format("_to_{}", to.name));
  require_taken(canonical, options, kTaken);
  for (const Format* format : {&from, &to}) {
    if (!has_arithmetic(*format))
      throw Error(ErrorCode::usage, fmt::format("{} has no arithmetic: formats with a sign and a mantissa have", format->name));
  }
  const Profile& profile = profile_for(profile_named(options.get_or("profile", kOcp)), to);
  const Conversion how = conversion(profile, kF32, to);
  const bool plain = how.before == Preparation{} && how.random_bits == 0 && !reads_source_bits(how.rounding);
  if (!plain)
    throw Error(ErrorCode::usage, fmt::format("profile '{}' does more than round into {}: an operation rounds alone", profile.name, to.name));
  if (how.nan_rule == NanRule::refused)
    throw Error(ErrorCode::usage,
                fmt::format("profile '{}' refuses NaNs into {}: say what 0 / 0 and Inf - Inf give, as nan=0", profile.name, to.name));
  const std::string flags = options.get_or("flags", "no");
  return std::make_unique<ScalarOp>(
      canonical,
      ScalarSubject{row, &from, &to, how, std::string(profile.name), yes_or_no("nan", options.get_or("nan", "exact"), "free", "exact"),
                    yes_or_no("flags", flags, "ieee", "no")},
      options.edition());
}

}  // namespace mx::golden
