// What Intel's XPU kernels need: the kernels, their converters and the engine's classes around them. E/ is vllm fused_moe/experts/ at 7e1b45a09, fi
// is flashinfer-ai/flashinfer at 41e5aa29a.

#include <array>

#include "model/families/facts.hpp"
#include "model/families/xpu/family.hpp"

namespace mx::families {
namespace {

using namespace facts;
using enum Effect;
using enum Grounds;
using enum NeedOf;

namespace mxfp4 {

constexpr std::array<Names, 2> kXpu = {"XPUExpertsMXFp4", "XPUExpertsMxFp4"};

constexpr std::array kNeeds = {
    need(
        "device", kXpu, {}, kernel_class, error, read, "xpu", "no such kernel",
        [](const Placement& p) { return is_on(p, deployment::PlatformKind::xpu); }, "E/xpu_moe.py: vllm_xpu_kernels"),
    need("kernel_sizes", kXpu, {}, kernel, error, assumed, "sizes, dtypes and activations of the kernels", "not known", nullptr,
         "vllm_xpu_kernels xpu_fused_moe is not public text"),
};

}  // namespace mxfp4

namespace fp8 {

constexpr std::array<Names, 4> kXpu = {"XPUExpertsFp8", "XPUExpertsMxfp8", "XPUExpertsMxFp8", "XPUExpertsBlockFp8"};

constexpr std::array kNeeds = {
    need(
        "device", kXpu, {}, kernel_class, error, read, "xpu", "no such kernel",
        [](const Placement& p) { return is_on(p, deployment::PlatformKind::xpu); }, "E/xpu_moe.py"),
    need("kernel_sizes", kXpu, {}, kernel, error, assumed, "sizes, dtypes and activations of the kernels", "not known", nullptr,
         "vllm_xpu_kernels xpu_fused_moe is not public text"),
};

}  // namespace fp8

constexpr std::array kClasses = {
    KernelClassFacts{"XPUExpertsMXFp4", ClassKind::plain, ExpertIds::offset, WeightOnInput::twice},
    KernelClassFacts{"XPUExpertsFp8", ClassKind::plain, ExpertIds::offset, WeightOnInput::twice},
    KernelClassFacts{"XPUExpertsMxfp8", ClassKind::plain, ExpertIds::offset, WeightOnInput::twice},
    KernelClassFacts{"XPUExpertsMxFp4", ClassKind::plain, ExpertIds::offset, WeightOnInput::twice},
    KernelClassFacts{"XPUExpertsMxFp8", ClassKind::plain, ExpertIds::offset, WeightOnInput::twice},
    KernelClassFacts{"XPUExpertsBlockFp8", ClassKind::plain, ExpertIds::offset, WeightOnInput::twice},
};

constexpr std::array kTables = {NeedTable{kMxfp4Oracles, false, mxfp4::kNeeds}, NeedTable{kFp8Oracles, false, fp8::kNeeds}};

}  // namespace

constinit const std::span<const NeedTable> kXpuNeeds{kTables};
constinit const std::span<const KernelClassFacts> kXpuClasses{kClasses};

}  // namespace mx::families
