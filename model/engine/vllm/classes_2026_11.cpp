// What each expert class accepts since vllm 4ba787ec9 (0.33.0, 2026-11-01) fused_moe/experts/*.py, as rows: those that came or changed since 2026-08.

#include <array>

#include "model/engine/vllm/class_rows.hpp"

namespace mx::engine {
namespace {

using namespace class_rows;

constexpr deployment::Engine kNow = deployment::kVllm2026_11;

constexpr std::array<Names, 1> kGfx1100 = {"gfx1100"};
constexpr std::array<Names, 1> kGfx1250 = {"gfx1250"};
constexpr std::array<Names, 1> kGfx942 = {"gfx942"};
constexpr std::array<Names, 4> kFp8RocmNow = {"gfx9", "gfx1250", "gfx11", "gfx12"};

// Devices.

constexpr std::array kTritonKernelsWide = {
    DeviceRule{deployment::on_cuda({90, 130}), &deployment::Software::has_triton_kernels},
    DeviceRule{deployment::on_rocm(kGfx9), &deployment::Software::has_triton_kernels},
    DeviceRule{kRdna, &deployment::Software::has_triton_kernels},
};
constexpr std::array kAiterW4A16Devices = {DeviceRule{deployment::on_rocm(kAiterGfx), &deployment::Software::aiter_found, kAiterOn}};
constexpr std::array kAiterW4A4Devices = {DeviceRule{deployment::on_rocm(kGfx1250), &deployment::Software::aiter_found, kAiterOn}};
constexpr std::array kAiterMxfp8Devices = {DeviceRule{deployment::on_rocm(kMxRocm), &deployment::Software::aiter_found, kFusedMoeAiterOn, &deployment::Software::aiter_gate_mode}};
constexpr std::array kCutlassMxfp4Devices = {DeviceRule{deployment::on_cuda(), &deployment::Software::mxfp4_experts_quant_op}};
constexpr std::array kCutlassHopper = {DeviceRule{deployment::on_cuda(deployment::cap_exactly(90)), &deployment::Software::cutlass_group_gemm_op}};
constexpr std::array kMoeEpDevices = {DeviceRule{deployment::on_cuda(deployment::cap_exactly(100))}, DeviceRule{deployment::on_cuda(deployment::cap_exactly(103))}};
constexpr std::array kCudaDevices = {DeviceRule{deployment::on_cuda()}};
constexpr std::array kRdna3Devices = {DeviceRule{deployment::on_rocm(kGfx1100), &deployment::Software::moe_gptq_gemm_rdna3_op}};
constexpr std::array kAmxFp8Devices = {DeviceRule{.where = on_arch("x86"), .probe = &deployment::Software::cpu_has_amx_fp8_op, .trait = &deployment::Hardware::amx_fp8}};
constexpr std::array kPowerInt8Devices = {DeviceRule{on_arch("power"), &deployment::Software::cpu_fused_moe_int8_op}};
constexpr std::array kZenDevices = {DeviceRule{.where = kCpu, .probe = &deployment::Software::zentorch_fused_moe_op, .trait = &deployment::Hardware::zen_cpu}};
constexpr std::array kZenInt4Devices = {DeviceRule{
    .where = kCpu, .probe = &deployment::Software::zentorch_fused_moe_op, .also = &deployment::Software::zentorch_woq_repack_weight_op, .trait = &deployment::Hardware::zen_cpu}};

// Keys.

constexpr std::array kAiterTensorPairs = {kFp8TensorPairs};
constexpr std::array kAiterTensorQuant = {QuantRule{kAiterTensorPairs}};
constexpr std::array kAiterChannelPairs = {kFp8ChannelPair};
constexpr std::array kAiterChannelQuant = {QuantRule{kAiterChannelPairs}};
constexpr std::array kAiterMxfp4Quant = {QuantRule{kAiterGfx950Pairs, deployment::on_rocm(kGfx950)}, QuantRule{kMxint4Pairs, deployment::on_rocm(kGfx942)}};
constexpr std::array kMxfp4OnMxfp4Pairs = {KeyPairs{deployment::bit(Key::mxfp4_static), deployment::bit(Key::mxfp4_dynamic)}};
constexpr std::array kMxfp4OnMxfp4Quant = {QuantRule{kMxfp4OnMxfp4Pairs}};
constexpr std::array kMoeEpPairs = {KeyPairs{deployment::set_of(Key::nvfp4_static, Key::mxfp4_static), deployment::kEverything}};
constexpr std::array kMoeEpQuant = {QuantRule{kMoeEpPairs}};
constexpr std::array kNvfp4TokenPairs = {KeyPairs{deployment::bit(Key::nvfp4_static), deployment::set_of(Key::nvfp4_dynamic, Key::nvfp4_dynamic_token)}};
constexpr std::array kNvfp4TokenQuant = {QuantRule{kNvfp4TokenPairs}};
constexpr std::array kHummingMorePairs = {
    KeyPairs{deployment::bit(Key::mxfp4_static), deployment::bit(Key::fp8_dynamic_128)},
    KeyPairs{deployment::bit(Key::nvfp4_static), deployment::bit(Key::nvfp4_dynamic_token)},
    KeyPairs{deployment::set_of(Key::int4_static, Key::int8_static, Key::int4_static_32, Key::int4_static_32_asym, Key::built_unsigned_groups),
             deployment::bit(Key::int8_dynamic_token)},
};
constexpr std::array kHummingNowQuant = {QuantRule{kHummingPairs}, QuantRule{kHummingMorePairs}};
constexpr std::array kTritonBlocks = {
    kFp8BlockPair,
    kFp8ChannelPair,
    KeyPairs{deployment::bit(Key::fp8_static_tensor), deployment::set_of(Key::fp8_dynamic_token, Key::fp8_static_tensor, Key::fp8_dynamic_tensor)},
    KeyPairs{deployment::bit(Key::built_fp8_blocks), deployment::bit(Key::fp8_dynamic_128)},
};
constexpr std::array kTritonNowQuant = {
    QuantRule{kUnquantizedPairs},   QuantRule{kInt8PairsNow, deployment::on_cuda(deployment::cap_at_least(75))}, QuantRule{kInt8PairsNow, deployment::on_rocm()},
    QuantRule{kInt8PairsNow, kXpu}, QuantRule{kTritonBlocks, deployment::on_cuda(deployment::cap_at_least(89))}, QuantRule{kTritonBlocks, deployment::on_rocm(kFp8RocmNow)},
    QuantRule{kTritonBlocks, kXpu},
};
constexpr std::array kRdna3Quant = {QuantRule{kXpuInt4Pairs}};

// Parallelism, routing, activations.

constexpr deployment::Mask kNvlinkOrHt = kFlashinferNvlink | deployment::bit(PF::deepep_ht);
constexpr deployment::Mask kNoSimulated = ~deployment::bit(deployment::Routing::simulated);
constexpr deployment::Mask kAiterRoutings = kSoftmaxOverChosen | deployment::set_of(deployment::Routing::deepseek_v4, deployment::Routing::deepseek_v3);
constexpr deployment::Mask kAiterActivations = deployment::set_of(silu, gelu, situ) | kOaiBoth;
constexpr std::array kLostOnXpu = {ActivationLoss{kXpu, deployment::set_of(situ, swigluoai_uninterleave, swiglustep)}};

constexpr std::array kAiterMxfp8RulesNow = {triton_experts, silu_or_uninterleaved, uninterleaved_alpha_beta};
constexpr std::array kTrtllmFp8Rules = {trtllm_fp8_constants, experts_2048};
constexpr std::array kHidden32 = {hidden_32};
constexpr std::array kPowerInt8Rules = {f32_or_bfloat16_dtype, sizes_16};
constexpr std::array kZenInt4Rules = {bfloat16_dtype, two_experts_per_token};
constexpr std::array kMoeEpRules = {moe_ep};

constexpr KernelClass aiter(std::string_view name, std::span<const QuantRule> quant) {
  return {.name = name,
          .first = kNow,
          .devices = kAiterNow,
          .activations = kAiterActivations,
          .quant = quant,
          .refused_parallel = kFlashinferNvlink,
          .device_code = "device+aiter_hint"};
}
constexpr KernelClass humming(std::string_view name, HummingGemm gemm, ActivationFormat format) {
  return {.name = name,
          .first = kNow,
          .format = format,
          .devices = kHummingDevices,
          .takes_no_act_and_mul = true,
          .activations = kEveryApplied,
          .quant = kHummingNowQuant,
          .batch_invariant = true,
          .humming = gemm,
          .rules_after = kHummingRules};
}
constexpr KernelClass cpu(std::string_view name, std::span<const DeviceRule> devices, deployment::Mask activations, std::span<const QuantRule> quant,
                          deployment::Mask routings, std::span<const LayerRule> rules = {}) {
  return {.name = name, .first = kNow, .devices = devices, .activations = activations, .quant = quant, .routings = routings, .rules_after = rules};
}
constexpr KernelClass on_one_rank(KernelClass row) {
  row.refused_parallel = deployment::bit(PF::use_ep);
  return row;
}

constexpr std::array kClasses = {
    // rocm_aiter_moe.py, aiter_mxfp4_w4a16_moe.py, aiter_mxfp4_w4a4_moe.py, aiter_mxfp4_w4a8_moe.py, aiter_mxfp8_moe.py
    aiter("AiterFp8BlockExperts", kFp8BlockQuant),
    aiter("AiterFp8TensorExperts", kAiterTensorQuant),
    aiter("AiterFp8ChannelExperts", kAiterChannelQuant),
    aiter("AiterUnquantizedExperts", kUnquantized),
    aiter("AiterMxfp4Experts", kAiterMxfp4Quant),
    KernelClass{.name = "AiterW4A16ExpertsMonolithic",
                .first = kNow,
                .monolithic = true,
                .devices = kAiterW4A16Devices,
                .activations = kSiluAndOai,
                .quant = kMxfp4OnBf16,
                .refused_parallel = kNotOneDispatch,
                .routings = kAiterRoutings,
                .hash_routing = true},
    KernelClass{.name = "AiterW4A4ExpertsMonolithic",
                .first = kNow,
                .monolithic = true,
                .devices = kAiterW4A4Devices,
                .activations = deployment::bit(silu) | kOaiBoth,
                .quant = kMxfp4OnMxfp4Quant,
                .refused_parallel = kNotOneDispatch,
                .routings = kAiterRoutings | deployment::bit(deployment::Routing::minimax2),
                .hash_routing = true},
    KernelClass{.name = "AiterW4A8ExpertsMonolithic",
                .first = kNow,
                .monolithic = true,
                .devices = kAiterW4Devices,
                .activations = deployment::bit(swigluoai),
                .quant = kAiterW4a8Quant,
                .refused_parallel = deployment::set_of(PF::use_ep, PF::eplb, PF::dp_above_one),
                .routings = kSoftmaxOverChosen},
    KernelClass{.name = "AiterMxfp8Experts",
                .first = kNow,
                .devices = kAiterMxfp8Devices,
                .takes_no_act_and_mul = true,
                .activations = kEveryApplied,
                .quant = kMxfp8Quant,
                .lora = true,
                .rules_after = kAiterMxfp8RulesNow},
    // gpt_oss_triton_kernels_moe.py
    KernelClass{.name = "OAITritonMxfp4ExpertsMonolithic",
                .first = kNow,
                .monolithic = true,
                .devices = kTritonKernelsWide,
                .activations = deployment::bit(swigluoai),
                .quant = kMxfp4OnBf16,
                .refused_parallel = kNotOneDispatch,
                .routings = kSoftmaxOverChosen},
    KernelClass{.name = "OAITritonExperts", .first = kNow, .devices = kTritonKernelsWide, .activations = deployment::bit(swigluoai), .quant = kMxfp4OnBf16},
    KernelClass{.name = "UnfusedOAITritonExperts",
                .first = kNow,
                .devices = kTritonKernelsWide,
                .activations = deployment::set_of(silu, gelu, swiglustep) | kOaiBoth,
                .quant = kMxfp4OnBf16,
                .lora = true},
    // cutlass_moe.py
    KernelClass{.name = "CutlassExpertsMxfp4",
                .first = kNow,
                .devices = kCutlassMxfp4Devices,
                .takes_no_act_and_mul = true,
                .activations = kEveryApplied,
                .quant = kMxfp4OnMxfp4Quant,
                .refused_parallel = kNvlinkOrHt},
    KernelClass{.name = "CutlassExpertsFp4",
                .first = kNow,
                .devices = kCutlassFp4Devices,
                .takes_no_act_and_mul = true,
                .activations = kEveryApplied,
                .quant = kNvfp4Quant,
                .refused_parallel = kNvlinkOrHt,
                .batch_invariant = true},
    KernelClass{.name = "CutlassExpertsW4A8Fp8",
                .first = kNow,
                .only_dtype = "bfloat16",
                .devices = kCutlassHopper,
                .activations = kEveryGated,
                .quant = kW4a8Quant},
    // flashinfer_moe_ep.py, moonep.py, rdna3_wna16_moe.py, trtllm_lora_moe.py
    KernelClass{.name = "FlashInferMoeEpExperts",
                .first = kNow,
                .devices = kMoeEpDevices,
                .activations = deployment::bit(silu),
                .quant = kMoeEpQuant,
                .refused_parallel = deployment::set_of(PF::no_ep, PF::batched_format),
                .rules_after = kMoeEpRules},
    KernelClass{.name = "MoonEPExperts",
                .first = kNow,
                .devices = kCudaDevices,
                .activations = deployment::bit(silu),
                .quant = kUnquantized,
                .refused_parallel = deployment::set_of(PF::no_moonep, PF::eplb)},
    KernelClass{.name = "Rdna3WNA16Experts",
                .first = kNow,
                .devices = kRdna3Devices,
                .takes_no_act_and_mul = true,
                .activations = kEveryApplied,
                .quant = kRdna3Quant,
                .refused_parallel = kFlashinferNvlink},
    KernelClass{.name = "TrtLlmMxfp4LoRAExperts",
                .first = kNow,
                .devices = kTrtllmDevices,
                .activations = kSiluAndOai,
                .quant = kMxfp4OnBf16,
                .refused_parallel = kNotOneDispatch,
                .lora = true},
    // fused_humming_moe.py
    humming("BatchedHummingGroupedExperts", HummingGemm::grouped_masked, kBatched),
    humming("HummingGroupedExperts", HummingGemm::grouped_contiguous, ActivationFormat::standard),
    humming("HummingIndexedExperts", HummingGemm::indexed, ActivationFormat::standard),
    // triton_moe.py, fused_batched_moe.py
    KernelClass{.name = "TritonExperts",
                .first = kNow,
                .devices = kTritonDevices,
                .takes_no_act_and_mul = true,
                .activations = kEveryApplied,
                .quant = kTritonNowQuant,
                .refused_parallel = kFlashinferNvlink,
                .batch_invariant = true,
                .lora = true,
                .rules_after = kTritonRules},
    KernelClass{.name = "BatchedTritonExperts",
                .first = kNow,
                .format = kBatched,
                .devices = kBatchedTritonNow,
                .takes_no_act_and_mul = true,
                .activations = kEveryApplied,
                .quant = kBatchedTritonNowQuant,
                .fewer_activations = kLostOnXpu},
    // flashinfer_cutedsl_moe.py
    KernelClass{.name = "FlashInferCuteDSLExperts",
                .first = kNow,
                .devices = kCuteDslDevices,
                .takes_no_act_and_mul = true,
                .activations = deployment::set_of(silu, relu2_no_mul, situ) | kOaiBoth,
                .quant = kNvfp4TokenQuant},
    // trtllm_nvfp4_moe.py, trtllm_fp8_moe.py, trtllm_mxint4_moe.py, trtllm_bf16_moe.py
    KernelClass{.name = "TrtLlmNvFp4ExpertsMonolithic",
                .first = kNow,
                .monolithic = true,
                .devices = kTrtllmDevices,
                .takes_no_act_and_mul = true,
                .activations = deployment::set_of(silu, relu2_no_mul, gelu, gelu_tanh, swigluoai_uninterleave),
                .quant = kNvfp4TokenQuant,
                .refused_parallel = deployment::set_of(PF::all2all_kernels, PF::eplb),
                .routings = (kTrtllmRoutingsNow | deployment::bit(deployment::Routing::llama4)) & kNoSimulated,
                .situ = &deployment::Software::flashinfer_situ,
                .router_logits = kBfloat16Logits | kFloat32Logits},
    KernelClass{.name = "TrtLlmNvFp4ExpertsModular",
                .first = kNow,
                .devices = kTrtllmDevices,
                .takes_no_act_and_mul = true,
                .activations = deployment::set_of(silu, relu2_no_mul, gelu, gelu_tanh, swigluoai_uninterleave),
                .quant = kNvfp4TokenQuant,
                .situ = &deployment::Software::flashinfer_situ},
    KernelClass{.name = "TrtLlmFp8ExpertsMonolithic",
                .first = kNow,
                .monolithic = true,
                .devices = kTrtllmDevices,
                .takes_no_act_and_mul = true,
                .activations = deployment::set_of(silu, swigluoai_uninterleave, relu2_no_mul),
                .quant = kTrtllmFp8MonolithicQuant,
                .refused_parallel = kRoutedExchange | deployment::bit(PF::sp_above_one),
                .routings = kTrtllmRoutingsNow & kNoSimulated,
                .more_routings = kLlama4PerTensor,
                .router_logits = kBfloat16Logits | kFloat32Logits,
                .rules_after = kTrtllmFp8Rules},
    KernelClass{.name = "TrtLlmFp8ExpertsModular",
                .first = kNow,
                .devices = kTrtllmDevices,
                .takes_no_act_and_mul = true,
                .activations = deployment::set_of(silu, swigluoai_uninterleave, relu2_no_mul),
                .quant = kTrtllmFp8Quant,
                .refused_parallel = deployment::set_of(PF::eplb, PF::all2all_without_trtllm_fp8),
                .rules_after = kTrtllmFp8Rules},
    KernelClass{.name = "TrtLlmMxint4ExpertsMonolithic",
                .first = kNow,
                .monolithic = true,
                .devices = kMxint4Devices,
                .activations = kSiluAndOai,
                .quant = kMxint4Quant,
                .refused_parallel = kRoutedExchange,
                .routings = kSoftmaxOverChosen | deployment::set_of(deployment::Routing::deepseek_v3, deployment::Routing::llama4),
                .f32_logits_routings = deployment::bit(deployment::Routing::deepseek_v3)},
    KernelClass{.name = "TrtLlmBf16ExpertsMonolithic",
                .first = kNow,
                .monolithic = true,
                .devices = kTrtllmDevices,
                .takes_no_act_and_mul = true,
                .activations = deployment::set_of(silu, relu2_no_mul),
                .quant = kUnquantized,
                .refused_parallel = kRoutedExchange,
                .routings = kBf16Routings | deployment::bit(deployment::Routing::minimax2),
                .rules_after = kExpertRules},
    // cpu_moe.py: no longer monolithic, but for the last.
    cpu("X86CPUUnquantizedExperts", kAmxDevices, kCpuNow, kUnquantized, deployment::kEverything, kPlainX86),
    cpu("ArmCPUUnquantizedExperts", kArmDevices, kCpuNow, kUnquantized, deployment::kEverything, kPlainArm),
    cpu("PowerCPUUnquantizedExperts", kPowerDevices, kCpuNow, kUnquantized, deployment::kEverything, kPlainPower),
    cpu("CPUUnquantizedExperts", kCpuDevices, kCpuNow, kUnquantized, deployment::kEverything, kPlainCpu),
    cpu("CPUExpertsFp8", kAmxDevices, deployment::set_of(silu, gelu, gelu_tanh), kFp8BlockQuant,
        kCpuRoutings | deployment::set_of(deployment::Routing::deepseek_v3, deployment::Routing::deepseek_v4)),
    cpu("CPUExpertsFp8W8A8", kAmxFp8Devices, deployment::set_of(silu, gelu_tanh), kFp8BlockQuant,
        kCpuRoutings | deployment::set_of(deployment::Routing::deepseek_v3, deployment::Routing::deepseek_v4)),
    cpu("CPUExpertsMxfp4", kAmxDevices, kCpuNow, kMxfp4OnBf16, kCpuRoutings | deployment::bit(deployment::Routing::deepseek_v4)),
    cpu("CPUExpertsInt8", kAmxDevices, deployment::set_of(silu, gelu_tanh), kCpuInt8Quant, kCpuRoutings, kHidden32),
    on_one_rank(cpu("ArmCPUExpertsInt8", kArmInt8Devices, kCpuNow, kCpuInt8Quant, kCpuRoutings, kSizes32)),
    on_one_rank(cpu("PowerCPUExpertsInt8", kPowerInt8Devices, kCpuNow, kCpuInt8Quant, kCpuRoutings, kPowerInt8Rules)),
    on_one_rank(cpu("ZenCPUExpertsInt8", kZenDevices, kCpuNow, kCpuInt8Quant, kCpuRoutings)),
    cpu("CPUExpertsInt4", kAmxDevices, deployment::set_of(silu, gelu_tanh), kCpuInt4Quant, kCpuRoutings),
    KernelClass{.name = "ZentorchExpertsInt4",
                .first = kNow,
                .monolithic = true,
                .devices = kZenInt4Devices,
                .activations = kCpuNow,
                .quant = kXpuInt4Quant,
                .refused_parallel = deployment::bit(PF::use_ep),
                .routings = kCpuRoutings | deployment::bit(deployment::Routing::custom),
                .rules_after = kZenInt4Rules},
};

}  // namespace

std::span<const KernelClass> classes_2026_11() { return kClasses; }

}  // namespace mx::engine
