#include "props/moe/generators.hpp"

#include <bit>
#include <limits>
#include <numeric>
#include <utility>

#include "props/layout/generators.hpp"

namespace mx::props {
namespace {

enum class LogitKind { spread, few_values, negative, saturated, equal, special };
constexpr std::int64_t kKinds = 6;

float random_logit(LogitKind kind) {
  switch (kind) {
    case LogitKind::few_values: return static_cast<float>(pick(-2, 2)) / 2;
    case LogitKind::negative: return static_cast<float>(pick(-4096, -1)) / 64;
    case LogitKind::saturated: return static_cast<float>(pick(-4, 4)) * 60;
    case LogitKind::equal: return -0.75F;
    case LogitKind::spread:
    case LogitKind::special: break;
  }
  return static_cast<float>(pick(-2048, 2048)) / 256;
}

std::vector<float> random_logits(std::int64_t experts) {
  const auto kind = static_cast<LogitKind>(pick(0, kKinds - 1));
  std::vector<float> logits;
  for (std::int64_t i = 0; i < experts; ++i) logits.push_back(random_logit(kind));
  if (kind != LogitKind::special) return logits;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float specials[] = {std::numeric_limits<float>::quiet_NaN(), kInfinity, -kInfinity};
  logits[static_cast<std::size_t>(pick(0, experts - 1))] = specials[pick(0, 2)];
  return logits;
}

}  // namespace

RouterInput random_router_input(const RestatedRouter& router) {
  RouterInput input{};
  input.groups = router.groups ? static_cast<int>(pick(1, 4)) : 1;
  const std::int64_t members = pick(2, 5);
  input.topk_groups = static_cast<int>(pick(1, input.groups));
  input.top_k = static_cast<int>(pick(1, members * input.topk_groups));
  input.logits = random_logits(members * input.groups);
  input.factor = static_cast<float>(pick(3, 11)) / 2;
  if (!router.bias) return input;
  const float scale = pick(0, 1) == 0 ? 0.125F : 4.0F;
  for (std::size_t i = 0; i < input.logits.size(); ++i) input.bias.push_back(static_cast<float>(pick(-4, 4)) * scale);
  return input;
}

std::vector<std::int64_t> random_order_of(std::int64_t count) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(i) - 1))]);
  return order;
}

std::vector<float> distinct_logits(std::int64_t count) {
  const float shift = static_cast<float>(pick(-64, 8));
  std::vector<float> logits;
  for (const std::int64_t rank : random_order_of(count)) logits.push_back(static_cast<float>(rank) / 4 + shift);
  return logits;
}

layout::CanonicalLayer random_moe_layer(const layout::Sizes& sizes) {
  layout::CanonicalLayer layer = random_layer(sizes, layout::SourceOrder::gpt_oss);
  for (const layout::Role role : {layout::Role::w13_weight_scale, layout::Role::w2_weight_scale}) {
    for (std::uint8_t& scale : layer[role]) scale = static_cast<std::uint8_t>(124 + scale % 4);
  }
  for (const layout::Role role : {layout::Role::w13_bias, layout::Role::w2_bias}) {
    const std::size_t count = layer[role].size() / 2;
    const std::size_t per_expert = count / static_cast<std::size_t>(sizes.experts);
    for (std::size_t i = 0; i < count; ++i) {
      const auto code = static_cast<std::uint32_t>(0x3E00U + 0x10U * (i / per_expert) + i % 7);  // 0.125 and up
      layer[role][2 * i] = static_cast<std::uint8_t>(code & 0xFFU);
      layer[role][2 * i + 1] = static_cast<std::uint8_t>(code >> 8U);
    }
  }
  return layer;
}

std::vector<std::uint32_t> random_tokens(std::int64_t count) {
  std::vector<std::uint32_t> codes;
  for (std::int64_t i = 0; i < count; ++i) codes.push_back(std::bit_cast<std::uint32_t>(static_cast<float>(pick(-64, 64)) / 32) >> 16U);
  return codes;
}

std::vector<std::vector<moe::Slot>> random_slots(std::int64_t tokens, std::int64_t experts, std::int64_t top_k) {
  std::vector<std::vector<moe::Slot>> slots;
  for (std::int64_t token = 0; token < tokens; ++token) {
    const std::vector<std::int64_t> order = random_order_of(experts);
    slots.emplace_back();
    for (std::int64_t k = 0; k < top_k; ++k) {
      const float weight = static_cast<float>(pick(1, 256)) / 256;
      slots.back().push_back({order[static_cast<std::size_t>(k)], std::bit_cast<std::uint32_t>(weight)});
    }
  }
  return slots;
}

}  // namespace mx::props
