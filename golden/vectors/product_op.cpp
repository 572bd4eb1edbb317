// Two codes of narrow formats made into one fp32 number: a row for each such operation.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "golden/vectors/arithmetic_ops.hpp"
#include "golden/vectors/number_bins.hpp"
#include "model/error.hpp"

namespace mx::golden {
namespace {

constexpr std::string_view kFamily = "product";

/// An operation on two codes. Every NaN is the positive quiet one: a device's result of two NaNs has no sign to speak of.
struct PairRow {
  std::string_view word;                                ///< "product": the operations are product_A_B for each pair of formats
  std::string_view rule;                                ///< "exact"
  std::uint32_t (*of)(const Value& a, const Value& b);  ///< fp32 bits
};

std::uint32_t product(const Value& a, const Value& b) {
  const Value exact = exact_product(a, b);
  return exact.cls == ValueClass::nan ? 0x7FC00000U : to_f32(exact);
}

constexpr std::array kRows{
    PairRow{"product", "exact", product},
};

/// Formats whose products fp32 holds exactly: at most 8 bits, within its range.
bool is_factor(const Format& format) { return format.width <= 8 && format.encoding != Encoding::exponent_only; }

/// One operation: a row for two formats.
struct Pair {
  const PairRow* row;
  const Format* a;
  const Format* b;
};

std::vector<Pair> all_pairs() {
  std::vector<Pair> pairs;
  for (const PairRow& row : kRows) {
    for (const Format& a : all_formats()) {
      for (const Format& b : all_formats()) {
        if (is_factor(a) && is_factor(b)) pairs.push_back({&row, &a, &b});
      }
    }
  }
  return pairs;
}

std::string name_of(const Pair& pair) { return fmt::format("{}_{}_{}", pair.row->word, pair.a->name, pair.b->name); }

class PairOp final : public VectorOp {
 public:
  PairOp(const Pair& pair, Edition edition) : VectorOp(name_of(pair), kFamily, edition), row_(*pair.row), a_(*pair.a), b_(*pair.b) {
    operands_ = {{"a", 1, a_.width, &a_}, {"b", 1, b_.width, &b_}};
    results_ = {{"r", 1, 32, &kF32}};
    settings_ = {{std::string(row_.word), std::string(row_.rule)}, {"nan", "0x7fc00000"}};
    axes_ = {{"a", number_classes()}, {"b", number_classes()}, {"result", number_classes()}};
  }

  void evaluate(Lanes operands, MutableLanes results) const override { results[0] = row_.of(decode(a_, operands[0]), decode(b_, operands[1])); }

  void bins(Lanes operands, Lanes results, std::span<std::uint8_t> bins) const override {
    bins[0] = number_class(operands[0], a_);
    bins[1] = number_class(operands[1], b_);
    bins[2] = number_class(results[0], kF32);
  }

  std::string why_unreachable(std::size_t axis, std::size_t bin) const override {
    if (axis < 2) return why_no_class(bin, axis == 0 ? a_ : b_);
    return fmt::format("no {} of {} and {} is one in fp32", row_.word, a_.name, b_.name);
  }

  void directed(const std::function<void(Lanes)>& sink) const override {
    for (std::uint64_t i = 0; i < exhaustive_count(); ++i) {
      std::array<std::uint32_t, 2> operands{};
      exhaustive(i, operands);
      sink(operands);
    }
  }

  void random(support::SplitMix64& random, MutableLanes operands) const override { exhaustive(random.next() % exhaustive_count(), operands); }

  std::optional<Value> exact(Lanes operands, Lanes /*right*/, std::size_t /*lane*/) const override {
    return exact_product(decode(a_, operands[0]), decode(b_, operands[1]));
  }

  std::string_view kind(Lanes /*operands*/, Lanes right) const override {
    switch (decode(kF32, right[0]).cls) {
      case ValueClass::zero: return "zero result";
      case ValueClass::infinity: return "infinite result";
      case ValueClass::nan: return "NaN result";
      case ValueClass::finite: break;
    }
    return "ordinary result";
  }

  std::vector<WrongRule> wrong_rules() const override {
    std::vector<WrongRule> rules;
    rules.push_back({FaultClass::sign, "the sign is that of the first factor", [a = a_](Lanes operands, Lanes right, MutableLanes answer) {
                       answer[0] = (right[0] & 0x7FFFFFFFU) | (decode(a, operands[0]).negative ? 0x80000000U : 0U);
                     }});
    rules.push_back({FaultClass::subnormal, "subnormal factors count as zero", [a = a_, b = b_](Lanes operands, Lanes right, MutableLanes answer) {
                       const bool subnormal = (number_class(operands[0], a) - 1U) % 5U == 1U || (number_class(operands[1], b) - 1U) % 5U == 1U;
                       answer[0] = subnormal ? right[0] & 0x80000000U : right[0];
                     }});
    for (const Format* narrow : {&kBf16, &kFp16}) {
      const Conversion how = conversion(profile_named(kOcp), kF32, *narrow);
      rules.push_back({FaultClass::rounding, fmt::format("rounded to {}", narrow->name),
                       [how, to = *narrow](Lanes, Lanes right, MutableLanes answer) { answer[0] = to_f32(convert(right[0], kF32, to, how), to); }});
    }
    for (WrongRule& rule : common_wrong_rules(results_)) rules.push_back(std::move(rule));
    return rules;
  }

 private:
  PairRow row_;
  Format a_, b_;
};

}  // namespace

std::vector<std::string> product_names() {
  std::vector<std::string> names;
  for (const Pair& pair : all_pairs()) names.push_back(name_of(pair));
  return names;
}

std::unique_ptr<VectorOp> make_product(std::string_view name, const OpOptions& options) {
  for (const Pair& pair : all_pairs()) {
    if (name_of(pair) != name) continue;
    require_taken(name, options, {});
    return std::make_unique<PairOp>(pair, options.edition());
  }
  return nullptr;
}

}  // namespace mx::golden
