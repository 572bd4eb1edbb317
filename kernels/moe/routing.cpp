#include "kernels/moe/routing.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "kernels/functions/functions.hpp"
#include "kernels/moe/buffers.hpp"
#include "kernels/threads.hpp"
#include "model/error.hpp"
#include "model/fault.hpp"
#include "model/numerics/convert.hpp"
#include "model/ordinary_mode.hpp"

namespace mx::kernels::moe {
namespace {

using mx::moe::Choice;
using mx::moe::Excluded;
using mx::moe::F32Arithmetic;
using mx::moe::GroupScore;
using mx::moe::Renormalise;
using mx::moe::RouterRecipe;
using mx::moe::RouterSizes;
using mx::moe::Score;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
/// Each call tries its router on so many zeros: a number that is no layer's would take all memory first.
constexpr std::size_t kMostExperts = 1 << 16;

[[noreturn]] void refuse(const std::string& text) { throw Error(ErrorCode::usage, text, "router"); }

std::size_t at(std::int64_t size) { return static_cast<std::size_t>(size); }

/// The order of torch.topk: NaN first, then descending; of equals the first.
bool comes_before(float a, float b) { return a > b || (a != a && b == b); }

/// Indices of the `count` first of `numbers` in that order. `order` is where it works.
void select(std::span<const float> numbers, std::size_t count, std::vector<std::size_t>& order) {
  order.clear();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (order.size() == count && !comes_before(numbers[i], numbers[order.back()])) continue;
    const auto place = std::ranges::find_if(order, [&](std::size_t other) { return comes_before(numbers[i], numbers[other]); });
    order.insert(place, i);
    if (order.size() > count) order.pop_back();
  }
}

/// Some tokens at a time: the arrays of one thread.
class Tokens {
 public:
  Tokens(const RouterRecipe& recipe, const RouterSizes& sizes, std::size_t experts, std::span<const float> bias, const IsaTier& tier)
      : recipe_(recipe), sizes_(sizes), experts_(experts), bias_(bias), tier_(tier), factor_(std::bit_cast<float>(to_f32(sizes.factor))) {}

  void run(std::span<const float> logits, std::int32_t* chosen, float* weights) {
    score(logits);
    const std::size_t top_k = at(sizes_.top_k);
    for (std::size_t token = 0; token < logits.size() / experts_; ++token) {
      choose(logits.subspan(token * experts_, experts_), std::span(scores_).subspan(token * experts_, experts_));
      for (std::size_t i = 0; i < top_k; ++i) chosen[token * top_k + i] = static_cast<std::int32_t>(order_[i]);
      weigh(std::span(scores_).subspan(token * experts_, experts_), weights + token * top_k);
    }
  }

 private:
  void apply(const char* function, std::vector<float>& xs) {
    bits_.resize(xs.size());
    for (std::size_t i = 0; i < xs.size(); ++i) bits_[i] = std::bit_cast<std::uint32_t>(xs[i]);
    kernels::apply(elementary_function_named(function), bits_, bits_, tier_);
    for (std::size_t i = 0; i < xs.size(); ++i) xs[i] = std::bit_cast<float>(bits_[i]);
  }

  /// Of each row of `length` numbers the softmax, in place; a NaN makes its whole row NaN.
  void softmax(std::vector<float>& xs, std::size_t length) {
    for (std::size_t first = 0; first < xs.size(); first += length) {
      const std::span<float> row = std::span(xs).subspan(first, length);
      float largest = row[0];
      for (const float x : row) largest = x != x || largest != largest ? kNan : std::max(largest, x);
      for (float& x : row) x -= largest;
    }
    apply("exp", xs);
    for (std::size_t first = 0; first < xs.size(); first += length) {
      const std::span<float> row = std::span(xs).subspan(first, length);
      float sum = 0;
      for (const float x : row) sum += x;
      for (float& x : row) x /= sum;
    }
  }

  void score(std::span<const float> logits) {
    scores_.assign(logits.begin(), logits.end());
    switch (recipe_.score) {
      case Score::softmax_selected: return;  // the selected ones enter their softmax as logits
      case Score::softmax: return softmax(scores_, experts_);
      case Score::sigmoid:
        for (float& x : scores_) x = -x;
        apply("exp", scores_);
        for (float& x : scores_) x = 1 / (1 + x);
        return;
      case Score::sqrt_softplus: break;
    }
    apply("exp", scores_);
    apply("log1p", scores_);
    for (std::size_t i = 0; i < scores_.size(); ++i) scores_[i] = std::sqrt(logits[i] > 20 ? logits[i] : scores_[i]);
  }

  /// Experts of one token into `order_`, by the choice values that stay in `choices_`.
  void choose(std::span<const float> logits, std::span<const float> scores) {
    const std::span<const float> from = recipe_.choice == Choice::logit ? logits : scores;
    choices_.assign(from.begin(), from.end());
    for (std::size_t i = 0; i < bias_.size(); ++i) choices_[i] += bias_[i];
    exclude();
    select(choices_, at(sizes_.top_k), order_);
  }

  /// Experts outside the best groups.
  void exclude() {
    if (sizes_.groups == 1 || fault::planted(fault::Fault::moe_kernel_keeps_all_groups)) return;
    const std::size_t members = experts_ / at(sizes_.groups);
    groups_.clear();
    for (std::size_t first = 0; first < experts_; first += members) {
      const std::span<const float> choices = std::span(choices_).subspan(first, members);
      const bool two = recipe_.group_score == GroupScore::top2_sum;
      select(choices, two ? 2 : 1, order_);
      groups_.push_back(two ? choices[order_[0]] + choices[order_[1]] : choices[order_[0]]);
    }
    select(groups_, at(sizes_.topk_groups), order_);
    const float excluded = recipe_.excluded == Excluded::zero ? 0.0F : -kInfinity;
    for (std::size_t expert = 0; expert < experts_; ++expert) {
      if (std::ranges::find(order_, expert / members) == order_.end()) choices_[expert] = excluded;
    }
  }

  void weigh(std::span<const float> scores, float* weights) {
    chosen_.clear();
    for (const std::size_t expert : order_) chosen_.push_back(recipe_.choice == Choice::score ? choices_[expert] : scores[expert]);
    if (recipe_.score == Score::softmax_selected) softmax(chosen_, chosen_.size());
    if (recipe_.renormalise != Renormalise::none) {
      float sum = 0;
      for (const float weight : chosen_) sum += weight;
      if (recipe_.renormalise == Renormalise::sum_plus_eps) sum += std::bit_cast<float>(recipe_.eps);
      for (float& weight : chosen_) weight /= sum;
    }
    for (std::size_t i = 0; i < chosen_.size(); ++i) {
      const float weight = chosen_[i] * factor_;
      weights[i] = weight == weight ? weight : kNan;
    }
  }

  const RouterRecipe& recipe_;
  const RouterSizes& sizes_;
  std::size_t experts_;
  std::span<const float> bias_;
  const IsaTier& tier_;
  float factor_;
  std::vector<float> scores_, choices_, groups_, chosen_;
  std::vector<std::size_t> order_;
  std::vector<std::uint32_t> bits_;
};

/// Throws what the model throws for such a router.
void try_on_zeros(const RouterRecipe& recipe, const RouterSizes& sizes, std::size_t experts, std::size_t bias) {
  mx::moe::route_logits<F32Arithmetic>(recipe, sizes, std::vector<std::uint32_t>(experts), std::vector<std::uint32_t>(bias));
}

}  // namespace

void route(const RouterRecipe& recipe, const RouterSizes& sizes, std::span<const float> logits, std::size_t experts, std::span<const float> bias,
           const RoutedRoom& out, const IsaTier& tier, int threads) {
  require_runs_here(tier, "MXACT_ISA");
  require_threads(threads, "router");
  if (experts > kMostExperts) refuse(std::to_string(experts) + " experts, at most " + std::to_string(kMostExperts) + " are routed to");
  try_on_zeros(recipe, sizes, experts, bias.size());
  if (logits.size() % experts != 0) refuse(std::to_string(logits.size()) + " logits are not rows of " + std::to_string(experts));
  const std::size_t tokens = logits.size() / experts;
  const std::size_t top_k = at(sizes.top_k);
  const auto check_room = [&](std::string_view name, std::size_t found) {
    if (found == tokens * top_k) return;
    refuse(std::string(name) + " has room for " + std::to_string(found) + ", not " + std::to_string(tokens) + " rows of " + std::to_string(top_k));
  };
  check_room("experts", out.experts.size());
  check_room("weights", out.weights.size());
  const std::span<const std::int32_t> chosen(out.experts);
  check_apart("router", input("weights", std::span<const float>(out.weights)),
              {input("logits", logits), input("bias", bias), input("experts", chosen)});
  check_apart("router", input("experts", chosen), {input("logits", logits), input("bias", bias)});
  constexpr std::size_t kAtOnce = 16;
#pragma omp parallel num_threads(threads)
  {
    const OrdinaryMode mode;
    Tokens some(recipe, sizes, experts, bias, tier);
#pragma omp for schedule(static)
    for (std::size_t first = 0; first < tokens; first += kAtOnce) {
      const std::size_t count = std::min(kAtOnce, tokens - first);
      some.run(logits.subspan(first * experts, count * experts), out.experts.data() + first * top_k, out.weights.data() + first * top_k);
    }
  }
}

}  // namespace mx::kernels::moe
