// Exact products of two codes, as fp32.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "golden/vectors/arithmetic_ops.hpp"
#include "golden/vectors/number_bins.hpp"
#include "model/error.hpp"

namespace mx::golden {
namespace {

constexpr std::string_view kFamily = "product";
constexpr std::string_view kPrefix = "product_";

/// Formats whose products fp32 holds exactly: at most 8 bits, within its range.
bool is_factor(const Format& format) { return format.width <= 8 && format.encoding != Encoding::exponent_only; }

std::vector<std::pair<const Format*, const Format*>> factor_pairs() {
  std::vector<std::pair<const Format*, const Format*>> pairs;
  for (const Format& a : all_formats()) {
    for (const Format& b : all_formats()) {
      if (is_factor(a) && is_factor(b)) pairs.emplace_back(&a, &b);
    }
  }
  return pairs;
}

std::string name_of(const std::pair<const Format*, const Format*>& pair) {
  return fmt::format("{}{}_{}", kPrefix, pair.first->name, pair.second->name);
}

std::uint32_t product_of(const Format& a, const Format& b, Lanes operands) {
  const Value product = exact_product(decode(a, operands[0]), decode(b, operands[1]));
  // Every NaN is the positive quiet one: a device's product of two NaNs has no sign to speak of.
  return product.cls == ValueClass::nan ? 0x7FC00000U : to_f32(product);
}

class ProductOp final : public VectorOp {
 public:
  ProductOp(std::string name, const Format& a, const Format& b) : VectorOp(std::move(name), kFamily), a_(a), b_(b) {
    operands_ = {{"a", 1, a.width, &a_}, {"b", 1, b.width, &b_}};
    results_ = {{"r", 1, 32, &kF32}};
    settings_ = {{"product", "exact"}, {"nan", "0x7fc00000"}};
    axes_ = {{"a", number_classes()}, {"b", number_classes()}, {"result", number_classes()}};
  }

  void evaluate(Lanes operands, MutableLanes results) const override { results[0] = product_of(a_, b_, operands); }

  void bins(Lanes operands, Lanes results, std::span<std::uint8_t> bins) const override {
    bins[0] = number_class(operands[0], a_);
    bins[1] = number_class(operands[1], b_);
    bins[2] = number_class(results[0], kF32);
  }

  std::string why_unreachable(std::size_t axis, std::size_t bin) const override {
    if (axis < 2) return why_no_class(bin, axis == 0 ? a_ : b_);
    return fmt::format("no product of {} and {} is one in fp32", a_.name, b_.name);
  }

  void directed(const std::function<void(Lanes)>& sink) const override {
    for (std::uint64_t i = 0; i < exhaustive_count(); ++i) {
      std::array<std::uint32_t, 2> operands{};
      exhaustive(i, operands);
      sink(operands);
    }
  }

  void random(sim::SplitMix64& random, MutableLanes operands) const override { exhaustive(random.next() % exhaustive_count(), operands); }

  std::string_view kind(Lanes /*operands*/, Lanes right) const override {
    switch (decode(kF32, right[0]).cls) {
      case ValueClass::zero: return "zero product";
      case ValueClass::infinity: return "infinite product";
      case ValueClass::nan: return "NaN product";
      case ValueClass::finite: break;
    }
    return "ordinary product";
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
  Format a_, b_;
};

}  // namespace

std::vector<std::string> product_names() {
  std::vector<std::string> names;
  for (const auto& pair : factor_pairs()) names.push_back(name_of(pair));
  return names;
}

std::unique_ptr<VectorOp> make_product(std::string_view name, const OpOptions& options) {
  for (const auto& pair : factor_pairs()) {
    if (name_of(pair) != name) continue;
    require_taken(name, options, {});
    return std::make_unique<ProductOp>(std::string(name), *pair.first, *pair.second);
  }
  return nullptr;
}

}  // namespace mx::golden
