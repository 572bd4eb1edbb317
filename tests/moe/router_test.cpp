// Routers by example: numbers that can be had by hand, the cases where implementations differ, and what is refused.

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "model/error.hpp"
#include "model/moe/routing.hpp"
#include "model/numerics/convert.hpp"
#include "model/numerics/wide.hpp"
#include "tests/catch.hpp"
#include "tests/moe/activation_formulas.hpp"

namespace {

using mx::moe::F32Arithmetic;
using mx::moe::RouterRecipe;
using mx::moe::RouterSizes;
using mx::moe::Slot;
using mx::moe::WideArithmetic;

std::uint32_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }

std::vector<std::uint32_t> bits(const std::vector<float>& values) {
  std::vector<std::uint32_t> result;
  for (float value : values) result.push_back(bits(value));
  return result;
}

std::vector<Slot> routed(const RouterRecipe& recipe, const RouterSizes& sizes, const std::vector<float>& logits,
                         const std::vector<float>& bias = {}) {
  return mx::moe::route_logits<F32Arithmetic>(recipe, sizes, bits(logits), bits(bias));
}

std::vector<Slot> routed(std::string_view name, const RouterSizes& sizes, const std::vector<float>& logits, const std::vector<float>& bias = {}) {
  return routed(mx::moe::router_named(name), sizes, logits, bias);
}

bool has_bias(const RouterRecipe& recipe) { return recipe.choice == mx::moe::Choice::score_plus_bias; }

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const mx::Error& error) {
    return error.code() == mx::ErrorCode::usage ? error.what() : "another code";
  }
  return "no error";
}

constexpr float kInfinity = std::numeric_limits<float>::infinity();

}  // namespace

TEST_CASE("equal logits choose the lowest experts with equal weights, in every router") {
  for (const RouterRecipe& recipe : mx::moe::all_routers()) {
    INFO(recipe.name);
    for (const float logit : {0.0F, -3.0F, 40.0F, -200.0F}) {
      const std::vector<float> bias(has_bias(recipe) ? 8 : 0, 0.5F);
      const std::vector<Slot> slots = routed(recipe, {.top_k = 4}, std::vector<float>(8, logit), bias);
      REQUIRE(slots.size() == 4);
      for (std::int64_t i = 0; i < 4; ++i) {
        CHECK(slots[static_cast<std::size_t>(i)].expert == i);
        CHECK(slots[static_cast<std::size_t>(i)].weight == slots[0].weight);
      }
    }
  }
}

TEST_CASE("weights of equal logits are the fractions that they should be") {
  const std::vector<float> zeros(8, 0.0F);
  const std::vector<float> biases(8, 0.0F);
  const RouterSizes four{.top_k = 4};
  CHECK(routed("gpt-oss", four, zeros)[0].weight == bits(0.25F));
  CHECK(routed("softmax-topk-norm", four, zeros)[0].weight == bits(0.25F));
  CHECK(routed("softmax-topk", four, zeros)[0].weight == bits(0.125F));
  CHECK(routed("deepseek-v2-greedy", four, zeros)[0].weight == bits(0.125F));
  CHECK(routed("llama4", {.top_k = 1}, zeros)[0].weight == bits(0.5F));
  CHECK(routed("sigmoid", four, zeros)[0].weight == bits(0.5F));
  CHECK(routed("sigmoid-renorm", four, zeros)[0].weight == bits(0.25F));
  for (const char* name : {"deepseek-v3-transformers", "deepseek-v3-vllm", "deepseek-v4", "minimax-m2"}) {
    INFO(name);
    CHECK(routed(name, four, zeros, biases)[0].weight == bits(0.25F));
  }
}

TEST_CASE("saturated logits give weights of one and zero") {
  const std::vector<float> logits{-300.0F, 300.0F, -300.0F, 300.0F};
  const RouterSizes three{.top_k = 3};
  const std::vector<Slot> softmax = routed("softmax-topk", three, logits);
  CHECK(softmax == std::vector<Slot>{{1, bits(0.5F)}, {3, bits(0.5F)}, {0, 0}});
  const std::vector<Slot> sigmoid = routed("sigmoid", three, logits);
  CHECK(sigmoid == std::vector<Slot>{{1, bits(1.0F)}, {3, bits(1.0F)}, {0, 0}});
  // exp(300) is beyond fp32: the square root of the logit itself.
  const std::vector<Slot> v4 = routed("deepseek-v4", {.top_k = 1}, {256.0F, -300.0F}, {0.0F, 0.0F});
  CHECK(v4 == std::vector<Slot>{{0, bits(1.0F)}});
  const RouterRecipe v4_recipe = mx::moe::router_named("deepseek-v4");
  RouterRecipe plain = v4_recipe;
  plain.renormalise = mx::moe::Renormalise::none;
  plain.eps = 0;
  CHECK(routed(plain, {.top_k = 1}, {256.0F, -300.0F}, {0.0F, 0.0F})[0].weight == bits(16.0F));
}

TEST_CASE("a bias moves the choice and leaves the weight") {
  for (const char* name : {"deepseek-v3-transformers", "minimax-m2"}) {
    INFO(name);
    // Scores 0.5 and 1; the bias of 12 would cancel a weight that is recovered from the choice in fp32 where the score is small.
    RouterRecipe plain = mx::moe::router_named(name);
    plain.renormalise = mx::moe::Renormalise::none;
    plain.eps = 0;
    const std::vector<Slot> slots = routed(plain, {.top_k = 1}, {-20.0F, 300.0F}, {12.0F, 0.0F});
    CHECK(slots[0].expert == 0);
    CHECK(slots[0].weight == routed("sigmoid", {.top_k = 1}, {-20.0F, -30.0F})[0].weight);
  }
}

TEST_CASE("groups: the best stay, by their largest or by their two largest choices") {
  // Scores by saturation are 0 or 1, and bias decides. Groups of two: sums 3, 4, 1.5; maxima 3, 2, 1.
  const std::vector<float> logits(6, -300.0F);
  const std::vector<float> bias{3.0F, 0.0F, 2.0F, 2.0F, 1.0F, 0.5F};
  const auto experts = [](const std::vector<Slot>& slots) {
    std::vector<std::int64_t> ids;
    for (const Slot& slot : slots) ids.push_back(slot.expert);
    return ids;
  };
  const RouterSizes one_group{.top_k = 2, .groups = 3, .topk_groups = 1};
  CHECK(experts(routed("deepseek-v3-vllm", one_group, logits, bias)) == std::vector<std::int64_t>{2, 3});
  RouterRecipe by_max = mx::moe::router_named("deepseek-v3-vllm");
  by_max.group_score = mx::moe::GroupScore::max;
  CHECK(experts(routed(by_max, one_group, logits, bias)) == std::vector<std::int64_t>{0, 1});
  const RouterSizes two_groups{.top_k = 4, .groups = 3, .topk_groups = 2};
  CHECK(experts(routed("deepseek-v3-vllm", two_groups, logits, bias)) == std::vector<std::int64_t>{0, 2, 3, 1});
}

TEST_CASE("experts outside the best groups: zero competes with an underflown score, minus infinity does not") {
  // Group 1 wins with expert 2; expert 3's softmax underflows to 0, and so does everything in group 0.
  const std::vector<float> logits{-300.0F, -300.0F, 0.0F, -300.0F};
  const RouterSizes sizes{.top_k = 2, .groups = 2, .topk_groups = 1};
  CHECK(routed("deepseek-v2-grouped-transformers", sizes, logits) == std::vector<Slot>{{2, bits(1.0F)}, {0, 0}});
  CHECK(routed("deepseek-v2-grouped-vllm", sizes, logits) == std::vector<Slot>{{2, bits(1.0F)}, {3, 0}});
}

TEST_CASE("scores that are all zero: eps divides by 1e-20, without it 0 / 0") {
  const std::vector<float> logits(4, -300.0F);
  const std::vector<float> bias(4, 0.0F);
  for (const char* name : {"deepseek-v3-transformers", "deepseek-v4", "minimax-m2"}) CHECK(routed(name, {.top_k = 2}, logits, bias)[1] == Slot{1, 0});
  CHECK(routed("deepseek-v3-vllm", {.top_k = 2}, logits, bias)[1] == Slot{1, mx::f32::kNan});
}

TEST_CASE("the factor multiplies last") {
  const RouterSizes doubled{.top_k = 2, .factor = {.significand = 2, .exponent = 0, .cls = mx::ValueClass::finite, .negative = false}};
  CHECK(routed("deepseek-v3-vllm", doubled, {0.0F, 0.0F}, {0.0F, 0.0F})[0].weight == bits(1.0F));
  CHECK(routed("deepseek-v2-greedy", doubled, {0.0F, 0.0F})[0].weight == bits(1.0F));
}

TEST_CASE("a NaN logit is chosen first, infinities saturate") {
  const float nan = std::nanf("");
  for (const RouterRecipe& recipe : mx::moe::all_routers()) {
    if (recipe.score == mx::moe::Score::softmax) continue;  // one NaN makes all of its scores NaN
    INFO(recipe.name);
    const std::vector<float> bias(has_bias(recipe) ? 3 : 0, 0.0F);
    CHECK(routed(recipe, {.top_k = 2}, {5.0F, -1.0F, nan}, bias)[0].expert == 2);
  }
  CHECK(routed("sigmoid", {.top_k = 2}, {-kInfinity, kInfinity}) == std::vector<Slot>{{1, bits(1.0F)}, {0, 0}});
}

TEST_CASE("a fixed table gives its experts the weights of their scores, in its order") {
  const std::vector<float> logits{0.0F, 1.0F, -2.0F, 0.5F};
  const std::vector<float> no_bias(4, 0.0F);
  const RouterRecipe& v4 = mx::moe::router_named("deepseek-v4");
  const std::vector<Slot> chosen = routed(v4, {.top_k = 2}, logits, no_bias);
  const std::vector<std::int64_t> same{chosen[0].expert, chosen[1].expert};
  CHECK(mx::moe::weigh_experts<F32Arithmetic>(v4, {.top_k = 2}, bits(logits), same) == chosen);
  const std::vector<std::int64_t> table{2, 0};
  const std::vector<Slot> weighed = mx::moe::weigh_experts<F32Arithmetic>(v4, {.top_k = 2}, bits(logits), table);
  CHECK(weighed[0].expert == 2);
  CHECK(weighed[1].expert == 0);
  for (const std::vector<std::int64_t>& bad : {std::vector<std::int64_t>{0}, {0, 4}, {-1, 0}, {1, 1}}) {
    CHECK_THROWS_AS(mx::moe::weigh_experts<F32Arithmetic>(v4, {.top_k = 2}, bits(logits), bad), mx::Error);
  }
}

TEST_CASE("64-bit arithmetic agrees with fp64 arithmetic to the last few bits of fp64") {
  const std::vector<double> logits{0.3, -1.7, 2.9, 2.1, -0.4, 1.1};
  std::vector<mx::Value> wide;
  for (double logit : logits) wide.push_back(mx::wide::from_f64(std::bit_cast<std::uint64_t>(logit)));
  const auto check = [&](std::string_view name, const std::vector<std::int64_t>& ids, const std::vector<double>& weights) {
    const auto slots = mx::moe::route_logits<WideArithmetic>(mx::moe::router_named(name), {.top_k = 3}, wide, {});
    for (std::size_t i = 0; i < ids.size(); ++i) {
      CHECK(slots[i].expert == ids[i]);
      const double got = std::bit_cast<double>(mx::wide::to_f64(slots[i].weight));
      CHECK(std::fabs(got - weights[i]) <= std::ldexp(weights[i], -48));
    }
  };
  const double sum = std::exp(0.0) + std::exp(2.1 - 2.9) + std::exp(1.1 - 2.9);
  check("gpt-oss", {2, 3, 5}, {1 / sum, std::exp(2.1 - 2.9) / sum, std::exp(1.1 - 2.9) / sum});
  const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  check("sigmoid", {2, 3, 5}, {sigmoid(2.9), sigmoid(2.1), sigmoid(1.1)});
}

TEST_CASE("logits are the arithmetic's own sums with the bias last") {
  // 2^24 + 1 - 2^24 in order: 1 exactly, 0 where each sum is fp32.
  mx::moe::Router router{1, 3, {}, {bits(0.5F)}};
  for (float weight : {0x1p24F, 1.0F, -0x1p24F}) router.weight.push_back(mx::decode(mx::kF32, bits(weight)));
  const std::vector<mx::Value> x(3, mx::decode(mx::kF32, bits(1.0F)));
  CHECK(mx::moe::router_logits(F32Arithmetic{mx::Contract::f32_sequential}, x, router)[0] == bits(0.5F));
  CHECK(mx::moe::router_logits(F32Arithmetic{mx::Contract::exact}, x, router)[0] == bits(1.5F));
  CHECK(mx::moe::router_logits(mx::moe::Bf16Arithmetic{}, x, router)[0] == bits(1.5F));
  CHECK(mx::wide::to_f64(mx::moe::router_logits(WideArithmetic{}, x, router)[0]) == std::bit_cast<std::uint64_t>(1.5));
}

TEST_CASE("bf16 arithmetic rounds every result") {
  // e^-1 = 0.36788 is 0.3671875 in bf16 (0x3EBC); 1 + it rounds to 1.3671875; the quotients to 0.73046875 and 0.26953125 (nearest even).
  const auto slots = mx::moe::route_logits<mx::moe::Bf16Arithmetic>(mx::moe::router_named("gpt-oss"), {.top_k = 2}, bits({1.0F, 0.0F}), {});
  CHECK(slots[0].weight == bits(0.73046875F));
  CHECK(slots[1].weight == bits(0.26953125F));
}

TEST_CASE("the square root of softplus in 64-bit and in bf16 arithmetic") {
  RouterRecipe plain = mx::moe::router_named("deepseek-v4");
  plain.renormalise = mx::moe::Renormalise::none;
  plain.eps = 0;
  // 25 is beyond the threshold: its own root. The others go through exp and ln(1 + x).
  const std::vector<float> logits{0.3125F, -1.75F, 25.0F, 20.0F, -9.0F};
  const RouterSizes all{.top_k = 5};
  std::vector<mx::Value> wide;
  for (const float logit : logits) wide.push_back(mx::decode(mx::kF32, bits(logit)));
  const std::vector<mx::Value> no_bias(5);
  for (const auto& slot : mx::moe::route_logits<WideArithmetic>(plain, all, wide, no_bias)) {
    INFO("expert " << slot.expert);
    const float logit = logits[static_cast<std::size_t>(slot.expert)];
    mx::tests::MpfrNumber x(200);
    mpfr_set_flt(x.get(), logit, MPFR_RNDN);
    if (logit <= 20) {
      mpfr_exp(x.get(), x.get(), MPFR_RNDN);
      mpfr_log1p(x.get(), x.get(), MPFR_RNDN);
    }
    mpfr_sqrt(x.get(), x.get(), MPFR_RNDN);
    CHECK(mx::wide::to_f64(slot.weight) == std::bit_cast<std::uint64_t>(mpfr_get_d(x.get(), MPFR_RNDN)));
  }
  constexpr mx::tests::IeeeRange kBf16Range{8, -133, 128};
  for (const Slot& slot : mx::moe::route_logits<mx::moe::Bf16Arithmetic>(plain, all, bits(logits), bits(std::vector<float>(5, 0.0F)))) {
    INFO("expert " << slot.expert);
    const mx::tests::Single logit(logits[static_cast<std::size_t>(slot.expert)]);
    const mx::tests::Single soft = mx::tests::Single(20) < logit ? logit : log1p(exp(logit).in(kBf16Range)).in(kBf16Range);
    CHECK(slot.weight == sqrt(soft).in(kBf16Range).pattern());
  }
}

TEST_CASE("a fixed table weighs by scores where the choice is the score") {
  // exp(0), exp(ln 2), exp(ln 4) over their sum: 1/7, 2/7, 4/7, which fp64 has to about its last bit.
  std::vector<mx::Value> wide;
  for (const double logit : {0.0, std::log(2.0), std::log(4.0)}) wide.push_back(mx::wide::from_f64(std::bit_cast<std::uint64_t>(logit)));
  const std::vector<std::int64_t> table{2, 0};
  const auto slots = mx::moe::weigh_experts<WideArithmetic>(mx::moe::router_named("softmax-topk"), {.top_k = 2}, wide, table);
  REQUIRE(slots.size() == 2);
  CHECK(slots[0].expert == 2);
  CHECK(mx::to_f32(slots[0].weight) == bits(4.0F / 7.0F));
  CHECK(slots[1].expert == 0);
  CHECK(mx::to_f32(slots[1].weight) == bits(1.0F / 7.0F));
}

TEST_CASE("what does not fit together is refused with its numbers") {
  const std::vector<float> six(6, 0.0F);
  const auto says = [&](const std::string& name, const RouterSizes& sizes, const std::vector<float>& logits, const std::vector<float>& bias,
                        const std::string& part) {
    const std::string text = refusal([&] { routed(name, sizes, logits, bias); });
    INFO(name << ": " << text);
    CHECK(text.find(part) != std::string::npos);
  };
  says("deepseek-v3-vllm", {.top_k = 1, .groups = 4}, six, six, "4 groups do not divide 6 experts");
  says("deepseek-v3-vllm", {.top_k = 1, .groups = 0}, six, six, "0 groups");
  says("deepseek-v3-vllm", {.top_k = 1, .groups = 3, .topk_groups = 0}, six, six, "topk_groups 0 is not in 1..3");
  says("deepseek-v3-vllm", {.top_k = 1, .groups = 3, .topk_groups = 4}, six, six, "topk_groups 4 is not in 1..3");
  says("deepseek-v3-vllm", {.top_k = 1, .groups = 6}, six, six, "groups have one expert");
  says("deepseek-v3-vllm", {.top_k = 5, .groups = 3, .topk_groups = 2}, six, six, "top_k 5 is not in 1..4");
  says("gpt-oss", {.top_k = 0}, six, {}, "top_k 0 is not in 1..6");
  says("gpt-oss", {.top_k = 7}, six, {}, "top_k 7 is not in 1..6");
  says("gpt-oss", {.top_k = 1}, {}, {}, "no experts");
  says("gpt-oss", {.top_k = 1, .groups = 2}, six, {}, "2 groups without a group score");
  says("gpt-oss", {.top_k = 1}, six, six, "bias has 6 values, the choice adds 0");
  says("deepseek-v4", {.top_k = 1}, six, {0.0F}, "bias has 1 values, the choice adds 6");
  RouterRecipe eps = mx::moe::router_named("gpt-oss");
  eps.eps = bits(1e-20F);
  CHECK(refusal([&] { routed(eps, {.top_k = 1}, six); }).find("eps") != std::string::npos);
  CHECK(refusal([] { mx::moe::router_named("deepsek-v4"); }).find("deepseek-v4") != std::string::npos);
}

TEST_CASE("names of routers are unique, and rows with groups say how these are ranked") {
  std::vector<std::string_view> names;
  for (const RouterRecipe& recipe : mx::moe::all_routers()) {
    names.push_back(recipe.name);
    CHECK_FALSE(recipe.source.empty());
    CHECK((recipe.eps != 0) == (recipe.renormalise == mx::moe::Renormalise::sum_plus_eps));
  }
  std::sort(names.begin(), names.end());
  CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
}
