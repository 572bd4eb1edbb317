#include "model/moe/routing.hpp"

#include <bit>
#include <cstdint>
#include <vector>

#include "model/error.hpp"
#include "model/numerics/f32.hpp"
#include "tests/catch.hpp"

namespace {

using mx::Contract;
using mx::moe::route_topk_softmax;
using mx::moe::Router;
using mx::moe::Slot;

std::uint32_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }

/// A router of one input column: the logits of x = 1 are the given values.
Router router_with(const std::vector<float>& logits) {
  Router router{static_cast<std::int64_t>(logits.size()), 1, {}, {}};
  for (float logit : logits) router.weight.push_back(mx::decode(mx::kF32, bits(logit)));
  return router;
}

std::vector<Slot> route_one(Contract contract, const Router& router, std::int64_t top_k) {
  const std::vector<mx::Value> x{mx::decode(mx::kF32, bits(1.0F))};
  return route_topk_softmax(contract, x, router, top_k);
}

}  // namespace

TEST_CASE("the k largest logits are chosen in descending order, ties to the lower expert") {
  for (Contract contract : {Contract::exact, Contract::f32_sequential}) {
    const std::vector<Slot> slots = route_one(contract, router_with({0.5F, 2.0F, -1.0F, 2.0F, 1.0F}), 3);
    REQUIRE(slots.size() == 3);
    CHECK(slots[0].expert == 1);
    CHECK(slots[1].expert == 3);
    CHECK(slots[2].expert == 4);
    CHECK(slots[0].weight == slots[1].weight);
  }
}

TEST_CASE("weights are the softmax over the chosen logits") {
  // Equal logits: a quarter each, exactly. One logit: weight one.
  for (Contract contract : {Contract::exact, Contract::f32_sequential}) {
    for (const Slot& slot : route_one(contract, router_with({3.0F, 3.0F, 3.0F, 3.0F, 0.0F}), 4)) CHECK(slot.weight == bits(0.25F));
    CHECK(route_one(contract, router_with({-5.0F, -4.0F}), 1)[0] == Slot{1, bits(1.0F)});
    // e^-1 in fp32 is 0x3ebc5ab2; 1 + it rounds to 0x3faf16ac; the quotients follow by correctly rounded division.
    const std::vector<Slot> two = route_one(contract, router_with({1.0F, 0.0F}), 2);
    CHECK(two[0].weight == bits(1.0F / std::bit_cast<float>(0x3faf16acU)));
    CHECK(two[1].weight == bits(std::bit_cast<float>(0x3ebc5ab2U) / std::bit_cast<float>(0x3faf16acU)));
  }
}

TEST_CASE("the bias moves the choice") {
  Router router = router_with({1.0F, 2.0F});
  router.bias = {bits(5.0F), 0};
  CHECK(route_one(Contract::exact, router, 1)[0].expert == 0);
  CHECK(route_one(Contract::f32_sequential, router, 1)[0].expert == 0);
}

TEST_CASE("logits that fp32 cannot tell apart are told apart exactly") {
  // 1 + 2^-30 and 1: equal once rounded to fp32.
  Router router{2, 2, {}, {}};
  for (float weight : {1.0F, 0.0F, 1.0F, 0x1p-30F}) router.weight.push_back(mx::decode(mx::kF32, bits(weight)));
  const std::vector<mx::Value> x(2, mx::decode(mx::kF32, bits(1.0F)));
  CHECK(route_topk_softmax(Contract::exact, x, router, 1)[0].expert == 1);
  CHECK(route_topk_softmax(Contract::f32_sequential, x, router, 1)[0].expert == 0);
}

TEST_CASE("logits whose difference fp32 cannot hold are still told apart") {
  // 2^-100 * 2^-100 and its negative: their difference is 2^-199.
  Router router{2, 1, {}, {}};
  for (float weight : {-0x1p-100F, 0x1p-100F}) router.weight.push_back(mx::decode(mx::kF32, bits(weight)));
  const std::vector<mx::Value> x{mx::decode(mx::kF32, bits(0x1p-100F))};
  CHECK(route_topk_softmax(Contract::exact, x, router, 1)[0].expert == 1);
}

TEST_CASE("a NaN logit comes first, wherever it stands, and makes the weights NaN") {
  const float nan = std::bit_cast<float>(mx::f32::kNan);
  for (Contract contract : {Contract::exact, Contract::f32_sequential}) {
    for (std::size_t at = 0; at < 3; ++at) {
      std::vector<float> logits{1.0F, 2.0F, 3.0F};
      logits[at] = nan;
      const std::vector<Slot> slots = route_one(contract, router_with(logits), 2);
      INFO(name_of(contract) << " at " << at);
      CHECK(slots[0].expert == static_cast<std::int64_t>(at));
      CHECK(slots[0].weight == mx::f32::kNan);
      CHECK(slots[1].weight == mx::f32::kNan);
    }
  }
}

TEST_CASE("of two NaN logits the lower expert comes first") {
  const float nan = std::bit_cast<float>(0x7FC00000U);
  for (Contract contract : {Contract::exact, Contract::f32_sequential}) {
    const std::vector<Slot> slots = route_one(contract, router_with({1.0F, nan, 2.0F, nan}), 3);
    CHECK(slots[0].expert == 1);
    CHECK(slots[1].expert == 3);
    CHECK(slots[2].expert == 2);
  }
}

TEST_CASE("the sequential softmax sums in order, one fp32 rounding each") {
  // 1, e^-1 and e^-9 rounded to fp32; the running sum rounds differently from the exact sum of the three for some such logits: both are computed
  // here.
  int apart = 0;
  for (int i = 1; i < 400; ++i) {
    const float a = static_cast<float>(i) * -0.01F;
    const float b = static_cast<float>(i) * -0.02F;
    const std::vector<Slot> sequential = route_one(Contract::f32_sequential, router_with({0.0F, a, b}), 3);
    const std::vector<Slot> exact = route_one(Contract::exact, router_with({0.0F, a, b}), 3);
    const float ea = std::bit_cast<float>(mx::f32::exp(bits(a)));
    const float eb = std::bit_cast<float>(mx::f32::exp(bits(b)));
    const float running = (1.0F + ea) + eb;
    const auto once = static_cast<float>(1.0 + static_cast<double>(ea) + static_cast<double>(eb));
    CHECK(sequential[0].weight == bits(1.0F / running));
    CHECK(exact[0].weight == bits(1.0F / once));
    apart += running != once ? 1 : 0;
  }
  CHECK(apart > 20);
}

TEST_CASE("a router whose sizes disagree is refused") {
  const std::vector<mx::Value> x(2, mx::decode(mx::kF32, bits(1.0F)));
  const std::vector<mx::Value> four(4, x[0]);
  CHECK_THROWS_AS(route_topk_softmax(Contract::exact, x, Router{2, 2, x, {}}, 1), mx::Error);
  CHECK_THROWS_AS(route_topk_softmax(Contract::exact, x, Router{2, 2, four, {0}}, 1), mx::Error);
  CHECK_THROWS_AS(route_topk_softmax(Contract::exact, std::span(x).first(1), Router{2, 2, four, {}}, 1), mx::Error);
  CHECK_THROWS_AS(route_topk_softmax(Contract::exact, x, Router{2, 0, {}, {}}, 1), mx::Error);
  CHECK_THROWS_AS(route_topk_softmax(Contract::exact, x, Router{0, 2, {}, {}}, 1), mx::Error);
  const std::vector<mx::Value> five(5, x[0]);
  CHECK_THROWS_AS(route_topk_softmax(Contract::exact, x, Router{2, 2, five, {}}, 1), mx::Error);
  CHECK(route_topk_softmax(Contract::exact, x, Router{2, 2, four, {}}, 1)[0].expert == 0);
}

TEST_CASE("top_k out of range is refused") {
  for (std::int64_t top_k : {0, -1, 3}) CHECK_THROWS_AS(route_one(Contract::exact, router_with({1.0F, 2.0F}), top_k), mx::Error);
}
