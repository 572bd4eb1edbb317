// What each expert class accepts: the predicates of vllm 7e1b45a09 (2026-05-22) fused_moe/experts/*.py, as rows. CutlassExpertsW4A8Fp8 is that of
// 4438b6e7d (2026-05-23).

#include <array>

#include "model/engine/vllm/tables.hpp"

namespace mx::oracle {
namespace {

using enum Activation;
using Key = QuantKey;
using Names = std::string_view;

constexpr auto kBatched = ActivationFormat::batched_experts;

constexpr Mask kSiluAndOai = set_of(swigluoai, silu);
constexpr Mask kTritonActivations = set_of(silu, gelu, gelu_tanh, swigluoai, swiglustep, silu_no_mul, gelu_no_mul, gelu_tanh_no_mul, relu2_no_mul);
constexpr Mask kBatchedTritonActivations = kTritonActivations & ~bit(swiglustep);
constexpr Mask kCutlassActivations = set_of(silu, gelu, swigluoai);
constexpr Mask kXpuActivations = set_of(silu, gelu, swigluoai, relu2_no_mul);

constexpr Mask kSoftmaxOverChosen = set_of(Routing::renormalize, Routing::renormalize_naive);
constexpr Mask kCpuRoutings = set_of(Routing::standard, Routing::renormalize, Routing::renormalize_naive);
constexpr Mask kTrtllmRoutings =
    set_of(Routing::renormalize, Routing::deepseek_v3, Routing::renormalize_naive, Routing::sigmoid_renorm, Routing::minimax2, Routing::simulated);

constexpr Mask kFlashinferNvlink = set_of(ParallelFact::fi_nvl_two_sided, ParallelFact::fi_nvl_one_sided);
constexpr Mask kNotOneDispatch = set_of(ParallelFact::all2all_kernels, ParallelFact::eplb, ParallelFact::dp_above_one);

// Devices.

constexpr std::array<Names, 3> kGfx9 = {"gfx90a", "gfx942", "gfx950"};
constexpr std::array<Names, 5> kGfx9OrGfx1x = {"gfx90a", "gfx942", "gfx950", "gfx11", "gfx12"};
constexpr std::array<Names, 4> kFp8Gfx = {"gfx90a", "gfx942", "gfx950", "gfx12"};
constexpr std::array<Names, 2> kMi3xx = {"gfx942", "gfx950"};
constexpr std::array<Names, 1> kGfx950 = {"gfx950"};

constexpr std::array kDeepGemmOn = {EnvVariable::use_deep_gemm};
constexpr std::array kAiterOn = {EnvVariable::rocm_use_aiter};
constexpr std::array kFusedMoeAiterOn = {EnvVariable::rocm_use_aiter, EnvVariable::rocm_use_aiter_moe};

constexpr Where kBlackwell = on_cuda(cap_family(100));
constexpr Where kXpu{bit(PlatformKind::xpu), kAnyCapability, {}};
constexpr Where kCpu{bit(PlatformKind::cpu), kAnyCapability, {}};
constexpr Where kCudaOrRocm{set_of(PlatformKind::cuda, PlatformKind::rocm), kAnyCapability, {}};
constexpr Where kCudaRocmOrXpu{set_of(PlatformKind::cuda, PlatformKind::rocm, PlatformKind::xpu), kAnyCapability, {}};

constexpr std::array kTrtllmMxfp4Devices = {DeviceRule{kBlackwell, &Software::has_flashinfer}};
constexpr std::array kTrtllmDevices = {DeviceRule{kBlackwell, &Software::has_flashinfer_trtllm_fused_moe}};
constexpr std::array kFlashinferDevices = {
    DeviceRule{on_cuda(cap_exactly(90)), &Software::has_flashinfer_cutlass_fused_moe},
    DeviceRule{kBlackwell, &Software::has_flashinfer_cutlass_fused_moe},
    DeviceRule{on_cuda(cap_family(120)), &Software::has_flashinfer_cutlass_fused_moe},
};
constexpr std::array kCuteDslDevices = {DeviceRule{kBlackwell, &Software::has_flashinfer_cutedsl_moe_nvfp4}};
constexpr std::array kCuteDslBatchedDevices = {DeviceRule{kBlackwell, &Software::has_flashinfer_cutedsl_grouped_gemm_nt_masked}};
constexpr std::array kB12xDevices = {DeviceRule{on_cuda(cap_family(120)), &Software::has_flashinfer_b12x_moe}};
constexpr std::array kCutlassFp4Devices = {
    DeviceRule{kBlackwell},
    DeviceRule{on_cuda(cap_family(110))},
    DeviceRule{on_cuda(cap_family(120))},
};
// cutlass_group_gemm_supported: the range comes on top of what the compiled operation answers.
constexpr std::array kCutlassGroupGemmDevices = {DeviceRule{on_cuda({90, 110}), &Software::cutlass_group_gemm_op}};
// is_deep_gemm_supported.
constexpr std::array kDeepGemmDevices = {
    DeviceRule{on_cuda(cap_exactly(90)), &Software::has_deep_gemm, kDeepGemmOn},
    DeviceRule{kBlackwell, &Software::has_deep_gemm, kDeepGemmOn},
};
constexpr std::array kDeepGemmFp4Devices = {DeviceRule{kBlackwell, &Software::has_deep_gemm, kDeepGemmOn}};
constexpr std::array kTritonKernelsDevices = {
    DeviceRule{on_cuda({90, 110}), &Software::has_triton_kernels},
    DeviceRule{on_rocm(kGfx9OrGfx1x), &Software::has_triton_kernels},
};
constexpr std::array kMarlinDevices = {DeviceRule{on_cuda(cap_at_least(75))}};
constexpr std::array kAiterDevices = {DeviceRule{on_rocm(kMi3xx), &Software::aiter_found, kFusedMoeAiterOn}};
// The MOE variable is not consulted here.
constexpr std::array kAiterW4a8Devices = {DeviceRule{on_rocm(kGfx950), &Software::aiter_found, kAiterOn}};
constexpr std::array kXpuDevices = {DeviceRule{kXpu}};
constexpr std::array kCpuDevices = {DeviceRule{kCpu}};
constexpr std::array kTritonDevices = {DeviceRule{kCudaRocmOrXpu}};
constexpr std::array kBatchedTritonDevices = {DeviceRule{kCudaOrRocm}};

// Keys.

constexpr KeyPairs kUnquantizedPair{bit(Key::none), bit(Key::none)};
constexpr KeyPairs kFp8BlockPair{bit(Key::fp8_static_128_block), bit(Key::fp8_dynamic_128)};
constexpr KeyPairs kFp8StaticPair{bit(Key::fp8_static_tensor), bit(Key::fp8_static_tensor)};
constexpr KeyPairs kFp8TensorPairs{bit(Key::fp8_static_tensor), set_of(Key::fp8_static_tensor, Key::fp8_dynamic_tensor)};
constexpr KeyPairs kFp8ChannelPair{bit(Key::fp8_static_channel), bit(Key::fp8_dynamic_token)};
constexpr KeyPairs kMxfp8Pair{bit(Key::mxfp8_static), bit(Key::mxfp8_dynamic)};
constexpr KeyPairs kNvfp4Pair{bit(Key::nvfp4_static), bit(Key::nvfp4_dynamic)};
constexpr KeyPairs kMxfp4OnBf16Pair{bit(Key::mxfp4_static), bit(Key::none)};
constexpr KeyPairs kMxfp4OnMxfp8Pair{bit(Key::mxfp4_static), bit(Key::mxfp8_dynamic)};

constexpr std::array kUnquantizedPairs = {kUnquantizedPair};
constexpr std::array kInt8Pairs = {KeyPairs{bit(Key::int8_static_channel), bit(Key::int8_dynamic_token)}};
constexpr std::array kTritonFp8Pairs = {
    kFp8BlockPair,
    kFp8ChannelPair,
    KeyPairs{bit(Key::fp8_static_tensor), set_of(Key::fp8_dynamic_token, Key::fp8_static_tensor, Key::fp8_dynamic_tensor)},
};
constexpr std::array kMxfp4OnBf16Pairs = {kMxfp4OnBf16Pair};
constexpr std::array kNvfp4Pairs = {kNvfp4Pair};
constexpr std::array kFp8BlockPairs = {kFp8BlockPair};
constexpr std::array kEveryPair = {KeyPairs{kEverything, kEverything}};

constexpr std::array kTrtllmMxfp4Pairs = {kMxfp4OnBf16Pair, kMxfp4OnMxfp8Pair};
constexpr std::array kDeepGemmFp4Pairs = {KeyPairs{bit(Key::mxfp4_static), bit(Key::fp8_dynamic_128)}};
constexpr std::array kFlashinferFrom90 = {kUnquantizedPair, kFp8StaticPair};
constexpr std::array kFlashinferOn90 = {kMxfp4OnBf16Pair, kFp8BlockPair};
constexpr std::array kFlashinferFrom100 = {kMxfp4OnMxfp8Pair, kNvfp4Pair};
constexpr std::array kMarlinPairs = {KeyPairs{
    set_of(Key::fp8_static_128_block, Key::fp8_static_channel, Key::fp8_static_tensor, Key::mxfp4_static, Key::mxfp8_static, Key::nvfp4_static,
           Key::int4_static, Key::int8_static),
    kEverything,
}};
constexpr std::array kAiterPairs = {kUnquantizedPair, kFp8BlockPair, kFp8TensorPairs, kFp8ChannelPair};
constexpr std::array kAiterGfx950Pairs = {KeyPairs{bit(Key::mxfp4_static), set_of(Key::none, Key::mxfp4_dynamic)}};
constexpr std::array kAiterW4a8Pairs = {KeyPairs{bit(Key::mxfp4_static), bit(Key::fp8_static_tensor)}};
constexpr std::array kXpuFp8Pairs = {KeyPairs{bit(Key::fp8_static_tensor), set_of(Key::none, Key::fp8_dynamic_tensor)}};
constexpr std::array kXpuMxfp8Pairs = {KeyPairs{bit(Key::mxfp8_static), set_of(Key::none, Key::mxfp8_dynamic)}};
constexpr std::array kTrtllmFp8MonolithicPairs = {kFp8BlockPair, kFp8StaticPair, kMxfp8Pair};
constexpr std::array kTrtllmFp8Pairs = {kFp8BlockPair, kMxfp8Pair};
constexpr std::array kCutlassFp8Pairs = {kFp8ChannelPair, kFp8TensorPairs};
constexpr std::array kW4a8Pairs = {KeyPairs{bit(Key::int4_static), bit(Key::fp8_dynamic_token)}};

constexpr std::array kTrtllmMxfp4Quant = {QuantRule{kTrtllmMxfp4Pairs}};
constexpr std::array kDeepGemmFp4Quant = {QuantRule{kDeepGemmFp4Pairs}};
constexpr std::array kFlashinferQuant = {
    QuantRule{kFlashinferFrom90, on_cuda(cap_at_least(90))},
    QuantRule{kFlashinferOn90, on_cuda(cap_exactly(90))},
    QuantRule{kFlashinferFrom100, on_cuda(cap_at_least(100))},
};
constexpr std::array kMxfp4OnBf16 = {QuantRule{kMxfp4OnBf16Pairs}};
// Marlin dequantizes weights and looks at no activation key.
constexpr std::array kMarlinQuant = {QuantRule{kMarlinPairs}};
constexpr std::array kAiterQuant = {QuantRule{kAiterPairs}, QuantRule{kAiterGfx950Pairs, on_rocm(kGfx950)}};
constexpr std::array kAiterW4a8Quant = {QuantRule{kAiterW4a8Pairs}};
constexpr std::array kXpuFp8Quant = {QuantRule{kXpuFp8Pairs}};
constexpr std::array kXpuMxfp8Quant = {QuantRule{kXpuMxfp8Pairs}};
constexpr std::array kAnyQuant = {QuantRule{kEveryPair}};
constexpr std::array kNvfp4Quant = {QuantRule{kNvfp4Pairs}};
constexpr std::array kTrtllmFp8MonolithicQuant = {QuantRule{kTrtllmFp8MonolithicPairs}};
constexpr std::array kTrtllmFp8Quant = {QuantRule{kTrtllmFp8Pairs}};
constexpr std::array kFp8BlockQuant = {QuantRule{kFp8BlockPairs}};
// supports_fp8 of each platform class.
constexpr std::array kTritonQuant = {
    QuantRule{kUnquantizedPairs},
    QuantRule{kInt8Pairs, on_cuda(cap_at_least(75))},
    QuantRule{kTritonFp8Pairs, on_cuda(cap_at_least(89))},
    QuantRule{kTritonFp8Pairs, on_rocm(kFp8Gfx)},
    QuantRule{kTritonFp8Pairs, kXpu},
};
// Narrower than supports_fp8: no gfx12.
constexpr std::array kBatchedTritonQuant = {
    QuantRule{kUnquantizedPairs},
    QuantRule{kTritonFp8Pairs, on_cuda(cap_at_least(89))},
    QuantRule{kTritonFp8Pairs, on_rocm(kGfx9)},
};
constexpr std::array kCutlassFp8Quant = {QuantRule{kCutlassFp8Pairs}};
constexpr std::array kW4a8Quant = {QuantRule{kW4a8Pairs}};

constexpr std::array kLlama4PerTensor = {RoutingRule{kFp8StaticPair, bit(Routing::llama4)}};

constexpr std::array<Names, 2> kTritonOrDeepGemm = {"DeepGemmExperts", "TritonExperts"};
constexpr std::array<Names, 2> kTritonOrCutlass = {"CutlassExpertsFp8", "TritonExperts"};

constexpr std::array kClasses = {
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
                .activations = set_of(silu, relu2_no_mul, swigluoai),
                .quant = kFlashinferQuant},
    // gpt_oss_triton_kernels_moe.py
    KernelClass{.name = "OAITritonMxfp4ExpertsMonolithic",
                .monolithic = true,
                .devices = kTritonKernelsDevices,
                .activations = bit(swigluoai),
                .quant = kMxfp4OnBf16,
                .refused_parallel = kNotOneDispatch,
                .routings = kSoftmaxOverChosen},
    KernelClass{.name = "OAITritonExperts", .devices = kTritonKernelsDevices, .activations = bit(swigluoai), .quant = kMxfp4OnBf16},
    KernelClass{.name = "UnfusedOAITritonExperts",
                .devices = kTritonKernelsDevices,
                .activations = set_of(silu, gelu, swigluoai, swiglustep),
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
                .activations = bit(swigluoai),
                .quant = kAiterW4a8Quant,
                .refused_parallel = kNotOneDispatch,
                .routings = kSoftmaxOverChosen},
    // xpu_moe.py
    KernelClass{
        .name = "XPUExpertsMXFp4", .devices = kXpuDevices, .takes_no_act_and_mul = true, .activations = kXpuActivations, .quant = kMxfp4OnBf16},
    KernelClass{.name = "XPUExpertsFp8", .devices = kXpuDevices, .takes_no_act_and_mul = true, .activations = kXpuActivations, .quant = kXpuFp8Quant},
    KernelClass{
        .name = "XPUExpertsMxfp8", .devices = kXpuDevices, .takes_no_act_and_mul = true, .activations = kXpuActivations, .quant = kXpuMxfp8Quant},
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
                .activations = bit(silu),
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
    KernelClass{.name = "BatchedHummingGroupedExperts", .format = kBatched, .humming = HummingGemm::grouped_masked},
    KernelClass{.name = "HummingGroupedExperts", .humming = HummingGemm::grouped_contiguous},
    KernelClass{.name = "HummingIndexedExperts", .humming = HummingGemm::indexed},
    // trtllm_nvfp4_moe.py: data parallelism without expert parallelism is fine, unlike for MXFP4.
    KernelClass{.name = "TrtLlmNvFp4ExpertsMonolithic",
                .monolithic = true,
                .devices = kTrtllmDevices,
                .takes_no_act_and_mul = true,
                .activations = set_of(silu, relu2_no_mul, gelu),
                .quant = kNvfp4Quant,
                .refused_parallel = set_of(ParallelFact::all2all_kernels, ParallelFact::eplb),
                .routings = kTrtllmRoutings | bit(Routing::llama4)},
    KernelClass{.name = "TrtLlmNvFp4ExpertsModular",
                .devices = kTrtllmDevices,
                .takes_no_act_and_mul = true,
                .activations = set_of(silu, relu2_no_mul, gelu),
                .quant = kNvfp4Quant},
    // flashinfer_cutedsl_moe.py, flashinfer_cutedsl_batched_moe.py, flashinfer_b12x_moe.py
    KernelClass{.name = "FlashInferCuteDSLExperts", .devices = kCuteDslDevices, .activations = bit(silu), .quant = kNvfp4Quant},
    KernelClass{.name = "FlashInferCuteDSLBatchedExperts",
                .format = kBatched,
                .devices = kCuteDslBatchedDevices,
                .activations = bit(silu),
                .quant = kNvfp4Quant},
    KernelClass{.name = "FlashInferB12xExperts", .devices = kB12xDevices, .activations = bit(silu), .quant = kNvfp4Quant},
    // cutlass_moe.py; the pairs are triton_cutlass_moe.py's.
    KernelClass{.name = "CutlassExpertsFp4",
                .devices = kCutlassFp4Devices,
                .takes_no_act_and_mul = true,
                .activations = set_of(silu, gelu, swigluoai, swiglustep, silu_no_mul, gelu_no_mul, relu2_no_mul),
                .quant = kNvfp4Quant,
                .refused_parallel = bit(ParallelFact::ep_above_one)},
    KernelClass{.name = "CutlassExpertsFp8",
                .devices = kCutlassGroupGemmDevices,
                .activations = kCutlassActivations,
                .quant = kCutlassFp8Quant,
                .refused_parallel = kFlashinferNvlink | bit(ParallelFact::deepep_ht)},
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
                .activations = set_of(silu, relu2_no_mul),
                .quant = kTrtllmFp8MonolithicQuant,
                .refused_parallel = set_of(ParallelFact::eplb, ParallelFact::all2all_other_than_ag_rs),
                .routings = kTrtllmRoutings,
                .more_routings = kLlama4PerTensor},
    KernelClass{.name = "TrtLlmFp8ExpertsModular",
                .devices = kTrtllmDevices,
                .takes_no_act_and_mul = true,
                .activations = set_of(silu, relu2_no_mul),
                .quant = kTrtllmFp8Quant,
                .refused_parallel = set_of(ParallelFact::eplb, ParallelFact::all2all_other_than_ag_rs)},
    // deep_gemm_moe.py, batched_deep_gemm_moe.py, triton_deep_gemm_moe.py
    KernelClass{.name = "DeepGemmFP4Experts",
                .devices = kDeepGemmFp4Devices,
                .activations = set_of(silu, swiglustep),
                .quant = kDeepGemmFp4Quant,
                .refused_parallel = kFlashinferNvlink},
    KernelClass{.name = "DeepGemmExperts",
                .devices = kDeepGemmDevices,
                .activations = set_of(silu, swiglustep),
                .quant = kFp8BlockQuant,
                .refused_parallel = kFlashinferNvlink},
    KernelClass{.name = "BatchedDeepGemmExperts", .format = kBatched, .devices = kDeepGemmDevices, .activations = bit(silu), .quant = kFp8BlockQuant},
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

}  // namespace

std::span<const KernelClass> kernel_classes() { return kClasses; }

}  // namespace mx::oracle
