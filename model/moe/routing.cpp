#include "model/moe/routing.hpp"

#include <numeric>
#include <string>

#include "model/error.hpp"
#include "model/numerics/exact_sum.hpp"
#include "model/numerics/f32.hpp"

namespace mx::moe {
namespace {

Value negated(Value value) {
  value.negative = !value.negative;
  return value;
}

std::span<const Value> router_row(const Router& router, std::int64_t expert) {
  return std::span(router.weight).subspan(static_cast<std::size_t>(expert * router.hidden), static_cast<std::size_t>(router.hidden));
}

std::uint32_t router_bias(const Router& router, std::int64_t expert) {
  return router.bias.empty() ? 0 : router.bias[static_cast<std::size_t>(expert)];
}

void add_logit(ExactSum& sum, std::span<const Value> x, const Router& router, std::int64_t expert, bool subtract) {
  const auto row = router_row(router, expert);
  for (std::size_t k = 0; k < row.size(); ++k) sum.add_product(subtract ? negated(x[k]) : x[k], row[k]);
  const Value bias = decode(kF32, router_bias(router, expert));
  sum.add(subtract ? negated(bias) : bias);
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

void check(std::span<const Value> x, const Router& router, std::int64_t top_k) {
  const auto refuse = [](const std::string& text) { throw Error(ErrorCode::usage, text, "router"); };
  if (router.experts < 1 || router.hidden < 1) refuse(std::to_string(router.experts) + " experts of hidden " + std::to_string(router.hidden));
  if (static_cast<std::int64_t>(router.weight.size()) / router.hidden != router.experts ||
      router.weight.size() % static_cast<std::size_t>(router.hidden) != 0) {
    refuse("weight has " + std::to_string(router.weight.size()) + " values, not " + std::to_string(router.experts) + " x " +
           std::to_string(router.hidden));
  }
  if (!router.bias.empty() && static_cast<std::int64_t>(router.bias.size()) != router.experts) {
    refuse("bias has " + std::to_string(router.bias.size()) + " values for " + std::to_string(router.experts) + " experts");
  }
  if (static_cast<std::int64_t>(x.size()) != router.hidden)
    refuse("x has " + std::to_string(x.size()) + " values, not " + std::to_string(router.hidden));
  if (top_k < 1 || top_k > router.experts) {
    refuse("top_k " + std::to_string(top_k) + " is not in 1.." + std::to_string(router.experts) + ", the number of experts");
  }
}

/// The top_k best experts under `better`, best first, ties to the lower index.
template <class Better>
std::vector<std::int64_t> select_best(std::int64_t experts, std::int64_t top_k, Better better) {
  std::vector<std::int64_t> left(static_cast<std::size_t>(experts));
  std::iota(left.begin(), left.end(), 0);
  std::vector<std::int64_t> chosen;
  while (static_cast<std::int64_t>(chosen.size()) < top_k) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < left.size(); ++i) {
      if (better(left[i], left[best])) best = i;
    }
    chosen.push_back(left[best]);
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(best));
  }
  return chosen;
}

std::vector<Slot> softmax(const std::vector<std::int64_t>& chosen, const std::vector<std::uint32_t>& differences, bool exact_total) {
  std::vector<std::uint32_t> exponentials;
  ExactSum exact;
  std::uint32_t sequential = 0;
  for (std::uint32_t difference : differences) {
    exponentials.push_back(f32::exp(difference));
    exact.add(decode(kF32, exponentials.back()));
    sequential = f32::add(sequential, exponentials.back());
  }
  const std::uint32_t total = exact_total ? exact.to_f32() : sequential;
  std::vector<Slot> slots;
  for (std::size_t i = 0; i < chosen.size(); ++i) slots.push_back({chosen[i], f32::div(exponentials[i], total)});
  return slots;
}

}  // namespace

std::vector<Slot> route_topk_softmax(Contract contract, std::span<const Value> x, const Router& router, std::int64_t top_k) {
  check(x, router, top_k);
  std::vector<std::uint32_t> differences;
  if (contract == Contract::exact) {
    std::vector<bool> nan;
    for (std::int64_t expert = 0; expert < router.experts; ++expert) nan.push_back(is_nan_logit(x, router, expert));
    const std::vector<std::int64_t> chosen = select_best(router.experts, top_k, [&](std::int64_t a, std::int64_t b) {
      if (nan[static_cast<std::size_t>(a)] || nan[static_cast<std::size_t>(b)])
        return nan[static_cast<std::size_t>(a)] && !nan[static_cast<std::size_t>(b)];
      const Value difference = logit_difference(x, router, a, b).leading_bits();
      return !difference.negative && (difference.cls == ValueClass::finite || difference.cls == ValueClass::infinity);
    });
    for (std::int64_t expert : chosen) differences.push_back(logit_difference(x, router, expert, chosen[0]).to_f32());
    return softmax(chosen, differences, true);
  }
  std::vector<std::uint32_t> logits;
  for (std::int64_t expert = 0; expert < router.experts; ++expert) {
    logits.push_back(dot(contract, x, router_row(router, expert), router_bias(router, expert)));
  }
  const auto logit = [&](std::int64_t expert) { return logits[static_cast<std::size_t>(expert)]; };
  const std::vector<std::int64_t> chosen = select_best(router.experts, top_k, [&](std::int64_t a, std::int64_t b) {
    return f32::less(logit(b), logit(a)) || (f32::is_nan(logit(a)) && !f32::is_nan(logit(b)));
  });
  for (std::int64_t expert : chosen) differences.push_back(f32::sub(logit(expert), logit(chosen[0])));
  return softmax(chosen, differences, false);
}

}  // namespace mx::moe
