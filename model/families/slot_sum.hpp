#pragma once
// What becomes of the shares that the slots of a token have in its row: bf16 numbers, in order of position.

#include <cstdint>
#include <span>
#include <string_view>

#include "model/deployment/version.hpp"

namespace mx::families {

enum class SlotSum : std::uint8_t {
  f32,      ///< fp32 additions from +0, one rounding; the engine's moe_sum since 2026-08
  bf16,     ///< every addition is rounded to bf16
  moe_sum,  ///< the engine's before: top_k 2, 3 and 4 as bf16; else four fp32 accumulators, slot k to number k mod 4, then ((a0 + a1) + a2) + a3
};
std::string_view name_of(SlotSum sum);

/// The engine's moe_sum in a version.
SlotSum moe_sum_of(deployment::Engine engine);

/// bf16 as fp32 bits of the sum of shares, likewise. Source: vllm 7e1b45a09 csrc moe_sum, outputs of an H100 for top_k 2 to 16; 7ca49fbe4 likewise
/// for 1 to 16.
std::uint32_t sum_of_slots(SlotSum sum, std::span<const std::uint32_t> shares);

/// The same with routing weights, fp32 bits, in the sum: fma(share, weight, sum) from +0, one rounding.
/// Source: vllm 7e1b45a09 ep_gather (DeepGEMM), moe_fused_mul_sum (Humming): outputs of an H100.
std::uint32_t fused_sum_of_slots(std::span<const std::uint32_t> shares, std::span<const std::uint32_t> weights);

}  // namespace mx::families
