#include "model/moe/routing.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "model/error.hpp"
#include "model/fault.hpp"
#include "model/numerics/convert.hpp"
#include "model/numerics/exact_sum.hpp"
#include "model/numerics/f32.hpp"

namespace mx::moe {
namespace {

using fault::Fault;
using fault::planted;

[[noreturn]] void refuse(const std::string& text) { throw Error(ErrorCode::usage, text, "router"); }

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

/// The `count` best of 0..total-1 under `better`, best first, ties to the lower index.
template <class Better>
std::vector<std::int64_t> select_best(std::int64_t total, std::int64_t count, Better better) {
  std::vector<std::int64_t> left(at(total));
  std::iota(left.begin(), left.end(), 0);
  std::vector<std::int64_t> chosen;
  while (static_cast<std::int64_t>(chosen.size()) < count) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < left.size(); ++i) {
      const bool tie_taken = planted(Fault::router_tie_to_higher) && !better(left[best], left[i]);
      if (better(left[i], left[best]) || tie_taken) best = i;
    }
    chosen.push_back(left[best]);
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(best));
  }
  return chosen;
}

/// The order of torch.topk: NaN first, then descending.
template <class A>
std::vector<std::int64_t> select_largest(std::span<const typename A::Number> numbers, std::int64_t count) {
  return select_best(static_cast<std::int64_t>(numbers.size()), count, [&](std::int64_t a, std::int64_t b) {
    return A::less(numbers[at(b)], numbers[at(a)]) || (A::is_nan(numbers[at(a)]) && !A::is_nan(numbers[at(b)]));
  });
}

void check_sizes(const RouterRecipe& recipe, const RouterSizes& sizes, std::int64_t experts) {
  if (recipe.eps != 0 && recipe.renormalise != Renormalise::sum_plus_eps) refuse("eps is given, but no sum of weights takes it");
  if (experts < 1) refuse("no experts to choose from");
  if (sizes.groups < 1 || experts % sizes.groups != 0) {
    refuse(std::to_string(sizes.groups) + " groups do not divide " + std::to_string(experts) + " experts");
  }
  if (sizes.topk_groups < 1 || sizes.topk_groups > sizes.groups) {
    refuse("topk_groups " + std::to_string(sizes.topk_groups) + " is not in 1.." + std::to_string(sizes.groups) + ", the number of groups");
  }
  if (recipe.group_score == GroupScore::none && sizes.groups != 1) refuse(std::to_string(sizes.groups) + " groups without a group score");
  const std::int64_t members = experts / sizes.groups;
  // One group is taken whatever its score.
  if (recipe.group_score == GroupScore::top2_sum && members < 2 && sizes.groups > 1)
    refuse("the best two of a group are asked for, groups have one expert");
  const std::int64_t eligible = sizes.topk_groups * members;
  if (sizes.top_k < 1 || sizes.top_k > eligible) {
    refuse("top_k " + std::to_string(sizes.top_k) + " is not in 1.." + std::to_string(eligible) + ", the number of eligible experts");
  }
}

void check_bias(const RouterRecipe& recipe, std::size_t bias, std::size_t experts) {
  const std::size_t wanted = recipe.choice == Choice::score_plus_bias ? experts : 0;
  if (bias != wanted) refuse("bias has " + std::to_string(bias) + " values, the choice adds " + std::to_string(wanted));
}

/// One token's way through a recipe.
template <class A>
class Routing {
 public:
  using Number = typename A::Number;
  using Numbers = std::vector<Number>;

  Routing(const RouterRecipe& recipe, const RouterSizes& sizes, std::span<const Number> logits)
      : recipe_(recipe), sizes_(sizes), logits_(logits), scores_(scores()) {}

  std::vector<std::int64_t> choose(std::span<const Number> bias) {
    choices_ = choices(bias);
    const Number excluded = excluded_value();
    const std::int64_t members = static_cast<std::int64_t>(logits_.size()) / sizes_.groups;
    const std::vector<std::int64_t> kept = best_groups(members);
    for (std::int64_t expert = 0; expert < sizes_.groups * members; ++expert) {
      if (std::find(kept.begin(), kept.end(), expert / members) == kept.end()) choices_[at(expert)] = excluded;
    }
    return select_largest<A>(choices_, sizes_.top_k);
  }

  std::vector<SlotOf<Number>> weigh(const std::vector<std::int64_t>& experts, std::span<const Number> bias) const {
    Numbers weights;
    for (const std::int64_t expert : experts) weights.push_back(weight(expert, bias));
    if (recipe_.score == Score::softmax_selected && !planted(Fault::router_softmax_over_all)) weights = softmax(weights);
    renormalise(weights);
    const Number factor = planted(Fault::router_factor_dropped) ? A::kOne : A::from(sizes_.factor);
    std::vector<SlotOf<Number>> slots;
    for (std::size_t i = 0; i < experts.size(); ++i) slots.push_back({experts[i], A::mul(weights[i], factor)});
    return slots;
  }

 private:
  static Numbers softmax(std::span<const Number> logits) {
    Number largest = logits[0];
    for (const Number& logit : logits) largest = A::max(largest, logit);
    Numbers exponentials;
    Number sum = A::kZero;
    for (const Number& logit : logits) {
      exponentials.push_back(A::exp(A::sub(logit, largest)));
      sum = A::add(sum, exponentials.back());
    }
    for (Number& exponential : exponentials) exponential = A::div(exponential, sum);
    return exponentials;
  }

  static Number sigmoid(const Number& logit) { return A::div(A::kOne, A::add(A::kOne, A::exp(A::negated(logit)))); }

  static Number sqrt_softplus(const Number& logit) {
    const Number threshold = A::from({.significand = 20, .exponent = 0, .cls = ValueClass::finite, .negative = false});
    return A::sqrt(A::less(threshold, logit) ? logit : A::log1p(A::exp(logit)));
  }

  Numbers scores() const {
    if (recipe_.score == Score::softmax) return softmax(logits_);
    // The selected ones enter their softmax as logits.
    if (recipe_.score == Score::softmax_selected)
      return planted(Fault::router_softmax_over_all) ? softmax(logits_) : Numbers(logits_.begin(), logits_.end());
    Numbers scores;
    for (const Number& logit : logits_) scores.push_back(recipe_.score == Score::sigmoid ? sigmoid(logit) : sqrt_softplus(logit));
    return scores;
  }

  Numbers choices(std::span<const Number> bias) const {
    Numbers choices = recipe_.choice == Choice::logit ? Numbers(logits_.begin(), logits_.end()) : scores_;
    if (recipe_.choice == Choice::score_plus_bias) {
      for (std::size_t i = 0; i < choices.size(); ++i) choices[i] = A::add(choices[i], bias[i]);
    }
    if (planted(Fault::router_negative_is_zero)) {
      for (Number& choice : choices) choice = A::max(choice, A::kZero);
    }
    return choices;
  }

  Number excluded_value() const {
    const bool zero = recipe_.excluded == Excluded::zero || planted(Fault::router_excluded_is_zero);
    return zero ? A::kZero : A::from({.significand = 0, .exponent = 0, .cls = ValueClass::infinity, .negative = true});
  }

  std::vector<std::int64_t> best_groups(std::int64_t members) const {
    if (sizes_.groups == 1) return {0};
    Numbers groups;
    for (std::int64_t group = 0; group < sizes_.groups; ++group) {
      const std::span<const Number> choices = std::span(choices_).subspan(at(group * members), at(members));
      const std::vector<std::int64_t> best = select_largest<A>(choices, recipe_.group_score == GroupScore::top2_sum ? 2 : 1);
      groups.push_back(best.size() == 2 ? A::add(choices[at(best[0])], choices[at(best[1])]) : choices[at(best[0])]);
    }
    return select_largest<A>(groups, sizes_.topk_groups);
  }

  /// torch.topk hands out the choice values, so where these are the scores, an excluded expert's weight is what it was excluded with.
  Number weight(std::int64_t expert, std::span<const Number> bias) const {
    if (planted(Fault::router_weight_from_choice) && !bias.empty()) return A::sub(choices_[at(expert)], bias[at(expert)]);
    return recipe_.choice == Choice::score && !choices_.empty() ? choices_[at(expert)] : scores_[at(expert)];
  }

  void renormalise(Numbers& weights) const {
    if (recipe_.renormalise == Renormalise::none || planted(Fault::router_not_renormalised)) return;
    Number sum = A::kZero;
    for (const Number& weight : weights) sum = A::add(sum, weight);
    if (recipe_.renormalise == Renormalise::sum_plus_eps) sum = A::add(sum, A::from(decode(kF32, recipe_.eps)));
    for (Number& weight : weights) weight = A::div(weight, sum);
  }

  const RouterRecipe& recipe_;
  const RouterSizes& sizes_;
  std::span<const Number> logits_;
  Numbers scores_;
  Numbers choices_;
};

std::span<const Value> router_row(const Router& router, std::int64_t expert) {
  return std::span(router.weight).subspan(at(expert * router.hidden), at(router.hidden));
}

Value router_bias(const Router& router, std::int64_t expert) { return router.bias.empty() ? Value{} : decode(kF32, router.bias[at(expert)]); }

void check_router(std::span<const Value> x, const Router& router) {
  if (router.experts < 1 || router.hidden < 1) refuse(std::to_string(router.experts) + " experts of hidden " + std::to_string(router.hidden));
  if (static_cast<std::int64_t>(router.weight.size()) / router.hidden != router.experts || router.weight.size() % at(router.hidden) != 0) {
    refuse("weight has " + std::to_string(router.weight.size()) + " values, not " + std::to_string(router.experts) + " x " +
           std::to_string(router.hidden));
  }
  if (!router.bias.empty() && static_cast<std::int64_t>(router.bias.size()) != router.experts) {
    refuse("bias has " + std::to_string(router.bias.size()) + " values for " + std::to_string(router.experts) + " experts");
  }
  if (static_cast<std::int64_t>(x.size()) != router.hidden)
    refuse("x has " + std::to_string(x.size()) + " values, not " + std::to_string(router.hidden));
}

void add_logit(ExactSum& sum, std::span<const Value> x, const Router& router, std::int64_t expert, bool subtract) {
  const auto row = router_row(router, expert);
  for (std::size_t k = 0; k < row.size(); ++k) sum.add_product(subtract ? WideArithmetic::negated(x[k]) : x[k], row[k]);
  const Value bias = router_bias(router, expert);
  sum.add(subtract ? WideArithmetic::negated(bias) : bias);
}

/// logit(a) - logit(b), not rounded.
ExactSum logit_difference(std::span<const Value> x, const Router& router, std::int64_t a, std::int64_t b) {
  ExactSum sum;
  add_logit(sum, x, router, a, false);
  add_logit(sum, x, router, b, true);
  return sum;
}

bool is_nan_logit(std::span<const Value> x, const Router& router, std::int64_t expert) {
  ExactSum sum;
  add_logit(sum, x, router, expert, false);
  return sum.leading_bits().cls == ValueClass::nan;
}

/// Softmax over differences to the largest, its sum exact and rounded once.
std::vector<Slot> exact_softmax(const std::vector<std::int64_t>& chosen, const std::vector<std::uint32_t>& differences) {
  std::vector<std::uint32_t> exponentials;
  ExactSum total;
  for (std::uint32_t difference : differences) {
    exponentials.push_back(f32::exp(difference));
    total.add(decode(kF32, exponentials.back()));
  }
  std::vector<Slot> slots;
  for (std::size_t i = 0; i < chosen.size(); ++i) slots.push_back({chosen[i], f32::div(exponentials[i], total.to_f32())});
  return slots;
}

std::vector<Slot> route_exactly(std::span<const Value> x, const Router& router, std::int64_t top_k) {
  std::vector<bool> nan;
  for (std::int64_t expert = 0; expert < router.experts; ++expert) nan.push_back(is_nan_logit(x, router, expert));
  const std::vector<std::int64_t> chosen = select_best(router.experts, top_k, [&](std::int64_t a, std::int64_t b) {
    if (nan[at(a)] || nan[at(b)]) return nan[at(a)] && !nan[at(b)];
    const Value difference = logit_difference(x, router, a, b).leading_bits();
    return !difference.negative && (difference.cls == ValueClass::finite || difference.cls == ValueClass::infinity);
  });
  std::vector<std::uint32_t> differences;
  for (std::int64_t expert : chosen) differences.push_back(logit_difference(x, router, expert, chosen[0]).to_f32());
  return exact_softmax(chosen, differences);
}

}  // namespace

template <class A>
std::vector<SlotOf<typename A::Number>> route_logits(const RouterRecipe& recipe, const RouterSizes& sizes, std::span<const typename A::Number> logits,
                                                     std::span<const typename A::Number> bias) {
  check_sizes(recipe, sizes, static_cast<std::int64_t>(logits.size()));
  check_bias(recipe, bias.size(), logits.size());
  Routing<A> routing(recipe, sizes, logits);
  const std::vector<std::int64_t> experts = routing.choose(bias);
  return routing.weigh(experts, bias);
}

template <class A>
std::vector<SlotOf<typename A::Number>> weigh_experts(const RouterRecipe& recipe, const RouterSizes& sizes,
                                                      std::span<const typename A::Number> logits, std::span<const std::int64_t> experts) {
  const auto count = static_cast<std::int64_t>(logits.size());
  check_sizes(recipe, sizes, count);
  if (static_cast<std::int64_t>(experts.size()) != sizes.top_k) {
    refuse("the table gives " + std::to_string(experts.size()) + " experts, top_k is " + std::to_string(sizes.top_k));
  }
  for (std::size_t i = 0; i < experts.size(); ++i) {
    const bool twice =
        std::find(experts.begin(), experts.begin() + static_cast<std::ptrdiff_t>(i), experts[i]) != experts.begin() + static_cast<std::ptrdiff_t>(i);
    if (experts[i] < 0 || experts[i] >= count) refuse("expert " + std::to_string(experts[i]) + " is not in 0.." + std::to_string(count - 1));
    if (twice) refuse("the table gives expert " + std::to_string(experts[i]) + " twice");
  }
  return Routing<A>(recipe, sizes, logits).weigh({experts.begin(), experts.end()}, {});
}

template <class A>
std::vector<typename A::Number> router_logits(const A& arithmetic, std::span<const Value> x, const Router& router) {
  check_router(x, router);
  const auto operand = arithmetic.prepared(Side::a, {x.begin(), x.end()});
  std::vector<typename A::Number> logits;
  for (std::int64_t expert = 0; expert < router.experts; ++expert) {
    const std::span<const Value> row = router_row(router, expert);
    logits.push_back(arithmetic.dot(operand, arithmetic.prepared(Side::b, {row.begin(), row.end()}), router_bias(router, expert)));
  }
  return logits;
}

template std::vector<SlotOf<std::uint32_t>> route_logits<F32Arithmetic>(const RouterRecipe&, const RouterSizes&, std::span<const std::uint32_t>,
                                                                        std::span<const std::uint32_t>);
template std::vector<SlotOf<std::uint32_t>> route_logits<Bf16Arithmetic>(const RouterRecipe&, const RouterSizes&, std::span<const std::uint32_t>,
                                                                         std::span<const std::uint32_t>);
template std::vector<SlotOf<Value>> route_logits<WideArithmetic>(const RouterRecipe&, const RouterSizes&, std::span<const Value>,
                                                                 std::span<const Value>);
template std::vector<SlotOf<std::uint32_t>> weigh_experts<F32Arithmetic>(const RouterRecipe&, const RouterSizes&, std::span<const std::uint32_t>,
                                                                         std::span<const std::int64_t>);
template std::vector<SlotOf<std::uint32_t>> weigh_experts<Bf16Arithmetic>(const RouterRecipe&, const RouterSizes&, std::span<const std::uint32_t>,
                                                                          std::span<const std::int64_t>);
template std::vector<SlotOf<Value>> weigh_experts<WideArithmetic>(const RouterRecipe&, const RouterSizes&, std::span<const Value>,
                                                                  std::span<const std::int64_t>);
template std::vector<std::uint32_t> router_logits<F32Arithmetic>(const F32Arithmetic&, std::span<const Value>, const Router&);
template std::vector<std::uint32_t> router_logits<Bf16Arithmetic>(const Bf16Arithmetic&, std::span<const Value>, const Router&);
template std::vector<Value> router_logits<WideArithmetic>(const WideArithmetic&, std::span<const Value>, const Router&);

std::vector<Slot> route_topk_softmax(Contract contract, std::span<const Value> x, const Router& router, std::int64_t top_k) {
  check_router(x, router);
  const RouterRecipe& recipe = router_named("gpt-oss");
  const RouterSizes sizes{.top_k = top_k};
  check_sizes(recipe, sizes, router.experts);
  if (contract == Contract::exact) return route_exactly(x, router, top_k);
  return route_logits<F32Arithmetic>(recipe, sizes, router_logits(F32Arithmetic{contract}, x, router), {});
}

}  // namespace mx::moe
