// What vLLM's Triton kernels need: the kernels, their converters and the engine's classes around them. E/ is vllm fused_moe/experts/ at 7e1b45a09, fi
// is flashinfer-ai/flashinfer at 41e5aa29a.

#include <array>

#include "model/families/facts.hpp"
#include "model/families/triton_moe/family.hpp"

namespace mx::families {
namespace {

using namespace facts;
using enum Effect;
using enum Grounds;
using enum NeedOf;

constexpr std::array<Names, 2> kTriton = {"TritonExperts", "BatchedTritonExperts"};

constexpr std::array<Names, 1> kBatched = {"BatchedTritonExperts"};

constexpr std::array kNeeds = {
    need(
        "device", kTriton, {}, kernel_class, error, read, "cuda, rocm or xpu: Triton", "no Triton",
        [](const Placement& p) { return !is_on(p, deployment::PlatformKind::cpu); }, "E/triton_moe.py"),
    need("tuned_steps", kBatched, {}, kernel_class, silent, run, "with scales of 128 x 128 no tuned file whose BLOCK_K is above 128",
         "every second block of 128 is given the scale of the one before it", nullptr,
         "vllm fused_batched_moe.py caps no BLOCK_K, 52 of 61 files have such: outputs of an H100"),
};

// MXFP8 without kernels of its own. Sources at 7ca49fbe4; the classes read the same in 0.33.0.
constexpr std::array<Names, 1> kNative = {"Mxfp8NativeTritonExperts"};
constexpr std::array<Names, 1> kEmulated = {"Mxfp8EmulationTritonExperts"};
constexpr std::array<Names, 1> kMxfp8Oracle = {"mxfp8"};
constexpr std::array kMxfp8Needs = {
    need(
        "device", kNative, {}, kernel, error, read, "gfx95x or gfx1250: products with scales", "no such instruction",
        [](const Placement& p) {
          return arch_is(p, {"gfx95", "gfx1250"});
        },
        "E/mxfp8_native_moe.py _mxfp8_grouped_gemm_kernel", {}, deployment::since(deployment::kVllm2026_08)),
    need(
        "sizes", kNative, {}, kernel, error, read, "H and I multiples of 128", "an assertion", [](const Placement& p) { return both_divide(p, 128); },
        "E/mxfp8_native_moe.py _grouped_gemm_mxfp8", {}, deployment::since(deployment::kVllm2026_08)),
    need(
        "activation", kNative, {}, kernel_class, silent, read, "SILU or SWIGLUOAI_UNINTERLEAVE: the argument is not read, halves are gate and up",
        "computed as SwiGLU of halves with the layer's constants",
        [](const Placement& p) {
          return activation_is(p, {"SILU", "SWIGLUOAI_UNINTERLEAVE"});
        },
        "E/mxfp8_native_moe.py fused_moe_mxfp8_native", {}, deployment::since(deployment::kVllm2026_08)),
    need(
        "uninterleaved_limit", kEmulated, {}, kernel_class, error, read, "a limit with SWIGLUOAI_UNINTERLEAVE", "ValueError",
        [](const Placement& p) {
          return !activation_is(p, {"SWIGLUOAI_UNINTERLEAVE"}) || deployment::constants_of(p.deployment.layer).swiglu_limit.has_value();
        },
        "E/mxfp8_emulation_moe.py activation", {}, deployment::since(deployment::kVllm2026_08)),
};

constexpr std::array kClasses = {
    KernelClassFacts{"Mxfp8NativeTritonExperts", ClassKind::plain, ExpertIds::map, WeightOnInput::twice},
    KernelClassFacts{"Mxfp8EmulationTritonExperts", ClassKind::plain, ExpertIds::map, WeightOnInput::heeded},
    KernelClassFacts{"TritonExperts", ClassKind::plain, ExpertIds::map, WeightOnInput::heeded},
    KernelClassFacts{"BatchedTritonExperts", ClassKind::batched, ExpertIds::other, WeightOnInput::heeded},
};

constexpr std::array kTables = {NeedTable{kFp8Oracles, false, kNeeds}, NeedTable{kMxfp8Oracle, false, kMxfp8Needs}};

}  // namespace

constinit const std::span<const NeedTable> kTritonMoeNeeds{kTables};
constinit const std::span<const KernelClassFacts> kTritonMoeClasses{kClasses};

}  // namespace mx::families
