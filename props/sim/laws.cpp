#include "props/sim/laws.hpp"

#include <array>

namespace mx::props {
namespace {

constexpr std::array<Law, 9> kLaws{{
    {"L8/kernel-order", "A kernel that reads its own packed rows tells gate from up", law_kernel_order},
    {"S1/constants", "A backend that takes the model's alpha and limit computes with them", law_constants},
    {"L6/shards", "Tensor parallel ranks, each with its own load, conversion and sizes, add up to the exact layer, biases once", law_shards},
    {"L6/squares", "Squares of FP8 that a share cuts become finer ones with their scale, for the kernels that take them alone, and come back",
     law_squares},
    {"S3/deployments", "Expert parallel ranks, each with its own experts and exchange, add up to the exact layer", law_expert_ranks},
    {"L5/dispatch", "Block scales reach a kernel in the memory that it reads: its outputs are near the exact layer's", law_dispatched_scales},
    {"S5/launches", "A token's result keeps or changes its bits with its batch where its backend's row says so", law_batch},
    {"S6/stages", "A run of a layer that starts from any of its stages goes on as the whole run", law_stages},
    {"S6/contract-stages", "Under a contract the fused kernels make the model's stages, and go on from any of them as the whole run",
     law_contract_stages},
}};

}  // namespace

std::span<const Law> sim_laws() { return kLaws; }

}  // namespace mx::props
