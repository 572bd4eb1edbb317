// The ledger of the mxfp4_deepseek_v4 oracle: see findings.hpp.

#include <array>

#include "model/audit/findings_tables.hpp"

namespace mx::oracle {
namespace {

constexpr std::array kFindings = {
    Finding{"mxfp4_deepseek_v4", "any", "", "exchange",
            "oracle mxfp4_deepseek_v4 platform SM80 parallel { dp 2 expert_parallel true all2all naive } layer { experts 4 top_k 1 hidden 2048 "
            "intermediate 2048 bias false }"},
    Finding{"mxfp4_deepseek_v4", "any", "", "combine_dtype",
            "oracle mxfp4_deepseek_v4 platform SM75 parallel { dp 2 expert_parallel true all2all deepep_high_throughput } layer { experts 4 top_k 1 "
            "hidden 2048 intermediate 2048 dtype float16 bias false }"},
    Finding{"mxfp4_deepseek_v4", "any", "", "even_exchange",
            "oracle mxfp4_deepseek_v4 platform SM80 parallel { dp 3 expert_parallel true all2all deepep_low_latency } layer { experts 4 top_k 1 "
            "hidden 2048 intermediate 2048 bias false }"},
    Finding{"mxfp4_deepseek_v4", "any", "", "weight_of_one",
            "oracle mxfp4_deepseek_v4 platform SM100 backend deep_gemm layer { experts 4 top_k 2 hidden 2048 intermediate 2048 activation SILU bias "
            "false router_weight_on_input true }"},
    Finding{"mxfp4_deepseek_v4", "any", "", "mori_weight",
            "oracle mxfp4_deepseek_v4 platform SM100 backend deep_gemm parallel { dp 2 expert_parallel true all2all mori } layer { experts 4 top_k 1 "
            "hidden 2048 intermediate 2048 activation SILU bias false router_weight_on_input true }"},
    Finding{"mxfp4_deepseek_v4", "any", "", "exchange_hidden",
            "oracle mxfp4_deepseek_v4 platform SM80 parallel { dp 2 expert_parallel true all2all deepep_low_latency } layer { experts 4 top_k 1 "
            "hidden 9000 intermediate 2048 bias false }"},
    Finding{"mxfp4_deepseek_v4", "DEEPGEMM_MXFP4", "DeepGemmFP4Experts", "dtype",
            "oracle mxfp4_deepseek_v4 platform SM100 backend deep_gemm layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU dtype "
            "float16 bias false }"},
    Finding{"mxfp4_deepseek_v4", "DEEPGEMM_MXFP4", "DeepGemmFP4Experts", "activation",
            "oracle mxfp4_deepseek_v4 platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SWIGLUSTEP bias false }"},
    Finding{"mxfp4_deepseek_v4", "DEEPGEMM_MXFP4", "DeepGemmFP4Experts", "bias",
            "oracle mxfp4_deepseek_v4 platform SM100 backend deep_gemm layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU }"},
    Finding{"mxfp4_deepseek_v4", "FLASHINFER_TRTLLM_MXFP4_MXFP8", "TrtLlmMxfp4ExpertsMonolithic", "even_ranges",
            "oracle mxfp4_deepseek_v4 platform SM100 parallel { tp 3 expert_parallel true } layer { experts 4 top_k 1 hidden 2048 intermediate 2048 "
            "activation SILU bias false }"},
    Finding{"mxfp4_deepseek_v4", "FLASHINFER_TRTLLM_MXFP4_MXFP8", "TrtLlmMxfp4ExpertsMonolithic", "linear_placement",
            "oracle mxfp4_deepseek_v4 platform SM100 parallel { tp 2 expert_parallel true round_robin true } layer { experts 4 top_k 1 hidden 2048 "
            "intermediate 2048 activation SILU bias false expert_groups 2 topk_group 1 }"},
    Finding{"mxfp4_deepseek_v4", "FLASHINFER_TRTLLM_MXFP4_MXFP8", "TrtLlmMxfp4ExpertsMonolithic", "weight_late",
            "oracle mxfp4_deepseek_v4 platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU bias false "
            "router_weight_on_input true }"},
    Finding{
        "mxfp4_deepseek_v4", "FLASHINFER_TRTLLM_MXFP4_MXFP8", "TrtLlmMxfp4ExpertsMonolithic", "dtype",
        "oracle mxfp4_deepseek_v4 platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU dtype float16 bias false }"},
    Finding{"mxfp4_deepseek_v4", "FLASHINFER_TRTLLM_MXFP4_MXFP8", "TrtLlmMxfp4ExpertsMonolithic", "expert_groups",
            "oracle mxfp4_deepseek_v4 platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU bias false "
            "expert_groups 2 topk_group 1 }"},
    Finding{"mxfp4_deepseek_v4", "FLASHINFER_TRTLLM_MXFP4_MXFP8", "TrtLlmMxfp4ExpertsMonolithic", "routed_scaling",
            "oracle mxfp4_deepseek_v4 platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU bias false "
            "routed_scaling true }"},
    Finding{"mxfp4_deepseek_v4", "FLASHINFER_TRTLLM_MXFP4_MXFP8", "TrtLlmMxfp4ExpertsMonolithic", "no_constants",
            "oracle mxfp4_deepseek_v4 platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false }"},
    Finding{"mxfp4_deepseek_v4", "FLASHINFER_TRTLLM_MXFP4_MXFP8", "TrtLlmMxfp4ExpertsMonolithic", "refused",
            "oracle mxfp4_deepseek_v4 platform SM120 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU bias false }"},
    Finding{"mxfp4_deepseek_v4", "FLASHINFER_TRTLLM_MXFP4_MXFP8", "TrtLlmMxfp4ExpertsModular", "even_ranges",
            "oracle mxfp4_deepseek_v4 platform SM100 parallel { tp 3 expert_parallel true } layer { experts 4 top_k 1 hidden 2048 intermediate 2048 "
            "activation SILU routing DeepSeekV3 bias false }"},
    Finding{"mxfp4_deepseek_v4", "FLASHINFER_TRTLLM_MXFP4_MXFP8", "TrtLlmMxfp4ExpertsModular", "linear_placement",
            "oracle mxfp4_deepseek_v4 platform SM100 parallel { tp 2 expert_parallel true round_robin true } layer { experts 4 top_k 1 hidden 2048 "
            "intermediate 2048 activation SILU routing DeepSeekV3 bias false expert_groups 2 topk_group 1 }"},
    Finding{"mxfp4_deepseek_v4", "FLASHINFER_TRTLLM_MXFP4_MXFP8", "TrtLlmMxfp4ExpertsModular", "weight_twice",
            "oracle mxfp4_deepseek_v4 platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU routing Llama4 bias "
            "false router_weight_on_input true }"},
    Finding{"mxfp4_deepseek_v4", "FLASHINFER_TRTLLM_MXFP4_MXFP8", "TrtLlmMxfp4ExpertsModular", "dtype",
            "oracle mxfp4_deepseek_v4 platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU routing DeepSeekV3 "
            "dtype float16 bias false }"},
    Finding{"mxfp4_deepseek_v4", "FLASHINFER_TRTLLM_MXFP4_MXFP8", "TrtLlmMxfp4ExpertsModular", "unpadded_output",
            "oracle mxfp4_deepseek_v4 platform SM100 parallel { dp 2 expert_parallel true } layer { experts 4 top_k 1 hidden 384 intermediate 2048 "
            "activation SILU bias false }"},
    Finding{"mxfp4_deepseek_v4", "FLASHINFER_TRTLLM_MXFP4_MXFP8", "TrtLlmMxfp4ExpertsModular", "no_constants",
            "oracle mxfp4_deepseek_v4 platform SM100 parallel { dp 2 } layer { experts 4 top_k 1 hidden 2048 intermediate 4096 bias false }"},
    Finding{"mxfp4_deepseek_v4", "FLASHINFER_TRTLLM_MXFP4_MXFP8", "TrtLlmMxfp4ExpertsModular", "refused",
            "oracle mxfp4_deepseek_v4 platform SM120 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU bias false }"},
    Finding{"mxfp4_deepseek_v4", "FLASHINFER_TRTLLM_MXFP4_BF16", "TrtLlmMxfp4ExpertsMonolithic", "even_ranges",
            "oracle mxfp4_deepseek_v4 platform SM100 backend flashinfer_trtllm parallel { tp 3 expert_parallel true } layer { experts 4 top_k 1 "
            "hidden 2048 intermediate 2048 activation SILU bias false }"},
    Finding{"mxfp4_deepseek_v4", "FLASHINFER_TRTLLM_MXFP4_BF16", "TrtLlmMxfp4ExpertsMonolithic", "linear_placement",
            "oracle mxfp4_deepseek_v4 platform SM100 backend flashinfer_trtllm parallel { tp 2 expert_parallel true round_robin true } layer { "
            "experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU bias false expert_groups 2 topk_group 1 }"},
    Finding{"mxfp4_deepseek_v4", "FLASHINFER_TRTLLM_MXFP4_BF16", "TrtLlmMxfp4ExpertsMonolithic", "weight_late",
            "oracle mxfp4_deepseek_v4 platform SM100 backend flashinfer_trtllm layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation "
            "SILU bias false router_weight_on_input true }"},
    Finding{"mxfp4_deepseek_v4", "FLASHINFER_TRTLLM_MXFP4_BF16", "TrtLlmMxfp4ExpertsMonolithic", "dtype",
            "oracle mxfp4_deepseek_v4 platform SM100 backend flashinfer_trtllm layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation "
            "SILU dtype float16 bias false }"},
    Finding{"mxfp4_deepseek_v4", "FLASHINFER_TRTLLM_MXFP4_BF16", "TrtLlmMxfp4ExpertsMonolithic", "expert_groups",
            "oracle mxfp4_deepseek_v4 platform SM100 backend flashinfer_trtllm layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation "
            "SILU bias false expert_groups 2 topk_group 1 }"},
    Finding{"mxfp4_deepseek_v4", "FLASHINFER_TRTLLM_MXFP4_BF16", "TrtLlmMxfp4ExpertsMonolithic", "routed_scaling",
            "oracle mxfp4_deepseek_v4 platform SM100 backend flashinfer_trtllm layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation "
            "SILU bias false routed_scaling true }"},
    Finding{"mxfp4_deepseek_v4", "FLASHINFER_TRTLLM_MXFP4_BF16", "TrtLlmMxfp4ExpertsMonolithic", "no_constants",
            "oracle mxfp4_deepseek_v4 platform SM100 backend flashinfer_trtllm layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false }"},
    Finding{"mxfp4_deepseek_v4", "FLASHINFER_TRTLLM_MXFP4_BF16", "TrtLlmMxfp4ExpertsMonolithic", "refused",
            "oracle mxfp4_deepseek_v4 platform SM120 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU bias false }"},
    Finding{"mxfp4_deepseek_v4", "FLASHINFER_TRTLLM_MXFP4_BF16", "TrtLlmMxfp4ExpertsModular", "even_ranges",
            "oracle mxfp4_deepseek_v4 platform SM100 backend flashinfer_trtllm parallel { tp 3 expert_parallel true } layer { experts 4 top_k 1 "
            "hidden 2048 intermediate 2048 activation SILU routing DeepSeekV3 bias false }"},
    Finding{"mxfp4_deepseek_v4", "FLASHINFER_TRTLLM_MXFP4_BF16", "TrtLlmMxfp4ExpertsModular", "linear_placement",
            "oracle mxfp4_deepseek_v4 platform SM100 backend flashinfer_trtllm parallel { tp 2 expert_parallel true round_robin true } layer { "
            "experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU routing DeepSeekV3 bias false expert_groups 2 topk_group 1 }"},
    Finding{"mxfp4_deepseek_v4", "FLASHINFER_TRTLLM_MXFP4_BF16", "TrtLlmMxfp4ExpertsModular", "weight_twice",
            "oracle mxfp4_deepseek_v4 platform SM100 backend flashinfer_trtllm layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation "
            "SILU routing Llama4 bias false router_weight_on_input true }"},
    Finding{"mxfp4_deepseek_v4", "FLASHINFER_TRTLLM_MXFP4_BF16", "TrtLlmMxfp4ExpertsModular", "dtype",
            "oracle mxfp4_deepseek_v4 platform SM100 backend flashinfer_trtllm layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation "
            "SILU routing DeepSeekV3 dtype float16 bias false }"},
    Finding{"mxfp4_deepseek_v4", "FLASHINFER_TRTLLM_MXFP4_BF16", "TrtLlmMxfp4ExpertsModular", "unpadded_output",
            "oracle mxfp4_deepseek_v4 platform SM100 backend flashinfer_trtllm parallel { dp 2 expert_parallel true } layer { experts 4 top_k 1 "
            "hidden 384 intermediate 2048 activation SILU bias false }"},
    Finding{"mxfp4_deepseek_v4", "FLASHINFER_TRTLLM_MXFP4_BF16", "TrtLlmMxfp4ExpertsModular", "no_constants",
            "oracle mxfp4_deepseek_v4 platform SM100 backend flashinfer_trtllm parallel { dp 2 } layer { experts 4 top_k 1 hidden 2048 intermediate "
            "4096 bias false }"},
    Finding{"mxfp4_deepseek_v4", "FLASHINFER_TRTLLM_MXFP4_BF16", "TrtLlmMxfp4ExpertsModular", "refused",
            "oracle mxfp4_deepseek_v4 platform SM120 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU bias false }"},
    Finding{"mxfp4_deepseek_v4", "FLASHINFER_CUTLASS_MXFP4_MXFP8", "FlashInferExperts", "even_ranges",
            "oracle mxfp4_deepseek_v4 platform SM100 backend flashinfer_cutlass parallel { tp 3 expert_parallel true } layer { experts 4 top_k 1 "
            "hidden 2048 intermediate 2048 bias false }"},
    Finding{"mxfp4_deepseek_v4", "FLASHINFER_CUTLASS_MXFP4_MXFP8", "FlashInferExperts", "linear_placement",
            "oracle mxfp4_deepseek_v4 platform SM100 backend flashinfer_cutlass parallel { tp 2 expert_parallel true round_robin true } layer { "
            "experts 4 top_k 1 hidden 2048 intermediate 2048 bias false expert_groups 2 topk_group 1 }"},
    Finding{"mxfp4_deepseek_v4", "FLASHINFER_CUTLASS_MXFP4_MXFP8", "FlashInferExperts", "weight_twice",
            "oracle mxfp4_deepseek_v4 platform SM100 backend flashinfer_cutlass layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false "
            "router_weight_on_input true }"},
    Finding{"mxfp4_deepseek_v4", "FLASHINFER_CUTLASS_MXFP4_MXFP8", "FlashInferExperts", "dtype",
            "oracle mxfp4_deepseek_v4 platform SM100 backend flashinfer_cutlass layer { experts 4 top_k 1 hidden 2048 intermediate 2048 dtype "
            "float16 bias false }"},
    Finding{"mxfp4_deepseek_v4", "FLASHINFER_CUTLASS_MXFP4_MXFP8", "FlashInferExperts", "oai_constants",
            "oracle mxfp4_deepseek_v4 platform SM100 backend flashinfer_cutlass layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation "
            "SILU bias false }"},
    Finding{"mxfp4_deepseek_v4", "FLASHINFER_CUTLASS_MXFP4_MXFP8", "FlashInferExperts", "oai_alpha",
            "oracle mxfp4_deepseek_v4 platform SM100 backend flashinfer_cutlass layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false "
            "swiglu_alpha true }"},
    Finding{"mxfp4_deepseek_v4", "FLASHINFER_CUTLASS_MXFP4_MXFP8", "FlashInferExperts", "swizzled_scales",
            "oracle mxfp4_deepseek_v4 platform SM100 backend flashinfer_cutlass parallel { dp 2 } layer { experts 4 top_k 1 hidden 2048 intermediate "
            "4096 bias false }"},
    Finding{
        "mxfp4_deepseek_v4", "FLASHINFER_CUTLASS_MXFP4_MXFP8", "FlashInferExperts", "converter",
        "oracle mxfp4_deepseek_v4 platform SM100 backend flashinfer_cutlass layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false }"},
    Finding{"mxfp4_deepseek_v4", "FLASHINFER_CUTLASS_MXFP4_BF16", "FlashInferExperts", "even_ranges",
            "oracle mxfp4_deepseek_v4 platform SM90 backend flashinfer_cutlass parallel { tp 3 expert_parallel true } layer { experts 4 top_k 1 "
            "hidden 2048 intermediate 2048 bias false }"},
    Finding{"mxfp4_deepseek_v4", "FLASHINFER_CUTLASS_MXFP4_BF16", "FlashInferExperts", "linear_placement",
            "oracle mxfp4_deepseek_v4 platform SM90 backend flashinfer_cutlass parallel { tp 2 expert_parallel true round_robin true } layer { "
            "experts 4 top_k 1 hidden 2048 intermediate 2048 bias false expert_groups 2 topk_group 1 }"},
    Finding{"mxfp4_deepseek_v4", "FLASHINFER_CUTLASS_MXFP4_BF16", "FlashInferExperts", "weight_twice",
            "oracle mxfp4_deepseek_v4 platform SM90 backend flashinfer_cutlass layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false "
            "router_weight_on_input true }"},
    Finding{"mxfp4_deepseek_v4", "FLASHINFER_CUTLASS_MXFP4_BF16", "FlashInferExperts", "dtype",
            "oracle mxfp4_deepseek_v4 platform SM90 backend flashinfer_cutlass layer { experts 4 top_k 1 hidden 2048 intermediate 2048 dtype float16 "
            "bias false }"},
    Finding{"mxfp4_deepseek_v4", "FLASHINFER_CUTLASS_MXFP4_BF16", "FlashInferExperts", "oai_constants",
            "oracle mxfp4_deepseek_v4 platform SM90 backend flashinfer_cutlass layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation "
            "SILU bias false }"},
    Finding{"mxfp4_deepseek_v4", "FLASHINFER_CUTLASS_MXFP4_BF16", "FlashInferExperts", "oai_alpha",
            "oracle mxfp4_deepseek_v4 platform SM90 backend flashinfer_cutlass layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false "
            "swiglu_alpha true }"},
    Finding{"mxfp4_deepseek_v4", "FLASHINFER_CUTLASS_MXFP4_BF16", "FlashInferExperts", "converter",
            "oracle mxfp4_deepseek_v4 platform SM90 backend flashinfer_cutlass layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false }"},
    Finding{"mxfp4_deepseek_v4", "BATCHED_MARLIN", "BatchedMarlinExperts", "dtype",
            "oracle mxfp4_deepseek_v4 platform SM75 parallel { dp 2 expert_parallel true all2all deepep_low_latency } layer { experts 4 top_k 1 "
            "hidden 2048 intermediate 2048 bias false }"},
    Finding{"mxfp4_deepseek_v4", "MARLIN", "MarlinExperts", "weight_twice",
            "oracle mxfp4_deepseek_v4 platform SM75 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 dtype float16 bias false "
            "router_weight_on_input true }"},
    Finding{"mxfp4_deepseek_v4", "MARLIN", "MarlinExperts", "dtype",
            "oracle mxfp4_deepseek_v4 platform SM75 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false }"},
    Finding{"mxfp4_deepseek_v4", "MARLIN", "MarlinExperts", "oai_alpha",
            "oracle mxfp4_deepseek_v4 platform SM80 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false swiglu_alpha true }"},
    Finding{"mxfp4_deepseek_v4", "MARLIN", "MarlinExperts", "oai_limit",
            "oracle mxfp4_deepseek_v4 platform SM80 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false swiglu_limit true }"},
    Finding{"mxfp4_deepseek_v4", "AITER_MXFP4_BF16", "AiterExperts", "weight_twice",
            "oracle mxfp4_deepseek_v4 platform gfx950 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false router_weight_on_input true "
            "} env { VLLM_ROCM_USE_AITER 1 }"},
    Finding{"mxfp4_deepseek_v4", "AITER_MXFP4_BF16", "AiterExperts", "dtype",
            "oracle mxfp4_deepseek_v4 platform gfx950 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 dtype float32 bias false } env { "
            "VLLM_ROCM_USE_AITER 1 }"},
    Finding{"mxfp4_deepseek_v4", "AITER_MXFP4_BF16", "AiterExperts", "oai_alpha",
            "oracle mxfp4_deepseek_v4 platform gfx950 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false swiglu_alpha true } env { "
            "VLLM_ROCM_USE_AITER 1 }"},
    Finding{"mxfp4_deepseek_v4", "AITER_MXFP4_BF16", "AiterExperts", "oai_limit",
            "oracle mxfp4_deepseek_v4 platform gfx950 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false swiglu_limit true } env { "
            "VLLM_ROCM_USE_AITER 1 }"},
    Finding{"mxfp4_deepseek_v4", "AITER_MXFP4_BF16", "AiterExperts", "silu_limit",
            "oracle mxfp4_deepseek_v4 platform gfx950 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU bias false "
            "swiglu_limit true } env { VLLM_ROCM_USE_AITER 1 }"},
    Finding{"mxfp4_deepseek_v4", "AITER_MXFP4_BF16", "AiterExperts", "row_order",
            "oracle mxfp4_deepseek_v4 platform gfx950 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false } env { VLLM_ROCM_USE_AITER "
            "1 }"},
    Finding{"mxfp4_deepseek_v4", "AITER_MXFP4_FP8", "AiterW4A8ExpertsMonolithic", "weight_late",
            "oracle mxfp4_deepseek_v4 platform gfx950 backend aiter_mxfp4_fp8 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false "
            "router_weight_on_input true } env { VLLM_ROCM_USE_AITER 1 }"},
    Finding{"mxfp4_deepseek_v4", "AITER_MXFP4_FP8", "AiterW4A8ExpertsMonolithic", "dtype",
            "oracle mxfp4_deepseek_v4 platform gfx950 backend aiter_mxfp4_fp8 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 dtype float16 "
            "bias false } env { VLLM_ROCM_USE_AITER 1 }"},
    Finding{"mxfp4_deepseek_v4", "AITER_MXFP4_FP8", "AiterW4A8ExpertsMonolithic", "expert_map",
            "oracle mxfp4_deepseek_v4 platform gfx950 backend aiter_mxfp4_fp8 parallel { tp 2 expert_parallel true } layer { experts 4 top_k 1 "
            "hidden 2048 intermediate 2048 bias false } env { VLLM_ROCM_USE_AITER 1 }"},
    Finding{"mxfp4_deepseek_v4", "AITER_MXFP4_FP8", "AiterW4A8ExpertsMonolithic", "oai_alpha",
            "oracle mxfp4_deepseek_v4 platform gfx950 backend aiter_mxfp4_fp8 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false "
            "swiglu_alpha true } env { VLLM_ROCM_USE_AITER 1 }"},
    Finding{"mxfp4_deepseek_v4", "AITER_MXFP4_FP8", "AiterW4A8ExpertsMonolithic", "oai_limit",
            "oracle mxfp4_deepseek_v4 platform gfx950 backend aiter_mxfp4_fp8 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false "
            "swiglu_limit true } env { VLLM_ROCM_USE_AITER 1 }"},
    Finding{"mxfp4_deepseek_v4", "AITER_MXFP4_FP8", "AiterW4A8ExpertsMonolithic", "converter",
            "oracle mxfp4_deepseek_v4 platform gfx950 backend aiter_mxfp4_fp8 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false } "
            "env { VLLM_ROCM_USE_AITER 1 }"},
    Finding{"mxfp4_deepseek_v4", "AITER_MXFP4_MXFP4", "AiterExperts", "weight_twice",
            "oracle mxfp4_deepseek_v4 platform gfx950 backend aiter_mxfp4_mxfp4 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false "
            "router_weight_on_input true } env { VLLM_ROCM_USE_AITER 1 }"},
    Finding{"mxfp4_deepseek_v4", "AITER_MXFP4_MXFP4", "AiterExperts", "dtype",
            "oracle mxfp4_deepseek_v4 platform gfx950 backend aiter_mxfp4_mxfp4 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 dtype "
            "float32 bias false } env { VLLM_ROCM_USE_AITER 1 }"},
    Finding{"mxfp4_deepseek_v4", "AITER_MXFP4_MXFP4", "AiterExperts", "bias",
            "oracle mxfp4_deepseek_v4 platform gfx950 backend aiter_mxfp4_mxfp4 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 } env { "
            "VLLM_ROCM_USE_AITER 1 }"},
    Finding{"mxfp4_deepseek_v4", "AITER_MXFP4_MXFP4", "AiterExperts", "oai_alpha",
            "oracle mxfp4_deepseek_v4 platform gfx950 backend aiter_mxfp4_mxfp4 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false "
            "swiglu_alpha true } env { VLLM_ROCM_USE_AITER 1 }"},
    Finding{"mxfp4_deepseek_v4", "AITER_MXFP4_MXFP4", "AiterExperts", "oai_limit",
            "oracle mxfp4_deepseek_v4 platform gfx950 backend aiter_mxfp4_mxfp4 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false "
            "swiglu_limit true } env { VLLM_ROCM_USE_AITER 1 }"},
    Finding{"mxfp4_deepseek_v4", "AITER_MXFP4_MXFP4", "AiterExperts", "silu_limit",
            "oracle mxfp4_deepseek_v4 platform gfx950 backend aiter_mxfp4_mxfp4 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation "
            "SILU bias false swiglu_limit true } env { VLLM_ROCM_USE_AITER 1 }"},
    Finding{"mxfp4_deepseek_v4", "AITER_MXFP4_MXFP4", "AiterExperts", "converter",
            "oracle mxfp4_deepseek_v4 platform gfx950 backend aiter_mxfp4_mxfp4 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false } "
            "env { VLLM_ROCM_USE_AITER 1 }"},
    Finding{"mxfp4_deepseek_v4", "TRITON", "OAITritonMxfp4ExpertsMonolithic", "expert_mask",
            "oracle mxfp4_deepseek_v4 platform gfx942 backend triton parallel { tp 2 expert_parallel true } layer { experts 4 top_k 1 hidden 2048 "
            "intermediate 2048 bias false } env { VLLM_ROCM_USE_AITER 1 }"},
    Finding{"mxfp4_deepseek_v4", "TRITON", "OAITritonMxfp4ExpertsMonolithic", "weight_late",
            "oracle mxfp4_deepseek_v4 platform SM90 backend triton layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false "
            "router_weight_on_input true }"},
    Finding{"mxfp4_deepseek_v4", "TRITON", "OAITritonMxfp4ExpertsMonolithic", "hidden_blocks",
            "oracle mxfp4_deepseek_v4 platform SM90 backend triton layer { experts 4 top_k 1 hidden 48 intermediate 2048 bias false }"},
    Finding{
        "mxfp4_deepseek_v4", "TRITON", "OAITritonMxfp4ExpertsMonolithic", "dtype",
        "oracle mxfp4_deepseek_v4 platform SM90 backend triton layer { experts 4 top_k 1 hidden 2048 intermediate 2048 dtype float16 bias false }"},
    Finding{"mxfp4_deepseek_v4", "TRITON", "OAITritonMxfp4ExpertsMonolithic", "expert_groups",
            "oracle mxfp4_deepseek_v4 platform SM90 backend triton layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false expert_groups "
            "2 topk_group 1 }"},
    Finding{"mxfp4_deepseek_v4", "TRITON", "OAITritonMxfp4ExpertsMonolithic", "oai_alpha",
            "oracle mxfp4_deepseek_v4 platform SM90 backend triton layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false swiglu_alpha "
            "true }"},
    Finding{"mxfp4_deepseek_v4", "TRITON", "OAITritonMxfp4ExpertsMonolithic", "oai_limit",
            "oracle mxfp4_deepseek_v4 platform SM90 backend triton layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false swiglu_limit "
            "true }"},
    Finding{"mxfp4_deepseek_v4", "TRITON", "OAITritonMxfp4ExpertsMonolithic", "row_order",
            "oracle mxfp4_deepseek_v4 platform SM90 backend triton layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false }"},
    Finding{"mxfp4_deepseek_v4", "TRITON", "OAITritonExperts", "expert_mask",
            "oracle mxfp4_deepseek_v4 platform gfx942 backend triton parallel { dp 2 expert_parallel true } layer { experts 4 top_k 1 hidden 2048 "
            "intermediate 2048 bias false } env { VLLM_ROCM_USE_AITER 1 }"},
    Finding{"mxfp4_deepseek_v4", "TRITON", "OAITritonExperts", "weight_twice",
            "oracle mxfp4_deepseek_v4 platform SM90 backend triton layer { experts 4 top_k 1 hidden 2048 intermediate 2048 routing Llama4 bias false "
            "router_weight_on_input true }"},
    Finding{
        "mxfp4_deepseek_v4", "TRITON", "OAITritonExperts", "hidden_blocks",
        "oracle mxfp4_deepseek_v4 platform SM90 backend triton parallel { dp 2 } layer { experts 4 top_k 1 hidden 48 intermediate 4096 bias false }"},
    Finding{"mxfp4_deepseek_v4", "TRITON", "OAITritonExperts", "dtype",
            "oracle mxfp4_deepseek_v4 platform SM90 backend triton parallel { dp 2 } layer { experts 4 top_k 1 hidden 2048 intermediate 4096 dtype "
            "float16 bias false }"},
    Finding{"mxfp4_deepseek_v4", "TRITON", "OAITritonExperts", "oai_limit",
            "oracle mxfp4_deepseek_v4 platform SM90 backend triton layer { experts 4 top_k 1 hidden 2048 intermediate 2048 routing DeepseekV4 bias "
            "false swiglu_limit true }"},
    Finding{"mxfp4_deepseek_v4", "TRITON", "OAITritonExperts", "row_order",
            "oracle mxfp4_deepseek_v4 platform SM90 backend triton parallel { dp 2 } layer { experts 4 top_k 1 hidden 2048 intermediate 4096 bias "
            "false }"},
    Finding{"mxfp4_deepseek_v4", "TRITON_UNFUSED", "UnfusedOAITritonExperts", "expert_mask",
            "oracle mxfp4_deepseek_v4 platform gfx942 parallel { tp 2 expert_parallel true } layer { experts 4 top_k 1 hidden 2048 intermediate 2048 "
            "routing DeepseekV4 bias false } env { VLLM_ROCM_USE_AITER 1 }"},
    Finding{"mxfp4_deepseek_v4", "TRITON_UNFUSED", "UnfusedOAITritonExperts", "weight_twice",
            "oracle mxfp4_deepseek_v4 platform SM90 backend triton_unfused layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false "
            "router_weight_on_input true }"},
    Finding{"mxfp4_deepseek_v4", "TRITON_UNFUSED", "UnfusedOAITritonExperts", "hidden_blocks",
            "oracle mxfp4_deepseek_v4 platform SM90 backend triton_unfused layer { experts 4 top_k 1 hidden 48 intermediate 2048 bias false }"},
    Finding{"mxfp4_deepseek_v4", "TRITON_UNFUSED", "UnfusedOAITritonExperts", "dtype",
            "oracle mxfp4_deepseek_v4 platform gfx90a layer { experts 4 top_k 1 hidden 2048 intermediate 2048 routing DeepseekV4 dtype float16 bias "
            "false }"},
    Finding{"mxfp4_deepseek_v4", "XPU", "XPUExpertsMXFp4", "even_ranges",
            "oracle mxfp4_deepseek_v4 platform XPU backend xpu parallel { tp 3 expert_parallel true } layer { experts 4 top_k 1 hidden 2048 "
            "intermediate 2048 bias false }"},
    Finding{"mxfp4_deepseek_v4", "XPU", "XPUExpertsMXFp4", "linear_placement",
            "oracle mxfp4_deepseek_v4 platform XPU backend xpu parallel { tp 2 expert_parallel true round_robin true } layer { experts 4 top_k 1 "
            "hidden 2048 intermediate 2048 bias false expert_groups 2 topk_group 1 }"},
    Finding{"mxfp4_deepseek_v4", "XPU", "XPUExpertsMXFp4", "weight_twice",
            "oracle mxfp4_deepseek_v4 platform XPU backend xpu layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false "
            "router_weight_on_input true }"},
    Finding{"mxfp4_deepseek_v4", "XPU", "XPUExpertsMXFp4", "hidden_blocks",
            "oracle mxfp4_deepseek_v4 platform XPU backend xpu layer { experts 4 top_k 1 hidden 48 intermediate 2048 bias false }"},
    Finding{
        "mxfp4_deepseek_v4", "XPU", "XPUExpertsMXFp4", "oai_alpha",
        "oracle mxfp4_deepseek_v4 platform XPU backend xpu layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false swiglu_alpha true }"},
    Finding{
        "mxfp4_deepseek_v4", "XPU", "XPUExpertsMXFp4", "oai_limit",
        "oracle mxfp4_deepseek_v4 platform XPU backend xpu layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false swiglu_limit true }"},
    Finding{"mxfp4_deepseek_v4", "XPU", "XPUExpertsMXFp4", "silu_limit",
            "oracle mxfp4_deepseek_v4 platform XPU backend xpu layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU bias false "
            "swiglu_limit true }"},
    Finding{"mxfp4_deepseek_v4", "XPU", "XPUExpertsMXFp4", "converter",
            "oracle mxfp4_deepseek_v4 platform XPU backend xpu layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false }"},
    Finding{"mxfp4_deepseek_v4", "CPU", "CPUExpertsMxfp4", "router",
            "oracle mxfp4_deepseek_v4 platform CPU backend cpu parallel { dp 2 expert_parallel true all2all deepep_high_throughput } layer { experts "
            "4 top_k 1 hidden 2048 intermediate 2048 bias false }"},
    Finding{"mxfp4_deepseek_v4", "CPU", "CPUExpertsMxfp4", "weight_late",
            "oracle mxfp4_deepseek_v4 platform CPU backend cpu layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false "
            "router_weight_on_input true }"},
    Finding{"mxfp4_deepseek_v4", "CPU", "CPUExpertsMxfp4", "amx",
            "oracle mxfp4_deepseek_v4 hardware { platform cpu amx false } backend cpu layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias "
            "false }"},
    Finding{"mxfp4_deepseek_v4", "CPU", "CPUExpertsMxfp4", "dtype",
            "oracle mxfp4_deepseek_v4 platform CPU backend cpu layer { experts 4 top_k 1 hidden 2048 intermediate 2048 dtype float32 bias false }"},
    Finding{"mxfp4_deepseek_v4", "CPU", "CPUExpertsMxfp4", "silu_limit",
            "oracle mxfp4_deepseek_v4 platform CPU backend cpu layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU bias false "
            "swiglu_limit true }"},
    Finding{"mxfp4_deepseek_v4", "CPU", "CPUExpertsMxfp4", "expert_map",
            "oracle mxfp4_deepseek_v4 platform CPU backend cpu parallel { tp 2 expert_parallel true } layer { experts 4 top_k 1 hidden 2048 "
            "intermediate 2048 bias false }"},
    Finding{"mxfp4_deepseek_v4", "CPU", "CPUExpertsMxfp4", "converter",
            "oracle mxfp4_deepseek_v4 platform CPU backend cpu layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false }"},
    Finding{"mxfp4_deepseek_v4", "EMULATION", "OCP_MXQuantizationEmulationTritonExperts", "expert_mask",
            "oracle mxfp4_deepseek_v4 platform gfx942 backend emulation parallel { tp 2 expert_parallel true } layer { experts 4 top_k 1 hidden 2048 "
            "intermediate 2048 bias false } env { VLLM_ROCM_USE_AITER 1 }"},
    Finding{"mxfp4_deepseek_v4", "EMULATION", "OCP_MXQuantizationEmulationTritonExperts", "hidden_blocks",
            "oracle mxfp4_deepseek_v4 platform SM75 backend emulation layer { experts 4 top_k 1 hidden 48 intermediate 2048 bias false }"},
    Finding{"mxfp4_deepseek_v4", "EMULATION", "OCP_MXQuantizationEmulationTritonExperts", "oai_alpha",
            "oracle mxfp4_deepseek_v4 platform SM75 backend emulation layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false "
            "swiglu_alpha true }"},
    Finding{"mxfp4_deepseek_v4", "EMULATION", "OCP_MXQuantizationEmulationTritonExperts", "oai_limit",
            "oracle mxfp4_deepseek_v4 platform SM75 backend emulation layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false "
            "swiglu_limit true }"},
    Finding{"mxfp4_deepseek_v4", "EMULATION", "OCP_MXQuantizationEmulationTritonExperts", "silu_limit",
            "oracle mxfp4_deepseek_v4 platform SM75 backend emulation layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU bias "
            "false swiglu_limit true }"},
    Finding{"mxfp4_deepseek_v4", "EMULATION", "OCP_MXQuantizationEmulationTritonExperts", "converter",
            "oracle mxfp4_deepseek_v4 platform SM75 backend emulation layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false }"},
    Finding{"mxfp4_deepseek_v4", "HUMMING", "BatchedHummingGroupedExperts", "humming_weight",
            "oracle mxfp4_deepseek_v4 platform SM75 backend humming parallel { dp 2 expert_parallel true all2all deepep_low_latency } layer { "
            "experts 4 top_k 1 hidden 2048 intermediate 2048 bias false router_weight_on_input true }"},
    Finding{"mxfp4_deepseek_v4", "HUMMING", "BatchedHummingGroupedExperts", "hidden_blocks",
            "oracle mxfp4_deepseek_v4 platform SM75 backend humming parallel { dp 2 expert_parallel true all2all deepep_low_latency } layer { "
            "experts 4 top_k 1 hidden 9000 intermediate 2048 bias false }"},
    Finding{"mxfp4_deepseek_v4", "HUMMING", "HummingGroupedExperts", "humming_weight",
            "oracle mxfp4_deepseek_v4 platform SM75 backend humming layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false "
            "router_weight_on_input true } env { VLLM_HUMMING_MOE_GEMM_TYPE grouped }"},
    Finding{"mxfp4_deepseek_v4", "HUMMING", "HummingGroupedExperts", "hidden_blocks",
            "oracle mxfp4_deepseek_v4 platform SM75 backend humming layer { experts 4 top_k 1 hidden 48 intermediate 2048 bias false } env { "
            "VLLM_HUMMING_MOE_GEMM_TYPE grouped }"},
    Finding{"mxfp4_deepseek_v4", "HUMMING", "HummingIndexedExperts", "humming_weight",
            "oracle mxfp4_deepseek_v4 platform SM75 backend humming layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false "
            "router_weight_on_input true }"},
    Finding{"mxfp4_deepseek_v4", "HUMMING", "HummingIndexedExperts", "hidden_blocks",
            "oracle mxfp4_deepseek_v4 platform SM75 backend humming layer { experts 4 top_k 1 hidden 48 intermediate 2048 bias false }"},
    Finding{"mxfp4_deepseek_v4", "HUMMING", "HummingIndexedExperts", "device",
            "oracle mxfp4_deepseek_v4 platform gfx90a backend humming layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false } software "
            "{ humming_installed true }"},
};

}  // namespace

std::span<const Finding> mxfp4_deepseek_v4_findings() { return kFindings; }

}  // namespace mx::oracle
