#include "props/moe/laws.hpp"

#include <array>

namespace mx::props {
namespace {

constexpr std::string_view kRestated =
    "Experts and weights are those of the router's restatement in the processor's floats: ties, negative, saturated, biased logits, NaN and Inf";

constexpr std::string_view kProductTwin =
    "The product of MXFP4 weights in panels is the contract's dot product, also for scale bytes at both ends and activations that are flushed";

constexpr std::array<Law, 26> kLaws{{
    {"S2/gpt-oss", kRestated, law_router_restated},
    {"S2/softmax-topk-norm", kRestated, law_router_restated},
    {"S2/softmax-topk", kRestated, law_router_restated},
    {"S2/deepseek-v2-greedy", kRestated, law_router_restated},
    {"S2/deepseek-v2-grouped-transformers", kRestated, law_router_restated},
    {"S2/deepseek-v2-grouped-vllm", kRestated, law_router_restated},
    {"S2/deepseek-v3-transformers", kRestated, law_router_restated},
    {"S2/deepseek-v3-vllm", kRestated, law_router_restated},
    {"S2/deepseek-v4", kRestated, law_router_restated},
    {"S2/llama4", kRestated, law_router_restated},
    {"S2/sigmoid-renorm", kRestated, law_router_restated},
    {"S2/sigmoid", kRestated, law_router_restated},
    {"S2/minimax-m2", kRestated, law_router_restated},
    {"S2-table/deepseek-v4", "Experts of a fixed table get the weights that the router's scores give them", law_fixed_table},
    {"S3/ranks", "The outputs of expert-parallel ranks, each exact, add up to the output of one rank", law_sum_over_ranks},
    {"S4/routing", "Renaming experts whose logits all differ renames the chosen ones and keeps their weights", law_routing_relabelled},
    {"S4/tokens", "Tokens in another order give their outputs in that order", law_tokens_permuted},
    {"S4/experts", "Experts stored in another order, and slots that name them so, give the same outputs", law_experts_permuted},
    {"S5/batch", "A token alone gives the bits that it gives among others", law_batch_is_independent},
    {"N7/moe-bf16-chain", kProductTwin, law_product_kernel},
    {"N7/moe-bf16-block", kProductTwin, law_product_kernel},
    {"N7/moe-bf16-pair", kProductTwin, law_product_kernel},
    {"N7/moe-int8-block", kProductTwin, law_product_kernel},
    {"N7/moe-formats", "The product of FP8 weights in panels and rows with scales for 32 of K is bf16-block's dot product", law_format_kernels},
    {"N7/moe-routers", "The fast routers choose the model's experts and weights", law_router_kernel},
    {"N7/moe-layer", "The fused layer gives the bits of the model's layer from codes and scales", law_layer_kernel},
}};

}  // namespace

std::span<const Law> moe_laws() { return kLaws; }

}  // namespace mx::props
