// The operations of an arithmetic unit as vectors: "add_e4m3fn", "fma_bf16_bf16_f32_to_f32". One result, the flags of IEEE 754.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "golden/vectors/arithmetic_ops.hpp"
#include "golden/vectors/compositions.hpp"
#include "golden/vectors/distance.hpp"
#include "golden/vectors/number_bins.hpp"
#include "golden/vectors/unit_ops.hpp"
#include "golden/vectors/words.hpp"
#include "model/error.hpp"

namespace mx::golden {
namespace {

using unit::lane_mask;
using unit::sign_bit;

constexpr std::string_view kFamily = "arithmetic";
constexpr std::array<std::string_view, 3> kTaken{"profile", "nan", "flags"};
constexpr std::array<std::string_view, 6> kEvents{"exact", "inexact", "underflow", "overflow", "divide by zero", "invalid"};

/// Every choice of an operation under test.
struct ScalarSubject {
  const OperationRow* row;
  unit::Formats from;  ///< one for each operand
  const Format* to;
  Conversion how;
  std::string profile;
  bool nan_is_free;
  bool flags;
};

struct Answer {
  std::uint32_t code;
  IeeeFlags flags;
};

Answer answer_of(const ScalarSubject& subject, Lanes operands) {
  Answer answer{};
  answer.code = operate(subject.row->operation, operands, subject.from, *subject.to, subject.how, answer.flags);
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

class ScalarOp final : public VectorOp {
 public:
  ScalarOp(std::string name, ScalarSubject subject, Edition edition) : VectorOp(std::move(name), kFamily, edition), subject_(std::move(subject)) {
    constexpr std::array<std::string_view, 3> kNames{"a", "b", "c"};
    for (std::size_t i = 0; i < subject_.from.size(); ++i) {
      const std::string operand(kNames[i]);
      operands_.push_back({operand, 1, subject_.from[i]->width, subject_.from[i]});
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
    for (; axis < operands.size(); ++axis) bins[axis] = number_class(operands[axis], *subject_.from[axis]);
    bins[axis++] = number_class(results[0], *subject_.to);
    bins[axis] = static_cast<std::uint8_t>(event_of(answer_of(subject_, operands).flags) + 1U);
  }

  std::string why_unreachable(std::size_t axis, std::size_t bin) const override {
    const std::size_t operands = operands_.size();
    if (axis < operands) return why_no_class(bin, *subject_.from[axis]);
    const std::string from = unit::text_of(subject_.from);
    if (axis == operands) {
      const std::string why = why_no_class(bin, *subject_.to);
      return why.empty() ? fmt::format("no {} of {} is one in {}", subject_.row->name, from, subject_.to->name) : why;
    }
    return fmt::format("no {} of {} into {} is one", subject_.row->name, from, subject_.to->name);
  }

  void directed(const std::function<void(Lanes)>& sink) const override {
    std::set<std::vector<std::uint32_t>> seen;
    const auto add = [&](const std::vector<std::uint32_t>& operands) {
      if (seen.insert(operands).second) sink(operands);
    };
    add_all(add);
    if (is_whole()) return;
    for (const std::uint32_t target : unit::magnitudes(*subject_.to))
      unit::add_decision(subject_.row->operation, subject_.from, *subject_.to, target, add);
  }

  void random(support::SplitMix64& random, MutableLanes operands) const override {
    const std::uint64_t word = random.next();
    for (std::size_t i = 0; i < operands.size(); ++i) operands[i] = static_cast<std::uint32_t>(random.next()) & lane_mask(subject_.from[i]->width);
    if ((word & 3U) == 0 || operands.size() == 1) return;
    // Operands whose exponents lie near each other: sums that cancel, and round.
    const Format &first = *subject_.from.front(), &last = *subject_.from.back();
    const std::uint32_t fields = exponent_mask(last);
    const auto middle = static_cast<int>((operands[0] & exponent_mask(first)) >> first.mantissa_bits) - first.bias + last.bias;
    const auto step = static_cast<int>(word >> 32U & 7U) - 3;
    const int field = std::clamp(middle + step, 0, static_cast<int>(fields >> last.mantissa_bits));
    operands.back() = (operands.back() & ~fields) | static_cast<std::uint32_t>(field) << last.mantissa_bits;
  }

  std::uint64_t exhaustive_count() const override {
    const int bits = operand_bits();
    return bits <= 24 ? std::uint64_t{1} << bits : 0;
  }

  void exhaustive(std::uint64_t index, MutableLanes operands) const override {
    for (std::size_t i = 0; i < operands.size(); ++i) {
      operands[i] = static_cast<std::uint32_t>(index) & lane_mask(subject_.from[i]->width);
      index >>= static_cast<unsigned>(subject_.from[i]->width);
    }
  }
  std::optional<Value> exact(Lanes a, Lanes, std::size_t) const override { return exact_result(subject_.row->operation, a, subject_.from); }
  std::vector<Composition> compositions(std::span<const WrongAnswer> wrong) const override {
    const auto under = [device = subject_](const Conversion& how, Lanes operands, MutableLanes answer) mutable {
      device.how = how;
      const Answer given = answer_of(device, operands);
      answer[0] = given.code;
      if (device.flags) answer[1] = flag_bits(given.flags);
    };
    return compositions_of(
        {fmt::format("{}_{}", subject_.row->name, unit::text_of(subject_.from)), nullptr, subject_.to, subject_.how, subject_.flags}, wrong, under);
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
    for (const Overflow overflow : {Overflow::saturate, Overflow::ieee, Overflow::nan, Overflow::wrap}) {
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
  int operand_bits() const {
    int bits = 0;
    for (const Format* format : subject_.from) bits += format->width;
    return bits;
  }

  /// Every pair of codes of 8 bits, or every code of one operand of 16, is written down.
  bool is_whole() const { return operands_.size() <= 2 && operand_bits() <= 16; }

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
    std::vector<std::vector<std::uint32_t>> marks;
    for (const Format* format : subject_.from) marks.push_back(unit::landmarks(*format, operands_.size() > 2));
    std::vector<std::size_t> at(operands_.size());
    for (bool more = true; more;) {
      std::vector<std::uint32_t> operands;
      for (std::size_t i = 0; i < at.size(); ++i) operands.push_back(marks[i][at[i]]);
      add(operands);
      more = false;
      for (std::size_t i = 0; i < at.size() && !more; ++i) {
        more = ++at[i] < marks[i].size();
        if (!more) at[i] = 0;
      }
    }
  }

  /// Wrong rules about what is computed, not how it is rounded.
  void add_operand_rules(std::vector<WrongRule>& rules) const {
    const ScalarSubject subject = subject_;
    const auto add = [&](FaultClass cls, std::string name, Operation operation, auto change) {
      rules.push_back({cls, std::move(name), [subject, operation, change](Lanes operands, Lanes, MutableLanes answer) {
                         std::vector<std::uint32_t> changed(operands.begin(), operands.end());
                         unit::Formats from = subject.from;
                         change(changed, from);
                         IeeeFlags flags;
                         answer[0] = operate(operation, changed, from, *subject.to, subject.how, flags);
                         if (subject.flags) answer[1] = flag_bits(flags);
                       }});
    };
    const Operation operation = subject_.row->operation;
    add(FaultClass::subnormal, "subnormal operands count as zero", operation, [](std::vector<std::uint32_t>& codes, const unit::Formats& from) {
      for (std::size_t i = 0; i < codes.size(); ++i) {
        if ((codes[i] & exponent_mask(*from[i])) == 0 && !is_nan_code(*from[i], codes[i])) codes[i] &= sign_bit(*from[i]);
      }
    });
    if (operation == Operation::subtract || operation == Operation::divide)
      add(FaultClass::order, "operands exchanged", operation, [](std::vector<std::uint32_t>& codes, unit::Formats& from) {
        std::swap(codes[0], codes[1]);
        std::swap(from[0], from[1]);
      });
    const auto nothing = [](std::vector<std::uint32_t>&, unit::Formats&) {};
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
                         const std::span<const Format* const> from(subject.from);
                         const std::uint32_t product =
                             operate(Operation::multiply, operands.first(2), from.first(2), *subject.to, subject.how, flags);
                         const std::uint32_t c = convert_ieee(operands[2], *from[2], *subject.to, subject.how, flags);
                         const std::array both{subject.to, subject.to};
                         answer[0] = operate(Operation::add, std::array{product, c}, both, *subject.to, subject.how, flags);
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

}  // namespace

std::vector<std::string> scalar_names() {
  std::vector<std::string> names;
  for (const OperationRow& row : all_operations()) {
    for (const Format& format : all_formats()) {
      if (unit::has_arithmetic(format)) names.push_back(fmt::format("{}_{}", row.name, format.name));
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
  unit::Formats from = unit::formats_in(formats.substr(0, middle), row->name, row->operands);
  const std::string operands = unit::text_of(from);
  const bool of_one = operands == from.front()->name;
  if (middle == std::string_view::npos && !of_one)
    throw Error(ErrorCode::usage, fmt::format("{} has operands of several formats: say that of the result, as {}_to_f32", name, name));
  const Format& to = middle == std::string_view::npos ? *from.front() : unit::format_with_arithmetic(formats.substr(middle + kTo.size()));
  const std::string target = of_one && to == *from.front() ? std::string() : fmt::format("_to_{}", to.name);
  const std::string canonical = fmt::format("{}_{}{}", row->name, operands, target);
  require_taken(canonical, options, kTaken);
  unit::Rule rule = unit::rule_for(options, to, true);
  const bool nan_is_free = yes_or_no("nan", options.get_or("nan", "exact"), "free", "exact");
  return std::make_unique<ScalarOp>(
      canonical, ScalarSubject{row, std::move(from), &to, rule.how, std::move(rule.profile), nan_is_free, unit::wants_flags(options)},
      options.edition());
}

}  // namespace mx::golden
