// Conversions to integers and fixed point as vectors: "f32_to_i32", "bf16_to_uq0.16,round=rtz,overflow=riscv".

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <set>

#include "golden/vectors/integer_vectors.hpp"
#include "golden/vectors/number_bins.hpp"
#include "golden/vectors/unit_ops.hpp"

namespace mx::golden::integers {
namespace {

constexpr std::array<std::string_view, 1> kTaken{"flags"};

enum class Event : std::uint8_t { exact, inexact, below, above, infinite, nan };
constexpr std::array<std::string_view, 6> kEvents{"exact", "inexact", "below the range", "above the range", "infinite", "NaN"};

/// Every choice of a conversion into integers under test.
struct ToSubject {
  const Format* from;
  IntegerTarget to;
  bool flags;

  void answer(const IntegerTarget& target, std::uint32_t code, const Column& column, MutableLanes results) const {
    IeeeFlags raised;
    split(to_integer(code, *from, target, raised), column, results);
    if (flags) results.back() = flag_bits(raised);
  }
};

class ToIntegerOp final : public VectorOp {
 public:
  ToIntegerOp(std::string name, const ToSubject& subject, Edition edition) : VectorOp(std::move(name), kFamily, edition), subject_(subject) {
    operands_.push_back({"x", 1, subject_.from->width, subject_.from});
    results_.push_back(column_of("r", subject_.to.integer));
    if (subject_.flags) results_.push_back({"flags", 1, 8, nullptr, true});
    axes_ = {{"x", number_classes()}, {"rounding", place_bins()}, {"event", {kEvents.begin(), kEvents.end()}}};
    settings_ = {{"rounding", std::string(mx::name_of(subject_.to.rounding))},
                 {"overflow", std::string(mx::name_of(subject_.to.out_of_range))},
                 {"flags", subject_.flags ? "ieee" : "no"}};
  }

  void evaluate(Lanes operands, MutableLanes results) const override { subject_.answer(subject_.to, operands[0], results_[0], results); }

  void mask(Lanes operands, Lanes results, MutableLanes masks) const override {
    VectorOp::mask(operands, results, masks);
    constexpr std::uint32_t kIeee = 0x1F;
    if (subject_.flags) masks.back() &= kIeee;
  }

  void bins(Lanes operands, Lanes /*results*/, std::span<std::uint8_t> bins) const override {
    const Event event = event_of(operands[0]);
    bins[0] = number_class(operands[0], *subject_.from);
    const bool in_range = event == Event::exact || event == Event::inexact;
    bins[1] = in_range ? place_bin(decode(*subject_.from, operands[0]), grid_of(subject_.to.integer)) : 0;
    bins[2] = static_cast<std::uint8_t>(static_cast<int>(event) + 1);
  }

  std::string why_unreachable(std::size_t axis, std::size_t bin) const override {
    if (axis == 0) return why_no_class(bin, *subject_.from);
    return fmt::format("no number of {} is one for {}", subject_.from->name, text_of(subject_.to.integer));
  }

  void directed(const std::function<void(Lanes)>& sink) const override {
    const Format& from = *subject_.from;
    if (from.width <= kNarrow) {
      for (std::uint32_t code = 0; code >> from.width == 0; ++code) sink(std::array{code});
      return;
    }
    std::set<std::uint32_t> seen;
    const auto add = [&](std::uint32_t code) {
      if (seen.insert(code).second) sink(std::array{code});
    };
    for (const std::uint32_t code : unit::landmarks(from, false)) add(code);
    const Integer& integer = subject_.to.integer;
    for (const std::uint64_t floor : floors()) {
      for (const Value& value : eighths(floor, -integer.fraction_bits, true)) {
        Flags ignored;
        const std::uint32_t code = encode(value, from, kNearest, ignored);
        for (const std::uint32_t near : {code, code - 1U, code + 1U}) {
          if ((near & ~unit::sign_bit(from)) <= max_finite_code(from)) add(near);
        }
      }
    }
  }

  void random(support::SplitMix64& random, MutableLanes operands) const override {
    const Format& from = *subject_.from;
    const std::uint64_t word = random.next();
    auto code = static_cast<std::uint32_t>(word) & unit::lane_mask(from.width);
    // Three of four: an exponent from below half a unit to above the range.
    if ((word >> 62U) != 0) {
      const Integer& integer = subject_.to.integer;
      const int exponent = static_cast<int>((word >> 32U) % static_cast<std::uint64_t>(integer.width + 6)) - 4 - integer.fraction_bits;
      const int field = std::clamp(exponent + from.bias, 0, (1 << from.exponent_bits) - 1);
      code = (code & ~exponent_mask(from)) | static_cast<std::uint32_t>(field) << from.mantissa_bits;
    }
    operands[0] = code;
  }

  std::string_view kind(Lanes operands, Lanes /*right*/) const override { return kEvents[static_cast<std::size_t>(event_of(operands[0]))]; }

  std::vector<WrongRule> wrong_rules() const override {
    std::vector<WrongRule> rules;
    const auto other = [&](FaultClass cls, std::string name, const IntegerTarget& target) {
      rules.push_back({cls, std::move(name), [subject = subject_, target, column = results_[0]](Lanes operands, Lanes, MutableLanes answer) {
                         subject.answer(target, operands[0], column, answer);
                       }});
    };
    for (const Rounding rounding : integer_roundings()) {
      IntegerTarget target = subject_.to;
      target.rounding = rounding;
      if (rounding != subject_.to.rounding) other(FaultClass::rounding, fmt::format("rounding {}", mx::name_of(rounding)), target);
    }
    for (const OutOfRange rule : {OutOfRange::saturate, OutOfRange::riscv, OutOfRange::x86, OutOfRange::wrap}) {
      IntegerTarget target = subject_.to;
      target.out_of_range = rule;
      if (rule != subject_.to.out_of_range) other(FaultClass::saturation, fmt::format("overflow {}", mx::name_of(rule)), target);
    }
    add_bound_rules(rules);
    rules.push_back({FaultClass::rounding, "half is added in the source's format, then cut",
                     [subject = subject_, column = results_[0]](Lanes operands, Lanes right, MutableLanes answer) {
                       std::ranges::copy(right, answer.begin());
                       const Format& from = *subject.from;
                       const Value half{1, -subject.to.integer.fraction_bits - 1, ValueClass::finite, (operands[0] & unit::sign_bit(from)) != 0};
                       if (decode(from, operands[0]).cls != ValueClass::finite) return;
                       Flags ignored;
                       IeeeFlags flags;
                       const std::array codes{operands[0], encode(half, from, kNearest, ignored)};
                       const std::array formats{&from, &from};
                       IntegerTarget cut = subject.to;
                       cut.rounding = Rounding::toward_zero;
                       subject.answer(cut, operate(Operation::add, codes, formats, from, kNearest, flags), column, answer);
                     }});
    for (WrongRule& rule : common_wrong_rules(results_)) rules.push_back(std::move(rule));
    return rules;
  }

 private:
  Event event_of(std::uint32_t code) const {
    const Value value = decode(*subject_.from, code);
    if (value.cls == ValueClass::nan) return Event::nan;
    if (value.cls == ValueClass::infinity) return Event::infinite;
    IeeeFlags flags;
    to_integer(code, *subject_.from, subject_.to, flags);
    if (flags.invalid) return value.negative ? Event::below : Event::above;
    return flags.inexact ? Event::inexact : Event::exact;
  }

  /// Whole numbers of units beside which is tried: small ones, powers of two and their neighbours, both bounds.
  std::vector<std::uint64_t> floors() const {
    std::vector<std::uint64_t> all;
    for (std::uint64_t n = 0; n < 20; ++n) all.push_back(n);
    for (int bit = 4; bit < subject_.to.integer.width; ++bit) {
      const std::uint64_t power = std::uint64_t{1} << bit;
      all.insert(all.end(), {power - 1U, power, power + 1U, power + power / 2U});
    }
    const std::uint64_t top = all_ones(subject_.to.integer.width), bound = top >> 1U;
    all.insert(all.end(), {bound - 1U, bound, bound + 1U, top - 1U, top});
    return all;
  }

  void add_bound_rules(std::vector<WrongRule>& rules) const {
    const auto replaced = [&](FaultClass cls, std::string name, auto changes, std::uint64_t bits) {
      rules.push_back({cls, std::move(name), [changes, bits, column = results_[0]](Lanes operands, Lanes right, MutableLanes answer) {
                         std::ranges::copy(right, answer.begin());
                         if (changes(operands[0], right)) split(bits, column, answer);
                       }});
    };
    const Format from = *subject_.from;
    const auto nan = [from](std::uint32_t code, Lanes) { return decode(from, code).cls == ValueClass::nan; };
    const std::uint64_t ones = all_ones(subject_.to.integer.width), most = subject_.to.integer.has_sign ? ones >> 1U : ones;
    replaced(FaultClass::nan, "a NaN gives 0", nan, 0);
    replaced(FaultClass::nan, "a NaN gives the largest number", nan, most);
    replaced(FaultClass::nan, "a NaN gives the code with the top bit alone", nan, ones ^ (ones >> 1U));
    if (!subject_.to.integer.has_sign) return;
    const auto least = [bits = results_[0].bits, lanes = results_[0].lanes, code = ones ^ (ones >> 1U)](std::uint32_t, Lanes right) {
      return joined(right.first(static_cast<std::size_t>(lanes)), bits) == code;
    };
    replaced(FaultClass::saturation, "the bounds are as far from 0 as each other", least, (ones ^ (ones >> 1U)) + 1U);
  }

  ToSubject subject_;
};

}  // namespace

std::unique_ptr<VectorOp> make_to(std::string_view from_name, std::string_view to_name, const OpOptions& options) {
  const Format& from = unit::format_with_arithmetic(from_name);
  const IntegerTarget to = integer_target(to_name, IntegerTarget{{}, Rounding::nearest_even, OutOfRange::saturate});
  const bool is_usual = to.rounding == Rounding::nearest_even && to.out_of_range == OutOfRange::saturate;
  const std::string canonical = fmt::format("{}_to_{}", from.name, is_usual ? text_of(to.integer) : text_of(to));
  require_taken(canonical, options, kTaken);
  return std::make_unique<ToIntegerOp>(canonical, ToSubject{&from, to, unit::wants_flags(options)}, options.edition());
}

}  // namespace mx::golden::integers
