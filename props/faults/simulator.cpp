// Faults of execution and deployments.

#include <array>

#include "props/faults/tables.hpp"

namespace mx::props {
namespace {

using fault::Fault;

constexpr std::array kFaults{
    FaultRow{Fault::sim_swaps_gate_and_up, "sim_swaps_gate_and_up", "sim/execute/weights.cpp of_packed",
             "rows of gate and up are read in the other checkpoints' order (vllm#29273, ATOM#885)", "L8/kernel-order"},
    FaultRow{Fault::sim_drops_alpha, "sim_drops_alpha", "sim/execute/kernel.cpp used_activation", "the model's alpha is not passed on (vllm#49747)",
             "S1/constants"},
    FaultRow{Fault::sim_ignores_limit, "sim_ignores_limit", "sim/execute/kernel.cpp used_activation", "the model's limit is not passed on",
             "S1/constants"},
    FaultRow{Fault::sim_shard_from_padded, "sim_shard_from_padded", "checkpoint/shard.cpp cut_in_blocks",
             "a shard begins at a multiple of the padded size: the last ranks load nothing (vllm#42595)",
             "L6/shards L6/cut/triton_kernels L6/cut/marlin"},
    FaultRow{Fault::sim_bias_on_every_rank, "sim_bias_on_every_rank", "sim/ranks/plan.cpp make_plan", "each tensor parallel rank adds the bias of w2",
             "L6/shards L6/cut/trtllm L6/cut/flashinfer_cutlass L6/cut/b12x L6/cut/vllm_cutlass L6/cut/cutedsl L6/cut/xpu L6/cut/emulation "
             "L6/cut/triton_kernels L6/cut/deepgemm L6/cut/marlin L6/cut/humming L6/cut/aiter L6/cut/cpu L6/cut/cutlass_w4a8"},
    FaultRow{Fault::sim_expert_offset_twice, "sim_expert_offset_twice", "sim/ranks/plan.cpp looked_for",
             "the rank's first expert is subtracted twice (flashinfer#3547)", "S3/deployments"},
    FaultRow{Fault::sim_scales_stay_linear, "sim_scales_stay_linear", "sim/ranks/exchange.cpp swizzles",
             "scales are not moved into the tile that the kernel reads (vllm#42118)", "L5/dispatch"},
    FaultRow{Fault::sim_flag_says_linear, "sim_flag_says_linear", "sim/ranks/exchange.cpp swizzles",
             "without an exchange the flag says row by row whatever the kernel reads (vllm#42089)", "L5/dispatch"},
    FaultRow{Fault::sim_reads_linear, "sim_reads_linear", "sim/execute/weights.cpp read_units",
             "the kernel takes packed memory for row-major (vllm#54773)", "L5/dispatch L8/kernel-order S3/deployments"},
    FaultRow{Fault::sim_scales_of_first_experts, "sim_scales_of_first_experts", "sim/ranks/load.cpp copy_expert",
             "a rank's scales are those of the first experts of all (sglang#36597)", "S3/deployments"},
    FaultRow{Fault::finer_squares_anywhere, "finer_squares_anywhere", "model/families/memory.cpp broken_needs",
             "scales of squares finer than 128 go to kernels that read those of 128", "L6/squares"},
    FaultRow{Fault::finer_squares_reversed, "finer_squares_reversed", "checkpoint/shard.cpp filled",
             "finer squares have the scales of the squares from the end", "L6/squares"},
    FaultRow{Fault::groups_of_128_beside_finer_squares, "groups_of_128_beside_finer_squares", "model/families/arithmetic.cpp in_groups_of",
             "activations keep groups of 128 where the weights' squares are finer", "L6/squares"},
    FaultRow{Fault::sim_keeps_padded_width, "sim_keeps_padded_width", "sim/ranks/deployment.cpp widened",
             "tokens are read with the padded width, their valid width is not passed (flashinfer#2372, vllm#52051)", "S1/constants S3/deployments"},
    FaultRow{Fault::sim_drops_rank_sum, "sim_drops_rank_sum", "sim/ranks/exchange.cpp combined_ranks",
             "the last rank's part is missing from the sum over ranks", "L6/shards S3/deployments"},
    FaultRow{Fault::sim_adds_rank_sum_twice, "sim_adds_rank_sum_twice", "sim/ranks/exchange.cpp combined_ranks",
             "the last rank's part enters the sum over ranks twice", "L6/shards S3/deployments"},
    FaultRow{Fault::tile_grows_early, "tile_grows_early", "model/families/triton_moe_product.cpp default_launch",
             "a launch of half the tokens takes the larger tile", "S5/launches"},
    FaultRow{Fault::sim_shares_token_scale, "sim_shares_token_scale", "sim/execute/activations.cpp quantized",
             "all tokens are quantized by one scale", "S5/launches"},
    FaultRow{Fault::sim_cuts_k_alone, "sim_cuts_k_alone", "sim/execute/shared_product.cpp runs_of",
             "k is cut among blocks as if each block of tokens were alone", "S5/launches"},
    FaultRow{Fault::sim_starts_with_up, "sim_starts_with_up", "sim/execute/run_layer.cpp take",
             "a run that starts from somebody's h13 takes up's half for gate's", "S6/stages S6/contract-stages"},
};

}  // namespace

std::span<const FaultRow> simulator_faults() { return kFaults; }

}  // namespace mx::props
