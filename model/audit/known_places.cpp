#include "model/audit/known_places.hpp"

#include <array>

namespace mx::oracle {
namespace {

constexpr std::array k1 = {Shown{"mxfp4", "FLASHINFER_CUTLASS_MXFP4_MXFP8", "FlashInferExperts", "swizzled_scales"}};
constexpr std::array k2 = {Shown{"nvfp4", "FLASHINFER_B12X", "FlashInferB12xExperts", "one_rank"}};
constexpr std::array k3 = {Shown{"nvfp4", "FLASHINFER_CUTLASS", "FlashInferExperts", "oai_constants"},
                           Shown{"fp8", "FLASHINFER_CUTLASS", "FlashInferExperts", "oai_constants"}};
constexpr std::array k4 = {Shown{"mxfp4", "FLASHINFER_CUTLASS_MXFP4_BF16", "FlashInferExperts", "oai_constants"},
                           Shown{"mxfp4", "FLASHINFER_CUTLASS_MXFP4_MXFP8", "FlashInferExperts", "oai_constants"}};
constexpr std::array k5 = {Shown{"mxfp4", "FLASHINFER_TRTLLM_MXFP4_BF16", "TrtLlmMxfp4ExpertsMonolithic", "oai_constants"},
                           Shown{"mxfp4", "FLASHINFER_TRTLLM_MXFP4_MXFP8", "TrtLlmMxfp4ExpertsModular", "oai_constants"}};
constexpr std::array k6 = {Shown{"mxfp4", "DEEPGEMM_MXFP4", "DeepGemmFP4Experts", "bias"},
                           Shown{"mxfp4", "DEEPGEMM_MXFP4", "DeepGemmFP4Experts", "activation"}};
constexpr std::array k7 = {Shown{"mxfp4", "FLASHINFER_TRTLLM_MXFP4_BF16", "TrtLlmMxfp4ExpertsMonolithic", "even_ranges"},
                           Shown{"mxfp4", "FLASHINFER_CUTLASS_MXFP4_BF16", "FlashInferExperts", "even_ranges"},
                           Shown{"mxfp4", "XPU", "XPUExpertsMXFp4", "linear_placement"},
                           Shown{"nvfp4", "FLASHINFER_CUTEDSL", "FlashInferCuteDSLExperts", "even_ranges"}};
constexpr std::array k8 = {Shown{"mxfp4", "AITER_MXFP4_FP8", "AiterW4A8ExpertsMonolithic", "expert_map"},
                           Shown{"mxfp4", "CPU", "CPUExpertsMxfp4", "expert_map"}};
constexpr std::array k9 = {Shown{"fp8", "FLASHINFER_TRTLLM", "TrtLlmFp8ExpertsMonolithic", "experts"},
                           Shown{"fp8", "FLASHINFER_TRTLLM", "TrtLlmFp8ExpertsMonolithic", "top_k"},
                           Shown{"fp8", "FLASHINFER_TRTLLM", "TrtLlmFp8ExpertsMonolithic", "block_activation"}};
constexpr std::array k10 = {Shown{"fp8", "FLASHINFER_TRTLLM", "TrtLlmFp8ExpertsModular", "forwarded_activation"}};
constexpr std::array k11 = {Shown{"fp8", "FLASHINFER_TRTLLM", "TrtLlmFp8ExpertsMonolithic", "topk_group"}};
constexpr std::array k12 = {Shown{"w4a8", "CUTLASS", "CutlassExpertsW4A8Fp8", "device"}, Shown{"w4a8", "CUTLASS", "CutlassExpertsW4A8Fp8", "sizes"}};
constexpr std::array k13 = {Shown{"nvfp4", "FLASHINFER_TRTLLM", "TrtLlmNvFp4ExpertsMonolithic", "router_case"}};
constexpr std::array k14 = {Shown{"mxfp4", "any", "", "loaded_experts"}};
constexpr std::array k17 = {Shown{"mxfp4", "TRITON", "OAITritonExperts", "two_data_ranks"}};
constexpr std::array k18 = {Shown{"nvfp4", "VLLM_CUTLASS", "CutlassExpertsFp4", "dtype"}};
constexpr std::array k19 = {Shown{"mxfp4", "MARLIN", "MarlinExperts", "weight_twice"},
                            Shown{"fp8", "VLLM_CUTLASS", "TritonOrCutlassExperts", "weight_twice"},
                            Shown{"w4a8", "CUTLASS", "CutlassExpertsW4A8Fp8", "weight_twice"}};
constexpr std::array k20 = {Shown{"fp8", "FLASHINFER_CUTLASS", "FlashInferExperts", "large_batches"}};
constexpr std::array k21 = {Shown{"mxfp4", "NOT_ASKED", "CutlassExpertsMxfp4", "sizes"}, Shown{"mxfp4", "NOT_ASKED", "CutlassExpertsMxfp4", "wish"}};
constexpr std::array k22 = {Shown{"mxfp4", "FLASHINFER_TRTLLM_MXFP4_BF16", "TrtLlmMxfp4ExpertsMonolithic", "refused"},
                            Shown{"nvfp4", "FLASHINFER_TRTLLM", "TrtLlmNvFp4ExpertsMonolithic", "refused"}};
constexpr std::array k23 = {Shown{"mxfp4", "EMULATION", "OCP_MXQuantizationEmulationTritonExperts", "scheme"}};
constexpr std::array k24 = {Shown{"mxfp4", "FLASHINFER_TRTLLM_MXFP4_BF16", "TrtLlmMxfp4ExpertsModular", "unpadded_output"}};
constexpr std::array k25 = {Shown{"mxfp4", "EMULATION", "OCP_MXQuantizationEmulationTritonExperts", "shard_room"}};
constexpr std::array k26 = {Shown{"mxfp4", "CPU", "CPUExpertsMxfp4", "amx"}, Shown{"fp8", "CPU", "CPUExpertsFp8", "amx"}};
constexpr std::array k27 = {Shown{"mxfp4", "FLASHINFER_TRTLLM_MXFP4_BF16", "TrtLlmMxfp4ExpertsMonolithic", "router"},
                            Shown{"mxfp4", "TRITON", "OAITritonMxfp4ExpertsMonolithic", "router"}};

constexpr std::array kPlaces = {
    KnownPlace{1, "FLASHINFER_CUTLASS_MXFP4_MXFP8 behind an exchange, or with data parallel ranks: linear scales", k1, ""},
    KnownPlace{2, "FLASHINFER_B12X with expert parallelism", k2, ""},
    KnownPlace{3, "FlashInferExperts and SWIGLUOAI with NVFP4 and FP8 weights", k3, ""},
    KnownPlace{4, "FlashInferExperts and SILU with MXFP4 weights", k4, ""},
    KnownPlace{5, "TRT-LLM MXFP4 and SILU through gpt-oss's method", k5, ""},
    KnownPlace{6, "DEEPGEMM_MXFP4 with biases, or with SWIGLUSTEP", k6, ""},
    KnownPlace{7, "classes of contiguous ranges with experts that do not divide, or dealt out in turn", k7, ""},
    KnownPlace{8, "AITER_MXFP4_FP8 and CPU with expert parallelism: the map is ignored", k8, ""},
    KnownPlace{9, "TRT-LLM FP8 with block scales: experts in fours, at most 512, 10 a token, SILU alone", k9, ""},
    KnownPlace{10, "TrtLlmFp8ExpertsModular and RELU2_NO_MUL", k10, ""},
    KnownPlace{11, "TRT-LLM FP8 with per-tensor scales and DeepSeekV3 routing: topk_group", k11, ""},
    KnownPlace{12, "W4A8 on SM100, and sizes that are no multiple of 256", k12, ""},
    KnownPlace{13, "TRT-LLM NVFP4 and simulated routing", k13, ""},
    KnownPlace{14, "gpt-oss with experts that do not divide: the last ones are not loaded", k14, ""},
    KnownPlace{15,
               "Marlin FP8 and CUTLASS FP8 with fnuz weights",
               {},
               "unreachable: both classes take cuda alone, fnuz is of rocm alone; the need fn_codes is stated and nothing breaks it"},
    KnownPlace{16,
               "AITER's FP4 kernels with I not a multiple of 256, and on gfx942",
               {},
               "unreachable in this version: sizes are rounded to 256 on rocm and the class asks for gfx950; the needs device and sizes are stated "
               "and nothing breaks them"},
    KnownPlace{17, "TRITON on gpt-oss with two data parallel ranks and expert parallelism", k17, ""},
    KnownPlace{18, "CutlassExpertsFp4 on SM120 with a float16 model", k18, ""},
    KnownPlace{19, "the router weight on the input: applied twice", k19, ""},
    KnownPlace{20, "FLASHINFER_CUTLASS FP8 with block scales at capability 90 and expert parallelism: large batches", k20, ""},
    KnownPlace{21, "compressed-tensors MXFP4: no padding, the wish not heard", k21, ""},
    KnownPlace{22, "TRT-LLM refused on SM12x although its launcher takes it", k22, ""},
    KnownPlace{23, "EMULATION of activations that have no emulation", k23, ""},
    KnownPlace{24, "an output of padded hidden size behind a kernel that writes the given one", k24, ""},
    KnownPlace{25, "Quark gpt-oss with EMULATION under tensor parallelism: the buffer is not rounded", k25, ""},
    KnownPlace{26, "CPU without AMX", k26, ""},
    KnownPlace{27, "Quark takes the backend's first class, which routes by itself, where the second was chosen", k27, ""},
    KnownPlace{28,
               "no tokens at all in TRT-LLM",
               {},
               "the number of tokens is no part of a deployment, and whether the engine ever sends none is not known; the need tokens is stated"},
};

}  // namespace

std::span<const KnownPlace> known_places() { return kPlaces; }

}  // namespace mx::oracle
