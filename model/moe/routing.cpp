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

/// fp32 bits of logit(a) - logit(b), exact until one rounding.
std::uint32_t logit_difference(std::span<const Value> x, const Router& router, std::int64_t a, std::int64_t b) {
  ExactSum sum;
  add_logit(sum, x, router, a, false);
  add_logit(sum, x, router, b, true);
  return sum.to_f32();
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
  if (top_k < 1 || top_k > router.experts) {
    throw Error(ErrorCode::usage, "top_k " + std::to_string(top_k) + " is not in 1.." + std::to_string(router.experts) + ", the number of experts");
  }
  std::vector<std::uint32_t> differences;
  if (contract == Contract::exact) {
    const std::vector<std::int64_t> chosen = select_best(router.experts, top_k, [&](std::int64_t a, std::int64_t b) {
      return f32::less(0, logit_difference(x, router, a, b));
    });
    for (std::int64_t expert : chosen) differences.push_back(logit_difference(x, router, expert, chosen[0]));
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
