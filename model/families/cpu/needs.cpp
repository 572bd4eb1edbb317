// What the CPU's kernels need: the kernels, their converters and the engine's classes around them. E/ is vllm fused_moe/experts/ at 7e1b45a09, fi is
// flashinfer-ai/flashinfer at 41e5aa29a.

#include <array>

#include "model/families/cpu/family.hpp"
#include "model/families/facts.hpp"

namespace mx::families {
namespace {

using namespace facts;
using enum Effect;
using enum Grounds;
using enum NeedOf;

namespace mxfp4 {

constexpr std::array<Names, 1> kCpu = {"CPUExpertsMxfp4"};

constexpr std::array kNeeds = {
    need(
        "device", kCpu, {}, kernel_class, error, read, "cpu", "no such operator",
        [](const Placement& p) { return is_on(p, deployment::PlatformKind::cpu); }, "E/cpu_moe.py"),
    need(
        "amx", kCpu, {}, kernel, error, read, "a processor with AMX: the other builds lack the operators", "no such operator",
        [](const Placement& p) { return p.deployment.hardware.amx; }, "vllm cmake/cpu_extension.cmake VLLM_EXT_SRC_SGL"),
    need(
        "sizes", kCpu, {}, converter, error, run, "2I, H and I multiples of 32: packed rows of 16, scale rows of 32, K of 32",
        "an error in the packing",
        [](const Placement& p) {
          return divides(32, {w13_rows(p), p.hidden, p.intermediate});
        },
        "vllm csrc/cpu/sgl-kernels/gemm.cpp TILE_N, TILE_K, BLOCK_N"),
    need(
        "dtype", kCpu, {}, kernel, error, read, "bfloat16: float16 passes the dispatch, and there is no product of it with MXFP4 weights",
        kTorchError, [](const Placement& p) { return dtype_is(p, {"bfloat16"}); },
        "vllm csrc/cpu/sgl-kernels/gemm_fp8.cpp brgemm, tinygemm_kernel_nn"),
    need(
        "activation", kCpu, {}, kernel, silent, read, "SILU or SWIGLUOAI: the argument is not read", "computed as one of the two",
        [](const Placement& p) {
          return activation_is(p, {"SILU", "SWIGLUOAI"});
        },
        "vllm csrc/cpu/sgl-kernels/moe.cpp", {}, deployment::before(deployment::kVllm2026_11)),
    need(
        "activation", kCpu, {}, kernel_class, error, read, "SILU, SWIGLUOAI, GELU or GELU_TANH", "KeyError",
        [](const Placement& p) {
          return activation_is(p, {"SILU", "SWIGLUOAI", "GELU", "GELU_TANH"});
        },
        "E/cpu_moe.py _CPU_ACT_METHODS of 0.33.0", {}, deployment::since(deployment::kVllm2026_11)),
    need(
        "expert_map", kCpu, {}, kernel_class, silent, read, "no expert parallelism: the map is ignored", "global ids meet local weights",
        [](const Placement& p) { return !has_ep(p); }, "E/cpu_moe.py apply"),
};

}  // namespace mxfp4

namespace fp8 {

constexpr std::array<Names, 1> kCpu = {"CPUExpertsFp8"};

constexpr std::array kNeeds = {
    need(
        "device", kCpu, {}, kernel_class, error, read, "cpu", "no such operator",
        [](const Placement& p) { return is_on(p, deployment::PlatformKind::cpu); }, "E/cpu_moe.py"),
    need(
        "amx", kCpu, {}, kernel, error, read, "a processor with AMX: the other builds lack the operators", "no such operator",
        [](const Placement& p) { return p.deployment.hardware.amx; }, "vllm cmake/cpu_extension.cmake VLLM_EXT_SRC_SGL"),
    need("sizes", kCpu, {}, converter, error, read, "rows of w13 and w2 multiples of 16, H and I of 32", "an error in the packing", converter_takes,
         "vllm csrc/cpu/sgl-kernels/gemm.cpp"),
    need("block_size", kCpu, {}, kernel_class, error, read, "block scales", "an error: block_size is required", is_block, "E/cpu_moe.py"),
    need("activation", kCpu, {}, kernel_class, silent, read, "SILU, fixed", "computed as SILU", is_silu, "E/cpu_moe.py", {},
         deployment::before(deployment::kVllm2026_11)),
    need(
        "activation", kCpu, {}, kernel_class, error, read, "SILU, GELU or GELU_TANH: the constants of SWIGLUOAI are not passed", "KeyError",
        [](const Placement& p) {
          return activation_is(p, {"SILU", "GELU", "GELU_TANH"});
        },
        "E/cpu_moe.py CPUExpertsFp8 of 0.33.0", {}, deployment::since(deployment::kVllm2026_11)),
    need(
        "dtype", kCpu, {}, kernel, error, read, "bfloat16", kTorchError, [](const Placement& p) { return dtype_is(p, {"bfloat16"}); },
        "vllm csrc/cpu/sgl-kernels/gemm_fp8.cpp brgemm, tinygemm_kernel_nn"),
    need(
        "expert_map", kCpu, {}, kernel_class, silent, read, "no expert parallelism: the map is ignored", "global ids meet local weights",
        [](const Placement& p) { return !has_ep(p); }, "E/cpu_moe.py apply"),
};

}  // namespace fp8

namespace int4 {

constexpr std::array<Names, 1> kCpu = {"CPUExpertsInt4"};
constexpr std::array<Names, 1> kOracle = {"int_wna16"};

/// The class of int_wna16; that of w4a8_int8 has the name, too.
constexpr std::array kNeeds = {
    need(
        "amx", kCpu, {}, kernel_class, error, read, "x86 with AMX", "no such operator",
        [](const Placement& p) { return is_on(p, deployment::PlatformKind::cpu) && p.deployment.hardware.amx; },
        "E/cpu_moe.py CPUExpertsInt4 at 7ca49fbe4", {}, deployment::since(deployment::kVllm2026_08)),
    need(
        "weight_on_input", kCpu, {}, kernel_class, error, read, "no weight on the input", "NotImplementedError",
        [](const Placement& p) { return !p.deployment.layer.router_weight_on_input; }, "E/cpu_moe.py CPUExpertsInt4.apply at 7ca49fbe4", {},
        deployment::since(deployment::kVllm2026_08)),
    need(
        "expert_map", kCpu, {}, kernel_class, silent, read, "no expert parallelism: the map is ignored", "global ids meet local weights",
        [](const Placement& p) { return !has_ep(p); }, "E/cpu_moe.py CPUExpertsInt4.apply at 7ca49fbe4", {},
        deployment::between(deployment::kVllm2026_08, deployment::kVllm2026_11)),
};

}  // namespace int4

constexpr std::array kClasses = {
    KernelClassFacts{"CPUExpertsMxfp4", ClassKind::monolithic, ExpertIds::other, WeightOnInput::late},
    KernelClassFacts{"CPUExpertsFp8", ClassKind::monolithic, ExpertIds::other, WeightOnInput::late},
    KernelClassFacts{"CPUExpertsInt4", ClassKind::monolithic, ExpertIds::other, WeightOnInput::heeded},
};

constexpr std::array kTables = {NeedTable{kMxfp4Oracles, false, mxfp4::kNeeds}, NeedTable{kFp8Oracles, false, fp8::kNeeds},
                                NeedTable{int4::kOracle, false, int4::kNeeds}};

}  // namespace

constinit const std::span<const NeedTable> kCpuNeeds{kTables};
constinit const std::span<const KernelClassFacts> kCpuClasses{kClasses};

}  // namespace mx::families
