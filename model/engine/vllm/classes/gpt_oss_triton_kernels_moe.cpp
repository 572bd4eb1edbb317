// What the expert classes of vllm fused_moe/experts/gpt_oss_triton_kernels_moe.py accept.

#include <array>

#include "model/engine/vllm/classes/rows.hpp"

namespace mx::engine {
namespace {

using namespace class_rows;

constexpr std::array<Names, 5> kGfx9OrGfx1x = {"gfx90a", "gfx942", "gfx950", "gfx11", "gfx12"};
constexpr std::array kTritonKernelsDevices = {
    DeviceRule{on_cuda({90, 110}), &Software::has_triton_kernels},
    DeviceRule{on_rocm(kGfx9OrGfx1x), &Software::has_triton_kernels},
};
constexpr std::array<Names, 2> kGfx1x = {"gfx11", "gfx12"};
constexpr Where kRdna{.platforms = bit(PlatformKind::rocm), .gcn_contains_any = kGfx1x, .gcn_lacks = "gfx1250"};
constexpr std::array kTritonKernelsDevicesWithRdna = {
    DeviceRule{on_cuda({90, 110}), &Software::has_triton_kernels},
    DeviceRule{on_rocm(kGfx9), &Software::has_triton_kernels},
    DeviceRule{kRdna, &Software::has_triton_kernels},
};
constexpr std::array kTritonKernelsDevicesBelow130 = {
    DeviceRule{on_cuda({90, 130}), &Software::has_triton_kernels},
    DeviceRule{on_rocm(kGfx9), &Software::has_triton_kernels},
    DeviceRule{kRdna, &Software::has_triton_kernels},
};

constexpr auto kClasses = joined(
    history(KernelClass{.name = "OAITritonMxfp4ExpertsMonolithic",
                        .monolithic = true,
                        .devices = kTritonKernelsDevices,
                        .activations = bit(swigluoai),
                        .quant = kMxfp4OnBf16,
                        .refused_parallel = kNotOneDispatch,
                        .routings = kSoftmaxOverChosen},
            ClassChange{.since = kVllm2026_08, .devices = kTritonKernelsDevicesWithRdna},
            ClassChange{.since = kVllm2026_11, .devices = kTritonKernelsDevicesBelow130}),
    history(KernelClass{.name = "OAITritonExperts", .devices = kTritonKernelsDevices, .activations = bit(swigluoai), .quant = kMxfp4OnBf16},
            ClassChange{.since = kVllm2026_08, .devices = kTritonKernelsDevicesWithRdna},
            ClassChange{.since = kVllm2026_11, .devices = kTritonKernelsDevicesBelow130}),
    history(KernelClass{.name = "UnfusedOAITritonExperts",
                        .devices = kTritonKernelsDevices,
                        .activations = set_of(silu, gelu, swigluoai, swiglustep),
                        .quant = kMxfp4OnBf16,
                        .lora = true},
            ClassChange{.since = kVllm2026_08, .devices = kTritonKernelsDevicesWithRdna, .activations = set_of(silu, gelu, swiglustep) | kOaiBoth},
            ClassChange{.since = kVllm2026_11, .devices = kTritonKernelsDevicesBelow130}));

}  // namespace

std::span<const KernelClass> gpt_oss_triton_kernels_moe_classes() { return kClasses; }

}  // namespace mx::engine
