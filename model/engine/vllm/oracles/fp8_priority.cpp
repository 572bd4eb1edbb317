#include "model/engine/vllm/oracles/fp8_priority.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "model/error.hpp"
#include "model/fault.hpp"

namespace mx::oracle {
namespace {

constexpr std::array<std::string_view, 12> kBackends = {
    "AITER",  "FLASHINFER_TRTLLM", "FLASHINFER_CUTLASS",   "DEEPGEMM",       "VLLM_CUTLASS", "TRITON",
    "MARLIN", "BATCHED_DEEPGEMM",  "BATCHED_VLLM_CUTLASS", "BATCHED_TRITON", "XPU",          "CPU",
};

constexpr std::array<FrontRow, 4> kToFront = {{
    {PlatformKind::cuda, "FLASHINFER_CUTLASS", cap_exactly(90), QuantKey::fp8_static_128_block, QuantKey::fp8_dynamic_128, true},
    {PlatformKind::cuda, "TRITON", cap_exactly(90), QuantKey::fp8_static_128_block, QuantKey::fp8_dynamic_128, false},
    {PlatformKind::xpu, "XPU"},
    {PlatformKind::cpu, "CPU"},
}};

constexpr PriorityTable kTable{kBackends, kToFront};

template <typename Value>
bool admits(const std::optional<Value>& wanted, const Value& fact) {
  return !wanted || *wanted == fact;
}

}  // namespace

const PriorityTable& fp8_priority_table() { return kTable; }

std::vector<std::string_view> priority_order(const PriorityTable& table, const Hardware& hardware, int ep_size, QuantKey weight_key,
                                             QuantKey activation_key) {
  std::vector<std::string_view> order(table.backends.begin(), table.backends.end());
  for (const FrontRow& row : table.to_front) {
    const bool moves = row.platform == hardware.platform && in_range(row.capability, hardware.capability) && admits(row.weight_key, weight_key) &&
                       admits(row.activation_key, activation_key) && admits(row.experts_split, ep_size > 1);
    if (!moves || fault::planted(fault::Fault::oracle_moves_nothing_to_front)) continue;
    const auto place = std::find(order.begin(), order.end(), row.backend);
    if (place == order.end()) throw Error(ErrorCode::usage, "the order moves " + std::string(row.backend) + " to its front and does not have it");
    std::rotate(order.begin(), place, place + 1);
  }
  return order;
}

}  // namespace mx::oracle
