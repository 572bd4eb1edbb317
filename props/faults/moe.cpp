// Faults of routing, activations and the layer.

#include <array>

#include "props/faults/tables.hpp"

namespace mx::props {
namespace {

using fault::Fault;

constexpr std::array kFaults{
    FaultRow{Fault::activation_beta_is_one, "activation_beta_is_one", "model/moe/activation.cpp plus_beta",
             "up gets 1 added whatever the configuration says", "S1/activation-constants"},
    FaultRow{Fault::activation_clamps_gate_below, "activation_clamps_gate_below", "model/moe/activation.cpp clamped", "the gate is bounded below too",
             "S1/activation-limits"},
    FaultRow{Fault::activation_adds_beta_last, "activation_adds_beta_last", "model/moe/activation.cpp joined", "beta is added to the product",
             "S1/activation-zeros"},
    FaultRow{Fault::activation_takes_wired, "activation_takes_wired", "model/moe/activation.cpp check_wired",
             "a constant that is compiled into the implementation can be another one", "S1/activation-constants"},
    FaultRow{Fault::router_tie_to_higher, "router_tie_to_higher", "model/moe/routing.cpp select_best", "of equal choices the higher expert wins",
             "S2/gpt-oss S2/softmax-topk-norm S2/softmax-topk S2/deepseek-v2-greedy S2/deepseek-v2-grouped-transformers S2/deepseek-v2-grouped-vllm "
             "S2/deepseek-v3-transformers S2/deepseek-v3-vllm S2/deepseek-v4 S2/llama4 S2/sigmoid-renorm S2/sigmoid S2/minimax-m2"},
    FaultRow{Fault::router_negative_is_zero, "router_negative_is_zero", "model/moe/routing.cpp choices",
             "the search for the best starts from zero: negative choices all look the same (flashinfer#2822, vllm#37591)",
             "S2/gpt-oss S2/deepseek-v3-transformers S2/deepseek-v3-vllm S2/deepseek-v4 S2/llama4 S2/minimax-m2 S4/routing"},
    FaultRow{Fault::router_excluded_is_zero, "router_excluded_is_zero", "model/moe/routing.cpp excluded_value",
             "experts outside the best groups get choice 0, which beats a negative one",
             "S2/deepseek-v2-grouped-vllm S2/deepseek-v3-transformers S2/deepseek-v3-vllm"},
    FaultRow{Fault::router_weight_from_choice, "router_weight_from_choice", "model/moe/routing.cpp weight",
             "the weight is recovered as choice - bias and cancels (flashinfer#3875)",
             "S2/deepseek-v3-transformers S2/deepseek-v3-vllm S2/deepseek-v4 S2/minimax-m2"},
    FaultRow{Fault::router_softmax_over_all, "router_softmax_over_all", "model/moe/routing.cpp scores, weigh",
             "softmax before the choice instead of after it", "S2/gpt-oss"},
    FaultRow{Fault::router_not_renormalised, "router_not_renormalised", "model/moe/routing.cpp renormalise",
             "weights are not divided by their sum (flashinfer#2889)",
             "S2/softmax-topk-norm S2/deepseek-v3-transformers S2/deepseek-v3-vllm S2/deepseek-v4 S2-table/deepseek-v4 S2/sigmoid-renorm "
             "S2/minimax-m2"},
    FaultRow{Fault::router_factor_dropped, "router_factor_dropped", "model/moe/routing.cpp weigh",
             "routed_scaling_factor is received and not used (vllm#44007)",
             "S2/gpt-oss S2/softmax-topk-norm S2/softmax-topk S2/deepseek-v2-greedy S2/deepseek-v2-grouped-transformers S2/deepseek-v2-grouped-vllm "
             "S2/deepseek-v3-transformers S2/deepseek-v3-vllm S2/deepseek-v4 S2/llama4 S2/sigmoid-renorm S2/sigmoid S2/minimax-m2 "
             "S2-table/deepseek-v4"},
    FaultRow{Fault::expert_offset_twice, "expert_offset_twice", "model/moe/layer.cpp is_held",
             "the rank's first expert is subtracted twice: nothing but rank 0 contributes (flashinfer#3547)", "S3/ranks"},
    FaultRow{Fault::layer_first_operand, "layer_first_operand", "model/moe/layer.cpp activations",
             "an expert gives all its tokens the input of the first", "S4/tokens S5/batch"},
    FaultRow{Fault::layer_first_bias, "layer_first_bias", "model/moe/layer.cpp activations", "every expert reads the biases of the first",
             "S4/experts"},
};

}  // namespace

std::span<const FaultRow> moe_faults() { return kFaults; }

}  // namespace mx::props
