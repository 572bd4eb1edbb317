// The ledger of the mxfp8 oracle: see findings.hpp.

#include <array>

#include "model/audit/findings_tables.hpp"

namespace mx::oracle {
namespace {

constexpr std::array kFindings = {
    Finding{"mxfp8", "any", "", "weight_of_one",
            "oracle mxfp8 platform SM80 layer { experts 4 top_k 2 hidden 2048 intermediate 2048 bias false router_weight_on_input true }"},
    Finding{"mxfp8", "any", "", "exchange",
            "oracle mxfp8 platform SM80 parallel { dp 2 expert_parallel true all2all naive } layer { experts 4 top_k 1 hidden 2048 intermediate 2048 "
            "bias false }"},
    Finding{"mxfp8", "any", "", "combine_dtype",
            "oracle mxfp8 platform SM75 parallel { dp 2 expert_parallel true all2all deepep_high_throughput } layer { experts 4 top_k 1 hidden 2048 "
            "intermediate 2048 dtype float16 bias false }"},
    Finding{"mxfp8", "any", "", "even_exchange",
            "oracle mxfp8 platform SM80 parallel { dp 3 expert_parallel true all2all mori } layer { experts 4 top_k 1 hidden 2048 intermediate 2048 "
            "bias false }"},
    Finding{"mxfp8", "any", "", "mori_weight",
            "oracle mxfp8 platform SM80 parallel { dp 2 expert_parallel true all2all mori } layer { experts 4 top_k 1 hidden 2048 intermediate 2048 "
            "bias false router_weight_on_input true }"},
    Finding{"mxfp8", "FLASHINFER_TRTLLM", "TrtLlmFp8ExpertsMonolithic", "even_ranges",
            "oracle mxfp8 platform SM100 parallel { tp 3 expert_parallel true } layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation "
            "SILU bias false }"},
    Finding{"mxfp8", "FLASHINFER_TRTLLM", "TrtLlmFp8ExpertsMonolithic", "linear_placement",
            "oracle mxfp8 platform SM100 parallel { tp 2 expert_parallel true round_robin true } layer { experts 4 top_k 1 hidden 2048 intermediate "
            "2048 activation SILU routing DeepSeekV3 bias false expert_groups 2 topk_group 1 }"},
    Finding{"mxfp8", "FLASHINFER_TRTLLM", "TrtLlmFp8ExpertsMonolithic", "mx_blocks",
            "oracle mxfp8 platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 48 activation SILU bias false }"},
    Finding{"mxfp8", "FLASHINFER_TRTLLM", "TrtLlmFp8ExpertsMonolithic", "sizes",
            "oracle mxfp8 platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 192 activation SILU bias false }"},
    Finding{"mxfp8", "FLASHINFER_TRTLLM", "TrtLlmFp8ExpertsMonolithic", "dtype",
            "oracle mxfp8 platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU dtype float32 bias false }"},
    Finding{"mxfp8", "FLASHINFER_TRTLLM", "TrtLlmFp8ExpertsMonolithic", "block_activation",
            "oracle mxfp8 platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation RELU2_NO_MUL bias false }"},
    Finding{"mxfp8", "FLASHINFER_TRTLLM", "TrtLlmFp8ExpertsMonolithic", "experts",
            "oracle mxfp8 platform SM100 layer { experts 3 top_k 1 hidden 2048 intermediate 2048 activation SILU bias false }"},
    Finding{"mxfp8", "FLASHINFER_TRTLLM", "TrtLlmFp8ExpertsMonolithic", "top_k",
            "oracle mxfp8 platform SM100 layer { experts 16 top_k 12 hidden 2048 intermediate 2048 activation SILU bias false }"},
    Finding{"mxfp8", "FLASHINFER_TRTLLM", "TrtLlmFp8ExpertsMonolithic", "router_limits",
            "oracle mxfp8 platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU bias false expert_groups 2 "
            "topk_group 1 }"},
    Finding{"mxfp8", "FLASHINFER_TRTLLM", "TrtLlmFp8ExpertsMonolithic", "router_case",
            "oracle mxfp8 platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU routing Simulated bias false }"},
    Finding{"mxfp8", "FLASHINFER_TRTLLM", "TrtLlmFp8ExpertsMonolithic", "weight_on_input",
            "oracle mxfp8 platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU bias false router_weight_on_input "
            "true }"},
    Finding{"mxfp8", "FLASHINFER_TRTLLM", "TrtLlmFp8ExpertsMonolithic", "bias",
            "oracle mxfp8 platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU }"},
    Finding{"mxfp8", "FLASHINFER_TRTLLM", "TrtLlmFp8ExpertsMonolithic", "silu_limit",
            "oracle mxfp8 platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU bias false swiglu_limit true }"},
    Finding{"mxfp8", "FLASHINFER_TRTLLM", "TrtLlmFp8ExpertsModular", "even_ranges",
            "oracle mxfp8 platform SM100 parallel { tp 3 expert_parallel true } layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation "
            "SILU routing DeepseekV4 bias false }"},
    Finding{"mxfp8", "FLASHINFER_TRTLLM", "TrtLlmFp8ExpertsModular", "mx_blocks",
            "oracle mxfp8 platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 48 activation SILU routing DeepseekV4 bias false }"},
    Finding{"mxfp8", "FLASHINFER_TRTLLM", "TrtLlmFp8ExpertsModular", "sizes",
            "oracle mxfp8 platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 192 activation SILU routing Llama4 bias false }"},
    Finding{"mxfp8", "FLASHINFER_TRTLLM", "TrtLlmFp8ExpertsModular", "dtype",
            "oracle mxfp8 platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU routing DeepseekV4 dtype float32 "
            "bias false }"},
    Finding{
        "mxfp8", "FLASHINFER_TRTLLM", "TrtLlmFp8ExpertsModular", "forwarded_activation",
        "oracle mxfp8 platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation RELU2_NO_MUL routing Llama4 bias false }"},
    Finding{"mxfp8", "FLASHINFER_TRTLLM", "TrtLlmFp8ExpertsModular", "experts",
            "oracle mxfp8 platform SM100 layer { experts 3 top_k 1 hidden 2048 intermediate 2048 activation SILU routing Llama4 bias false }"},
    Finding{"mxfp8", "FLASHINFER_TRTLLM", "TrtLlmFp8ExpertsModular", "top_k",
            "oracle mxfp8 platform SM100 layer { experts 16 top_k 12 hidden 2048 intermediate 2048 activation SILU routing Llama4 bias false }"},
    Finding{"mxfp8", "FLASHINFER_TRTLLM", "TrtLlmFp8ExpertsModular", "weight_on_input",
            "oracle mxfp8 platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU routing Llama4 bias false "
            "router_weight_on_input true }"},
    Finding{"mxfp8", "FLASHINFER_TRTLLM", "TrtLlmFp8ExpertsModular", "bias",
            "oracle mxfp8 platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU routing DeepseekV4 }"},
    Finding{"mxfp8", "FLASHINFER_TRTLLM", "TrtLlmFp8ExpertsModular", "silu_limit",
            "oracle mxfp8 platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU routing DeepseekV4 bias false "
            "swiglu_limit true }"},
    Finding{
        "mxfp8", "MARLIN", "MarlinExperts", "weight_twice",
        "oracle mxfp8 platform SM75 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 dtype float16 bias false router_weight_on_input true }"},
    Finding{"mxfp8", "MARLIN", "MarlinExperts", "mx_blocks",
            "oracle mxfp8 platform SM75 layer { experts 4 top_k 1 hidden 2048 intermediate 48 dtype float16 bias false }"},
    Finding{"mxfp8", "MARLIN", "MarlinExperts", "sizes",
            "oracle mxfp8 platform SM75 layer { experts 4 top_k 1 hidden 192 intermediate 192 dtype float16 bias false }"},
    Finding{"mxfp8", "MARLIN", "MarlinExperts", "dtype",
            "oracle mxfp8 platform SM75 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false }"},
    Finding{"mxfp8", "MARLIN", "MarlinExperts", "oai_alpha",
            "oracle mxfp8 platform SM80 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false swiglu_alpha true }"},
    Finding{"mxfp8", "MARLIN", "MarlinExperts", "oai_limit",
            "oracle mxfp8 platform SM80 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false swiglu_limit true }"},
    Finding{"mxfp8", "XPU", "XPUExpertsMxfp8", "even_ranges",
            "oracle mxfp8 platform XPU parallel { tp 3 expert_parallel true } layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false }"},
    Finding{"mxfp8", "XPU", "XPUExpertsMxfp8", "linear_placement",
            "oracle mxfp8 platform XPU parallel { tp 2 expert_parallel true round_robin true } layer { experts 4 top_k 1 hidden 2048 intermediate "
            "2048 bias false expert_groups 2 topk_group 1 }"},
    Finding{"mxfp8", "XPU", "XPUExpertsMxfp8", "weight_twice",
            "oracle mxfp8 platform XPU layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false router_weight_on_input true }"},
    Finding{"mxfp8", "XPU", "XPUExpertsMxfp8", "mx_blocks",
            "oracle mxfp8 platform XPU layer { experts 4 top_k 1 hidden 2048 intermediate 48 bias false }"},
    Finding{"mxfp8", "XPU", "XPUExpertsMxfp8", "silu_limit",
            "oracle mxfp8 platform XPU layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU bias false swiglu_limit true }"},
    Finding{"mxfp8", "XPU", "XPUExpertsMxfp8", "oai_alpha",
            "oracle mxfp8 platform XPU layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false swiglu_alpha true }"},
    Finding{"mxfp8", "XPU", "XPUExpertsMxfp8", "oai_limit",
            "oracle mxfp8 platform XPU layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false swiglu_limit true }"},
};

}  // namespace

std::span<const Finding> mxfp8_findings() { return kFindings; }

}  // namespace mx::oracle
