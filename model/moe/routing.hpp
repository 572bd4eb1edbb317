#pragma once
// Which experts a token goes to, and with which weights.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "model/moe/arithmetic.hpp"
#include "model/numerics/dot.hpp"
#include "model/numerics/value.hpp"

namespace mx::moe {

/// One (token, expert) pair; `weight` is a number of the arithmetic that routed it.
template <class Number>
struct SlotOf {
  std::int64_t expert;
  Number weight;
  friend bool operator==(const SlotOf&, const SlotOf&) = default;
};
using Slot = SlotOf<std::uint32_t>;  ///< weight as fp32 bits

/// What becomes of a logit.
enum class Score {
  softmax,           ///< exp(l - max) / sum over all experts, the sum over ascending experts
  softmax_selected,  ///< the same over the selected experts' logits, the sum over descending choice
  sigmoid,           ///< 1 / (1 + exp(-l))
  sqrt_softplus,     ///< sqrt(log1p(exp(l))), sqrt(l) above 20 (torch.nn.functional.softplus)
};
/// What the best experts are chosen by. Weights come from the score, whichever it is.
enum class Choice { logit, score, score_plus_bias };
/// How groups of experts are ranked, by the choice values of their members.
enum class GroupScore { none, max, top2_sum };
/// The choice value that experts outside the best groups get. Where the choice is the score, a selected one's weight is that value too.
enum class Excluded { minus_infinity, zero };
enum class Renormalise { none, sum, sum_plus_eps };
/// Where the weight is multiplied in: the expert's output or its input.
enum class WeightPlace { output, input };

/// One way to route. Of equal choices the lower expert (or group) comes first, NaN before any number: torch.topk leaves the first open and does the
/// second.
struct RouterRecipe {
  std::string_view name;
  std::string_view model;           ///< word of the witness form; several rows may share it
  std::string_view implementation;  ///< whose variant this is; empty: no two are known to differ
  Score score;
  Choice choice;
  GroupScore group_score;
  Excluded excluded;
  Renormalise renormalise;
  std::uint32_t eps;  ///< fp32 bits, added to the sum of weights under sum_plus_eps; else 0
  WeightPlace weight_on;
  std::string_view source;
};

std::span<const RouterRecipe> all_routers();
/// Throws Error(usage) with the nearest known name.
const RouterRecipe& router_named(std::string_view name);

/// A model's own numbers.
struct RouterSizes {
  std::int64_t top_k;
  std::int64_t groups = 1;              ///< equal groups of consecutive experts
  std::int64_t topk_groups = 1;         ///< how many of them stay eligible
  Value factor = WideArithmetic::kOne;  ///< multiplied into every weight at last
};

/// Routes one token. `logits` has one number per expert, `bias` too when the choice adds it, else it is empty. Slots by descending choice; sums over
/// them in that order; every operation one of the arithmetic's, in the order of the words above: score, renormalise, factor.
/// Throws Error(usage) when sizes disagree, groups do not divide the experts, top2_sum has groups of one, top_k passes the eligible experts, or eps
/// is given without being used.
template <class Arithmetic>
std::vector<SlotOf<typename Arithmetic::Number>> route_logits(const RouterRecipe& recipe, const RouterSizes& sizes,
                                                              std::span<const typename Arithmetic::Number> logits,
                                                              std::span<const typename Arithmetic::Number> bias);

/// The weights of experts that a table chose, such as DeepSeek-V4's first layers do by token id; slots in the table's order, sums too. Errors as
/// above, and for an expert that does not exist or comes twice.
template <class Arithmetic>
std::vector<SlotOf<typename Arithmetic::Number>> weigh_experts(const RouterRecipe& recipe, const RouterSizes& sizes,
                                                               std::span<const typename Arithmetic::Number> logits,
                                                               std::span<const std::int64_t> experts);

/// Router of a layer: weight [E, H] row-major as exact values and bias [E] as fp32 bits (empty: none).
struct Router {
  std::int64_t experts;
  std::int64_t hidden;
  std::vector<Value> weight;
  std::vector<std::uint32_t> bias;
};

/// Logits of one token, x * W^T + bias in the arithmetic. x has `hidden` values. Throws Error(usage) when sizes disagree.
template <class Arithmetic>
std::vector<typename Arithmetic::Number> router_logits(const Arithmetic& arithmetic, std::span<const Value> x, const Router& router);

/// Top-k on logits, then softmax over the selected ones. Slots by descending logit, equal logits by ascending expert, NaN first (torch.topk).
/// Under `exact` the logits are compared and subtracted exactly, each difference to the largest is rounded once to fp32, exp is
/// correctly rounded, the sum is exact and rounded once, and so is each quotient. Under every other contract the logits are that contract's
/// fp32 results, and difference, exp, ascending sum over slots and quotient are one fp32 rounding each.
/// x has `hidden` values. Throws Error(usage) when sizes disagree or top_k is not in 1..experts.
/// Source: openai/gpt-oss gpt_oss/torch/model.py MLPBlock (topk, softmax over experts.values).
std::vector<Slot> route_topk_softmax(Contract contract, std::span<const Value> x, const Router& router, std::int64_t top_k);

}  // namespace mx::moe
