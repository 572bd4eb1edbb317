// Needs of the int4 x fp8 class, and of its converter.

#include <array>

#include "model/families/cutlass_w4a8/family.hpp"
#include "model/families/facts.hpp"

namespace mx::families {
namespace {

using namespace facts;
using enum Effect;
using enum Grounds;
using enum NeedOf;

constexpr std::array<Names, 1> kCutlass = {"CutlassExpertsW4A8Fp8"};

// E/ is vllm fused_moe/experts/ at 4438b6e7d.
constexpr std::array kNeeds = {
    need(
        "device", kCutlass, {}, kernel, error, read, "SM90 exactly: the kernels are compiled for sm_90a", "no kernel image",
        [](const Placement& p) { return cuda_in(p, 90, 90); }, "vllm CMakeLists.txt W4A8_ARCHS", {}, deployment::before(deployment::kVllm2026_08)),
    need(
        "device", kCutlass, {}, kernel, error, read, "SM90 exactly, though the class takes SM100, too: the kernels are compiled for sm_90a",
        "no kernel image", [](const Placement& p) { return cuda_in(p, 90, 90); }, "vllm CMakeLists.txt W4A8_ARCHS at 7ca49fbe4", {},
        deployment::since(deployment::kVllm2026_08)),
    need("sizes", kCutlass, {}, converter, error, run, "H and I multiples of 256", "an assertion in the method, or an error in the reordering",
         converter_takes, "vllm compressed_tensors_moe_w4a8_fp8.py; csrc/quantization/cutlass_w4a8: K a multiple of 256"),
    need(
        "rows", kCutlass, {}, kernel, error, run, "rows of w13 and w2 multiples of 16", "n must be divisible by 16",
        [](const Placement& p) {
          return divides(16, {w13_rows(p), p.hidden});
        },
        "vllm csrc/quantization/cutlass_w4a8"),
    need("gated", kCutlass, {}, kernel_class, error, read, "a gated layer", "strides of 2I rows", is_gated, "E/cutlass_moe.py CutlassExpertsW4A8Fp8"),
    need(
        "dtype", kCutlass, {}, kernel_class, error, read, "bfloat16 output", "an assertion",
        [](const Placement& p) { return dtype_is(p, {"bfloat16"}); }, "E/cutlass_moe.py CutlassExpertsW4A8Fp8"),
    need(
        "activation", kCutlass, {}, kernel_class, error, read, "SILU, GELU or SWIGLUOAI", "an error",
        [](const Placement& p) {
          return activation_is(p, {"SILU", "GELU", "SWIGLUOAI"});
        },
        "E/cutlass_moe.py CutlassExpertsW4A8Fp8", {}, deployment::before(deployment::kVllm2026_08)),
    need(
        "activation", kCutlass, {}, kernel_class, error, read, "a gated activation that apply_moe_activation has", "ValueError",
        [](const Placement& p) {
          return activation_is(p, {"SILU", "GELU", "GELU_TANH", "SWIGLUOAI", "SWIGLUOAI_UNINTERLEAVE", "SWIGLUSTEP", "SITU"});
        },
        "E/cutlass_moe.py CutlassExpertsW4A8Fp8 at 7ca49fbe4", {}, deployment::since(deployment::kVllm2026_08)),
    need(
        "one_sided", kCutlass, {}, engine, error, read, "FlashInfer's one-sided exchange takes unquantized, nvfp4 or mxfp8 activations",
        "NotImplementedError", [](const Placement& p) { return !exchange_is(p, {"flashinfer_nvlink_one_sided"}); },
        "vllm fused_moe/all2all_utils.py maybe_make_prepare_finalize"),
    need("groups", kCutlass, {}, engine, error, read, "groups of 128, symmetric, no group order: no part of a deployment",
         "an assertion in the method", nullptr, "vllm compressed_tensors_moe_w4a8_fp8.py"),
};

constexpr std::array kClasses = {
    KernelClassFacts{"CutlassExpertsW4A8Fp8", ClassKind::plain, ExpertIds::other, WeightOnInput::twice},
};

constexpr std::array kTables = {NeedTable{kW4a8Oracles, false, kNeeds}};

}  // namespace

constinit const std::span<const NeedTable> kCutlassW4a8Needs{kTables};
constinit const std::span<const KernelClassFacts> kCutlassW4a8Classes{kClasses};

}  // namespace mx::families
