#include "props/moe/restated.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

namespace mx::props {
namespace {

using Floats = std::vector<float>;

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();
constexpr float kTiny = 1e-20F;

float exp_of(float x) { return static_cast<float>(std::exp(static_cast<long double>(x))); }
float log1p_of(float x) { return static_cast<float>(std::log1p(static_cast<long double>(x))); }
float sigmoid(float x) { return 1.0F / (1.0F + exp_of(-x)); }
float sqrt_softplus(float x) { return std::sqrt(x > 20.0F ? x : log1p_of(exp_of(x))); }

Floats mapped(const Floats& values, float (*function)(float)) {
  Floats results;
  std::transform(values.begin(), values.end(), std::back_inserter(results), function);
  return results;
}

/// Positions of the best, as torch.topk orders them; of equal values the lower position.
std::vector<int> best(const Floats& values, int count) {
  std::vector<int> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    const float x = values[static_cast<std::size_t>(a)];
    const float y = values[static_cast<std::size_t>(b)];
    if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && !std::isnan(y);
    return x > y;
  });
  order.resize(static_cast<std::size_t>(count));
  return order;
}

Floats picked(const Floats& values, const std::vector<int>& positions) {
  Floats results;
  for (int position : positions) results.push_back(values[static_cast<std::size_t>(position)]);
  return results;
}

Floats softmax(const Floats& logits) {
  const bool has_nan = std::any_of(logits.begin(), logits.end(), [](float x) { return std::isnan(x); });
  const float top = has_nan ? std::nanf("") : *std::max_element(logits.begin(), logits.end());
  Floats results;
  for (float logit : logits) results.push_back(exp_of(logit - top));
  float sum = 0;
  for (float result : results) sum += result;
  for (float& result : results) result /= sum;
  return results;
}

Floats normalised(Floats weights, float eps) {
  float sum = 0;
  for (float weight : weights) sum += weight;
  sum += eps;
  for (float& weight : weights) weight /= sum;
  return weights;
}

RestatedSlots finished(std::vector<int> experts, Floats weights, float factor) {
  for (float& weight : weights) weight *= factor;
  return {std::move(experts), std::move(weights)};
}

Floats sum_of(const Floats& a, const Floats& b) {
  Floats results;
  for (std::size_t i = 0; i < a.size(); ++i) results.push_back(a[i] + b[i]);
  return results;
}

/// Choices with everything outside the best groups replaced.
Floats masked(const Floats& choices, const RouterInput& input, bool two, float outside) {
  const auto groups = static_cast<std::size_t>(input.groups);
  const std::size_t members = choices.size() / groups;
  Floats group_scores;
  for (std::size_t g = 0; g < groups; ++g) {
    const Floats group(choices.begin() + static_cast<std::ptrdiff_t>(g * members), choices.begin() + static_cast<std::ptrdiff_t>((g + 1) * members));
    const Floats top = picked(group, best(group, two ? 2 : 1));
    group_scores.push_back(two ? top[0] + top[1] : top[0]);
  }
  const std::vector<int> kept = best(group_scores, input.topk_groups);
  Floats results = choices;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (std::count(kept.begin(), kept.end(), static_cast<int>(i / members)) == 0) results[i] = outside;
  }
  return results;
}

RestatedSlots gpt_oss(const RouterInput& in) {
  const std::vector<int> experts = best(in.logits, in.top_k);
  return finished(experts, softmax(picked(in.logits, experts)), in.factor);
}

RestatedSlots softmax_topk(const RouterInput& in) {
  const Floats scores = softmax(in.logits);
  const std::vector<int> experts = best(scores, in.top_k);
  return finished(experts, picked(scores, experts), in.factor);
}

RestatedSlots softmax_topk_norm(const RouterInput& in) {
  const Floats scores = softmax(in.logits);
  const std::vector<int> experts = best(scores, in.top_k);
  return finished(experts, normalised(picked(scores, experts), 0), in.factor);
}

RestatedSlots v2_grouped(const RouterInput& in, float outside) {
  const Floats scores = masked(softmax(in.logits), in, false, outside);
  const std::vector<int> experts = best(scores, in.top_k);
  return finished(experts, picked(scores, experts), in.factor);
}
RestatedSlots v2_transformers(const RouterInput& in) { return v2_grouped(in, 0); }
RestatedSlots v2_vllm(const RouterInput& in) { return v2_grouped(in, kMinusInfinity); }

RestatedSlots v3(const RouterInput& in, float eps) {
  const Floats scores = mapped(in.logits, sigmoid);
  const std::vector<int> experts = best(masked(sum_of(scores, in.bias), in, true, kMinusInfinity), in.top_k);
  return finished(experts, normalised(picked(scores, experts), eps), in.factor);
}
RestatedSlots v3_transformers(const RouterInput& in) { return v3(in, kTiny); }
RestatedSlots v3_vllm(const RouterInput& in) { return v3(in, 0); }

RestatedSlots v4(const RouterInput& in) {
  const std::vector<int> experts = best(sum_of(mapped(in.logits, sqrt_softplus), in.bias), in.top_k);
  return {experts, restated_v4_weights(in, experts)};
}

RestatedSlots llama4(const RouterInput& in) {
  const std::vector<int> experts = best(in.logits, in.top_k);
  return finished(experts, mapped(picked(in.logits, experts), sigmoid), in.factor);
}

RestatedSlots sigmoid_topk(const RouterInput& in) {
  const Floats scores = mapped(in.logits, sigmoid);
  const std::vector<int> experts = best(scores, in.top_k);
  return finished(experts, picked(scores, experts), in.factor);
}

RestatedSlots sigmoid_renorm(const RouterInput& in) {
  const Floats scores = mapped(in.logits, sigmoid);
  const std::vector<int> experts = best(scores, in.top_k);
  return finished(experts, normalised(picked(scores, experts), 0), in.factor);
}

RestatedSlots minimax_m2(const RouterInput& in) {
  const Floats scores = mapped(in.logits, sigmoid);
  const std::vector<int> experts = best(sum_of(scores, in.bias), in.top_k);
  return finished(experts, normalised(picked(scores, experts), kTiny), in.factor);
}

constexpr std::array<RestatedRouter, 13> kRouters{{
    {"gpt-oss", false, false, gpt_oss},
    {"softmax-topk-norm", false, false, softmax_topk_norm},
    {"softmax-topk", false, false, softmax_topk},
    {"deepseek-v2-greedy", false, false, softmax_topk},
    {"deepseek-v2-grouped-transformers", false, true, v2_transformers},
    {"deepseek-v2-grouped-vllm", false, true, v2_vllm},
    {"deepseek-v3-transformers", true, true, v3_transformers},
    {"deepseek-v3-vllm", true, true, v3_vllm},
    {"deepseek-v4", true, false, v4},
    {"llama4", false, false, llama4},
    {"sigmoid-renorm", false, false, sigmoid_renorm},
    {"sigmoid", false, false, sigmoid_topk},
    {"minimax-m2", true, false, minimax_m2},
}};

}  // namespace

const RestatedRouter* restated_router(std::string_view name) {
  const auto row = std::find_if(kRouters.begin(), kRouters.end(), [&](const RestatedRouter& router) { return router.name == name; });
  return row == kRouters.end() ? nullptr : &*row;
}

std::vector<float> restated_v4_weights(const RouterInput& input, const std::vector<int>& experts) {
  return finished(experts, normalised(picked(mapped(input.logits, sqrt_softplus), experts), kTiny), input.factor).weights;
}

}  // namespace mx::props
