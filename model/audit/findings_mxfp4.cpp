// The ledger of the mxfp4 oracle: see findings.hpp.

#include <array>

#include "model/audit/findings_tables.hpp"

namespace mx::oracle {
namespace {

constexpr std::array kFindings = {
    Finding{
        "mxfp4", "any", "", "exchange",
        "platform SM80 parallel { dp 2 expert_parallel true all2all naive } layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false }"},
    Finding{"mxfp4", "any", "", "combine_dtype",
            "platform SM75 parallel { dp 2 expert_parallel true all2all deepep_high_throughput } layer { experts 4 top_k 1 hidden 2048 intermediate "
            "2048 dtype float16 bias false }"},
    Finding{"mxfp4", "any", "", "even_exchange",
            "platform SM80 parallel { dp 3 expert_parallel true all2all deepep_low_latency } layer { experts 4 top_k 1 hidden 2048 intermediate 2048 "
            "bias false }"},
    Finding{"mxfp4", "any", "", "weight_of_one",
            "platform SM100 backend deep_gemm layer { experts 4 top_k 2 hidden 2048 intermediate 2048 activation SILU bias false "
            "router_weight_on_input true }"},
    Finding{"mxfp4", "any", "", "mori_weight",
            "platform SM100 backend deep_gemm parallel { dp 2 expert_parallel true all2all mori } layer { experts 4 top_k 1 hidden 2048 intermediate "
            "2048 activation SILU bias false router_weight_on_input true }"},
    Finding{"mxfp4", "any", "", "loaded_experts",
            "platform SM80 parallel { tp 3 expert_parallel true } layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false }"},
    Finding{"mxfp4", "any", "", "exchange_hidden",
            "platform SM80 parallel { dp 2 expert_parallel true all2all deepep_low_latency } layer { experts 4 top_k 1 hidden 9000 intermediate 2048 "
            "bias false }"},
    Finding{"mxfp4", "DEEPGEMM_MXFP4", "DeepGemmFP4Experts", "dtype",
            "platform SM100 backend deep_gemm layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU dtype float16 bias false }"},
    Finding{"mxfp4", "DEEPGEMM_MXFP4", "DeepGemmFP4Experts", "activation",
            "platform SM100 backend deep_gemm layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SWIGLUSTEP bias false }"},
    Finding{"mxfp4", "DEEPGEMM_MXFP4", "DeepGemmFP4Experts", "bias",
            "platform SM100 backend deep_gemm layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU }"},
    Finding{"mxfp4", "FLASHINFER_TRTLLM_MXFP4_MXFP8", "TrtLlmMxfp4ExpertsMonolithic", "router",
            "platform SM100 activation_key kMxfp8Dynamic quant_method quark parallel { dp 2 expert_parallel true all2all deepep_high_throughput } "
            "layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false }"},
    Finding{"mxfp4", "FLASHINFER_TRTLLM_MXFP4_MXFP8", "TrtLlmMxfp4ExpertsMonolithic", "even_ranges",
            "platform SM100 activation_key kMxfp8Dynamic parallel { tp 3 expert_parallel true } layer { experts 4 top_k 1 hidden 2048 intermediate "
            "2048 bias false }"},
    Finding{"mxfp4", "FLASHINFER_TRTLLM_MXFP4_MXFP8", "TrtLlmMxfp4ExpertsMonolithic", "linear_placement",
            "platform SM100 activation_key kMxfp8Dynamic parallel { tp 2 expert_parallel true round_robin true } layer { experts 4 top_k 1 hidden "
            "2048 intermediate 2048 bias false expert_groups 2 topk_group 1 }"},
    Finding{"mxfp4", "FLASHINFER_TRTLLM_MXFP4_MXFP8", "TrtLlmMxfp4ExpertsMonolithic", "weight_late",
            "platform SM100 activation_key kMxfp8Dynamic layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false router_weight_on_input "
            "true }"},
    Finding{"mxfp4", "FLASHINFER_TRTLLM_MXFP4_MXFP8", "TrtLlmMxfp4ExpertsMonolithic", "dtype",
            "platform SM100 activation_key kMxfp8Dynamic layer { experts 4 top_k 1 hidden 2048 intermediate 2048 dtype float16 bias false }"},
    Finding{"mxfp4", "FLASHINFER_TRTLLM_MXFP4_MXFP8", "TrtLlmMxfp4ExpertsMonolithic", "expert_groups",
            "platform SM100 activation_key kMxfp8Dynamic layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false expert_groups 2 "
            "topk_group 1 }"},
    Finding{"mxfp4", "FLASHINFER_TRTLLM_MXFP4_MXFP8", "TrtLlmMxfp4ExpertsMonolithic", "routed_scaling",
            "platform SM100 activation_key kMxfp8Dynamic layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false routed_scaling true }"},
    Finding{"mxfp4", "FLASHINFER_TRTLLM_MXFP4_MXFP8", "TrtLlmMxfp4ExpertsMonolithic", "oai_constants",
            "platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU bias false } env { "
            "VLLM_USE_FLASHINFER_MOE_MXFP4_MXFP8 1 }"},
    Finding{"mxfp4", "FLASHINFER_TRTLLM_MXFP4_MXFP8", "TrtLlmMxfp4ExpertsMonolithic", "refused",
            "platform SM120 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false }"},
    Finding{"mxfp4", "FLASHINFER_TRTLLM_MXFP4_MXFP8", "TrtLlmMxfp4ExpertsModular", "even_ranges",
            "platform SM100 activation_key kMxfp8Dynamic parallel { dp 3 expert_parallel true } layer { experts 4 top_k 1 hidden 2048 intermediate "
            "2048 bias false }"},
    Finding{"mxfp4", "FLASHINFER_TRTLLM_MXFP4_MXFP8", "TrtLlmMxfp4ExpertsModular", "linear_placement",
            "platform SM100 activation_key kMxfp8Dynamic parallel { tp 2 expert_parallel true round_robin true } layer { experts 4 top_k 1 hidden "
            "2048 intermediate 2048 routing DeepSeekV3 bias false expert_groups 2 topk_group 1 }"},
    Finding{"mxfp4", "FLASHINFER_TRTLLM_MXFP4_MXFP8", "TrtLlmMxfp4ExpertsModular", "weight_twice",
            "platform SM100 activation_key kMxfp8Dynamic layer { experts 4 top_k 1 hidden 2048 intermediate 2048 routing Llama4 bias false "
            "router_weight_on_input true }"},
    Finding{"mxfp4", "FLASHINFER_TRTLLM_MXFP4_MXFP8", "TrtLlmMxfp4ExpertsModular", "dtype",
            "platform SM100 activation_key kMxfp8Dynamic layer { experts 4 top_k 1 hidden 2048 intermediate 2048 routing DeepSeekV3 dtype float16 "
            "bias false }"},
    Finding{"mxfp4", "FLASHINFER_TRTLLM_MXFP4_MXFP8", "TrtLlmMxfp4ExpertsModular", "unpadded_output",
            "platform SM100 activation_key kMxfp8Dynamic parallel { dp 2 expert_parallel true } layer { experts 4 top_k 1 hidden 384 intermediate "
            "2048 bias false }"},
    Finding{"mxfp4", "FLASHINFER_TRTLLM_MXFP4_MXFP8", "TrtLlmMxfp4ExpertsModular", "oai_constants",
            "platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU routing DeepSeekV3 bias false } env { "
            "VLLM_USE_FLASHINFER_MOE_MXFP4_MXFP8 1 }"},
    Finding{"mxfp4", "FLASHINFER_TRTLLM_MXFP4_MXFP8", "TrtLlmMxfp4ExpertsModular", "refused",
            "platform SM120 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false }"},
    Finding{"mxfp4", "FLASHINFER_TRTLLM_MXFP4_BF16", "TrtLlmMxfp4ExpertsMonolithic", "router",
            "platform SM100 quant_method quark parallel { dp 2 expert_parallel true all2all deepep_high_throughput } layer { experts 4 top_k 1 "
            "hidden 2048 intermediate 2048 bias false }"},
    Finding{"mxfp4", "FLASHINFER_TRTLLM_MXFP4_BF16", "TrtLlmMxfp4ExpertsMonolithic", "even_ranges",
            "platform SM100 parallel { tp 3 expert_parallel true } layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false }"},
    Finding{"mxfp4", "FLASHINFER_TRTLLM_MXFP4_BF16", "TrtLlmMxfp4ExpertsMonolithic", "linear_placement",
            "platform SM100 parallel { tp 2 expert_parallel true round_robin true } layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias "
            "false expert_groups 2 topk_group 1 }"},
    Finding{"mxfp4", "FLASHINFER_TRTLLM_MXFP4_BF16", "TrtLlmMxfp4ExpertsMonolithic", "weight_late",
            "platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false router_weight_on_input true }"},
    Finding{"mxfp4", "FLASHINFER_TRTLLM_MXFP4_BF16", "TrtLlmMxfp4ExpertsMonolithic", "dtype",
            "platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 dtype float16 bias false }"},
    Finding{"mxfp4", "FLASHINFER_TRTLLM_MXFP4_BF16", "TrtLlmMxfp4ExpertsMonolithic", "expert_groups",
            "platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false expert_groups 2 topk_group 1 }"},
    Finding{"mxfp4", "FLASHINFER_TRTLLM_MXFP4_BF16", "TrtLlmMxfp4ExpertsMonolithic", "routed_scaling",
            "platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false routed_scaling true }"},
    Finding{"mxfp4", "FLASHINFER_TRTLLM_MXFP4_BF16", "TrtLlmMxfp4ExpertsMonolithic", "oai_constants",
            "platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU bias false }"},
    Finding{"mxfp4", "FLASHINFER_TRTLLM_MXFP4_BF16", "TrtLlmMxfp4ExpertsMonolithic", "refused",
            "platform SM120 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false }"},
    Finding{"mxfp4", "FLASHINFER_TRTLLM_MXFP4_BF16", "TrtLlmMxfp4ExpertsModular", "even_ranges",
            "platform SM100 parallel { dp 3 expert_parallel true } layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false }"},
    Finding{"mxfp4", "FLASHINFER_TRTLLM_MXFP4_BF16", "TrtLlmMxfp4ExpertsModular", "linear_placement",
            "platform SM100 parallel { tp 2 expert_parallel true round_robin true } layer { experts 4 top_k 1 hidden 2048 intermediate 2048 routing "
            "DeepSeekV3 bias false expert_groups 2 topk_group 1 }"},
    Finding{"mxfp4", "FLASHINFER_TRTLLM_MXFP4_BF16", "TrtLlmMxfp4ExpertsModular", "weight_twice",
            "platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 routing Llama4 bias false router_weight_on_input true }"},
    Finding{"mxfp4", "FLASHINFER_TRTLLM_MXFP4_BF16", "TrtLlmMxfp4ExpertsModular", "dtype",
            "platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 routing DeepSeekV3 dtype float16 bias false }"},
    Finding{"mxfp4", "FLASHINFER_TRTLLM_MXFP4_BF16", "TrtLlmMxfp4ExpertsModular", "unpadded_output",
            "platform SM100 parallel { dp 2 expert_parallel true } layer { experts 4 top_k 1 hidden 384 intermediate 2048 bias false }"},
    Finding{"mxfp4", "FLASHINFER_TRTLLM_MXFP4_BF16", "TrtLlmMxfp4ExpertsModular", "oai_constants",
            "platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU routing DeepSeekV3 bias false }"},
    Finding{"mxfp4", "FLASHINFER_TRTLLM_MXFP4_BF16", "TrtLlmMxfp4ExpertsModular", "refused",
            "platform SM120 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false }"},
    Finding{"mxfp4", "FLASHINFER_CUTLASS_MXFP4_MXFP8", "FlashInferExperts", "even_ranges",
            "platform SM120 activation_key kMxfp8Dynamic parallel { tp 3 expert_parallel true } layer { experts 4 top_k 1 hidden 2048 intermediate "
            "2048 bias false }"},
    Finding{"mxfp4", "FLASHINFER_CUTLASS_MXFP4_MXFP8", "FlashInferExperts", "linear_placement",
            "platform SM120 activation_key kMxfp8Dynamic parallel { tp 2 expert_parallel true round_robin true } layer { experts 4 top_k 1 hidden "
            "2048 intermediate 2048 bias false expert_groups 2 topk_group 1 }"},
    Finding{"mxfp4", "FLASHINFER_CUTLASS_MXFP4_MXFP8", "FlashInferExperts", "weight_twice",
            "platform SM120 activation_key kMxfp8Dynamic layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false router_weight_on_input "
            "true }"},
    Finding{"mxfp4", "FLASHINFER_CUTLASS_MXFP4_MXFP8", "FlashInferExperts", "dtype",
            "platform SM120 activation_key kMxfp8Dynamic layer { experts 4 top_k 1 hidden 2048 intermediate 2048 dtype float16 bias false }"},
    Finding{"mxfp4", "FLASHINFER_CUTLASS_MXFP4_MXFP8", "FlashInferExperts", "oai_constants",
            "platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU bias false } env { "
            "VLLM_USE_FLASHINFER_MOE_MXFP4_MXFP8_CUTLASS 1 }"},
    Finding{"mxfp4", "FLASHINFER_CUTLASS_MXFP4_MXFP8", "FlashInferExperts", "oai_alpha",
            "platform SM120 activation_key kMxfp8Dynamic layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false swiglu_alpha true }"},
    Finding{"mxfp4", "FLASHINFER_CUTLASS_MXFP4_MXFP8", "FlashInferExperts", "swizzled_scales",
            "platform SM120 activation_key kMxfp8Dynamic parallel { dp 2 } layer { experts 4 top_k 1 hidden 2048 intermediate 4096 bias false }"},
    Finding{"mxfp4", "FLASHINFER_CUTLASS_MXFP4_BF16", "FlashInferExperts", "even_ranges",
            "platform SM90 backend flashinfer_cutlass parallel { tp 3 expert_parallel true } layer { experts 4 top_k 1 hidden 2048 intermediate 2048 "
            "bias false }"},
    Finding{"mxfp4", "FLASHINFER_CUTLASS_MXFP4_BF16", "FlashInferExperts", "linear_placement",
            "platform SM90 parallel { tp 2 expert_parallel true round_robin true } layer { experts 4 top_k 1 hidden 2048 intermediate 2048 "
            "activation SILU bias false expert_groups 2 topk_group 1 }"},
    Finding{
        "mxfp4", "FLASHINFER_CUTLASS_MXFP4_BF16", "FlashInferExperts", "weight_twice",
        "platform SM90 backend flashinfer_cutlass layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false router_weight_on_input true }"},
    Finding{"mxfp4", "FLASHINFER_CUTLASS_MXFP4_BF16", "FlashInferExperts", "dtype",
            "platform SM90 backend flashinfer_cutlass layer { experts 4 top_k 1 hidden 2048 intermediate 2048 dtype float16 bias false }"},
    Finding{"mxfp4", "FLASHINFER_CUTLASS_MXFP4_BF16", "FlashInferExperts", "oai_constants",
            "platform SM90 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU bias false }"},
    Finding{"mxfp4", "FLASHINFER_CUTLASS_MXFP4_BF16", "FlashInferExperts", "oai_alpha",
            "platform SM90 backend flashinfer_cutlass layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false swiglu_alpha true }"},
    Finding{"mxfp4", "BATCHED_MARLIN", "BatchedMarlinExperts", "dtype",
            "platform SM75 parallel { dp 2 expert_parallel true all2all deepep_low_latency } layer { experts 4 top_k 1 hidden 2048 intermediate 2048 "
            "bias false }"},
    Finding{"mxfp4", "MARLIN", "MarlinExperts", "weight_twice",
            "platform SM75 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 dtype float16 bias false router_weight_on_input true }"},
    Finding{"mxfp4", "MARLIN", "MarlinExperts", "dtype", "platform SM75 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false }"},
    Finding{"mxfp4", "MARLIN", "MarlinExperts", "oai_alpha",
            "platform SM80 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false swiglu_alpha true }"},
    Finding{"mxfp4", "MARLIN", "MarlinExperts", "oai_limit",
            "platform SM80 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false swiglu_limit true }"},
    Finding{"mxfp4", "AITER_MXFP4_BF16", "AiterExperts", "weight_twice",
            "platform gfx950 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false router_weight_on_input true } env { "
            "VLLM_ROCM_USE_AITER 1 }"},
    Finding{"mxfp4", "AITER_MXFP4_BF16", "AiterExperts", "dtype",
            "platform gfx950 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 dtype float32 bias false } env { VLLM_ROCM_USE_AITER 1 }"},
    Finding{"mxfp4", "AITER_MXFP4_BF16", "AiterExperts", "oai_alpha",
            "platform gfx950 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false swiglu_alpha true } env { VLLM_ROCM_USE_AITER 1 }"},
    Finding{"mxfp4", "AITER_MXFP4_BF16", "AiterExperts", "oai_limit",
            "platform gfx950 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false swiglu_limit true } env { VLLM_ROCM_USE_AITER 1 }"},
    Finding{"mxfp4", "AITER_MXFP4_BF16", "AiterExperts", "silu_limit",
            "platform gfx950 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU bias false swiglu_limit true } env { "
            "VLLM_ROCM_USE_AITER 1 }"},
    Finding{"mxfp4", "AITER_MXFP4_FP8", "AiterW4A8ExpertsMonolithic", "weight_late",
            "platform gfx950 activation_key kFp8StaticTensorSym layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false "
            "router_weight_on_input true } env { VLLM_ROCM_USE_AITER 1 }"},
    Finding{"mxfp4", "AITER_MXFP4_FP8", "AiterW4A8ExpertsMonolithic", "dtype",
            "platform gfx950 activation_key kFp8StaticTensorSym layer { experts 4 top_k 1 hidden 2048 intermediate 2048 dtype float16 bias false } "
            "env { VLLM_ROCM_USE_AITER 1 }"},
    Finding{"mxfp4", "AITER_MXFP4_FP8", "AiterW4A8ExpertsMonolithic", "expert_map",
            "platform gfx950 activation_key kFp8StaticTensorSym parallel { tp 2 expert_parallel true } layer { experts 4 top_k 1 hidden 2048 "
            "intermediate 2048 bias false } env { VLLM_ROCM_USE_AITER 1 }"},
    Finding{"mxfp4", "AITER_MXFP4_FP8", "AiterW4A8ExpertsMonolithic", "oai_alpha",
            "platform gfx950 activation_key kFp8StaticTensorSym layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false swiglu_alpha true "
            "} env { VLLM_ROCM_USE_AITER 1 }"},
    Finding{"mxfp4", "AITER_MXFP4_FP8", "AiterW4A8ExpertsMonolithic", "oai_limit",
            "platform gfx950 activation_key kFp8StaticTensorSym layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false swiglu_limit true "
            "} env { VLLM_ROCM_USE_AITER 1 }"},
    Finding{"mxfp4", "AITER_MXFP4_MXFP4", "AiterExperts", "weight_twice",
            "platform gfx950 activation_key kMxfp4Dynamic layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false router_weight_on_input "
            "true } env { VLLM_ROCM_USE_AITER 1 }"},
    Finding{"mxfp4", "AITER_MXFP4_MXFP4", "AiterExperts", "dtype",
            "platform gfx950 activation_key kMxfp4Dynamic layer { experts 4 top_k 1 hidden 2048 intermediate 2048 dtype float32 bias false } env { "
            "VLLM_ROCM_USE_AITER 1 }"},
    Finding{"mxfp4", "AITER_MXFP4_MXFP4", "AiterExperts", "bias",
            "platform gfx950 activation_key kMxfp4Dynamic layer { experts 4 top_k 1 hidden 2048 intermediate 2048 } env { VLLM_ROCM_USE_AITER 1 }"},
    Finding{"mxfp4", "AITER_MXFP4_MXFP4", "AiterExperts", "oai_alpha",
            "platform gfx950 activation_key kMxfp4Dynamic layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false swiglu_alpha true } env "
            "{ VLLM_ROCM_USE_AITER 1 }"},
    Finding{"mxfp4", "AITER_MXFP4_MXFP4", "AiterExperts", "oai_limit",
            "platform gfx950 activation_key kMxfp4Dynamic layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false swiglu_limit true } env "
            "{ VLLM_ROCM_USE_AITER 1 }"},
    Finding{"mxfp4", "AITER_MXFP4_MXFP4", "AiterExperts", "silu_limit",
            "platform gfx950 activation_key kMxfp4Dynamic layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU bias false "
            "swiglu_limit true } env { VLLM_ROCM_USE_AITER 1 }"},
    Finding{"mxfp4", "TRITON", "OAITritonMxfp4ExpertsMonolithic", "router",
            "platform SM90 quant_method quark parallel { dp 2 expert_parallel true all2all deepep_high_throughput } layer { experts 4 top_k 1 hidden "
            "2048 intermediate 2048 bias false }"},
    Finding{"mxfp4", "TRITON", "OAITritonMxfp4ExpertsMonolithic", "expert_mask",
            "platform gfx942 parallel { tp 2 expert_parallel true } layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false } env { "
            "VLLM_ROCM_USE_AITER 1 }"},
    Finding{"mxfp4", "TRITON", "OAITritonMxfp4ExpertsMonolithic", "weight_late",
            "platform SM90 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false router_weight_on_input true }"},
    Finding{"mxfp4", "TRITON", "OAITritonMxfp4ExpertsMonolithic", "hidden_blocks",
            "platform SM90 layer { experts 4 top_k 1 hidden 48 intermediate 2048 bias false }"},
    Finding{"mxfp4", "TRITON", "OAITritonMxfp4ExpertsMonolithic", "dtype",
            "platform SM90 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 dtype float16 bias false }"},
    Finding{"mxfp4", "TRITON", "OAITritonMxfp4ExpertsMonolithic", "expert_groups",
            "platform SM90 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false expert_groups 2 topk_group 1 }"},
    Finding{"mxfp4", "TRITON", "OAITritonMxfp4ExpertsMonolithic", "oai_alpha",
            "platform SM90 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false swiglu_alpha true }"},
    Finding{"mxfp4", "TRITON", "OAITritonMxfp4ExpertsMonolithic", "oai_limit",
            "platform SM90 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false swiglu_limit true }"},
    Finding{"mxfp4", "TRITON", "OAITritonMxfp4ExpertsMonolithic", "two_data_ranks",
            "platform SM90 quant_method quark parallel { dp 2 expert_parallel true } layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias "
            "false }"},
    Finding{"mxfp4", "TRITON", "OAITritonExperts", "expert_mask",
            "platform gfx942 parallel { tp 2 expert_parallel true eplb true } layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false } "
            "env { VLLM_ROCM_USE_AITER 1 }"},
    Finding{"mxfp4", "TRITON", "OAITritonExperts", "weight_twice",
            "platform SM90 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 routing Llama4 bias false router_weight_on_input true }"},
    Finding{"mxfp4", "TRITON", "OAITritonExperts", "hidden_blocks",
            "platform SM90 parallel { dp 2 } layer { experts 4 top_k 1 hidden 48 intermediate 4096 bias false }"},
    Finding{"mxfp4", "TRITON", "OAITritonExperts", "dtype",
            "platform SM90 parallel { dp 2 } layer { experts 4 top_k 1 hidden 2048 intermediate 4096 dtype float16 bias false }"},
    Finding{"mxfp4", "TRITON", "OAITritonExperts", "oai_limit",
            "platform SM90 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 routing DeepseekV4 bias false swiglu_limit true }"},
    Finding{"mxfp4", "TRITON", "OAITritonExperts", "two_data_ranks",
            "platform SM90 parallel { dp 2 expert_parallel true } layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false }"},
    Finding{"mxfp4", "TRITON_UNFUSED", "UnfusedOAITritonExperts", "expert_mask",
            "platform gfx942 backend triton_unfused parallel { tp 2 expert_parallel true } layer { experts 4 top_k 1 hidden 2048 intermediate 2048 "
            "bias false } env { VLLM_ROCM_USE_AITER 1 }"},
    Finding{"mxfp4", "TRITON_UNFUSED", "UnfusedOAITritonExperts", "weight_twice",
            "platform SM90 backend triton_unfused layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false router_weight_on_input true }"},
    Finding{"mxfp4", "TRITON_UNFUSED", "UnfusedOAITritonExperts", "hidden_blocks",
            "platform SM90 backend triton_unfused layer { experts 4 top_k 1 hidden 48 intermediate 2048 bias false }"},
    Finding{"mxfp4", "TRITON_UNFUSED", "UnfusedOAITritonExperts", "dtype",
            "platform SM90 backend triton_unfused layer { experts 4 top_k 1 hidden 2048 intermediate 2048 dtype float16 bias false }"},
    Finding{"mxfp4", "XPU", "XPUExpertsMXFp4", "even_ranges",
            "platform XPU parallel { tp 3 expert_parallel true } layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false }"},
    Finding{"mxfp4", "XPU", "XPUExpertsMXFp4", "linear_placement",
            "platform XPU parallel { tp 2 expert_parallel true round_robin true } layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false "
            "expert_groups 2 topk_group 1 }"},
    Finding{"mxfp4", "XPU", "XPUExpertsMXFp4", "weight_twice",
            "platform XPU layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false router_weight_on_input true }"},
    Finding{"mxfp4", "XPU", "XPUExpertsMXFp4", "hidden_blocks", "platform XPU layer { experts 4 top_k 1 hidden 48 intermediate 2048 bias false }"},
    Finding{"mxfp4", "XPU", "XPUExpertsMXFp4", "oai_alpha",
            "platform XPU layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false swiglu_alpha true }"},
    Finding{"mxfp4", "XPU", "XPUExpertsMXFp4", "oai_limit",
            "platform XPU layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false swiglu_limit true }"},
    Finding{"mxfp4", "XPU", "XPUExpertsMXFp4", "silu_limit",
            "platform XPU layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU bias false swiglu_limit true }"},
    Finding{"mxfp4", "CPU", "CPUExpertsMxfp4", "router",
            "platform CPU parallel { dp 2 expert_parallel true all2all deepep_high_throughput } layer { experts 4 top_k 1 hidden 2048 intermediate "
            "2048 bias false }"},
    Finding{"mxfp4", "CPU", "CPUExpertsMxfp4", "weight_late",
            "platform CPU layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false router_weight_on_input true }"},
    Finding{"mxfp4", "CPU", "CPUExpertsMxfp4", "amx",
            "hardware { platform cpu amx false } layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false }"},
    Finding{"mxfp4", "CPU", "CPUExpertsMxfp4", "dtype",
            "platform CPU layer { experts 4 top_k 1 hidden 2048 intermediate 2048 dtype float32 bias false }"},
    Finding{"mxfp4", "CPU", "CPUExpertsMxfp4", "silu_limit",
            "platform CPU layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU bias false swiglu_limit true }"},
    Finding{"mxfp4", "CPU", "CPUExpertsMxfp4", "expert_map",
            "platform CPU parallel { tp 2 expert_parallel true } layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false }"},
    Finding{"mxfp4", "CPU", "CPUExpertsMxfp4", "oai_constants",
            "platform CPU layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU bias false }"},
    Finding{"mxfp4", "EMULATION", "OCP_MXQuantizationEmulationTritonExperts", "expert_mask",
            "platform gfx942 backend emulation parallel { tp 2 expert_parallel true } layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias "
            "false } env { VLLM_ROCM_USE_AITER 1 }"},
    Finding{"mxfp4", "EMULATION", "OCP_MXQuantizationEmulationTritonExperts", "hidden_blocks",
            "platform SM75 backend emulation layer { experts 4 top_k 1 hidden 48 intermediate 2048 bias false }"},
    Finding{"mxfp4", "EMULATION", "OCP_MXQuantizationEmulationTritonExperts", "intermediate_blocks",
            "platform SM75 backend emulation quant_method quark layer { experts 4 top_k 1 hidden 2048 intermediate 48 bias false }"},
    Finding{"mxfp4", "EMULATION", "OCP_MXQuantizationEmulationTritonExperts", "scheme",
            "platform SM75 backend emulation activation_key kMxfp8Dynamic layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false }"},
    Finding{"mxfp4", "EMULATION", "OCP_MXQuantizationEmulationTritonExperts", "oai_alpha",
            "platform SM75 backend emulation layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false swiglu_alpha true }"},
    Finding{"mxfp4", "EMULATION", "OCP_MXQuantizationEmulationTritonExperts", "oai_limit",
            "platform SM75 backend emulation layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false swiglu_limit true }"},
    Finding{"mxfp4", "EMULATION", "OCP_MXQuantizationEmulationTritonExperts", "silu_limit",
            "platform SM75 backend emulation layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU bias false swiglu_limit true }"},
    Finding{
        "mxfp4", "EMULATION", "OCP_MXQuantizationEmulationTritonExperts", "shard_room",
        "platform SM75 backend emulation quant_method quark parallel { tp 2 } layer { experts 4 top_k 1 hidden 2048 intermediate 96 bias false }"},
    Finding{"mxfp4", "HUMMING", "BatchedHummingGroupedExperts", "format",
            "platform SM75 backend humming quant_method quark layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false }"},
    Finding{"mxfp4", "HUMMING", "BatchedHummingGroupedExperts", "humming_weight",
            "platform SM75 backend humming parallel { dp 2 expert_parallel true all2all deepep_low_latency } layer { experts 4 top_k 1 hidden 2048 "
            "intermediate 2048 bias false router_weight_on_input true }"},
    Finding{"mxfp4", "HUMMING", "BatchedHummingGroupedExperts", "hidden_blocks",
            "platform SM75 backend humming parallel { dp 2 expert_parallel true all2all deepep_low_latency } layer { experts 4 top_k 1 hidden 9000 "
            "intermediate 2048 bias false }"},
    Finding{"mxfp4", "HUMMING", "HummingGroupedExperts", "humming_weight",
            "platform SM75 backend humming layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false router_weight_on_input true } env { "
            "VLLM_HUMMING_MOE_GEMM_TYPE grouped }"},
    Finding{"mxfp4", "HUMMING", "HummingGroupedExperts", "hidden_blocks",
            "platform SM75 backend humming layer { experts 4 top_k 1 hidden 48 intermediate 2048 bias false } env { VLLM_HUMMING_MOE_GEMM_TYPE "
            "grouped }"},
    Finding{"mxfp4", "HUMMING", "HummingIndexedExperts", "humming_weight",
            "platform SM75 backend humming layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false router_weight_on_input true }"},
    Finding{"mxfp4", "HUMMING", "HummingIndexedExperts", "hidden_blocks",
            "platform SM75 backend humming layer { experts 4 top_k 1 hidden 48 intermediate 2048 bias false }"},
    Finding{
        "mxfp4", "HUMMING", "HummingIndexedExperts", "device",
        "platform gfx90a backend humming layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false } software { humming_installed true }"},
    Finding{"mxfp4", "NOT_ASKED", "CutlassExpertsMxfp4", "weight_twice",
            "platform SM100 quant_method compressed_tensors layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false "
            "router_weight_on_input true }"},
    Finding{"mxfp4", "NOT_ASKED", "CutlassExpertsMxfp4", "hidden_blocks",
            "platform SM100 quant_method compressed_tensors layer { experts 4 top_k 1 hidden 48 intermediate 2048 bias false }"},
    Finding{"mxfp4", "NOT_ASKED", "CutlassExpertsMxfp4", "intermediate_blocks",
            "platform SM100 quant_method compressed_tensors layer { experts 4 top_k 1 hidden 2048 intermediate 48 bias false }"},
    Finding{"mxfp4", "NOT_ASKED", "CutlassExpertsMxfp4", "sizes",
            "platform SM100 quant_method compressed_tensors layer { experts 4 top_k 1 hidden 2048 intermediate 192 bias false }"},
    Finding{"mxfp4", "NOT_ASKED", "CutlassExpertsMxfp4", "wish",
            "platform SM100 backend deep_gemm quant_method compressed_tensors layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false }"},
    Finding{"mxfp4", "NOT_ASKED", "CutlassExpertsMxfp4", "one_rank",
            "platform SM100 quant_method compressed_tensors parallel { tp 2 expert_parallel true } layer { experts 4 top_k 1 hidden 2048 "
            "intermediate 2048 bias false }"},
    Finding{"mxfp4", "NOT_ASKED", "CutlassExpertsMxfp4", "bias",
            "platform SM100 quant_method compressed_tensors layer { experts 4 top_k 1 hidden 2048 intermediate 2048 }"},
};

}  // namespace

std::span<const Finding> mxfp4_findings() { return kFindings; }

}  // namespace mx::oracle
