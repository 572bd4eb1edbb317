// The ledger of the nvfp4 oracle: see findings.hpp.

#include <array>

#include "model/audit/findings_tables.hpp"

namespace mx::oracle {
namespace {

constexpr std::array kFindings = {
    Finding{"nvfp4", "any", "", "exchange",
            "oracle nvfp4 platform SM80 parallel { dp 2 expert_parallel true all2all naive } layer { experts 4 top_k 1 hidden 2048 intermediate 2048 "
            "bias false }"},
    Finding{"nvfp4", "any", "", "combine_dtype",
            "oracle nvfp4 platform SM75 parallel { dp 2 expert_parallel true all2all deepep_high_throughput } layer { experts 4 top_k 1 hidden 2048 "
            "intermediate 2048 dtype float16 bias false }"},
    Finding{"nvfp4", "any", "", "even_exchange",
            "oracle nvfp4 platform SM100 parallel { dp 3 expert_parallel true all2all deepep_low_latency } layer { experts 4 top_k 1 hidden 2048 "
            "intermediate 2048 activation SILU bias false }"},
    Finding{"nvfp4", "any", "", "weight_of_one",
            "oracle nvfp4 platform gfx90a layer { experts 4 top_k 2 hidden 2048 intermediate 2048 bias false router_weight_on_input true }"},
    Finding{"nvfp4", "any", "", "mori_weight",
            "oracle nvfp4 platform gfx90a parallel { dp 2 expert_parallel true all2all mori } layer { experts 4 top_k 1 hidden 2048 intermediate "
            "2048 bias false router_weight_on_input true }"},
    Finding{"nvfp4", "any", "", "exchange_hidden",
            "oracle nvfp4 platform SM100 parallel { dp 2 expert_parallel true all2all deepep_low_latency } layer { experts 4 top_k 1 hidden 9000 "
            "intermediate 2048 activation SILU bias false }"},
    Finding{"nvfp4", "FLASHINFER_TRTLLM", "TrtLlmNvFp4ExpertsMonolithic", "even_ranges",
            "oracle nvfp4 platform SM100 parallel { tp 3 expert_parallel true } layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation "
            "SILU bias false }"},
    Finding{"nvfp4", "FLASHINFER_TRTLLM", "TrtLlmNvFp4ExpertsMonolithic", "linear_placement",
            "oracle nvfp4 platform SM100 parallel { tp 2 expert_parallel true round_robin true } layer { experts 4 top_k 1 hidden 2048 intermediate "
            "2048 activation SILU bias false expert_groups 2 topk_group 1 }"},
    Finding{"nvfp4", "FLASHINFER_TRTLLM", "TrtLlmNvFp4ExpertsMonolithic", "weight_late",
            "oracle nvfp4 platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU routing Llama4 bias false "
            "router_weight_on_input true }"},
    Finding{"nvfp4", "FLASHINFER_TRTLLM", "TrtLlmNvFp4ExpertsMonolithic", "scale_rows",
            "oracle nvfp4 platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 96 activation SILU bias false }"},
    Finding{"nvfp4", "FLASHINFER_TRTLLM", "TrtLlmNvFp4ExpertsMonolithic", "dtype",
            "oracle nvfp4 platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU dtype float32 bias false }"},
    Finding{"nvfp4", "FLASHINFER_TRTLLM", "TrtLlmNvFp4ExpertsMonolithic", "router_case",
            "oracle nvfp4 platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU routing Simulated bias false }"},
    Finding{"nvfp4", "FLASHINFER_TRTLLM", "TrtLlmNvFp4ExpertsMonolithic", "router_limits",
            "oracle nvfp4 platform SM100 layer { experts 16 top_k 1 hidden 2048 intermediate 2048 activation SILU routing DeepSeekV3 bias false "
            "expert_groups 16 topk_group 8 }"},
    Finding{"nvfp4", "FLASHINFER_TRTLLM", "TrtLlmNvFp4ExpertsMonolithic", "llama4_one",
            "oracle nvfp4 platform SM100 layer { experts 4 top_k 2 hidden 2048 intermediate 2048 activation SILU routing Llama4 bias false }"},
    Finding{"nvfp4", "FLASHINFER_TRTLLM", "TrtLlmNvFp4ExpertsMonolithic", "llama4_weight",
            "oracle nvfp4 platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU bias false router_weight_on_input "
            "true }"},
    Finding{"nvfp4", "FLASHINFER_TRTLLM", "TrtLlmNvFp4ExpertsMonolithic", "correction_bias",
            "oracle nvfp4 platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU bias false correction_bias true }"},
    Finding{"nvfp4", "FLASHINFER_TRTLLM", "TrtLlmNvFp4ExpertsMonolithic", "routed_scaling",
            "oracle nvfp4 platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU routing MiniMax2 bias false "
            "routed_scaling true }"},
    Finding{"nvfp4", "FLASHINFER_TRTLLM", "TrtLlmNvFp4ExpertsMonolithic", "bias",
            "oracle nvfp4 platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU }"},
    Finding{"nvfp4", "FLASHINFER_TRTLLM", "TrtLlmNvFp4ExpertsMonolithic", "silu_limit",
            "oracle nvfp4 platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU bias false swiglu_limit true }"},
    Finding{"nvfp4", "FLASHINFER_TRTLLM", "TrtLlmNvFp4ExpertsMonolithic", "refused",
            "oracle nvfp4 platform SM120 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU bias false }"},
    Finding{"nvfp4", "FLASHINFER_TRTLLM", "TrtLlmNvFp4ExpertsModular", "even_ranges",
            "oracle nvfp4 platform SM100 parallel { dp 3 expert_parallel true } layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation "
            "SILU bias false }"},
    Finding{"nvfp4", "FLASHINFER_TRTLLM", "TrtLlmNvFp4ExpertsModular", "weight_twice",
            "oracle nvfp4 platform SM100 parallel { dp 2 expert_parallel true } layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation "
            "SILU bias false router_weight_on_input true }"},
    Finding{"nvfp4", "FLASHINFER_TRTLLM", "TrtLlmNvFp4ExpertsModular", "scale_rows",
            "oracle nvfp4 platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 96 activation SILU routing DeepseekV4 bias false }"},
    Finding{"nvfp4", "FLASHINFER_TRTLLM", "TrtLlmNvFp4ExpertsModular", "dtype",
            "oracle nvfp4 platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU routing DeepseekV4 dtype float32 "
            "bias false }"},
    Finding{"nvfp4", "FLASHINFER_TRTLLM", "TrtLlmNvFp4ExpertsModular", "bias",
            "oracle nvfp4 platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU routing DeepseekV4 }"},
    Finding{"nvfp4", "FLASHINFER_TRTLLM", "TrtLlmNvFp4ExpertsModular", "silu_limit",
            "oracle nvfp4 platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU routing DeepseekV4 bias false "
            "swiglu_limit true }"},
    Finding{"nvfp4", "FLASHINFER_TRTLLM", "TrtLlmNvFp4ExpertsModular", "refused",
            "oracle nvfp4 platform SM120 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU bias false }"},
    Finding{"nvfp4", "FLASHINFER_CUTLASS", "FlashInferExperts", "even_ranges",
            "oracle nvfp4 platform SM120 parallel { tp 3 expert_parallel true } layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation "
            "SILU bias false }"},
    Finding{"nvfp4", "FLASHINFER_CUTLASS", "FlashInferExperts", "linear_placement",
            "oracle nvfp4 platform SM120 parallel { tp 2 expert_parallel true round_robin true } layer { experts 4 top_k 1 hidden 2048 intermediate "
            "2048 activation SILU bias false expert_groups 2 topk_group 1 }"},
    Finding{"nvfp4", "FLASHINFER_CUTLASS", "FlashInferExperts", "weight_twice",
            "oracle nvfp4 platform SM120 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU bias false router_weight_on_input "
            "true }"},
    Finding{"nvfp4", "FLASHINFER_CUTLASS", "FlashInferExperts", "blocks",
            "oracle nvfp4 platform SM120 layer { experts 4 top_k 1 hidden 40 intermediate 2048 activation SILU bias false }"},
    Finding{"nvfp4", "FLASHINFER_CUTLASS", "FlashInferExperts", "sizes",
            "oracle nvfp4 platform SM120 layer { experts 4 top_k 1 hidden 48 intermediate 2048 activation SILU bias false }"},
    Finding{"nvfp4", "FLASHINFER_CUTLASS", "FlashInferExperts", "oai_constants",
            "oracle nvfp4 platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false }"},
    Finding{"nvfp4", "FLASHINFER_CUTLASS", "FlashInferExperts", "dtype",
            "oracle nvfp4 platform SM120 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU dtype float32 bias false }"},
    Finding{"nvfp4", "FLASHINFER_CUTLASS", "FlashInferExperts", "scale_rows",
            "oracle nvfp4 platform SM120 layer { experts 4 top_k 1 hidden 2048 intermediate 96 activation SILU bias false }"},
    Finding{"nvfp4", "FLASHINFER_CUTLASS", "FlashInferExperts", "bias",
            "oracle nvfp4 platform SM120 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU }"},
    Finding{"nvfp4", "FLASHINFER_CUTEDSL", "FlashInferCuteDSLExperts", "even_ranges",
            "oracle nvfp4 platform SM100 backend flashinfer_cutedsl parallel { tp 3 expert_parallel true } layer { experts 4 top_k 1 hidden 2048 "
            "intermediate 2048 activation SILU bias false }"},
    Finding{"nvfp4", "FLASHINFER_CUTEDSL", "FlashInferCuteDSLExperts", "linear_placement",
            "oracle nvfp4 platform SM100 backend flashinfer_cutedsl parallel { tp 2 expert_parallel true round_robin true } layer { experts 4 top_k "
            "1 hidden 2048 intermediate 2048 activation SILU bias false expert_groups 2 topk_group 1 }"},
    Finding{"nvfp4", "FLASHINFER_CUTEDSL", "FlashInferCuteDSLExperts", "weight_twice",
            "oracle nvfp4 platform SM100 backend flashinfer_cutedsl layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU bias "
            "false router_weight_on_input true }"},
    Finding{
        "nvfp4", "FLASHINFER_CUTEDSL", "FlashInferCuteDSLExperts", "blocks",
        "oracle nvfp4 platform SM100 backend flashinfer_cutedsl layer { experts 4 top_k 1 hidden 40 intermediate 2048 activation SILU bias false }"},
    Finding{"nvfp4", "FLASHINFER_CUTEDSL", "FlashInferCuteDSLExperts", "dtype",
            "oracle nvfp4 platform SM100 backend flashinfer_cutedsl layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU dtype "
            "float32 bias false }"},
    Finding{
        "nvfp4", "FLASHINFER_CUTEDSL", "FlashInferCuteDSLExperts", "scale_rows",
        "oracle nvfp4 platform SM100 backend flashinfer_cutedsl layer { experts 4 top_k 1 hidden 2048 intermediate 96 activation SILU bias false }"},
    Finding{"nvfp4", "FLASHINFER_CUTEDSL", "FlashInferCuteDSLExperts", "bias",
            "oracle nvfp4 platform SM100 backend flashinfer_cutedsl layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU }"},
    Finding{"nvfp4", "FLASHINFER_CUTEDSL", "FlashInferCuteDSLExperts", "silu_limit",
            "oracle nvfp4 platform SM100 backend flashinfer_cutedsl layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU bias "
            "false swiglu_limit true }"},
    Finding{"nvfp4", "FLASHINFER_CUTEDSL_BATCHED", "FlashInferCuteDSLBatchedExperts", "blocks",
            "oracle nvfp4 platform SM100 parallel { dp 2 expert_parallel true all2all deepep_low_latency } layer { experts 4 top_k 1 hidden 2048 "
            "intermediate 40 activation SILU bias false }"},
    Finding{"nvfp4", "FLASHINFER_CUTEDSL_BATCHED", "FlashInferCuteDSLBatchedExperts", "dtype",
            "oracle nvfp4 platform SM100 parallel { dp 2 expert_parallel true all2all deepep_low_latency } layer { experts 4 top_k 1 hidden 2048 "
            "intermediate 2048 activation SILU dtype float32 bias false }"},
    Finding{"nvfp4", "FLASHINFER_CUTEDSL_BATCHED", "FlashInferCuteDSLBatchedExperts", "scale_rows",
            "oracle nvfp4 platform SM100 parallel { dp 2 expert_parallel true all2all deepep_low_latency } layer { experts 4 top_k 1 hidden 2048 "
            "intermediate 96 activation SILU bias false }"},
    Finding{"nvfp4", "FLASHINFER_CUTEDSL_BATCHED", "FlashInferCuteDSLBatchedExperts", "bias",
            "oracle nvfp4 platform SM100 parallel { dp 2 expert_parallel true all2all deepep_low_latency } layer { experts 4 top_k 1 hidden 2048 "
            "intermediate 2048 activation SILU }"},
    Finding{"nvfp4", "FLASHINFER_CUTEDSL_BATCHED", "FlashInferCuteDSLBatchedExperts", "silu_limit",
            "oracle nvfp4 platform SM100 parallel { dp 2 expert_parallel true all2all deepep_low_latency } layer { experts 4 top_k 1 hidden 2048 "
            "intermediate 2048 activation SILU bias false swiglu_limit true }"},
    Finding{"nvfp4", "FLASHINFER_B12X", "FlashInferB12xExperts", "weight_twice",
            "oracle nvfp4 platform SM120 backend flashinfer_b12x layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU bias false "
            "router_weight_on_input true }"},
    Finding{"nvfp4", "FLASHINFER_B12X", "FlashInferB12xExperts", "blocks",
            "oracle nvfp4 platform SM120 backend flashinfer_b12x layer { experts 4 top_k 1 hidden 40 intermediate 2048 activation SILU bias false }"},
    Finding{"nvfp4", "FLASHINFER_B12X", "FlashInferB12xExperts", "one_rank",
            "oracle nvfp4 platform SM120 backend flashinfer_b12x parallel { tp 2 expert_parallel true } layer { experts 4 top_k 1 hidden 2048 "
            "intermediate 2048 activation SILU bias false }"},
    Finding{"nvfp4", "FLASHINFER_B12X", "FlashInferB12xExperts", "dtype",
            "oracle nvfp4 platform SM120 backend flashinfer_b12x layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU dtype "
            "float16 bias false }"},
    Finding{"nvfp4", "FLASHINFER_B12X", "FlashInferB12xExperts", "scale_rows",
            "oracle nvfp4 platform SM120 backend flashinfer_b12x layer { experts 4 top_k 1 hidden 2048 intermediate 96 activation SILU bias false }"},
    Finding{"nvfp4", "FLASHINFER_B12X", "FlashInferB12xExperts", "bias",
            "oracle nvfp4 platform SM120 backend flashinfer_b12x layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU }"},
    Finding{"nvfp4", "FLASHINFER_B12X", "FlashInferB12xExperts", "silu_limit",
            "oracle nvfp4 platform SM120 backend flashinfer_b12x layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU bias false "
            "swiglu_limit true }"},
    Finding{"nvfp4", "VLLM_CUTLASS", "CutlassExpertsFp4", "weight_twice",
            "oracle nvfp4 platform SM110 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false router_weight_on_input true }"},
    Finding{"nvfp4", "VLLM_CUTLASS", "CutlassExpertsFp4", "blocks",
            "oracle nvfp4 platform SM110 layer { experts 4 top_k 1 hidden 40 intermediate 2048 bias false }"},
    Finding{"nvfp4", "VLLM_CUTLASS", "CutlassExpertsFp4", "sizes",
            "oracle nvfp4 platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 48 activation SWIGLUSTEP bias false }"},
    Finding{"nvfp4", "VLLM_CUTLASS", "CutlassExpertsFp4", "dtype",
            "oracle nvfp4 platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SWIGLUSTEP dtype float32 bias false }"},
    Finding{"nvfp4", "VLLM_CUTLASS", "CutlassExpertsFp4", "scale_rows",
            "oracle nvfp4 platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 96 activation SWIGLUSTEP bias false }"},
    Finding{"nvfp4", "VLLM_CUTLASS", "CutlassExpertsFp4", "bias",
            "oracle nvfp4 platform SM100 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SWIGLUSTEP }"},
    Finding{"nvfp4", "VLLM_CUTLASS", "CutlassExpertsFp4", "silu_limit",
            "oracle nvfp4 platform SM110 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU bias false swiglu_limit true }"},
    Finding{"nvfp4", "VLLM_CUTLASS", "CutlassExpertsFp4", "oai_alpha",
            "oracle nvfp4 platform SM110 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false swiglu_alpha true }"},
    Finding{"nvfp4", "VLLM_CUTLASS", "CutlassExpertsFp4", "oai_limit",
            "oracle nvfp4 platform SM110 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false swiglu_limit true }"},
    Finding{
        "nvfp4", "MARLIN", "MarlinExperts", "weight_twice",
        "oracle nvfp4 platform SM75 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 dtype float16 bias false router_weight_on_input true }"},
    Finding{"nvfp4", "MARLIN", "MarlinExperts", "blocks",
            "oracle nvfp4 platform SM75 layer { experts 4 top_k 1 hidden 2048 intermediate 40 dtype float16 bias false }"},
    Finding{"nvfp4", "MARLIN", "MarlinExperts", "oai_alpha",
            "oracle nvfp4 platform SM80 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false swiglu_alpha true }"},
    Finding{"nvfp4", "MARLIN", "MarlinExperts", "oai_limit",
            "oracle nvfp4 platform SM80 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false swiglu_limit true }"},
    Finding{"nvfp4", "MARLIN", "MarlinExperts", "sizes",
            "oracle nvfp4 platform SM75 layer { experts 4 top_k 1 hidden 192 intermediate 192 dtype float16 bias false }"},
    Finding{"nvfp4", "MARLIN", "MarlinExperts", "dtype",
            "oracle nvfp4 platform SM75 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false }"},
    Finding{"nvfp4", "EMULATION", "Nvfp4QuantizationEmulationTritonExperts", "expert_mask",
            "oracle nvfp4 platform gfx942 parallel { tp 2 expert_parallel true } layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false "
            "} env { VLLM_ROCM_USE_AITER 1 }"},
    Finding{"nvfp4", "EMULATION", "Nvfp4QuantizationEmulationTritonExperts", "blocks",
            "oracle nvfp4 platform SM75 layer { experts 4 top_k 1 hidden 2048 intermediate 40 bias false } env { VLLM_BATCH_INVARIANT 1 }"},
    Finding{"nvfp4", "EMULATION", "Nvfp4QuantizationEmulationTritonExperts", "silu_limit",
            "oracle nvfp4 platform SM75 layer { experts 4 top_k 1 hidden 2048 intermediate 2048 activation SILU bias false swiglu_limit true } env { "
            "VLLM_BATCH_INVARIANT 1 }"},
    Finding{"nvfp4", "EMULATION", "Nvfp4QuantizationEmulationTritonExperts", "oai_alpha",
            "oracle nvfp4 platform gfx90a layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false swiglu_alpha true }"},
    Finding{"nvfp4", "EMULATION", "Nvfp4QuantizationEmulationTritonExperts", "oai_limit",
            "oracle nvfp4 platform gfx90a layer { experts 4 top_k 1 hidden 2048 intermediate 2048 bias false swiglu_limit true }"},
};

}  // namespace

std::span<const Finding> nvfp4_findings() { return kFindings; }

}  // namespace mx::oracle
