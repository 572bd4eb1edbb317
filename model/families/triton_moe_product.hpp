#pragma once
// The products of vLLM's Triton kernel for FP8 on sm_90: which instruction runs and where sums begin anew follow from the launch.
// Source: vllm at 7e1b45a09 and 7ca49fbe4 fused_moe_kernel, enable_swap_ab, get_default_config: outputs of an H100,
// of squares of 64 and 32 of an H200 (golden/witness/hardware).

#include <cstdint>
#include <string>

#include "model/deployment/version.hpp"
#include "model/layout/plan.hpp"
#include "model/numerics/contract.hpp"

namespace mx::families::triton_moe {

/// A tile of the launch.
struct Launch {
  std::int64_t block_m;
  std::int64_t block_n;
  std::int64_t block_k;

  friend bool operator==(const Launch&, const Launch&) = default;
};

/// Where the checkpoint's scales lie.
enum class Scales : std::uint8_t { blocks, rows };  ///< of squares; of output channels or of the whole tensor

/// The engine's tile when it has no tuned file, for a launch of `tokens`. `batch_invariant`: VLLM_BATCH_INVARIANT; `side`: of the squares.
Launch default_launch(Scales scales, std::int64_t tokens, deployment::Engine engine, bool batch_invariant, std::int64_t side = layout::kBlockSide);

/// Whether weights are the product's first operand: since 2026-08 below 64 rows by 64 columns and more.
bool exchanges_operands(const Launch& launch, deployment::Engine engine);

/// The contract of a product of codes, as contract_named() reads it; the activations' scales are those of operand a, those of rows meet the sum
/// behind it. A step is never longer than a square.
std::string contract_text(const Launch& launch, Scales scales, deployment::Engine engine, std::int64_t side = layout::kBlockSide);
/// The same with scales of rows in the contract.
ContractRow contract_of(const Launch& launch, Scales scales, deployment::Engine engine);

/// BATCHED_TRITON's: operands are never exchanged, and a step is as long as the launch says.
std::string batched_contract(const Launch& launch, Scales scales);
/// Blocks of 128 of k that take the scales of the first of them.
std::int64_t blocks_of_one_scale(const Launch& launch);

}  // namespace mx::families::triton_moe
