#pragma once
// What the rows of expert classes share: activations, routing methods, devices, keys. For the class tables alone.

#include <array>

#include "model/engine/vllm/tables.hpp"

namespace mx::oracle::class_rows {

using enum Activation;
using Key = QuantKey;
using Names = std::string_view;

inline constexpr auto kBatched = ActivationFormat::batched_experts;

inline constexpr Mask kSiluAndOai = set_of(swigluoai, silu);
inline constexpr Mask kTritonActivations =
    set_of(silu, gelu, gelu_tanh, swigluoai, swiglustep, silu_no_mul, gelu_no_mul, gelu_tanh_no_mul, relu2_no_mul);
inline constexpr Mask kBatchedTritonActivations = kTritonActivations & ~bit(swiglustep);
inline constexpr Mask kCutlassActivations = set_of(silu, gelu, swigluoai);
inline constexpr Mask kXpuActivations = set_of(silu, gelu, swigluoai, relu2_no_mul);

inline constexpr Mask kSoftmaxOverChosen = set_of(Routing::renormalize, Routing::renormalize_naive);
inline constexpr Mask kCpuRoutings = set_of(Routing::standard, Routing::renormalize, Routing::renormalize_naive);
inline constexpr Mask kTrtllmRoutings =
    set_of(Routing::renormalize, Routing::deepseek_v3, Routing::renormalize_naive, Routing::sigmoid_renorm, Routing::minimax2, Routing::simulated);

inline constexpr Mask kFlashinferNvlink = set_of(ParallelFact::fi_nvl_two_sided, ParallelFact::fi_nvl_one_sided);
inline constexpr Mask kNotOneDispatch = set_of(ParallelFact::all2all_kernels, ParallelFact::eplb, ParallelFact::dp_above_one);

// Devices.

inline constexpr std::array<Names, 3> kGfx9 = {"gfx90a", "gfx942", "gfx950"};
inline constexpr std::array<Names, 5> kGfx9OrGfx1x = {"gfx90a", "gfx942", "gfx950", "gfx11", "gfx12"};
inline constexpr std::array<Names, 4> kFp8Gfx = {"gfx90a", "gfx942", "gfx950", "gfx12"};
inline constexpr std::array<Names, 2> kMi3xx = {"gfx942", "gfx950"};
inline constexpr std::array<Names, 1> kGfx950 = {"gfx950"};

inline constexpr std::array kDeepGemmOn = {EnvVariable::use_deep_gemm};
inline constexpr std::array kAiterOn = {EnvVariable::rocm_use_aiter};
inline constexpr std::array kFusedMoeAiterOn = {EnvVariable::rocm_use_aiter, EnvVariable::rocm_use_aiter_moe};

inline constexpr Where kBlackwell = on_cuda(cap_family(100));
inline constexpr Where kXpu{bit(PlatformKind::xpu), kAnyCapability, {}};
inline constexpr Where kCpu{bit(PlatformKind::cpu), kAnyCapability, {}};
inline constexpr Where kCudaOrRocm{set_of(PlatformKind::cuda, PlatformKind::rocm), kAnyCapability, {}};
inline constexpr Where kCudaRocmOrXpu{set_of(PlatformKind::cuda, PlatformKind::rocm, PlatformKind::xpu), kAnyCapability, {}};

inline constexpr std::array kTrtllmMxfp4Devices = {DeviceRule{kBlackwell, &Software::has_flashinfer}};
inline constexpr std::array kTrtllmDevices = {DeviceRule{kBlackwell, &Software::has_flashinfer_trtllm_fused_moe}};
inline constexpr std::array kFlashinferDevices = {
    DeviceRule{on_cuda(cap_exactly(90)), &Software::has_flashinfer_cutlass_fused_moe},
    DeviceRule{kBlackwell, &Software::has_flashinfer_cutlass_fused_moe},
    DeviceRule{on_cuda(cap_family(120)), &Software::has_flashinfer_cutlass_fused_moe},
};
inline constexpr std::array kCuteDslDevices = {DeviceRule{kBlackwell, &Software::has_flashinfer_cutedsl_moe_nvfp4}};
inline constexpr std::array kCuteDslBatchedDevices = {DeviceRule{kBlackwell, &Software::has_flashinfer_cutedsl_grouped_gemm_nt_masked}};
inline constexpr std::array kB12xDevices = {DeviceRule{on_cuda(cap_family(120)), &Software::has_flashinfer_b12x_moe}};
inline constexpr std::array kCutlassFp4Devices = {
    DeviceRule{kBlackwell},
    DeviceRule{on_cuda(cap_family(110))},
    DeviceRule{on_cuda(cap_family(120))},
};
// cutlass_group_gemm_supported: the range comes on top of what the compiled operation answers.
inline constexpr std::array kCutlassGroupGemmDevices = {DeviceRule{on_cuda({90, 110}), &Software::cutlass_group_gemm_op}};
// is_deep_gemm_supported.
inline constexpr std::array kDeepGemmDevices = {
    DeviceRule{on_cuda(cap_exactly(90)), &Software::has_deep_gemm, kDeepGemmOn},
    DeviceRule{kBlackwell, &Software::has_deep_gemm, kDeepGemmOn},
};
inline constexpr std::array kDeepGemmFp4Devices = {DeviceRule{kBlackwell, &Software::has_deep_gemm, kDeepGemmOn}};
inline constexpr std::array kTritonKernelsDevices = {
    DeviceRule{on_cuda({90, 110}), &Software::has_triton_kernels},
    DeviceRule{on_rocm(kGfx9OrGfx1x), &Software::has_triton_kernels},
};
inline constexpr std::array kMarlinDevices = {DeviceRule{on_cuda(cap_at_least(75))}};
inline constexpr std::array kAiterDevices = {DeviceRule{on_rocm(kMi3xx), &Software::aiter_found, kFusedMoeAiterOn}};
// The MOE variable is not consulted here.
inline constexpr std::array kAiterW4a8Devices = {DeviceRule{on_rocm(kGfx950), &Software::aiter_found, kAiterOn}};
inline constexpr std::array kXpuDevices = {DeviceRule{kXpu}};
inline constexpr std::array kCpuDevices = {DeviceRule{kCpu}};
inline constexpr std::array kTritonDevices = {DeviceRule{kCudaRocmOrXpu}};
inline constexpr std::array kBatchedTritonDevices = {DeviceRule{kCudaOrRocm}};

// Keys.

inline constexpr KeyPairs kUnquantizedPair{bit(Key::none), bit(Key::none)};
inline constexpr KeyPairs kFp8BlockPair{bit(Key::fp8_static_128_block), bit(Key::fp8_dynamic_128)};
inline constexpr KeyPairs kFp8StaticPair{bit(Key::fp8_static_tensor), bit(Key::fp8_static_tensor)};
inline constexpr KeyPairs kFp8TensorPairs{bit(Key::fp8_static_tensor), set_of(Key::fp8_static_tensor, Key::fp8_dynamic_tensor)};
inline constexpr KeyPairs kFp8ChannelPair{bit(Key::fp8_static_channel), bit(Key::fp8_dynamic_token)};
inline constexpr KeyPairs kMxfp8Pair{bit(Key::mxfp8_static), bit(Key::mxfp8_dynamic)};
inline constexpr KeyPairs kNvfp4Pair{bit(Key::nvfp4_static), bit(Key::nvfp4_dynamic)};
inline constexpr KeyPairs kMxfp4OnBf16Pair{bit(Key::mxfp4_static), bit(Key::none)};
inline constexpr KeyPairs kMxfp4OnMxfp8Pair{bit(Key::mxfp4_static), bit(Key::mxfp8_dynamic)};

inline constexpr std::array kUnquantizedPairs = {kUnquantizedPair};
inline constexpr std::array kInt8Pairs = {KeyPairs{bit(Key::int8_static_channel), bit(Key::int8_dynamic_token)}};
inline constexpr std::array kTritonFp8Pairs = {
    kFp8BlockPair,
    kFp8ChannelPair,
    KeyPairs{bit(Key::fp8_static_tensor), set_of(Key::fp8_dynamic_token, Key::fp8_static_tensor, Key::fp8_dynamic_tensor)},
};
inline constexpr std::array kMxfp4OnBf16Pairs = {kMxfp4OnBf16Pair};
inline constexpr std::array kNvfp4Pairs = {kNvfp4Pair};
inline constexpr std::array kFp8BlockPairs = {kFp8BlockPair};
inline constexpr std::array kEveryPair = {KeyPairs{kEverything, kEverything}};

inline constexpr std::array kTrtllmMxfp4Pairs = {kMxfp4OnBf16Pair, kMxfp4OnMxfp8Pair};
inline constexpr std::array kDeepGemmFp4Pairs = {KeyPairs{bit(Key::mxfp4_static), bit(Key::fp8_dynamic_128)}};
inline constexpr std::array kFlashinferFrom90 = {kUnquantizedPair, kFp8StaticPair};
inline constexpr std::array kFlashinferOn90 = {kMxfp4OnBf16Pair, kFp8BlockPair};
inline constexpr std::array kFlashinferFrom100 = {kMxfp4OnMxfp8Pair, kNvfp4Pair};
inline constexpr std::array kMarlinPairs = {KeyPairs{
    set_of(Key::fp8_static_128_block, Key::fp8_static_channel, Key::fp8_static_tensor, Key::mxfp4_static, Key::mxfp8_static, Key::nvfp4_static,
           Key::int4_static, Key::int8_static),
    kEverything,
}};
inline constexpr std::array kAiterPairs = {kUnquantizedPair, kFp8BlockPair, kFp8TensorPairs, kFp8ChannelPair};
inline constexpr std::array kAiterGfx950Pairs = {KeyPairs{bit(Key::mxfp4_static), set_of(Key::none, Key::mxfp4_dynamic)}};
inline constexpr std::array kAiterW4a8Pairs = {KeyPairs{bit(Key::mxfp4_static), bit(Key::fp8_static_tensor)}};
inline constexpr std::array kXpuFp8Pairs = {KeyPairs{bit(Key::fp8_static_tensor), set_of(Key::none, Key::fp8_dynamic_tensor)}};
inline constexpr std::array kXpuMxfp8Pairs = {KeyPairs{bit(Key::mxfp8_static), set_of(Key::none, Key::mxfp8_dynamic)}};
inline constexpr std::array kTrtllmFp8MonolithicPairs = {kFp8BlockPair, kFp8StaticPair, kMxfp8Pair};
inline constexpr std::array kTrtllmFp8Pairs = {kFp8BlockPair, kMxfp8Pair};
inline constexpr std::array kCutlassFp8Pairs = {kFp8ChannelPair, kFp8TensorPairs};
inline constexpr std::array kW4a8Pairs = {KeyPairs{bit(Key::int4_static), bit(Key::fp8_dynamic_token)}};

inline constexpr std::array kTrtllmMxfp4Quant = {QuantRule{kTrtllmMxfp4Pairs}};
inline constexpr std::array kDeepGemmFp4Quant = {QuantRule{kDeepGemmFp4Pairs}};
inline constexpr std::array kFlashinferQuant = {
    QuantRule{kFlashinferFrom90, on_cuda(cap_at_least(90))},
    QuantRule{kFlashinferOn90, on_cuda(cap_exactly(90))},
    QuantRule{kFlashinferFrom100, on_cuda(cap_at_least(100))},
};
inline constexpr std::array kMxfp4OnBf16 = {QuantRule{kMxfp4OnBf16Pairs}};
// Marlin dequantizes weights and looks at no activation key.
inline constexpr std::array kMarlinQuant = {QuantRule{kMarlinPairs}};
inline constexpr std::array kAiterQuant = {QuantRule{kAiterPairs}, QuantRule{kAiterGfx950Pairs, on_rocm(kGfx950)}};
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
    QuantRule{kInt8Pairs, on_cuda(cap_at_least(75))},
    QuantRule{kTritonFp8Pairs, on_cuda(cap_at_least(89))},
    QuantRule{kTritonFp8Pairs, on_rocm(kFp8Gfx)},
    QuantRule{kTritonFp8Pairs, kXpu},
};
// Narrower than supports_fp8: no gfx12.
inline constexpr std::array kBatchedTritonQuant = {
    QuantRule{kUnquantizedPairs},
    QuantRule{kTritonFp8Pairs, on_cuda(cap_at_least(89))},
    QuantRule{kTritonFp8Pairs, on_rocm(kGfx9)},
};
inline constexpr std::array kCutlassFp8Quant = {QuantRule{kCutlassFp8Pairs}};
inline constexpr std::array kW4a8Quant = {QuantRule{kW4a8Pairs}};

inline constexpr std::array kLlama4PerTensor = {RoutingRule{kFp8StaticPair, bit(Routing::llama4)}};

inline constexpr std::array<Names, 2> kTritonOrDeepGemm = {"DeepGemmExperts", "TritonExperts"};
inline constexpr std::array<Names, 2> kTritonOrCutlass = {"CutlassExpertsFp8", "TritonExperts"};

// Since 2026-08.

inline constexpr Mask kEveryApplied = kEverything & ~bit(relu2);  ///< what apply_moe_activation_supported names
inline constexpr Mask kEveryGated = set_of(silu, gelu, gelu_tanh, situ, swigluoai, swigluoai_uninterleave, swiglustep);

/// Numbered by dtype_names().
inline constexpr Mask kBfloat16Logits = 1;
inline constexpr Mask kFloat32Logits = 4;

using enum LayerRule;

inline constexpr std::array<Names, 2> kGfx950And1250 = {"gfx950", "gfx1250"};
inline constexpr std::array<Names, 3> kAiterGfx = {"gfx942", "gfx950", "gfx1250"};
inline constexpr std::array<Names, 2> kGfx1x = {"gfx11", "gfx12"};
inline constexpr std::array<Names, 4> kFp8Rocm = {"gfx9", "gfx1250", "gfx1200", "gfx1201"};
inline constexpr std::array<Names, 5> kBatchedFp8Rocm = {"gfx942", "gfx950", "gfx1250", "gfx1200", "gfx1201"};
inline constexpr std::array<Names, 2> kMxRocm = {"gfx95", "gfx1250"};
inline constexpr std::array kMxint4On = {EnvVariable::use_flashinfer_moe_int4};

inline constexpr Where kRdna{.platforms = bit(PlatformKind::rocm), .gcn_contains_any = kGfx1x, .gcn_lacks = "gfx1250"};
inline constexpr Where on_arch(std::string_view arch) { return {.platforms = bit(PlatformKind::cpu), .cpu_arch = arch}; }

// Devices.

inline constexpr std::array kDeepGemmNow = {
    DeviceRule{on_cuda(cap_exactly(90)), &Software::has_deep_gemm, kDeepGemmOn},
    DeviceRule{kBlackwell, &Software::has_deep_gemm, kDeepGemmOn},
    DeviceRule{on_cuda(cap_family(120)), &Software::has_deep_gemm, kDeepGemmOn},
};
inline constexpr std::array kDeepGemmFp4Now = {
    DeviceRule{kBlackwell, &Software::has_deep_gemm, kDeepGemmOn},
    DeviceRule{on_cuda(cap_family(120)), &Software::has_deep_gemm, kDeepGemmOn},
};
inline constexpr std::array kB12xPackage = {DeviceRule{on_cuda(cap_family(120)), &Software::b12x_supported}};
inline constexpr std::array kTritonKernelsNow = {
    DeviceRule{on_cuda({90, 110}), &Software::has_triton_kernels},
    DeviceRule{on_rocm(kGfx9), &Software::has_triton_kernels},
    DeviceRule{kRdna, &Software::has_triton_kernels},
};
inline constexpr std::array kAiterNow = {DeviceRule{on_rocm(kAiterGfx), &Software::aiter_found, kFusedMoeAiterOn}};
inline constexpr std::array kAiterW4Devices = {DeviceRule{on_rocm(kGfx950And1250), &Software::aiter_found, kAiterOn}};
inline constexpr std::array kMxDevices = {DeviceRule{on_rocm(kMxRocm)}};
inline constexpr std::array kEverywhere = {DeviceRule{kAnywhere}};
inline constexpr std::array kBatchedTritonNow = {DeviceRule{kCudaRocmOrXpu}};
inline constexpr std::array kCudaOrRocmDevices = {DeviceRule{kCudaOrRocm}};
inline constexpr std::array kHpcDevices = {DeviceRule{on_cuda(cap_exactly(90)), &Software::has_hpc}};
inline constexpr std::array kHummingDevices = {DeviceRule{on_cuda(cap_at_least(75)), &Software::humming_installed}};
inline constexpr std::array kMxint4Devices = {DeviceRule{kBlackwell, &Software::has_flashinfer_trtllm_fused_moe, kMxint4On}};
inline constexpr std::array kAmxDevices = {DeviceRule{.where = on_arch("x86"), .trait = &Hardware::amx}};
inline constexpr std::array kArmDevices = {DeviceRule{on_arch("arm")}};
inline constexpr std::array kPowerDevices = {DeviceRule{on_arch("power")}};
inline constexpr std::array kArmInt8Devices = {DeviceRule{on_arch("arm"), &Software::cpu_fused_moe_int8_op}};

// Keys.

inline constexpr Mask kInt4Weights = set_of(Key::int4_static, Key::int4_static_32, Key::int4_static_asym, Key::int4_static_32_asym);
inline constexpr Mask kUnsignedGroups = set_of(Key::int4_static_32, Key::int4_static_32_asym, Key::built_unsigned_groups, Key::mxfp4_dynamic);
inline constexpr Mask kOrToken = set_of(Key::none, Key::fp8_dynamic_token);

inline constexpr std::array kB12xPairs = {
    KeyPairs{bit(Key::mxfp4_static), set_of(Key::mxfp8_dynamic, Key::none)},
    KeyPairs{bit(Key::nvfp4_static), set_of(Key::nvfp4_dynamic, Key::mxfp8_dynamic, Key::none)},
};
inline constexpr std::array kB12xQuant = {QuantRule{kB12xPairs}};
inline constexpr std::array kMarlinPairsNow = {
    KeyPairs{kMarlinPairs[0].weights | set_of(Key::int4_static_32, Key::int4_static_asym, Key::int4_static_32_asym), kEverything}};
inline constexpr std::array kMarlinNow = {QuantRule{kMarlinPairsNow}};
inline constexpr std::array kAiterNowQuant = {QuantRule{kAiterPairs}, QuantRule{kAiterGfx950Pairs, on_rocm(kGfx950)}};
inline constexpr std::array kMxfp8Pairs = {kMxfp8Pair};
inline constexpr std::array kMxfp8Quant = {QuantRule{kMxfp8Pairs}};
inline constexpr std::array kInt8PairsNow = {KeyPairs{bit(Key::int8_static_channel), bit(Key::int8_dynamic_token)},
                                             KeyPairs{bit(Key::int8_static_tensor), bit(Key::int8_dynamic_tensor)}};
inline constexpr std::array kTritonNow = {
    QuantRule{kUnquantizedPairs},
    QuantRule{kInt8PairsNow, on_cuda(cap_at_least(75))},
    QuantRule{kInt8PairsNow, on_rocm()},
    QuantRule{kTritonFp8Pairs, on_cuda(cap_at_least(89))},
    QuantRule{kTritonFp8Pairs, on_rocm(kFp8Rocm)},
    QuantRule{kTritonFp8Pairs, kXpu},
};
inline constexpr std::array kBatchedTritonNowQuant = {
    QuantRule{kUnquantizedPairs},
    QuantRule{kTritonFp8Pairs, on_cuda(cap_at_least(89))},
    QuantRule{kTritonFp8Pairs, on_rocm(kBatchedFp8Rocm)},
};
inline constexpr std::array kWna16Pairs = {KeyPairs{kInt4Weights | bit(Key::int8_static), kEverything}};
inline constexpr std::array kWna16Quant = {QuantRule{kWna16Pairs}};
inline constexpr std::array kInt4Pairs = {KeyPairs{kInt4Weights, bit(Key::none)}};
inline constexpr std::array kInt4Quant = {QuantRule{kInt4Pairs}};
inline constexpr std::array kDeepGemmNowQuant = {QuantRule{kFp8BlockPairs}, QuantRule{kMxfp8Pairs, kBlackwell}};
inline constexpr std::array kFlashinferB12xPairs = {KeyPairs{bit(Key::nvfp4_static), set_of(Key::nvfp4_dynamic, Key::none)}};
inline constexpr std::array kFlashinferB12xQuant = {QuantRule{kFlashinferB12xPairs}};
inline constexpr std::array kHpcPairs = {kFp8StaticPair, kFp8BlockPair};
inline constexpr std::array kHpcQuant = {QuantRule{kHpcPairs}};
inline constexpr std::array kHummingPairs = {
    KeyPairs{bit(Key::mxfp4_static), set_of(Key::none, Key::mxfp4_dynamic, Key::mxfp8_dynamic, Key::fp8_dynamic_token)},
    KeyPairs{bit(Key::nvfp4_static), set_of(Key::none, Key::nvfp4_dynamic, Key::fp8_dynamic_token)},
    KeyPairs{bit(Key::mxfp8_static), set_of(Key::none, Key::mxfp8_dynamic, Key::fp8_dynamic_token)},
    KeyPairs{set_of(Key::fp8_static_channel, Key::fp8_static_tensor), kOrToken | set_of(Key::fp8_static_tensor, Key::fp8_dynamic_128)},
    KeyPairs{bit(Key::fp8_static_128_block), kOrToken | bit(Key::fp8_dynamic_128)},
    KeyPairs{set_of(Key::int4_static, Key::int8_static), kOrToken},
    KeyPairs{bit(Key::int8_static_channel), set_of(Key::none, Key::int8_dynamic_token)},
    KeyPairs{kUnsignedGroups, kOrToken},
};
inline constexpr std::array kHummingQuant = {QuantRule{kHummingPairs}};
inline constexpr std::array kMxint4Pairs = {KeyPairs{bit(Key::int4_static_32), bit(Key::none)}};
inline constexpr std::array kMxint4Quant = {QuantRule{kMxint4Pairs}};
inline constexpr std::array kUnquantized = {QuantRule{kUnquantizedPairs}};
inline constexpr std::array kCpuInt8Pairs = {KeyPairs{bit(Key::int8_static_channel), bit(Key::int8_dynamic_token)}};
inline constexpr std::array kCpuInt8Quant = {QuantRule{kCpuInt8Pairs}};
inline constexpr std::array kCpuInt4Pairs = {KeyPairs{bit(Key::int4_static), bit(Key::none)}};
inline constexpr std::array kCpuInt4Quant = {QuantRule{kCpuInt4Pairs}};
inline constexpr std::array kW4a8Int8Pairs = {
    KeyPairs{set_of(Key::int4_w4a8_group_128, Key::int4_w4a8_group_64, Key::int4_w4a8_group_32, Key::int4_w4a8_group, Key::int8_static_channel),
             bit(Key::none)}};
inline constexpr std::array kW4a8Int8Quant = {QuantRule{kW4a8Int8Pairs}};
inline constexpr std::array kXpuPlainPairs = {kUnquantizedPair, kXpuFp8Pairs[0]};
inline constexpr std::array kXpuPlainQuant = {QuantRule{kXpuPlainPairs}};
inline constexpr std::array kXpuMxfp4Pairs = {KeyPairs{bit(Key::mxfp4_static), set_of(Key::none, Key::mxfp4_dynamic)}};
inline constexpr std::array kXpuMxfp4Quant = {QuantRule{kXpuMxfp4Pairs}};
inline constexpr std::array kXpuInt4Pairs = {KeyPairs{set_of(Key::int4_static, Key::int4_static_32), bit(Key::none)}};
inline constexpr std::array kXpuInt4Quant = {QuantRule{kXpuInt4Pairs}};

// Parallelism, routing, activations.

using PF = ParallelFact;
inline constexpr Mask kB12xRefuses = set_of(PF::use_ep, PF::ep_above_one, PF::all2all_kernels, PF::eplb);
inline constexpr Mask kTwoSided = bit(PF::fi_nvl_two_sided);
inline constexpr Mask kRoutedExchange = set_of(PF::eplb, PF::all2all_other_than_ag_rs);
inline constexpr Mask kBf16Modular = set_of(PF::eplb, PF::no_all2all_kernels, PF::ag_rs, PF::deepep_ht);
inline constexpr Mask kTrtllmRoutingsNow = kTrtllmRoutings | bit(Routing::sigmoid);
inline constexpr Mask kBf16Routings =
    set_of(Routing::deepseek_v3, Routing::llama4, Routing::renormalize, Routing::renormalize_naive, Routing::sigmoid_renorm, Routing::sigmoid);
inline constexpr Mask kOaiBoth = set_of(swigluoai, swigluoai_uninterleave);
inline constexpr Mask kXpuNow = kXpuActivations | bit(gelu_tanh);
inline constexpr Mask kCpuNow = set_of(silu, swigluoai, gelu, gelu_tanh);
inline constexpr Mask kBatchedTritonNowActivations = kEveryApplied & ~set_of(situ, swigluoai_uninterleave, swiglustep);

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

}  // namespace mx::oracle::class_rows

namespace mx::oracle {

/// Rows that a version brought or changed.
std::span<const KernelClass> classes_2026_08();
std::span<const KernelClass> classes_2026_11();

}  // namespace mx::oracle
