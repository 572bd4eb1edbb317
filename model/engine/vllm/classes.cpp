// What each expert class accepts: the predicates of vllm 7e1b45a09 (2026-05-22) fused_moe/experts/*.py, as rows. CutlassExpertsW4A8Fp8 is that of
// 4438b6e7d (2026-05-23).

#include <array>
#include <map>
#include <vector>

#include "model/engine/vllm/class_rows.hpp"

namespace mx::engine {
namespace {

using namespace class_rows;

constexpr std::array kClasses2026_05 = {
    // trtllm_mxfp4_moe.py
    KernelClass{.name = "TrtLlmMxfp4ExpertsMonolithic",
                .monolithic = true,
                .devices = kTrtllmMxfp4Devices,
                .activations = kSiluAndOai,
                .quant = kTrtllmMxfp4Quant,
                .refused_parallel = kNotOneDispatch,
                .routings = kSoftmaxOverChosen},
    KernelClass{.name = "TrtLlmMxfp4ExpertsModular", .devices = kTrtllmMxfp4Devices, .activations = kSiluAndOai, .quant = kTrtllmMxfp4Quant},
    // flashinfer_cutlass_moe.py
    KernelClass{.name = "FlashInferExperts",
                .devices = kFlashinferDevices,
                .takes_no_act_and_mul = true,
                .activations = deployment::set_of(silu, relu2_no_mul, swigluoai),
                .quant = kFlashinferQuant},
    // gpt_oss_triton_kernels_moe.py
    KernelClass{.name = "OAITritonMxfp4ExpertsMonolithic",
                .monolithic = true,
                .devices = kTritonKernelsDevices,
                .activations = deployment::bit(swigluoai),
                .quant = kMxfp4OnBf16,
                .refused_parallel = kNotOneDispatch,
                .routings = kSoftmaxOverChosen},
    KernelClass{.name = "OAITritonExperts", .devices = kTritonKernelsDevices, .activations = deployment::bit(swigluoai), .quant = kMxfp4OnBf16},
    KernelClass{.name = "UnfusedOAITritonExperts",
                .devices = kTritonKernelsDevices,
                .activations = deployment::set_of(silu, gelu, swigluoai, swiglustep),
                .quant = kMxfp4OnBf16,
                .lora = true},
    // marlin_moe.py
    KernelClass{.name = "MarlinExperts",
                .devices = kMarlinDevices,
                .takes_no_act_and_mul = true,
                .activations = kTritonActivations,
                .quant = kMarlinQuant,
                .refused_parallel = kFlashinferNvlink,
                .lora = true},
    KernelClass{.name = "BatchedMarlinExperts",
                .format = kBatched,
                .devices = kMarlinDevices,
                .takes_no_act_and_mul = true,
                .activations = kTritonActivations,
                .quant = kMarlinQuant,
                .refused_parallel = kFlashinferNvlink},
    // rocm_aiter_moe.py: a failed check appends a hint when fused-MoE AITER is off, which is the device check itself.
    KernelClass{.name = "AiterExperts",
                .devices = kAiterDevices,
                .activations = kCutlassActivations,
                .quant = kAiterQuant,
                .refused_parallel = kFlashinferNvlink,
                .device_code = "device+aiter_hint"},
    // aiter_mxfp4_w4a8_moe.py
    KernelClass{.name = "AiterW4A8ExpertsMonolithic",
                .monolithic = true,
                .devices = kAiterW4a8Devices,
                .activations = deployment::bit(swigluoai),
                .quant = kAiterW4a8Quant,
                .refused_parallel = kNotOneDispatch,
                .routings = kSoftmaxOverChosen},
    // xpu_moe.py
    KernelClass{.name = "XPUExpertsMXFp4",
                .end = deployment::kVllm2026_08,
                .devices = kXpuDevices,
                .takes_no_act_and_mul = true,
                .activations = kXpuActivations,
                .quant = kMxfp4OnBf16},
    KernelClass{.name = "XPUExpertsFp8", .devices = kXpuDevices, .takes_no_act_and_mul = true, .activations = kXpuActivations, .quant = kXpuFp8Quant},
    KernelClass{.name = "XPUExpertsMxfp8",
                .end = deployment::kVllm2026_08,
                .devices = kXpuDevices,
                .takes_no_act_and_mul = true,
                .activations = kXpuActivations,
                .quant = kXpuMxfp8Quant},
    // cpu_moe.py
    KernelClass{.name = "CPUExpertsMxfp4",
                .monolithic = true,
                .devices = kCpuDevices,
                .activations = kSiluAndOai,
                .quant = kMxfp4OnBf16,
                .routings = kCpuRoutings},
    KernelClass{.name = "CPUExpertsFp8",
                .monolithic = true,
                .devices = kCpuDevices,
                .activations = deployment::bit(silu),
                .quant = kFp8BlockQuant,
                .routings = kCpuRoutings},
    // ocp_mx_emulation_moe.py, nvfp4_emulation_moe.py
    KernelClass{.name = "OCP_MXQuantizationEmulationTritonExperts",
                .devices = kTritonDevices,
                .takes_no_act_and_mul = true,
                .activations = kTritonActivations,
                .quant = kAnyQuant,
                .refused_parallel = kFlashinferNvlink,
                .batch_invariant = true,
                .lora = true},
    KernelClass{.name = "Nvfp4QuantizationEmulationTritonExperts",
                .devices = kTritonDevices,
                .takes_no_act_and_mul = true,
                .activations = kTritonActivations,
                .quant = kNvfp4Quant,
                .refused_parallel = kFlashinferNvlink,
                .batch_invariant = true,
                .lora = true},
    // fused_humming_moe.py: the GEMM type alone is looked at, with the format.
    KernelClass{.name = "BatchedHummingGroupedExperts", .format = kBatched, .humming = HummingGemm::grouped_masked, .humming_alone = true},
    KernelClass{.name = "HummingGroupedExperts", .humming = HummingGemm::grouped_contiguous, .humming_alone = true},
    KernelClass{.name = "HummingIndexedExperts", .humming = HummingGemm::indexed, .humming_alone = true},
    // trtllm_nvfp4_moe.py: data parallelism without expert parallelism is fine, unlike for MXFP4.
    KernelClass{.name = "TrtLlmNvFp4ExpertsMonolithic",
                .monolithic = true,
                .devices = kTrtllmDevices,
                .takes_no_act_and_mul = true,
                .activations = deployment::set_of(silu, relu2_no_mul, gelu),
                .quant = kNvfp4Quant,
                .refused_parallel = deployment::set_of(ParallelFact::all2all_kernels, ParallelFact::eplb),
                .routings = kTrtllmRoutings | deployment::bit(deployment::Routing::llama4)},
    KernelClass{.name = "TrtLlmNvFp4ExpertsModular",
                .devices = kTrtllmDevices,
                .takes_no_act_and_mul = true,
                .activations = deployment::set_of(silu, relu2_no_mul, gelu),
                .quant = kNvfp4Quant},
    // flashinfer_cutedsl_moe.py, flashinfer_cutedsl_batched_moe.py, flashinfer_b12x_moe.py
    KernelClass{.name = "FlashInferCuteDSLExperts", .devices = kCuteDslDevices, .activations = deployment::bit(silu), .quant = kNvfp4Quant},
    KernelClass{.name = "FlashInferCuteDSLBatchedExperts",
                .format = kBatched,
                .devices = kCuteDslBatchedDevices,
                .activations = deployment::bit(silu),
                .quant = kNvfp4Quant},
    KernelClass{.name = "FlashInferB12xExperts", .devices = kB12xDevices, .activations = deployment::bit(silu), .quant = kNvfp4Quant},
    // cutlass_moe.py; the pairs are triton_cutlass_moe.py's.
    KernelClass{.name = "CutlassExpertsFp4",
                .devices = kCutlassFp4Devices,
                .takes_no_act_and_mul = true,
                .activations = deployment::set_of(silu, gelu, swigluoai, swiglustep, silu_no_mul, gelu_no_mul, relu2_no_mul),
                .quant = kNvfp4Quant,
                .refused_parallel = deployment::bit(ParallelFact::ep_above_one)},
    KernelClass{.name = "CutlassExpertsFp8",
                .devices = kCutlassGroupGemmDevices,
                .activations = kCutlassActivations,
                .quant = kCutlassFp8Quant,
                .refused_parallel = kFlashinferNvlink | deployment::bit(ParallelFact::deepep_ht)},
    KernelClass{.name = "CutlassBatchedExpertsFp8",
                .format = kBatched,
                .devices = kCutlassGroupGemmDevices,
                .activations = kCutlassActivations,
                .quant = kCutlassFp8Quant},
    KernelClass{.name = "CutlassExpertsW4A8Fp8",
                .only_dtype = "bfloat16",
                .devices = kCutlassGroupGemmDevices,
                .activations = kCutlassActivations,
                .quant = kW4a8Quant},
    KernelClass{.name = "TritonOrCutlassExperts", .halves = kTritonOrCutlass},
    // trtllm_fp8_moe.py: allgather and reduce-scatter are fine even for the kernel that routes by itself.
    KernelClass{.name = "TrtLlmFp8ExpertsMonolithic",
                .monolithic = true,
                .devices = kTrtllmDevices,
                .takes_no_act_and_mul = true,
                .activations = deployment::set_of(silu, relu2_no_mul),
                .quant = kTrtllmFp8MonolithicQuant,
                .refused_parallel = deployment::set_of(ParallelFact::eplb, ParallelFact::all2all_other_than_ag_rs),
                .routings = kTrtllmRoutings,
                .more_routings = kLlama4PerTensor},
    KernelClass{.name = "TrtLlmFp8ExpertsModular",
                .devices = kTrtllmDevices,
                .takes_no_act_and_mul = true,
                .activations = deployment::set_of(silu, relu2_no_mul),
                .quant = kTrtllmFp8Quant,
                .refused_parallel = deployment::set_of(ParallelFact::eplb, ParallelFact::all2all_other_than_ag_rs)},
    // deep_gemm_moe.py, batched_deep_gemm_moe.py, triton_deep_gemm_moe.py
    KernelClass{.name = "DeepGemmFP4Experts",
                .devices = kDeepGemmFp4Devices,
                .activations = deployment::set_of(silu, swiglustep),
                .quant = kDeepGemmFp4Quant,
                .refused_parallel = kFlashinferNvlink},
    KernelClass{.name = "DeepGemmExperts",
                .devices = kDeepGemmDevices,
                .activations = deployment::set_of(silu, swiglustep),
                .quant = kFp8BlockQuant,
                .refused_parallel = kFlashinferNvlink},
    KernelClass{.name = "BatchedDeepGemmExperts", .format = kBatched, .devices = kDeepGemmDevices, .activations = deployment::bit(silu), .quant = kFp8BlockQuant},
    // The pair loses the batch invariance and the LoRA that TritonExperts alone has.
    KernelClass{.name = "TritonOrDeepGemmExperts", .halves = kTritonOrDeepGemm},
    // fused_moe.py, fused_batched_moe.py
    KernelClass{.name = "TritonExperts",
                .devices = kTritonDevices,
                .takes_no_act_and_mul = true,
                .activations = kTritonActivations,
                .quant = kTritonQuant,
                .refused_parallel = kFlashinferNvlink,
                .batch_invariant = true,
                .lora = true},
    KernelClass{.name = "BatchedTritonExperts",
                .format = kBatched,
                .devices = kBatchedTritonDevices,
                .takes_no_act_and_mul = true,
                .activations = kBatchedTritonActivations,
                .quant = kBatchedTritonQuant},
};

/// The newest row of each name that the version has come to, unless it has dropped the class.
std::vector<KernelClass> classes_of(deployment::Engine engine) {
  std::vector<KernelClass> classes;
  for (std::span<const KernelClass> rows : {std::span<const KernelClass>(kClasses2026_05), classes_2026_08(), classes_2026_11()}) {
    for (const KernelClass& row : rows) {
      if (engine < row.first) continue;
      std::erase_if(classes, [&](const KernelClass& older) { return older.name == row.name; });
      if (!row.end || engine < *row.end) classes.push_back(row);
    }
  }
  return classes;
}

}  // namespace

std::span<const KernelClass> kernel_classes(deployment::Engine engine) {
  static const std::map<deployment::Engine, std::vector<KernelClass>> all = [] {
    std::map<deployment::Engine, std::vector<KernelClass>> by_engine;
    for (deployment::Engine known : deployment::known_engines()) by_engine[known] = classes_of(known);
    return by_engine;
  }();
  return all.at(engine);
}

}  // namespace mx::engine
