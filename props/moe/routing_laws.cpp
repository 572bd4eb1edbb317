// Laws of routers, by random logits of the kinds that routers have failed on.

#include <rapidcheck.h>

#include <bit>
#include <cmath>
#include <span>
#include <string_view>

#include "model/moe/routing.hpp"
#include "props/layout/generators.hpp"
#include "props/moe/generators.hpp"
#include "props/moe/laws.hpp"
#include "props/moe/restated.hpp"

namespace mx::props {
namespace {

using moe::F32Arithmetic;
using moe::Slot;

constexpr std::uint32_t kNan = 0x7FC00000U;

std::uint32_t bits_of(float value) { return std::isnan(value) ? kNan : std::bit_cast<std::uint32_t>(value); }

std::vector<std::uint32_t> bits_of(const std::vector<float>& values) {
  std::vector<std::uint32_t> bits;
  for (float value : values) bits.push_back(bits_of(value));
  return bits;
}

moe::RouterSizes sizes_of(const RouterInput& input) { return {input.top_k, input.groups, input.topk_groups, decode(kF32, bits_of(input.factor))}; }

std::vector<Slot> routed(const moe::RouterRecipe& recipe, const RouterInput& input) {
  return moe::route_logits<F32Arithmetic>(recipe, sizes_of(input), bits_of(input.logits), bits_of(input.bias));
}

std::vector<Slot> slots_of(const std::vector<int>& experts, const std::vector<float>& weights) {
  std::vector<Slot> slots;
  for (std::size_t i = 0; i < experts.size(); ++i) slots.push_back({experts[i], bits_of(weights[i])});
  return slots;
}

}  // namespace

Outcome law_router_restated(const Law& law) {
  const std::string_view name = law.id.substr(law.id.find('/') + 1);
  return check_property(law, [&] {
    const RestatedRouter* restated = restated_router(name);
    RC_ASSERT(restated != nullptr);
    const RouterInput input = random_router_input(*restated);
    const RestatedSlots expected = restated->route(input);
    RC_ASSERT(routed(moe::router_named(name), input) == slots_of(expected.experts, expected.weights));
  });
}

Outcome law_fixed_table(const Law& law) {
  return check_property(law, [] {
    RouterInput input = random_router_input(*restated_router("deepseek-v4"));
    const auto experts = static_cast<std::int64_t>(input.logits.size());
    std::vector<std::int64_t> table = random_order_of(experts);
    table.resize(static_cast<std::size_t>(input.top_k));
    const std::vector<int> chosen(table.begin(), table.end());
    const auto got = moe::weigh_experts<F32Arithmetic>(moe::router_named("deepseek-v4"), sizes_of(input), bits_of(input.logits), table);
    RC_ASSERT(got == slots_of(chosen, restated_v4_weights(input, chosen)));
  });
}

Outcome law_routing_relabelled(const Law& law) {
  return check_property(law, [] {
    for (const std::string_view name : {"gpt-oss", "llama4"}) {
      RouterInput input{};
      input.groups = input.topk_groups = 1;
      input.factor = 1;
      input.logits = distinct_logits(pick(2, 12));
      const auto experts = static_cast<std::int64_t>(input.logits.size());
      input.top_k = static_cast<int>(pick(1, experts));
      const std::vector<std::int64_t> new_name = random_order_of(experts);
      RouterInput renamed = input;
      for (std::size_t i = 0; i < new_name.size(); ++i) renamed.logits[static_cast<std::size_t>(new_name[i])] = input.logits[i];
      std::vector<Slot> expected = routed(moe::router_named(name), input);
      for (Slot& slot : expected) slot.expert = new_name[static_cast<std::size_t>(slot.expert)];
      RC_ASSERT(routed(moe::router_named(name), renamed) == expected);
    }
  });
}

}  // namespace mx::props
