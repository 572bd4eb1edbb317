#pragma once
// What the rows of expert classes share: activations, routing methods, devices, keys. For the class tables alone.

#include <array>

#include "model/engine/vllm/tables.hpp"

namespace mx::engine::class_rows {

using enum deployment::Activation;
using Key = deployment::QuantKey;
using Names = std::string_view;

inline constexpr auto kBatched = ActivationFormat::batched_experts;

inline constexpr deployment::Mask kSiluAndOai = deployment::set_of(swigluoai, silu);
inline constexpr deployment::Mask kTritonActivations =
    deployment::set_of(silu, gelu, gelu_tanh, swigluoai, swiglustep, silu_no_mul, gelu_no_mul, gelu_tanh_no_mul, relu2_no_mul);
inline constexpr deployment::Mask kBatchedTritonActivations = kTritonActivations & ~deployment::bit(swiglustep);
inline constexpr deployment::Mask kCutlassActivations = deployment::set_of(silu, gelu, swigluoai);
inline constexpr deployment::Mask kXpuActivations = deployment::set_of(silu, gelu, swigluoai, relu2_no_mul);

inline constexpr deployment::Mask kSoftmaxOverChosen = deployment::set_of(deployment::Routing::renormalize, deployment::Routing::renormalize_naive);
inline constexpr deployment::Mask kCpuRoutings = deployment::set_of(deployment::Routing::standard, deployment::Routing::renormalize, deployment::Routing::renormalize_naive);
inline constexpr deployment::Mask kTrtllmRoutings =
    deployment::set_of(deployment::Routing::renormalize, deployment::Routing::deepseek_v3, deployment::Routing::renormalize_naive, deployment::Routing::sigmoid_renorm, deployment::Routing::minimax2, deployment::Routing::simulated);

inline constexpr deployment::Mask kFlashinferNvlink = deployment::set_of(ParallelFact::fi_nvl_two_sided, ParallelFact::fi_nvl_one_sided);
inline constexpr deployment::Mask kNotOneDispatch = deployment::set_of(ParallelFact::all2all_kernels, ParallelFact::eplb, ParallelFact::dp_above_one);

// Devices.

inline constexpr std::array<Names, 3> kGfx9 = {"gfx90a", "gfx942", "gfx950"};
inline constexpr std::array<Names, 5> kGfx9OrGfx1x = {"gfx90a", "gfx942", "gfx950", "gfx11", "gfx12"};
inline constexpr std::array<Names, 4> kFp8Gfx = {"gfx90a", "gfx942", "gfx950", "gfx12"};
inline constexpr std::array<Names, 2> kMi3xx = {"gfx942", "gfx950"};
inline constexpr std::array<Names, 1> kGfx950 = {"gfx950"};

inline constexpr std::array kDeepGemmOn = {EnvVariable::use_deep_gemm};
inline constexpr std::array kAiterOn = {EnvVariable::rocm_use_aiter};
inline constexpr std::array kFusedMoeAiterOn = {EnvVariable::rocm_use_aiter, EnvVariable::rocm_use_aiter_moe};

inline constexpr deployment::Where kBlackwell = deployment::on_cuda(deployment::cap_family(100));
inline constexpr deployment::Where kXpu{deployment::bit(deployment::PlatformKind::xpu), deployment::kAnyCapability, {}};
inline constexpr deployment::Where kCpu{deployment::bit(deployment::PlatformKind::cpu), deployment::kAnyCapability, {}};
inline constexpr deployment::Where kCudaOrRocm{deployment::set_of(deployment::PlatformKind::cuda, deployment::PlatformKind::rocm), deployment::kAnyCapability, {}};
inline constexpr deployment::Where kCudaRocmOrXpu{deployment::set_of(deployment::PlatformKind::cuda, deployment::PlatformKind::rocm, deployment::PlatformKind::xpu), deployment::kAnyCapability, {}};

inline constexpr std::array kTrtllmMxfp4Devices = {DeviceRule{kBlackwell, &deployment::Software::has_flashinfer}};
inline constexpr std::array kTrtllmDevices = {DeviceRule{kBlackwell, &deployment::Software::has_flashinfer_trtllm_fused_moe}};
inline constexpr std::array kFlashinferDevices = {
    DeviceRule{deployment::on_cuda(deployment::cap_exactly(90)), &deployment::Software::has_flashinfer_cutlass_fused_moe},
    DeviceRule{kBlackwell, &deployment::Software::has_flashinfer_cutlass_fused_moe},
    DeviceRule{deployment::on_cuda(deployment::cap_family(120)), &deployment::Software::has_flashinfer_cutlass_fused_moe},
};
inline constexpr std::array kCuteDslDevices = {DeviceRule{kBlackwell, &deployment::Software::has_flashinfer_cutedsl_moe_nvfp4}};
inline constexpr std::array kCuteDslBatchedDevices = {DeviceRule{kBlackwell, &deployment::Software::has_flashinfer_cutedsl_grouped_gemm_nt_masked}};
inline constexpr std::array kB12xDevices = {DeviceRule{deployment::on_cuda(deployment::cap_family(120)), &deployment::Software::has_flashinfer_b12x_moe}};
inline constexpr std::array kCutlassFp4Devices = {
    DeviceRule{kBlackwell},
    DeviceRule{deployment::on_cuda(deployment::cap_family(110))},
    DeviceRule{deployment::on_cuda(deployment::cap_family(120))},
};
// cutlass_group_gemm_supported: the range comes on top of what the compiled operation answers.
inline constexpr std::array kCutlassGroupGemmDevices = {DeviceRule{deployment::on_cuda({90, 110}), &deployment::Software::cutlass_group_gemm_op}};
// is_deep_gemm_supported.
inline constexpr std::array kDeepGemmDevices = {
    DeviceRule{deployment::on_cuda(deployment::cap_exactly(90)), &deployment::Software::has_deep_gemm, kDeepGemmOn},
    DeviceRule{kBlackwell, &deployment::Software::has_deep_gemm, kDeepGemmOn},
};
inline constexpr std::array kDeepGemmFp4Devices = {DeviceRule{kBlackwell, &deployment::Software::has_deep_gemm, kDeepGemmOn}};
inline constexpr std::array kTritonKernelsDevices = {
    DeviceRule{deployment::on_cuda({90, 110}), &deployment::Software::has_triton_kernels},
    DeviceRule{deployment::on_rocm(kGfx9OrGfx1x), &deployment::Software::has_triton_kernels},
};
inline constexpr std::array kMarlinDevices = {DeviceRule{deployment::on_cuda(deployment::cap_at_least(75))}};
inline constexpr std::array kAiterDevices = {DeviceRule{deployment::on_rocm(kMi3xx), &deployment::Software::aiter_found, kFusedMoeAiterOn}};
// The MOE variable is not consulted here.
inline constexpr std::array kAiterW4a8Devices = {DeviceRule{deployment::on_rocm(kGfx950), &deployment::Software::aiter_found, kAiterOn}};
inline constexpr std::array kXpuDevices = {DeviceRule{kXpu}};
inline constexpr std::array kCpuDevices = {DeviceRule{kCpu}};
inline constexpr std::array kTritonDevices = {DeviceRule{kCudaRocmOrXpu}};
inline constexpr std::array kBatchedTritonDevices = {DeviceRule{kCudaOrRocm}};

// Keys.

inline constexpr KeyPairs kUnquantizedPair{deployment::bit(Key::none), deployment::bit(Key::none)};
inline constexpr KeyPairs kFp8BlockPair{deployment::bit(Key::fp8_static_128_block), deployment::bit(Key::fp8_dynamic_128)};
inline constexpr KeyPairs kFp8StaticPair{deployment::bit(Key::fp8_static_tensor), deployment::bit(Key::fp8_static_tensor)};
inline constexpr KeyPairs kFp8TensorPairs{deployment::bit(Key::fp8_static_tensor), deployment::set_of(Key::fp8_static_tensor, Key::fp8_dynamic_tensor)};
inline constexpr KeyPairs kFp8ChannelPair{deployment::bit(Key::fp8_static_channel), deployment::bit(Key::fp8_dynamic_token)};
inline constexpr KeyPairs kMxfp8Pair{deployment::bit(Key::mxfp8_static), deployment::bit(Key::mxfp8_dynamic)};
inline constexpr KeyPairs kNvfp4Pair{deployment::bit(Key::nvfp4_static), deployment::bit(Key::nvfp4_dynamic)};
inline constexpr KeyPairs kMxfp4OnBf16Pair{deployment::bit(Key::mxfp4_static), deployment::bit(Key::none)};
inline constexpr KeyPairs kMxfp4OnMxfp8Pair{deployment::bit(Key::mxfp4_static), deployment::bit(Key::mxfp8_dynamic)};

inline constexpr std::array kUnquantizedPairs = {kUnquantizedPair};
inline constexpr std::array kInt8Pairs = {KeyPairs{deployment::bit(Key::int8_static_channel), deployment::bit(Key::int8_dynamic_token)}};
inline constexpr std::array kTritonFp8Pairs = {
    kFp8BlockPair,
    kFp8ChannelPair,
    KeyPairs{deployment::bit(Key::fp8_static_tensor), deployment::set_of(Key::fp8_dynamic_token, Key::fp8_static_tensor, Key::fp8_dynamic_tensor)},
};
inline constexpr std::array kMxfp4OnBf16Pairs = {kMxfp4OnBf16Pair};
inline constexpr std::array kNvfp4Pairs = {kNvfp4Pair};
inline constexpr std::array kFp8BlockPairs = {kFp8BlockPair};
inline constexpr std::array kEveryPair = {KeyPairs{deployment::kEverything, deployment::kEverything}};

inline constexpr std::array kTrtllmMxfp4Pairs = {kMxfp4OnBf16Pair, kMxfp4OnMxfp8Pair};
inline constexpr std::array kDeepGemmFp4Pairs = {KeyPairs{deployment::bit(Key::mxfp4_static), deployment::bit(Key::fp8_dynamic_128)}};
inline constexpr std::array kFlashinferFrom90 = {kUnquantizedPair, kFp8StaticPair};
inline constexpr std::array kFlashinferOn90 = {kMxfp4OnBf16Pair, kFp8BlockPair};
inline constexpr std::array kFlashinferFrom100 = {kMxfp4OnMxfp8Pair, kNvfp4Pair};
inline constexpr std::array kMarlinPairs = {KeyPairs{
    deployment::set_of(Key::fp8_static_128_block, Key::fp8_static_channel, Key::fp8_static_tensor, Key::mxfp4_static, Key::mxfp8_static, Key::nvfp4_static,
           Key::int4_static, Key::int8_static),
    deployment::kEverything,
}};
inline constexpr std::array kAiterPairs = {kUnquantizedPair, kFp8BlockPair, kFp8TensorPairs, kFp8ChannelPair};
inline constexpr std::array kAiterGfx950Pairs = {KeyPairs{deployment::bit(Key::mxfp4_static), deployment::set_of(Key::none, Key::mxfp4_dynamic)}};
inline constexpr std::array kAiterW4a8Pairs = {KeyPairs{deployment::bit(Key::mxfp4_static), deployment::bit(Key::fp8_static_tensor)}};
inline constexpr std::array kXpuFp8Pairs = {KeyPairs{deployment::bit(Key::fp8_static_tensor), deployment::set_of(Key::none, Key::fp8_dynamic_tensor)}};
inline constexpr std::array kXpuMxfp8Pairs = {KeyPairs{deployment::bit(Key::mxfp8_static), deployment::set_of(Key::none, Key::mxfp8_dynamic)}};
inline constexpr std::array kTrtllmFp8MonolithicPairs = {kFp8BlockPair, kFp8StaticPair, kMxfp8Pair};
inline constexpr std::array kTrtllmFp8Pairs = {kFp8BlockPair, kMxfp8Pair};
inline constexpr std::array kCutlassFp8Pairs = {kFp8ChannelPair, kFp8TensorPairs};
inline constexpr std::array kW4a8Pairs = {KeyPairs{deployment::bit(Key::int4_static), deployment::bit(Key::fp8_dynamic_token)}};

inline constexpr std::array kTrtllmMxfp4Quant = {QuantRule{kTrtllmMxfp4Pairs}};
inline constexpr std::array kDeepGemmFp4Quant = {QuantRule{kDeepGemmFp4Pairs}};
inline constexpr std::array kFlashinferQuant = {
    QuantRule{kFlashinferFrom90, deployment::on_cuda(deployment::cap_at_least(90))},
    QuantRule{kFlashinferOn90, deployment::on_cuda(deployment::cap_exactly(90))},
    QuantRule{kFlashinferFrom100, deployment::on_cuda(deployment::cap_at_least(100))},
};
inline constexpr std::array kMxfp4OnBf16 = {QuantRule{kMxfp4OnBf16Pairs}};
// Marlin dequantizes weights and looks at no activation key.
inline constexpr std::array kMarlinQuant = {QuantRule{kMarlinPairs}};
inline constexpr std::array kAiterQuant = {QuantRule{kAiterPairs}, QuantRule{kAiterGfx950Pairs, deployment::on_rocm(kGfx950)}};
inline constexpr std::array kAiterW4a8Quant = {QuantRule{kAiterW4a8Pairs}};
inline constexpr std::array kXpuFp8Quant = {QuantRule{kXpuFp8Pairs}};
inline constexpr std::array kXpuMxfp8Quant = {QuantRule{kXpuMxfp8Pairs}};
inline constexpr std::array kAnyQuant = {QuantRule{kEveryPair}};
inline constexpr std::array kNvfp4Quant = {QuantRule{kNvfp4Pairs}};
inline constexpr std::array kTrtllmFp8MonolithicQuant = {QuantRule{kTrtllmFp8MonolithicPairs}};
inline constexpr std::array kTrtllmFp8Quant = {QuantRule{kTrtllmFp8Pairs}};
inline constexpr std::array kFp8BlockQuant = {QuantRule{kFp8BlockPairs}};
// supports_fp8 of each platform class.
inline constexpr std::array kTritonQuant = {
    QuantRule{kUnquantizedPairs},
    QuantRule{kInt8Pairs, deployment::on_cuda(deployment::cap_at_least(75))},
    QuantRule{kTritonFp8Pairs, deployment::on_cuda(deployment::cap_at_least(89))},
    QuantRule{kTritonFp8Pairs, deployment::on_rocm(kFp8Gfx)},
    QuantRule{kTritonFp8Pairs, kXpu},
};
// Narrower than supports_fp8: no gfx12.
inline constexpr std::array kBatchedTritonQuant = {
    QuantRule{kUnquantizedPairs},
    QuantRule{kTritonFp8Pairs, deployment::on_cuda(deployment::cap_at_least(89))},
    QuantRule{kTritonFp8Pairs, deployment::on_rocm(kGfx9)},
};
inline constexpr std::array kCutlassFp8Quant = {QuantRule{kCutlassFp8Pairs}};
inline constexpr std::array kW4a8Quant = {QuantRule{kW4a8Pairs}};

inline constexpr std::array kLlama4PerTensor = {RoutingRule{kFp8StaticPair, deployment::bit(deployment::Routing::llama4)}};

inline constexpr std::array<Names, 2> kTritonOrDeepGemm = {"DeepGemmExperts", "TritonExperts"};
inline constexpr std::array<Names, 2> kTritonOrCutlass = {"CutlassExpertsFp8", "TritonExperts"};

// Since 2026-08.

inline constexpr deployment::Mask kEveryApplied = deployment::kEverything & ~deployment::bit(relu2);  ///< what apply_moe_activation_supported names
inline constexpr deployment::Mask kEveryGated = deployment::set_of(silu, gelu, gelu_tanh, situ, swigluoai, swigluoai_uninterleave, swiglustep);

/// Numbered by dtype_names().
inline constexpr deployment::Mask kBfloat16Logits = 1;
inline constexpr deployment::Mask kFloat32Logits = 4;

using enum LayerRule;

inline constexpr std::array<Names, 2> kGfx950And1250 = {"gfx950", "gfx1250"};
inline constexpr std::array<Names, 3> kAiterGfx = {"gfx942", "gfx950", "gfx1250"};
inline constexpr std::array<Names, 2> kGfx1x = {"gfx11", "gfx12"};
inline constexpr std::array<Names, 4> kFp8Rocm = {"gfx9", "gfx1250", "gfx1200", "gfx1201"};
inline constexpr std::array<Names, 5> kBatchedFp8Rocm = {"gfx942", "gfx950", "gfx1250", "gfx1200", "gfx1201"};
inline constexpr std::array<Names, 2> kMxRocm = {"gfx95", "gfx1250"};
inline constexpr std::array kMxint4On = {EnvVariable::use_flashinfer_moe_int4};

inline constexpr deployment::Where kRdna{.platforms = deployment::bit(deployment::PlatformKind::rocm), .gcn_contains_any = kGfx1x, .gcn_lacks = "gfx1250"};
inline constexpr deployment::Where on_arch(std::string_view arch) { return {.platforms = deployment::bit(deployment::PlatformKind::cpu), .cpu_arch = arch}; }

// Devices.

inline constexpr std::array kDeepGemmNow = {
    DeviceRule{deployment::on_cuda(deployment::cap_exactly(90)), &deployment::Software::has_deep_gemm, kDeepGemmOn},
    DeviceRule{kBlackwell, &deployment::Software::has_deep_gemm, kDeepGemmOn},
    DeviceRule{deployment::on_cuda(deployment::cap_family(120)), &deployment::Software::has_deep_gemm, kDeepGemmOn},
};
inline constexpr std::array kDeepGemmFp4Now = {
    DeviceRule{kBlackwell, &deployment::Software::has_deep_gemm, kDeepGemmOn},
    DeviceRule{deployment::on_cuda(deployment::cap_family(120)), &deployment::Software::has_deep_gemm, kDeepGemmOn},
};
inline constexpr std::array kB12xPackage = {DeviceRule{deployment::on_cuda(deployment::cap_family(120)), &deployment::Software::b12x_supported}};
inline constexpr std::array kTritonKernelsNow = {
    DeviceRule{deployment::on_cuda({90, 110}), &deployment::Software::has_triton_kernels},
    DeviceRule{deployment::on_rocm(kGfx9), &deployment::Software::has_triton_kernels},
    DeviceRule{kRdna, &deployment::Software::has_triton_kernels},
};
inline constexpr std::array kAiterNow = {DeviceRule{deployment::on_rocm(kAiterGfx), &deployment::Software::aiter_found, kFusedMoeAiterOn}};
inline constexpr std::array kAiterW4Devices = {DeviceRule{deployment::on_rocm(kGfx950And1250), &deployment::Software::aiter_found, kAiterOn}};
inline constexpr std::array kMxDevices = {DeviceRule{deployment::on_rocm(kMxRocm)}};
inline constexpr std::array kEverywhere = {DeviceRule{deployment::kAnywhere}};
inline constexpr std::array kBatchedTritonNow = {DeviceRule{kCudaRocmOrXpu}};
inline constexpr std::array kCudaOrRocmDevices = {DeviceRule{kCudaOrRocm}};
inline constexpr std::array kHpcDevices = {DeviceRule{deployment::on_cuda(deployment::cap_exactly(90)), &deployment::Software::has_hpc}};
inline constexpr std::array kHummingDevices = {DeviceRule{deployment::on_cuda(deployment::cap_at_least(75)), &deployment::Software::humming_installed}};
inline constexpr std::array kMxint4Devices = {DeviceRule{kBlackwell, &deployment::Software::has_flashinfer_trtllm_fused_moe, kMxint4On}};
inline constexpr std::array kAmxDevices = {DeviceRule{.where = on_arch("x86"), .trait = &deployment::Hardware::amx}};
inline constexpr std::array kArmDevices = {DeviceRule{on_arch("arm")}};
inline constexpr std::array kPowerDevices = {DeviceRule{on_arch("power")}};
inline constexpr std::array kArmInt8Devices = {DeviceRule{on_arch("arm"), &deployment::Software::cpu_fused_moe_int8_op}};

// Keys.

inline constexpr deployment::Mask kInt4Weights = deployment::set_of(Key::int4_static, Key::int4_static_32, Key::int4_static_asym, Key::int4_static_32_asym);
inline constexpr deployment::Mask kUnsignedGroups = deployment::set_of(Key::int4_static_32, Key::int4_static_32_asym, Key::built_unsigned_groups, Key::mxfp4_dynamic);
inline constexpr deployment::Mask kOrToken = deployment::set_of(Key::none, Key::fp8_dynamic_token);

inline constexpr std::array kB12xPairs = {
    KeyPairs{deployment::bit(Key::mxfp4_static), deployment::set_of(Key::mxfp8_dynamic, Key::none)},
    KeyPairs{deployment::bit(Key::nvfp4_static), deployment::set_of(Key::nvfp4_dynamic, Key::mxfp8_dynamic, Key::none)},
};
inline constexpr std::array kB12xQuant = {QuantRule{kB12xPairs}};
inline constexpr std::array kMarlinPairsNow = {
    KeyPairs{kMarlinPairs[0].weights | deployment::set_of(Key::int4_static_32, Key::int4_static_asym, Key::int4_static_32_asym), deployment::kEverything}};
inline constexpr std::array kMarlinNow = {QuantRule{kMarlinPairsNow}};
inline constexpr std::array kAiterNowQuant = {QuantRule{kAiterPairs}, QuantRule{kAiterGfx950Pairs, deployment::on_rocm(kGfx950)}};
inline constexpr std::array kMxfp8Pairs = {kMxfp8Pair};
inline constexpr std::array kMxfp8Quant = {QuantRule{kMxfp8Pairs}};
inline constexpr std::array kInt8PairsNow = {KeyPairs{deployment::bit(Key::int8_static_channel), deployment::bit(Key::int8_dynamic_token)},
                                             KeyPairs{deployment::bit(Key::int8_static_tensor), deployment::bit(Key::int8_dynamic_tensor)}};
inline constexpr std::array kTritonNow = {
    QuantRule{kUnquantizedPairs},
    QuantRule{kInt8PairsNow, deployment::on_cuda(deployment::cap_at_least(75))},
    QuantRule{kInt8PairsNow, deployment::on_rocm()},
    QuantRule{kTritonFp8Pairs, deployment::on_cuda(deployment::cap_at_least(89))},
    QuantRule{kTritonFp8Pairs, deployment::on_rocm(kFp8Rocm)},
    QuantRule{kTritonFp8Pairs, kXpu},
};
inline constexpr std::array kBatchedTritonNowQuant = {
    QuantRule{kUnquantizedPairs},
    QuantRule{kTritonFp8Pairs, deployment::on_cuda(deployment::cap_at_least(89))},
    QuantRule{kTritonFp8Pairs, deployment::on_rocm(kBatchedFp8Rocm)},
};
inline constexpr std::array kWna16Pairs = {KeyPairs{kInt4Weights | deployment::bit(Key::int8_static), deployment::kEverything}};
inline constexpr std::array kWna16Quant = {QuantRule{kWna16Pairs}};
inline constexpr std::array kInt4Pairs = {KeyPairs{kInt4Weights, deployment::bit(Key::none)}};
inline constexpr std::array kInt4Quant = {QuantRule{kInt4Pairs}};
inline constexpr std::array kDeepGemmNowQuant = {QuantRule{kFp8BlockPairs}, QuantRule{kMxfp8Pairs, kBlackwell}};
inline constexpr std::array kFlashinferB12xPairs = {KeyPairs{deployment::bit(Key::nvfp4_static), deployment::set_of(Key::nvfp4_dynamic, Key::none)}};
inline constexpr std::array kFlashinferB12xQuant = {QuantRule{kFlashinferB12xPairs}};
inline constexpr std::array kHpcPairs = {kFp8StaticPair, kFp8BlockPair};
inline constexpr std::array kHpcQuant = {QuantRule{kHpcPairs}};
inline constexpr std::array kHummingPairs = {
    KeyPairs{deployment::bit(Key::mxfp4_static), deployment::set_of(Key::none, Key::mxfp4_dynamic, Key::mxfp8_dynamic, Key::fp8_dynamic_token)},
    KeyPairs{deployment::bit(Key::nvfp4_static), deployment::set_of(Key::none, Key::nvfp4_dynamic, Key::fp8_dynamic_token)},
    KeyPairs{deployment::bit(Key::mxfp8_static), deployment::set_of(Key::none, Key::mxfp8_dynamic, Key::fp8_dynamic_token)},
    KeyPairs{deployment::set_of(Key::fp8_static_channel, Key::fp8_static_tensor), kOrToken | deployment::set_of(Key::fp8_static_tensor, Key::fp8_dynamic_128)},
    KeyPairs{deployment::bit(Key::fp8_static_128_block), kOrToken | deployment::bit(Key::fp8_dynamic_128)},
    KeyPairs{deployment::set_of(Key::int4_static, Key::int8_static), kOrToken},
    KeyPairs{deployment::bit(Key::int8_static_channel), deployment::set_of(Key::none, Key::int8_dynamic_token)},
    KeyPairs{kUnsignedGroups, kOrToken},
};
inline constexpr std::array kHummingQuant = {QuantRule{kHummingPairs}};
inline constexpr std::array kMxint4Pairs = {KeyPairs{deployment::bit(Key::int4_static_32), deployment::bit(Key::none)}};
inline constexpr std::array kMxint4Quant = {QuantRule{kMxint4Pairs}};
inline constexpr std::array kUnquantized = {QuantRule{kUnquantizedPairs}};
inline constexpr std::array kCpuInt8Pairs = {KeyPairs{deployment::bit(Key::int8_static_channel), deployment::bit(Key::int8_dynamic_token)}};
inline constexpr std::array kCpuInt8Quant = {QuantRule{kCpuInt8Pairs}};
inline constexpr std::array kCpuInt4Pairs = {KeyPairs{deployment::bit(Key::int4_static), deployment::bit(Key::none)}};
inline constexpr std::array kCpuInt4Quant = {QuantRule{kCpuInt4Pairs}};
inline constexpr std::array kW4a8Int8Pairs = {
    KeyPairs{deployment::set_of(Key::int4_w4a8_group_128, Key::int4_w4a8_group_64, Key::int4_w4a8_group_32, Key::int4_w4a8_group, Key::int8_static_channel),
             deployment::bit(Key::none)}};
inline constexpr std::array kW4a8Int8Quant = {QuantRule{kW4a8Int8Pairs}};
inline constexpr std::array kXpuPlainPairs = {kUnquantizedPair, kXpuFp8Pairs[0]};
inline constexpr std::array kXpuPlainQuant = {QuantRule{kXpuPlainPairs}};
inline constexpr std::array kXpuMxfp4Pairs = {KeyPairs{deployment::bit(Key::mxfp4_static), deployment::set_of(Key::none, Key::mxfp4_dynamic)}};
inline constexpr std::array kXpuMxfp4Quant = {QuantRule{kXpuMxfp4Pairs}};
inline constexpr std::array kXpuInt4Pairs = {KeyPairs{deployment::set_of(Key::int4_static, Key::int4_static_32), deployment::bit(Key::none)}};
inline constexpr std::array kXpuInt4Quant = {QuantRule{kXpuInt4Pairs}};

// Parallelism, routing, activations.

using PF = ParallelFact;
inline constexpr deployment::Mask kB12xRefuses = deployment::set_of(PF::use_ep, PF::ep_above_one, PF::all2all_kernels, PF::eplb);
inline constexpr deployment::Mask kTwoSided = deployment::bit(PF::fi_nvl_two_sided);
inline constexpr deployment::Mask kRoutedExchange = deployment::set_of(PF::eplb, PF::all2all_other_than_ag_rs);
inline constexpr deployment::Mask kBf16Modular = deployment::set_of(PF::eplb, PF::no_all2all_kernels, PF::ag_rs, PF::deepep_ht);
inline constexpr deployment::Mask kTrtllmRoutingsNow = kTrtllmRoutings | deployment::bit(deployment::Routing::sigmoid);
inline constexpr deployment::Mask kBf16Routings =
    deployment::set_of(deployment::Routing::deepseek_v3, deployment::Routing::llama4, deployment::Routing::renormalize, deployment::Routing::renormalize_naive, deployment::Routing::sigmoid_renorm, deployment::Routing::sigmoid);
inline constexpr deployment::Mask kOaiBoth = deployment::set_of(swigluoai, swigluoai_uninterleave);
inline constexpr deployment::Mask kXpuNow = kXpuActivations | deployment::bit(gelu_tanh);
inline constexpr deployment::Mask kCpuNow = deployment::set_of(silu, swigluoai, gelu, gelu_tanh);
inline constexpr deployment::Mask kBatchedTritonNowActivations = kEveryApplied & ~deployment::set_of(situ, swigluoai_uninterleave, swiglustep);

// Rules of single classes.

inline constexpr std::array kB12xRules = {
    no_bias, half_dtype, situ_betas_4_25, plain_uninterleaved, mxfp4_intermediate_32, mxfp4_mxfp8_activations, mxfp4_mxfp8_sizes};
inline constexpr std::array kTritonRules = {triton_experts};
inline constexpr std::array kExpertRules = {experts_2048};
inline constexpr std::array kAiterMxfp8Rules = {triton_experts, LayerRule::aiter_mxfp8, uninterleaved, oai_alpha_beta};
inline constexpr std::array kQuarkRules = {quark};
inline constexpr std::array kNvfp4EmulationRules = {no_lora, no_bias};
inline constexpr std::array kHummingRules = {humming_gemm};
inline constexpr std::array kSizes32 = {sizes_32};
inline constexpr std::array kPlainCpu = {cpu_plain};
inline constexpr std::array kPlainX86 = {cpu_plain_x86};
inline constexpr std::array kPlainArm = {cpu_plain_arm};
inline constexpr std::array kPlainPower = {cpu_plain_power};
inline constexpr std::array kCpuInt4Rules = {arm, torch_int4_ops};

}  // namespace mx::engine::class_rows

namespace mx::engine {

/// Rows that a version brought or changed.
std::span<const KernelClass> classes_2026_08();
std::span<const KernelClass> classes_2026_11();

}  // namespace mx::engine
