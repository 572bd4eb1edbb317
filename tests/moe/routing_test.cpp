#include <bit>
#include <cstdint>
#include <vector>

#include "model/error.hpp"
#include "model/moe/routing.hpp"
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

TEST_CASE("top_k out of range is refused") {
  for (std::int64_t top_k : {0, -1, 3}) CHECK_THROWS_AS(route_one(Contract::exact, router_with({1.0F, 2.0F}), top_k), mx::Error);
}
