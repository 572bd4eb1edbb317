#pragma once
// Which experts a token goes to, and with which weights.

#include <cstdint>
#include <span>
#include <vector>

#include "model/numerics/dot.hpp"
#include "model/numerics/value.hpp"

namespace mx::moe {

/// Router of a layer: weight [E, H] row-major as exact values and bias [E] as fp32 bits (empty: none).
struct Router {
  std::int64_t experts;
  std::int64_t hidden;
  std::vector<Value> weight;
  std::vector<std::uint32_t> bias;
};

/// One (token, expert) pair; `weight` is fp32 bits.
struct Slot {
  std::int64_t expert;
  std::uint32_t weight;
  friend bool operator==(const Slot&, const Slot&) = default;
};

/// Top-k on logits, then softmax over the selected ones. Slots by descending logit, equal logits by ascending expert, NaN first (torch.topk).
/// Under `exact` the logits are compared and subtracted exactly, each difference to the largest is rounded once to fp32, exp is
/// correctly rounded, the sum is exact and rounded once, and so is each quotient. Under every other contract the logits are that contract's
/// fp32 results, and difference, exp, ascending sum over slots and quotient are one fp32 rounding each.
/// x has `hidden` values. Throws Error(usage) when sizes disagree or top_k is not in 1..experts.
/// Source: openai/gpt-oss gpt_oss/torch/model.py MLPBlock (topk, softmax over experts.values).
std::vector<Slot> route_topk_softmax(Contract contract, std::span<const Value> x, const Router& router, std::int64_t top_k);

}  // namespace mx::moe
