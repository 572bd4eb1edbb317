// The ledger of the fp8 oracle: see findings.hpp.

#include <array>

#include "model/audit/findings_tables.hpp"

namespace mx::oracle {
namespace {

constexpr std::array kFindings = {
    Finding{"fp8", "any", "", "weight_of_one",
            "oracle fp8 platform SM89 layer { experts 4 top_k 2 hidden 2048 intermediate 2048 bias false router_weight_on_input true }"},
    Finding{"fp8", "any", "", "exchange",
            "oracle fp8 platform SM80 parallel { dp 2 expert_parallel true all2all naive } layer { experts 4 top_k 1 hidden 2048 intermediate 2048 "
            "bias false }"},
    Finding{"fp8", "any", "", "combine_dtype",
            "oracle fp8 platform SM75 parallel { dp 2 expert_parallel true all2all deepep_high_throughput } layer { experts 4 top_k 1 hidden 2048 "
            "intermediate 2048 dtype float16 bias false }"},
    Finding{"fp8", "any", "", "even_exchange",
            "oracle fp8 platform SM80 parallel { dp 3 expert_parallel true all2all mori } layer { experts 4 top_k 1 hidden 2048 intermediate 2048 "
            "bias false }"},
    Finding{"fp8", "any", "", "mori_weight",
            "oracle fp8 platform SM89 parallel { dp 2 expert_parallel true all2all mori } layer { experts 4 top_k 1 hidden 2048 intermediate 2048 "
            "bias false router_weight_on_input true }"},
    Finding{"fp8", "any", "", "exchange_hidden",
            "oracle fp8 platform SM89 parallel { dp 2 expert_parallel true all2all deepep_low_latency } layer { experts 4 top_k 1 hidden 9000 "
            "intermediate 2048 bias false }"},
    Finding{"fp8", "FLASHINFER_TRTLLM", "TrtLlmFp8ExpertsMonolithic", "even_ranges",
            "oracle fp8 platform SM100 parallel { tp 3 expert_parallel true } layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation "
            "SILU bias false }"},
    Finding{"fp8", "FLASHINFER_TRTLLM", "TrtLlmFp8ExpertsMonolithic", "linear_placement",
            "oracle fp8 platform SM100 parallel { tp 2 expert_parallel true round_robin true } layer { experts 4 top_k 1 hidden 2048 intermediate "
            "2048 activation SILU routing DeepSeekV3 bias false expert_groups 2 topk_group 1 }"},
    Finding{"fp8", "FLASHINFER_TRTLLM", "TrtLlmFp8ExpertsMonolithic", "blocks",
            "oracle fp8 platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 192 activation SILU bias false }"},
    Finding{"fp8", "FLASHINFER_TRTLLM", "TrtLlmFp8ExpertsMonolithic", "shard_padding",
            "oracle fp8 platform SM100 weight_key kFp8StaticTensorSym activation_key kFp8StaticTensorSym layer { experts 4 top_k 1 hidden 2048 "
            "intermediate 40 activation SILU bias false }"},
    Finding{"fp8", "FLASHINFER_TRTLLM", "TrtLlmFp8ExpertsMonolithic", "sizes",
            "oracle fp8 platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 192 activation SILU bias false }"},
    Finding{"fp8", "FLASHINFER_TRTLLM", "TrtLlmFp8ExpertsMonolithic", "shuffle_rows",
            "oracle fp8 platform SM100 weight_key kFp8StaticTensorSym activation_key kFp8StaticTensorSym layer { experts 4 top_k 1 hidden 48 "
            "intermediate 2048 activation SILU bias false }"},
    Finding{"fp8", "FLASHINFER_TRTLLM", "TrtLlmFp8ExpertsMonolithic", "dtype",
            "oracle fp8 platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU dtype float32 bias false }"},
    Finding{"fp8", "FLASHINFER_TRTLLM", "TrtLlmFp8ExpertsMonolithic", "block_activation",
            "oracle fp8 platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation RELU2_NO_MUL bias false }"},
    Finding{"fp8", "FLASHINFER_TRTLLM", "TrtLlmFp8ExpertsMonolithic", "experts",
            "oracle fp8 platform SM100 layer { experts 3 top_k 1 hidden 2048 intermediate 2048 activation SILU bias false }"},
    Finding{"fp8", "FLASHINFER_TRTLLM", "TrtLlmFp8ExpertsMonolithic", "top_k",
            "oracle fp8 platform SM100 layer { experts 16 top_k 12 hidden 2048 intermediate 2048 activation SILU bias false }"},
    Finding{"fp8", "FLASHINFER_TRTLLM", "TrtLlmFp8ExpertsMonolithic", "router_limits",
            "oracle fp8 platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU bias false expert_groups 2 topk_group "
            "1 }"},
    Finding{"fp8", "FLASHINFER_TRTLLM", "TrtLlmFp8ExpertsMonolithic", "router_case",
            "oracle fp8 platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU routing Simulated bias false }"},
    Finding{"fp8", "FLASHINFER_TRTLLM", "TrtLlmFp8ExpertsMonolithic", "topk_group",
            "oracle fp8 platform SM100 weight_key kFp8StaticTensorSym activation_key kFp8StaticTensorSym layer { experts 4 top_k 1 hidden 2048 "
            "intermediate 2048 activation SILU routing DeepSeekV3 bias false expert_groups 2 topk_group 2 }"},
    Finding{"fp8", "FLASHINFER_TRTLLM", "TrtLlmFp8ExpertsMonolithic", "correction_bias",
            "oracle fp8 platform SM100 weight_key kFp8StaticTensorSym activation_key kFp8StaticTensorSym layer { experts 4 top_k 1 hidden 2048 "
            "intermediate 2048 activation SILU bias false correction_bias true }"},
    Finding{
        "fp8", "FLASHINFER_TRTLLM", "TrtLlmFp8ExpertsMonolithic", "weight_on_input",
        "oracle fp8 platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU bias false router_weight_on_input true }"},
    Finding{"fp8", "FLASHINFER_TRTLLM", "TrtLlmFp8ExpertsMonolithic", "llama4_weight",
            "oracle fp8 platform SM100 weight_key kFp8StaticTensorSym activation_key kFp8StaticTensorSym layer { experts 4 top_k 1 hidden 2048 "
            "intermediate 2048 activation SILU bias false router_weight_on_input true }"},
    Finding{"fp8", "FLASHINFER_TRTLLM", "TrtLlmFp8ExpertsMonolithic", "bias",
            "oracle fp8 platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU }"},
    Finding{"fp8", "FLASHINFER_TRTLLM", "TrtLlmFp8ExpertsMonolithic", "silu_limit",
            "oracle fp8 platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU bias false swiglu_limit true }"},
    Finding{"fp8", "FLASHINFER_TRTLLM", "TrtLlmFp8ExpertsModular", "even_ranges",
            "oracle fp8 platform SM100 parallel { tp 3 expert_parallel true } layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation "
            "SILU routing DeepseekV4 bias false }"},
    Finding{"fp8", "FLASHINFER_TRTLLM", "TrtLlmFp8ExpertsModular", "blocks",
            "oracle fp8 platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 192 activation SILU routing DeepseekV4 bias false }"},
    Finding{"fp8", "FLASHINFER_TRTLLM", "TrtLlmFp8ExpertsModular", "sizes",
            "oracle fp8 platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 192 activation SILU routing DeepseekV4 bias false }"},
    Finding{"fp8", "FLASHINFER_TRTLLM", "TrtLlmFp8ExpertsModular", "dtype",
            "oracle fp8 platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU routing DeepseekV4 dtype float32 bias "
            "false }"},
    Finding{"fp8", "FLASHINFER_TRTLLM", "TrtLlmFp8ExpertsModular", "forwarded_activation",
            "oracle fp8 platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation RELU2_NO_MUL routing Llama4 bias false }"},
    Finding{"fp8", "FLASHINFER_TRTLLM", "TrtLlmFp8ExpertsModular", "experts",
            "oracle fp8 platform SM100 layer { experts 3 top_k 1 hidden 2048 intermediate 2048 activation SILU routing Llama4 bias false }"},
    Finding{"fp8", "FLASHINFER_TRTLLM", "TrtLlmFp8ExpertsModular", "top_k",
            "oracle fp8 platform SM100 layer { experts 16 top_k 12 hidden 2048 intermediate 2048 activation SILU routing Llama4 bias false }"},
    Finding{"fp8", "FLASHINFER_TRTLLM", "TrtLlmFp8ExpertsModular", "weight_on_input",
            "oracle fp8 platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU routing Llama4 bias false "
            "router_weight_on_input true }"},
    Finding{"fp8", "FLASHINFER_TRTLLM", "TrtLlmFp8ExpertsModular", "bias",
            "oracle fp8 platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU routing DeepseekV4 }"},
    Finding{"fp8", "FLASHINFER_TRTLLM", "TrtLlmFp8ExpertsModular", "silu_limit",
            "oracle fp8 platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU routing DeepseekV4 bias false "
            "swiglu_limit true }"},
    Finding{"fp8", "FLASHINFER_CUTLASS", "FlashInferExperts", "even_ranges",
            "oracle fp8 platform SM90 weight_key kFp8StaticTensorSym activation_key kFp8StaticTensorSym parallel { tp 3 expert_parallel true } layer "
            "{ experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU bias false }"},
    Finding{"fp8", "FLASHINFER_CUTLASS", "FlashInferExperts", "linear_placement",
            "oracle fp8 platform SM90 weight_key kFp8StaticTensorSym activation_key kFp8StaticTensorSym parallel { tp 2 expert_parallel true "
            "round_robin true } layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU bias false expert_groups 2 topk_group 1 }"},
    Finding{"fp8", "FLASHINFER_CUTLASS", "FlashInferExperts", "weight_twice",
            "oracle fp8 platform SM90 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU bias false router_weight_on_input true "
            "} env { VLLM_USE_FLASHINFER_MOE_FP8 1 }"},
    Finding{"fp8", "FLASHINFER_CUTLASS", "FlashInferExperts", "blocks",
            "oracle fp8 platform SM90 layer { experts 4 top_k 1 hidden 2048 intermediate 192 activation SILU bias false } env { "
            "VLLM_USE_FLASHINFER_MOE_FP8 1 }"},
    Finding{"fp8", "FLASHINFER_CUTLASS", "FlashInferExperts", "shard_padding",
            "oracle fp8 platform SM90 weight_key kFp8StaticTensorSym activation_key kFp8StaticTensorSym layer { experts 4 top_k 1 hidden 2048 "
            "intermediate 40 activation SILU bias false }"},
    Finding{"fp8", "FLASHINFER_CUTLASS", "FlashInferExperts", "sizes",
            "oracle fp8 platform SM90 weight_key kFp8StaticTensorSym activation_key kFp8StaticTensorSym layer { experts 4 top_k 1 hidden 40 "
            "intermediate 2048 activation SILU bias false }"},
    Finding{"fp8", "FLASHINFER_CUTLASS", "FlashInferExperts", "oai_constants",
            "oracle fp8 platform SM90 weight_key kFp8StaticTensorSym activation_key kFp8StaticTensorSym layer { experts 4 top_k 1 hidden 2048 "
            "intermediate 2048 bias false }"},
    Finding{"fp8", "FLASHINFER_CUTLASS", "FlashInferExperts", "dtype",
            "oracle fp8 platform SM90 weight_key kFp8StaticTensorSym activation_key kFp8StaticTensorSym layer { experts 4 top_k 1 hidden 2048 "
            "intermediate 2048 activation SILU dtype float32 bias false }"},
    Finding{"fp8", "FLASHINFER_CUTLASS", "FlashInferExperts", "large_batches",
            "oracle fp8 platform SM90 parallel { tp 2 expert_parallel true } layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU "
            "bias false }"},
    Finding{"fp8", "FLASHINFER_CUTLASS", "FlashInferExperts", "one_sided",
            "oracle fp8 platform SM90 weight_key kFp8StaticTensorSym activation_key kFp8StaticTensorSym parallel { dp 2 expert_parallel true all2all "
            "flashinfer_nvlink_one_sided } layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU bias false }"},
    Finding{"fp8", "FLASHINFER_CUTLASS", "FlashInferExperts", "exchange_scale",
            "oracle fp8 platform SM90 weight_key kFp8StaticTensorSym activation_key kFp8StaticTensorSym parallel { dp 2 expert_parallel true all2all "
            "flashinfer_all2allv } layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU bias false }"},
    Finding{"fp8", "FLASHINFER_CUTLASS", "FlashInferExperts", "bias",
            "oracle fp8 platform SM90 weight_key kFp8StaticTensorSym activation_key kFp8StaticTensorSym layer { experts 4 top_k 1 hidden 2048 "
            "intermediate 2048 activation SILU }"},
    Finding{
        "fp8", "DEEPGEMM", "TritonOrDeepGemmExperts", "blocks",
        "oracle fp8 platform SM90 layer { experts 4 top_k 1 hidden 2048 intermediate 192 activation SILU bias false } env { VLLM_USE_DEEP_GEMM 1 }"},
    Finding{
        "fp8", "DEEPGEMM", "TritonOrDeepGemmExperts", "sizes",
        "oracle fp8 platform SM90 layer { experts 4 top_k 1 hidden 2048 intermediate 192 activation SILU bias false } env { VLLM_USE_DEEP_GEMM 1 }"},
    Finding{"fp8", "DEEPGEMM", "TritonOrDeepGemmExperts", "dtype",
            "oracle fp8 platform SM90 parallel { tp 2 expert_parallel true } layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation "
            "SWIGLUSTEP dtype float16 bias false }"},
    Finding{"fp8", "DEEPGEMM", "TritonOrDeepGemmExperts", "bias",
            "oracle fp8 platform SM90 parallel { tp 2 expert_parallel true } layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation "
            "SWIGLUSTEP }"},
    Finding{"fp8", "BATCHED_DEEPGEMM", "BatchedDeepGemmExperts", "blocks",
            "oracle fp8 platform SM90 parallel { dp 2 expert_parallel true all2all deepep_low_latency } layer { experts 4 top_k 1 hidden 2048 "
            "intermediate 192 activation SILU bias false }"},
    Finding{"fp8", "BATCHED_DEEPGEMM", "BatchedDeepGemmExperts", "sizes",
            "oracle fp8 platform SM90 parallel { dp 2 expert_parallel true all2all deepep_low_latency } layer { experts 4 top_k 1 hidden 2048 "
            "intermediate 192 activation SILU bias false }"},
    Finding{"fp8", "BATCHED_DEEPGEMM", "BatchedDeepGemmExperts", "dtype",
            "oracle fp8 platform SM90 parallel { dp 2 expert_parallel true all2all deepep_low_latency } layer { experts 4 top_k 1 hidden 2048 "
            "intermediate 2048 activation SILU dtype float16 bias false }"},
    Finding{"fp8", "BATCHED_DEEPGEMM", "BatchedDeepGemmExperts", "bias",
            "oracle fp8 platform SM90 parallel { dp 2 expert_parallel true all2all deepep_low_latency } layer { experts 4 top_k 1 hidden 2048 "
            "intermediate 2048 activation SILU }"},
    Finding{"fp8", "BATCHED_DEEPGEMM", "BatchedDeepGemmExperts", "silu_limit",
            "oracle fp8 platform SM90 parallel { dp 2 expert_parallel true all2all deepep_low_latency } layer { experts 4 top_k 1 hidden 2048 "
            "intermediate 2048 activation SILU bias false swiglu_limit true }"},
    Finding{
        "fp8", "MARLIN", "MarlinExperts", "weight_twice",
        "oracle fp8 platform SM75 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 dtype float16 bias false router_weight_on_input true }"},
    Finding{"fp8", "MARLIN", "MarlinExperts", "blocks",
            "oracle fp8 platform SM75 layer { experts 4 top_k 1 hidden 2048 intermediate 192 dtype float16 bias false }"},
    Finding{
        "fp8", "MARLIN", "MarlinExperts", "sizes",
        "oracle fp8 platform SM75 weight_key kFp8StaticTensorSym layer { experts 4 top_k 1 hidden 192 intermediate 192 dtype float16 bias false }"},
    Finding{"fp8", "MARLIN", "MarlinExperts", "dtype",
            "oracle fp8 platform SM75 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false }"},
    Finding{"fp8", "MARLIN", "MarlinExperts", "oai_alpha",
            "oracle fp8 platform SM80 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false swiglu_alpha true }"},
    Finding{"fp8", "MARLIN", "MarlinExperts", "oai_limit",
            "oracle fp8 platform SM80 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false swiglu_limit true }"},
    Finding{"fp8", "TRITON", "TritonExperts", "expert_mask",
            "oracle fp8 platform gfx942 backend triton parallel { tp 2 expert_parallel true } layer { experts 4 top_k 1 hidden 2048 intermediate "
            "2048 bias false } env { VLLM_ROCM_USE_AITER 1 }"},
    Finding{"fp8", "TRITON", "TritonExperts", "blocks",
            "oracle fp8 platform SM89 layer { experts 4 top_k 1 hidden 2048 intermediate 192 bias false }"},
    Finding{"fp8", "TRITON", "TritonExperts", "silu_limit",
            "oracle fp8 platform SM89 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU bias false swiglu_limit true }"},
    Finding{"fp8", "TRITON", "TritonExperts", "oai_alpha",
            "oracle fp8 platform SM89 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false swiglu_alpha true }"},
    Finding{"fp8", "TRITON", "TritonExperts", "oai_limit",
            "oracle fp8 platform SM89 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false swiglu_limit true }"},
    Finding{"fp8", "BATCHED_TRITON", "BatchedTritonExperts", "blocks",
            "oracle fp8 platform SM89 parallel { dp 2 expert_parallel true all2all deepep_low_latency } layer { experts 4 top_k 1 hidden 2048 "
            "intermediate 192 bias false }"},
    Finding{"fp8", "AITER", "AiterExperts", "weight_twice",
            "oracle fp8 platform gfx942 weight_key kFp8StaticTensorSym activation_key kFp8StaticTensorSym layer { experts 4 top_k 1 hidden 2048 "
            "intermediate 2048 bias false router_weight_on_input true } env { VLLM_ROCM_USE_AITER 1 }"},
    Finding{"fp8", "AITER", "AiterExperts", "blocks",
            "oracle fp8 platform gfx942 layer { experts 4 top_k 1 hidden 2048 intermediate 192 bias false } env { VLLM_ROCM_USE_AITER 1 }"},
    Finding{"fp8", "AITER", "AiterExperts", "sizes",
            "oracle fp8 platform gfx942 weight_key kFp8StaticTensorSym activation_key kFp8StaticTensorSym layer { experts 4 top_k 1 hidden 2048 "
            "intermediate 48 bias false } env { VLLM_ROCM_USE_AITER 1 }"},
    Finding{"fp8", "AITER", "AiterExperts", "dtype",
            "oracle fp8 platform gfx942 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 dtype float32 bias false } env { VLLM_ROCM_USE_AITER "
            "1 }"},
    Finding{"fp8", "AITER", "AiterExperts", "block_weight",
            "oracle fp8 platform gfx942 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false router_weight_on_input true } env { "
            "VLLM_ROCM_USE_AITER 1 }"},
    Finding{"fp8", "AITER", "AiterExperts", "bias",
            "oracle fp8 platform gfx942 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 } env { VLLM_ROCM_USE_AITER 1 }"},
    Finding{"fp8", "AITER", "AiterExperts", "silu_limit",
            "oracle fp8 platform gfx942 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU bias false swiglu_limit true } env { "
            "VLLM_ROCM_USE_AITER 1 }"},
    Finding{"fp8", "AITER", "AiterExperts", "oai_alpha",
            "oracle fp8 platform gfx942 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false swiglu_alpha true } env { "
            "VLLM_ROCM_USE_AITER 1 }"},
    Finding{"fp8", "AITER", "AiterExperts", "oai_limit",
            "oracle fp8 platform gfx942 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false swiglu_limit true } env { "
            "VLLM_ROCM_USE_AITER 1 }"},
    Finding{"fp8", "VLLM_CUTLASS", "TritonOrCutlassExperts", "weight_twice",
            "oracle fp8 platform SM90 weight_key kFp8StaticTensorSym activation_key kFp8DynamicTensorSym allow_vllm_cutlass true layer { experts 4 "
            "top_k 1 hidden 2048 intermediate 2048 bias false router_weight_on_input true }"},
    Finding{"fp8", "VLLM_CUTLASS", "TritonOrCutlassExperts", "sizes",
            "oracle fp8 platform SM90 weight_key kFp8StaticTensorSym activation_key kFp8DynamicTensorSym allow_vllm_cutlass true layer { experts 4 "
            "top_k 1 hidden 2048 intermediate 40 bias false }"},
    Finding{"fp8", "VLLM_CUTLASS", "TritonOrCutlassExperts", "dtype",
            "oracle fp8 platform SM90 weight_key kFp8StaticTensorSym activation_key kFp8DynamicTensorSym allow_vllm_cutlass true layer { experts 4 "
            "top_k 1 hidden 2048 intermediate 2048 dtype float32 bias false }"},
    Finding{"fp8", "VLLM_CUTLASS", "TritonOrCutlassExperts", "bias",
            "oracle fp8 platform SM90 weight_key kFp8StaticTensorSym activation_key kFp8DynamicTensorSym allow_vllm_cutlass true layer { experts 4 "
            "top_k 1 hidden 2048 intermediate 2048 }"},
    Finding{"fp8", "VLLM_CUTLASS", "TritonOrCutlassExperts", "silu_limit",
            "oracle fp8 platform SM90 weight_key kFp8StaticTensorSym activation_key kFp8DynamicTensorSym allow_vllm_cutlass true layer { experts 4 "
            "top_k 1 hidden 2048 intermediate 2048 activation SILU bias false swiglu_limit true }"},
    Finding{"fp8", "VLLM_CUTLASS", "TritonOrCutlassExperts", "oai_alpha",
            "oracle fp8 platform SM90 weight_key kFp8StaticTensorSym activation_key kFp8DynamicTensorSym allow_vllm_cutlass true layer { experts 4 "
            "top_k 1 hidden 2048 intermediate 2048 bias false swiglu_alpha true }"},
    Finding{"fp8", "VLLM_CUTLASS", "TritonOrCutlassExperts", "oai_limit",
            "oracle fp8 platform SM90 weight_key kFp8StaticTensorSym activation_key kFp8DynamicTensorSym allow_vllm_cutlass true layer { experts 4 "
            "top_k 1 hidden 2048 intermediate 2048 bias false swiglu_limit true }"},
    Finding{"fp8", "BATCHED_VLLM_CUTLASS", "CutlassBatchedExpertsFp8", "sizes",
            "oracle fp8 platform SM90 weight_key kFp8StaticTensorSym activation_key kFp8StaticTensorSym allow_vllm_cutlass true parallel { dp 2 "
            "expert_parallel true all2all deepep_low_latency } layer { experts 4 top_k 1 hidden 2048 intermediate 40 bias false }"},
    Finding{"fp8", "BATCHED_VLLM_CUTLASS", "CutlassBatchedExpertsFp8", "dtype",
            "oracle fp8 platform SM90 weight_key kFp8StaticTensorSym activation_key kFp8StaticTensorSym allow_vllm_cutlass true parallel { dp 2 "
            "expert_parallel true all2all deepep_low_latency } layer { experts 4 top_k 1 hidden 2048 intermediate 2048 dtype float32 bias false }"},
    Finding{"fp8", "BATCHED_VLLM_CUTLASS", "CutlassBatchedExpertsFp8", "bias",
            "oracle fp8 platform SM90 weight_key kFp8StaticTensorSym activation_key kFp8StaticTensorSym allow_vllm_cutlass true parallel { dp 2 "
            "expert_parallel true all2all deepep_low_latency } layer { experts 4 top_k 1 hidden 2048 intermediate 2048 }"},
    Finding{"fp8", "BATCHED_VLLM_CUTLASS", "CutlassBatchedExpertsFp8", "silu_limit",
            "oracle fp8 platform SM90 weight_key kFp8StaticTensorSym activation_key kFp8StaticTensorSym allow_vllm_cutlass true parallel { dp 2 "
            "expert_parallel true all2all deepep_low_latency } layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU bias false "
            "swiglu_limit true }"},
    Finding{"fp8", "XPU", "XPUExpertsFp8", "even_ranges",
            "oracle fp8 platform XPU weight_key kFp8StaticTensorSym activation_key kFp8DynamicTensorSym parallel { tp 3 expert_parallel true } layer "
            "{ experts 4 top_k 1 hidden 2048 intermediate 2048 bias false }"},
    Finding{"fp8", "XPU", "XPUExpertsFp8", "linear_placement",
            "oracle fp8 platform XPU weight_key kFp8StaticTensorSym activation_key kFp8DynamicTensorSym parallel { tp 2 expert_parallel true "
            "round_robin true } layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false expert_groups 2 topk_group 1 }"},
    Finding{"fp8", "XPU", "XPUExpertsFp8", "weight_twice",
            "oracle fp8 platform XPU weight_key kFp8StaticTensorSym activation_key kFp8DynamicTensorSym layer { experts 4 top_k 1 hidden 2048 "
            "intermediate 2048 bias false router_weight_on_input true }"},
    Finding{"fp8", "XPU", "XPUExpertsFp8", "silu_limit",
            "oracle fp8 platform XPU weight_key kFp8StaticTensorSym activation_key kFp8DynamicTensorSym layer { experts 4 top_k 1 hidden 2048 "
            "intermediate 2048 activation SILU bias false swiglu_limit true }"},
    Finding{"fp8", "XPU", "XPUExpertsFp8", "oai_alpha",
            "oracle fp8 platform XPU weight_key kFp8StaticTensorSym activation_key kFp8DynamicTensorSym layer { experts 4 top_k 1 hidden 2048 "
            "intermediate 2048 bias false swiglu_alpha true }"},
    Finding{"fp8", "XPU", "XPUExpertsFp8", "oai_limit",
            "oracle fp8 platform XPU weight_key kFp8StaticTensorSym activation_key kFp8DynamicTensorSym layer { experts 4 top_k 1 hidden 2048 "
            "intermediate 2048 bias false swiglu_limit true }"},
    Finding{"fp8", "CPU", "CPUExpertsFp8", "router",
            "oracle fp8 platform CPU parallel { dp 2 expert_parallel true all2all deepep_high_throughput } layer { experts 4 top_k 1 hidden 2048 "
            "intermediate 2048 activation SILU bias false }"},
    Finding{
        "fp8", "CPU", "CPUExpertsFp8", "weight_late",
        "oracle fp8 platform CPU layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU bias false router_weight_on_input true }"},
    Finding{"fp8", "CPU", "CPUExpertsFp8", "blocks",
            "oracle fp8 platform CPU layer { experts 4 top_k 1 hidden 2048 intermediate 192 activation SILU bias false }"},
    Finding{"fp8", "CPU", "CPUExpertsFp8", "amx",
            "oracle fp8 hardware { platform cpu amx false } layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU bias false }"},
    Finding{"fp8", "CPU", "CPUExpertsFp8", "sizes",
            "oracle fp8 platform CPU layer { experts 4 top_k 1 hidden 2048 intermediate 48 activation SILU bias false }"},
    Finding{"fp8", "CPU", "CPUExpertsFp8", "dtype",
            "oracle fp8 platform CPU layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU dtype float16 bias false }"},
    Finding{"fp8", "CPU", "CPUExpertsFp8", "expert_map",
            "oracle fp8 platform CPU parallel { tp 2 expert_parallel true } layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU "
            "bias false }"},
    Finding{"fp8", "CPU", "CPUExpertsFp8", "bias",
            "oracle fp8 platform CPU layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU }"},
};

}  // namespace

std::span<const Finding> fp8_findings() { return kFindings; }

}  // namespace mx::oracle
