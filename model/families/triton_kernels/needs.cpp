// What triton_kernels needs: the kernels, their converters and the engine's classes around them. E/ is vllm fused_moe/experts/ at 7e1b45a09, fi is
// flashinfer-ai/flashinfer at 41e5aa29a.

#include <array>

#include "model/families/facts.hpp"
#include "model/families/triton_kernels/family.hpp"

namespace mx::families {
namespace {

using namespace facts;
using enum Effect;
using enum Grounds;
using enum NeedOf;

constexpr std::array<Names, 3> kTritonKernels = {"OAITritonMxfp4ExpertsMonolithic", "OAITritonExperts", "UnfusedOAITritonExperts"};
constexpr std::array<Names, 2> kTriton = {"OAITritonMxfp4ExpertsMonolithic", "OAITritonExperts"};
constexpr std::array<Names, 1> kTritonUnfused = {"UnfusedOAITritonExperts"};
constexpr std::array<Names, 1> kTritonMonolithic = {"OAITritonMxfp4ExpertsMonolithic"};

constexpr std::array kNeeds = {
    need(
        "device", kTritonKernels, {}, kernel, error, read, "cuda or rocm", "no Triton",
        [](const Placement& p) { return is_on(p, deployment::PlatformKind::cuda) || is_on(p, deployment::PlatformKind::rocm); },
        "triton-lang/triton python/triton_kernels"),
    need("architectures", kTritonKernels, {}, kernel, error, assumed, "the architectures that triton_kernels takes", "not known", nullptr,
         "no public text", "vllm issue 40301"),
    need(
        "sizes", kTritonKernels, {}, kernel_class, error, read, "I even: gate and up alternate in pairs", "a shape error",
        [](const Placement& p) { return p.intermediate % 2 == 0; }, "E/gpt_oss_triton_kernels_moe.py"),
    need(
        "dtype", kTritonKernels, {}, kernel_class, error, read, "bfloat16", "an assertion",
        [](const Placement& p) { return dtype_is(p, {"bfloat16"}); }, "E/gpt_oss_triton_kernels_moe.py"),
    need(
        "activation", kTriton, {}, kernel_class, error, read, "SWIGLUOAI", "an assertion",
        [](const Placement& p) { return activation_is(p, {"SWIGLUOAI"}); }, "E/gpt_oss_triton_kernels_moe.py OAITritonExperts.apply"),
    need(
        "activation", kTritonUnfused, {}, kernel_class, error, read, "SILU, GELU, SWIGLUOAI or SWIGLUSTEP", "an error",
        [](const Placement& p) {
          return activation_is(p, {"SILU", "GELU", "SWIGLUOAI", "SWIGLUSTEP"});
        },
        "E/gpt_oss_triton_kernels_moe.py UnfusedOAITritonExperts.activation", {}, deployment::before(deployment::kVllm2026_08)),
    need(
        "activation", kTritonUnfused, {}, kernel_class, error, read, "SILU, GELU, SWIGLUOAI, SWIGLUOAI_UNINTERLEAVE or SWIGLUSTEP", "an error",
        [](const Placement& p) {
          return activation_is(p, {"SILU", "GELU", "SWIGLUOAI", "SWIGLUOAI_UNINTERLEAVE", "SWIGLUSTEP"});
        },
        "E/gpt_oss_triton_kernels_moe.py UnfusedOAITritonExperts.activation at 7ca49fbe4", {}, deployment::since(deployment::kVllm2026_08)),
    need(
        "expert_groups", kTritonMonolithic, {}, kernel_class, silent, read, "no groups of experts: they are ignored",
        "the router chooses among all experts", [](const Placement& p) { return p.deployment.layer.expert_groups <= 1; },
        "E/gpt_oss_triton_kernels_moe.py"),
    need(
        "hidden_pairs", kTritonKernels, {}, kernel, silent, run, "on SM90 H no odd multiple of 32",
        "the last 32 k of every second row of gate and up are not read",
        [](const Placement& p) { return !cuda_in(p, 90, 90) || p.hidden % 64 != 32; },
        "triton_kernels abce3c88f (3.5) matmul_ogs masks packed columns at 2 K: outputs of an H100", {},
        deployment::before(deployment::kVllm2026_11)),
    need(
        "scale_groups", kTritonKernels, {}, converter, silent, run, "on SM90 H and I multiples of 128: four groups of scales to a step of the kernel",
        "what lies behind the scales is read, a byte 255 there makes NaN of whole results",
        [](const Placement& p) { return !cuda_in(p, 90, 90) || both_divide(p, 128); },
        "triton_kernels abce3c88f (3.5) under compute-sanitizer on an H100; 7ca49fbe4 pads them", {}, deployment::before(deployment::kVllm2026_08)),
    need("dropped_rows", kTritonUnfused, {}, kernel_class, silent, assumed, "whether rows of absent experts are cleared before they are summed",
         "not known", nullptr, "E/gpt_oss_triton_kernels_moe.py moe_sum"),
};

constexpr std::array kClasses = {
    KernelClassFacts{"OAITritonMxfp4ExpertsMonolithic", ClassKind::monolithic, ExpertIds::map, WeightOnInput::late},
    KernelClassFacts{"OAITritonExperts", ClassKind::plain, ExpertIds::map, WeightOnInput::twice},
    KernelClassFacts{"UnfusedOAITritonExperts", ClassKind::plain, ExpertIds::map, WeightOnInput::twice},
};

constexpr std::array kTables = {NeedTable{kMxfp4Oracles, false, kNeeds}};

}  // namespace

constinit const std::span<const NeedTable> kTritonKernelsNeeds{kTables};
constinit const std::span<const KernelClassFacts> kTritonKernelsClasses{kClasses};

}  // namespace mx::families
