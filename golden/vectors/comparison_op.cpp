// Comparisons of an arithmetic unit as vectors: "quiet-less_e4m3fn", "signalling-equal_bf16_f32". One bit, and the flags of IEEE 754.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <set>

#include "golden/vectors/arithmetic_ops.hpp"
#include "golden/vectors/number_bins.hpp"
#include "golden/vectors/unit_ops.hpp"
#include "model/error.hpp"
#include "model/numerics/comparison.hpp"

namespace mx::golden {
namespace {

constexpr std::string_view kFamily = "comparison";
constexpr std::array<std::string_view, 1> kTaken{"flags"};
constexpr std::array<std::string_view, 4> kRelations{"less", "equal", "greater", "unordered"};
constexpr Conversion kNearest{Rounding::nearest_even, Overflow::saturate, NanRule::fixed, 0, 0, 0, false};

/// Every choice of a comparison under test.
struct ComparisonSubject {
  const Predicate* predicate;
  unit::Formats from;  ///< of a and b
  bool flags;

  Relation relation(Lanes operands) const { return mx::relation(decode(*from[0], operands[0]), decode(*from[1], operands[1])); }
};

void answer(const ComparisonSubject& subject, const Predicate& predicate, Lanes operands, MutableLanes results) {
  IeeeFlags flags;
  results[0] = compare(predicate, operands[0], *subject.from[0], operands[1], *subject.from[1], flags) ? 1U : 0U;
  if (subject.flags) results[1] = flag_bits(flags);
}

/// A unit that compares the codes of both operands as these keys; NaNs as it should.
WrongRule by_keys(FaultClass cls, std::string name, const ComparisonSubject& subject, std::int64_t (*key)(std::uint32_t code, const Format& format)) {
  return {cls, std::move(name), [subject, key](Lanes operands, Lanes right, MutableLanes wrong) {
            std::ranges::copy(right, wrong.begin());
            if (subject.relation(operands) == Relation::unordered) return;
            const std::int64_t a = key(operands[0], *subject.from[0]), b = key(operands[1], *subject.from[1]);
            const Relation found = a < b ? Relation::less : a == b ? Relation::equal : Relation::greater;
            wrong[0] = (subject.predicate->holds & static_cast<std::uint8_t>(found)) != 0 ? 1U : 0U;
          }};
}

std::int64_t magnitude_of(std::uint32_t code, const Format& format) { return static_cast<std::int64_t>(code & ~unit::sign_bit(format)); }

class ComparisonOp final : public VectorOp {
 public:
  ComparisonOp(std::string name, ComparisonSubject subject, Edition edition)
      : VectorOp(std::move(name), kFamily, edition), subject_(std::move(subject)) {
    for (std::size_t i = 0; i < 2; ++i) {
      const std::string operand = i == 0 ? "a" : "b";
      operands_.push_back({operand, 1, subject_.from[i]->width, subject_.from[i]});
      axes_.push_back({operand, number_classes()});
    }
    results_.push_back({"r", 1, 1});
    if (subject_.flags) results_.push_back({"flags", 1, 8, nullptr, true});
    axes_.push_back({"relation", {kRelations.begin(), kRelations.end()}});
    axes_.push_back({"event", {"none", "invalid"}});
    settings_ = {{"flags", subject_.flags ? "ieee" : "no"}};
  }

  void evaluate(Lanes operands, MutableLanes results) const override { answer(subject_, *subject_.predicate, operands, results); }

  void mask(Lanes operands, Lanes results, MutableLanes masks) const override {
    VectorOp::mask(operands, results, masks);
    constexpr std::uint32_t kIeee = 0x1F;
    if (subject_.flags) masks[1] &= kIeee;
  }

  void bins(Lanes operands, Lanes /*results*/, std::span<std::uint8_t> bins) const override {
    for (std::size_t i = 0; i < 2; ++i) bins[i] = number_class(operands[i], *subject_.from[i]);
    bins[2] = static_cast<std::uint8_t>(std::countr_zero(static_cast<unsigned>(subject_.relation(operands))) + 1);
    IeeeFlags flags;
    compare(*subject_.predicate, operands[0], *subject_.from[0], operands[1], *subject_.from[1], flags);
    bins[3] = flags.invalid ? 2 : 1;
  }

  std::string why_unreachable(std::size_t axis, std::size_t bin) const override {
    if (axis < 2) return why_no_class(bin, *subject_.from[axis]);
    if (axis == 2) return fmt::format("no codes of {} are {}", unit::text_of(subject_.from), kRelations[bin]);
    return fmt::format("{} has no NaN that {} is invalid for", unit::text_of(subject_.from), subject_.predicate->name);
  }

  void directed(const std::function<void(Lanes)>& sink) const override {
    if (is_whole()) {
      for (std::uint64_t i = 0; i < exhaustive_count(); ++i) {
        std::array<std::uint32_t, 2> operands{};
        exhaustive(i, operands);
        sink(operands);
      }
      return;
    }
    std::set<std::array<std::uint32_t, 2>> seen;
    const auto add = [&](std::uint32_t a, std::uint32_t b) {
      if (const std::array operands{a, b}; seen.insert(operands).second) sink(operands);
    };
    for (const std::uint32_t a : unit::landmarks(*subject_.from[0], false)) {
      for (const std::uint32_t b : unit::landmarks(*subject_.from[1], false)) add(a, b);
    }
    const std::uint32_t sign_a = unit::sign_bit(*subject_.from[0]), sign_b = unit::sign_bit(*subject_.from[1]);
    for (const std::uint32_t a : unit::magnitudes(*subject_.from[0])) {
      const std::uint32_t nearest = near(a);
      for (const std::uint32_t b : {nearest, nearest - 1U, nearest + 1U}) {
        if (b > max_finite_code(*subject_.from[1])) continue;
        add(a, b);
        add(a | sign_a, b | sign_b);
        add(a | sign_a, b);
        add(a, b | sign_b);
      }
    }
  }

  void random(support::SplitMix64& random, MutableLanes operands) const override {
    const std::uint64_t word = random.next();
    for (std::size_t i = 0; i < 2; ++i) operands[i] = static_cast<std::uint32_t>(random.next()) & unit::lane_mask(subject_.from[i]->width);
    if ((word & 1U) == 0 || decode(*subject_.from[0], operands[0]).cls == ValueClass::nan) return;
    // One of three lies beside the other operand.
    operands[1] = near(operands[0]);
    if ((word & 4U) != 0) operands[1] ^= static_cast<std::uint32_t>(word >> 32U & 1U);
  }

  std::string_view kind(Lanes operands, Lanes /*right*/) const override {
    return kRelations[static_cast<std::size_t>(std::countr_zero(static_cast<unsigned>(subject_.relation(operands))))];
  }

  std::vector<WrongRule> wrong_rules() const override {
    std::vector<WrongRule> rules;
    for (const Predicate& other : all_predicates()) {
      const bool same_answer = other.holds == subject_.predicate->holds;
      if (other.signals != subject_.predicate->signals && !(same_answer && subject_.flags)) continue;
      if (&other == subject_.predicate) continue;
      rules.push_back({same_answer ? FaultClass::nan : FaultClass::order, fmt::format("predicate {}", other.name),
                       [subject = subject_, &other](Lanes operands, Lanes, MutableLanes wrong) { answer(subject, other, operands, wrong); }});
    }
    rules.push_back(by_keys(FaultClass::sign, "-0 is below +0", subject_, [](std::uint32_t code, const Format& format) {
      const Value value = decode(format, code);
      const std::int64_t key = to_f32(code, format) & 0x7FFFFFFFU;
      return value.negative ? -key - 1 : key;
    }));
    rules.push_back(by_keys(FaultClass::order, "codes are compared as two's complement", subject_, [](std::uint32_t code, const Format& format) {
      const std::int64_t sign = unit::sign_bit(format);
      return magnitude_of(code, format) - ((static_cast<std::int64_t>(code) & sign) != 0 ? sign : 0);
    }));
    rules.push_back(by_keys(FaultClass::order, "codes are compared as numbers without sign", subject_,
                            [](std::uint32_t code, const Format&) { return static_cast<std::int64_t>(code); }));
    rules.push_back(by_keys(FaultClass::subnormal, "subnormal operands count as zero", subject_, [](std::uint32_t code, const Format& format) {
      const Value value = decode(format, code);
      if ((code & exponent_mask(format)) == 0) return std::int64_t{0};
      const std::int64_t key = to_f32(code, format) & 0x7FFFFFFFU;
      return value.negative ? -key : key;
    }));
    for (WrongRule& rule : common_wrong_rules(results_)) rules.push_back(std::move(rule));
    return rules;
  }

 private:
  bool is_whole() const { return subject_.from[0]->width + subject_.from[1]->width <= 16; }

  /// The code of b that is nearest to a number of a.
  std::uint32_t near(std::uint32_t a) const {
    Flags ignored;
    return encode(decode(*subject_.from[0], a), *subject_.from[1], kNearest, ignored);
  }

  ComparisonSubject subject_;
};

/// The predicate before the first '_', and formats behind it; null: no comparison.
const Predicate* predicate_of_name(std::string_view name) {
  const std::string_view word = name.substr(0, name.find('_'));
  if (word.size() == name.size()) return nullptr;
  const auto row = std::ranges::find(all_predicates(), word, &Predicate::name);
  return row == all_predicates().end() ? nullptr : &*row;
}

}  // namespace

std::vector<std::string> comparison_names() {
  std::vector<std::string> names;
  for (const Predicate& predicate : all_predicates()) {
    for (const Format& format : all_formats()) {
      if (unit::has_arithmetic(format)) names.push_back(fmt::format("{}_{}", predicate.name, format.name));
    }
  }
  return names;
}

std::unique_ptr<VectorOp> make_comparison(std::string_view name, const OpOptions& options) {
  const Predicate* predicate = predicate_of_name(name);
  if (predicate == nullptr) return nullptr;
  unit::Formats from = unit::formats_in(name.substr(predicate->name.size() + 1), predicate->name, 2);
  const std::string canonical = fmt::format("{}_{}", predicate->name, unit::text_of(from));
  require_taken(canonical, options, kTaken);
  return std::make_unique<ComparisonOp>(canonical, ComparisonSubject{predicate, std::move(from), unit::wants_flags(options)}, options.edition());
}

}  // namespace mx::golden
