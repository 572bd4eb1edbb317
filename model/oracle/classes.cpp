// What each expert class accepts: the predicates of vllm 7e1b45a09 (2026-05-22) fused_moe/experts/*.py, as rows.

#include <array>

#include "model/oracle/tables.hpp"

namespace mx::oracle {
namespace {

using enum Activation;
using Key = QuantKey;

constexpr Mask kSiluAndOai = set_of(swigluoai, silu);
constexpr Mask kEveryTritonActivation =
    set_of(silu, gelu, gelu_tanh, swigluoai, swiglustep, silu_no_mul, gelu_no_mul, gelu_tanh_no_mul, relu2_no_mul);
constexpr Mask kAllRoutings = kEverything;
constexpr Mask kSoftmaxOverChosen = set_of(Routing::renormalize, Routing::renormalize_naive);

constexpr Mask kNothing = 0;
constexpr Mask kFlashinferNvlink = set_of(ParallelFact::fi_nvl_two_sided, ParallelFact::fi_nvl_one_sided);
constexpr Mask kNotOneDispatch = set_of(ParallelFact::all2all_kernels, ParallelFact::eplb, ParallelFact::dp_above_one);

constexpr std::array<std::string_view, 5> kGfx9OrGfx1x = {"gfx90a", "gfx942", "gfx950", "gfx11", "gfx12"};
constexpr std::array<std::string_view, 2> kMi3xx = {"gfx942", "gfx950"};
constexpr std::array<std::string_view, 1> kGfx950 = {"gfx950"};

constexpr std::array kDeepGemmOn = {EnvVariable::use_deep_gemm};
constexpr std::array kAiterOn = {EnvVariable::rocm_use_aiter};
constexpr std::array kFusedMoeAiterOn = {EnvVariable::rocm_use_aiter, EnvVariable::rocm_use_aiter_moe};

constexpr std::array kTrtllmDevices = {DeviceRule{PlatformKind::cuda, cap_family(100), {}, &Software::has_flashinfer}};
constexpr std::array kDeepGemmDevices = {DeviceRule{PlatformKind::cuda, cap_family(100), {}, &Software::has_deep_gemm, kDeepGemmOn}};
constexpr std::array kFlashinferDevices = {
    DeviceRule{PlatformKind::cuda, cap_exactly(90), {}, &Software::has_flashinfer_cutlass_fused_moe},
    DeviceRule{PlatformKind::cuda, cap_family(100), {}, &Software::has_flashinfer_cutlass_fused_moe},
    DeviceRule{PlatformKind::cuda, cap_family(120), {}, &Software::has_flashinfer_cutlass_fused_moe},
};
constexpr std::array kTritonKernelsDevices = {
    DeviceRule{PlatformKind::cuda, CapRange{90, 110}, {}, &Software::has_triton_kernels},
    DeviceRule{PlatformKind::rocm, kAnyCapability, kGfx9OrGfx1x, &Software::has_triton_kernels},
};
constexpr std::array kMarlinDevices = {DeviceRule{PlatformKind::cuda, cap_at_least(75)}};
constexpr std::array kAiterDevices = {DeviceRule{PlatformKind::rocm, kAnyCapability, kMi3xx, &Software::aiter_found, kFusedMoeAiterOn}};
// The MOE variable is not consulted here.
constexpr std::array kAiterW4a8Devices = {DeviceRule{PlatformKind::rocm, kAnyCapability, kGfx950, &Software::aiter_found, kAiterOn}};
constexpr std::array kXpuDevices = {DeviceRule{PlatformKind::xpu}};
constexpr std::array kCpuDevices = {DeviceRule{PlatformKind::cpu}};
constexpr std::array kTritonDevices = {DeviceRule{PlatformKind::cuda}, DeviceRule{PlatformKind::rocm}, DeviceRule{PlatformKind::xpu}};

constexpr std::array kTrtllmQuant = {QuantRule{bit(Key::mxfp4_static), set_of(Key::none, Key::mxfp8_dynamic)}};
constexpr std::array kDeepGemmQuant = {QuantRule{bit(Key::mxfp4_static), bit(Key::fp8_dynamic_128)}};
constexpr std::array kFlashinferQuant = {
    QuantRule{bit(Key::none), bit(Key::none), cap_at_least(90)},
    QuantRule{bit(Key::fp8_static_tensor), bit(Key::fp8_static_tensor), cap_at_least(90)},
    QuantRule{bit(Key::mxfp4_static), bit(Key::none), cap_exactly(90)},
    QuantRule{bit(Key::fp8_static_128_block), bit(Key::fp8_dynamic_128), cap_exactly(90)},
    QuantRule{bit(Key::mxfp4_static), bit(Key::mxfp8_dynamic), cap_at_least(100)},
    QuantRule{bit(Key::nvfp4_static), bit(Key::nvfp4_dynamic), cap_at_least(100)},
};
constexpr std::array kMxfp4OnBf16 = {QuantRule{bit(Key::mxfp4_static), bit(Key::none)}};
// Marlin dequantizes weights and looks at no activation key.
constexpr std::array kMarlinQuant = {QuantRule{
    set_of(Key::fp8_static_128_block, Key::fp8_static_channel, Key::fp8_static_tensor, Key::mxfp4_static, Key::mxfp8_static, Key::nvfp4_static,
           Key::int4_static, Key::int8_static),
    kEverything,
}};
constexpr std::array kAiterQuant = {
    QuantRule{bit(Key::none), bit(Key::none)},
    QuantRule{bit(Key::fp8_static_128_block), bit(Key::fp8_dynamic_128)},
    QuantRule{bit(Key::fp8_static_tensor), set_of(Key::fp8_static_tensor, Key::fp8_dynamic_tensor)},
    QuantRule{bit(Key::fp8_static_channel), bit(Key::fp8_dynamic_token)},
    QuantRule{bit(Key::mxfp4_static), set_of(Key::none, Key::mxfp4_dynamic), kAnyCapability, kGfx950},
};
constexpr std::array kAiterW4a8Quant = {QuantRule{bit(Key::mxfp4_static), bit(Key::fp8_static_tensor)}};
constexpr std::array kAnyQuant = {QuantRule{kEverything, kEverything}};

constexpr auto kStandard = ActivationFormat::standard;
constexpr auto kBatched = ActivationFormat::batched_experts;

// Columns: name, format, monolithic, devices, takes is_act_and_mul = false, activations, key pairs, parallel refusals, routings, batch invariant,
// LoRA.
constexpr std::array kClasses = {
    // trtllm_mxfp4_moe.py
    KernelClass{"TrtLlmMxfp4ExpertsMonolithic", kStandard, true, kTrtllmDevices, false, kSiluAndOai, kTrtllmQuant, kNotOneDispatch,
                kSoftmaxOverChosen, false, false},
    KernelClass{"TrtLlmMxfp4ExpertsModular", kStandard, false, kTrtllmDevices, false, kSiluAndOai, kTrtllmQuant, kNothing, kAllRoutings, false,
                false},
    // deep_gemm_moe.py
    KernelClass{"DeepGemmFP4Experts", kStandard, false, kDeepGemmDevices, false, set_of(silu, swiglustep), kDeepGemmQuant, kFlashinferNvlink,
                kAllRoutings, false, false},
    // flashinfer_cutlass_moe.py
    KernelClass{"FlashInferExperts", kStandard, false, kFlashinferDevices, true, set_of(silu, relu2_no_mul, swigluoai), kFlashinferQuant, kNothing,
                kAllRoutings, false, false},
    // gpt_oss_triton_kernels_moe.py
    KernelClass{"OAITritonMxfp4ExpertsMonolithic", kStandard, true, kTritonKernelsDevices, false, set_of(swigluoai), kMxfp4OnBf16, kNotOneDispatch,
                kSoftmaxOverChosen, false, false},
    KernelClass{"OAITritonExperts", kStandard, false, kTritonKernelsDevices, false, set_of(swigluoai), kMxfp4OnBf16, kNothing, kAllRoutings, false,
                false},
    KernelClass{"UnfusedOAITritonExperts", kStandard, false, kTritonKernelsDevices, false, set_of(silu, gelu, swigluoai, swiglustep), kMxfp4OnBf16,
                kNothing, kAllRoutings, false, true},
    // marlin_moe.py
    KernelClass{"MarlinExperts", kStandard, false, kMarlinDevices, true, kEveryTritonActivation, kMarlinQuant, kFlashinferNvlink, kAllRoutings, false,
                true},
    KernelClass{"BatchedMarlinExperts", kBatched, false, kMarlinDevices, true, kEveryTritonActivation, kMarlinQuant, kFlashinferNvlink, kAllRoutings,
                false, false},
    // rocm_aiter_moe.py: a failed check appends a hint when fused-MoE AITER is off, which is the device check itself.
    KernelClass{"AiterExperts", kStandard, false, kAiterDevices, false, set_of(silu, gelu, swigluoai), kAiterQuant, kFlashinferNvlink, kAllRoutings,
                false, false, "+aiter_hint"},
    // aiter_mxfp4_w4a8_moe.py
    KernelClass{"AiterW4A8ExpertsMonolithic", kStandard, true, kAiterW4a8Devices, false, set_of(swigluoai), kAiterW4a8Quant, kNotOneDispatch,
                kSoftmaxOverChosen, false, false},
    // xpu_moe.py
    KernelClass{"XPUExpertsMXFp4", kStandard, false, kXpuDevices, true, set_of(silu, gelu, swigluoai, relu2_no_mul), kMxfp4OnBf16, kNothing,
                kAllRoutings, false, false},
    // cpu_moe.py
    KernelClass{"CPUExpertsMxfp4", kStandard, true, kCpuDevices, false, kSiluAndOai, kMxfp4OnBf16, kNothing,
                set_of(Routing::standard, Routing::renormalize, Routing::renormalize_naive), false, false},
    // ocp_mx_emulation_moe.py
    KernelClass{"OCP_MXQuantizationEmulationTritonExperts", kStandard, false, kTritonDevices, true, kEveryTritonActivation, kAnyQuant,
                kFlashinferNvlink, kAllRoutings, true, true},
    // fused_humming_moe.py: the last column alone is looked at, with the format.
    KernelClass{"BatchedHummingGroupedExperts", kBatched, false, kMarlinDevices, true, kEveryTritonActivation, kAnyQuant, kFlashinferNvlink,
                kAllRoutings, false, false, "", HummingGemm::grouped_masked},
    KernelClass{"HummingGroupedExperts", kStandard, false, kMarlinDevices, true, kEveryTritonActivation, kAnyQuant, kFlashinferNvlink, kAllRoutings,
                false, false, "", HummingGemm::grouped_contiguous},
    KernelClass{"HummingIndexedExperts", kStandard, false, kMarlinDevices, true, kEveryTritonActivation, kAnyQuant, kFlashinferNvlink, kAllRoutings,
                false, false, "", HummingGemm::indexed},
};

}  // namespace

std::span<const KernelClass> kernel_classes() { return kClasses; }

}  // namespace mx::oracle
