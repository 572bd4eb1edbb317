// What FlashInfer's b12x needs: the kernels, their converters and the engine's classes around them. E/ is vllm fused_moe/experts/ at 7e1b45a09, fi is
// flashinfer-ai/flashinfer at 41e5aa29a.

#include <array>

#include "model/families/b12x/family.hpp"
#include "model/families/facts.hpp"

namespace mx::families {
namespace {

using namespace facts;
using enum Effect;
using enum Grounds;
using enum NeedOf;

constexpr std::array<Names, 1> kB12x = {"FlashInferB12xExperts"};

constexpr std::array kNeeds = {
    need(
        "device", kB12x, {}, kernel, error, read, "SM12x", "no such kernel", [](const Placement& p) { return cuda_in(p, 120, 129); },
        "fi flashinfer/fused_moe/cute_dsl/b12x_moe.py"),
    need("cuda_13", kB12x, {}, kernel, error, read, "CUDA 13: the toolkit is no part of a deployment", "an error in the wrapper", nullptr,
         "fi flashinfer/fused_moe/cute_dsl/b12x_moe.py"),
    need("folded_scales", kB12x, {}, converter, silent, read,
         "block scales that stay exact when the global scale is folded into e4m3: a matter of values",
         "weights are rounded again, saturated or flushed", nullptr, "E/flashinfer_b12x_moe.py process_weights_after_loading"),
    need(
        "one_rank", kB12x, {}, kernel, error, read, "no expert parallelism: num_local_experts is num_experts", "NotImplementedError",
        [](const Placement& p) { return !has_ep(p); }, "fi flashinfer/fused_moe/cute_dsl/b12x_moe.py, refused by the class by 2026-08",
        "vllm pull request 40082"),
    need("activation", kB12x, {}, kernel_class, silent, read, "SILU, fixed", "computed as SwiGLU", is_silu, "E/flashinfer_b12x_moe.py", {},
         deployment::before(deployment::kVllm2026_08)),
    need(
        "activation", kB12x, {}, kernel_class, error, read, "SILU, GELU_TANH or RELU2_NO_MUL", "ValueError",
        [](const Placement& p) {
          return activation_is(p, {"SILU", "GELU_TANH", "RELU2_NO_MUL"});
        },
        "E/flashinfer_b12x_moe.py _ACTIVATION_MAP at 7ca49fbe4", {}, deployment::since(deployment::kVllm2026_08)),
    need("dtype", kB12x, {}, kernel, error, read, "bfloat16", "an assertion", is_bfloat16, "fi flashinfer/fused_moe/cute_dsl/b12x_moe.py"),
    need("scale_rows", kB12x, {}, converter, error, run, "rows of w13 in whole tiles of 128 when gated", "NotImplementedError: padding for w1 and w3",
         converter_takes, "vllm quantization/utils/flashinfer_fp4_moe.py prepare_nvfp4_moe_layer_for_fi_or_cutlass"),
};

/// Package b12x's own kernels. Source: vllm fused_moe/b12x.py at 7ca49fbe4; apply reads the same in 0.33.0.
constexpr std::array<Names, 1> kPlanned = {"B12xExperts"};
/// Activations stay as they are: the backend's own, or no key for them.
bool keeps_16_bits(const Placement& p) {
  return is_one_of(p.backend, {"B12X_MXFP4_BF16"}) || (p.oracle == "nvfp4" && p.deployment.activation_key == "None");
}
constexpr std::array kPlannedNeeds = {
    need(
        "device", kPlanned, {}, kernel_class, error, read, "SM12x, and package b12x, which supports the machine", "no such kernel",
        [](const Placement& p) { return cuda_in(p, 120, 129) && p.deployment.software.b12x_supported; }, "E/ of 0.33.0 and 7ca49fbe4: b12x.py", {},
        deployment::since(deployment::kVllm2026_08)),
    need(
        "weight_on_input", kPlanned, {}, converter, error, read, "no weight on the input but with 16-bit activations",
        "ValueError as the weights are prepared", [](const Placement& p) { return !p.deployment.layer.router_weight_on_input || keeps_16_bits(p); },
        "E/ at 7ca49fbe4: b12x.py process_weights_after_loading", {}, deployment::since(deployment::kVllm2026_08)),
    need(
        "relu2_constants", kPlanned, {}, kernel_class, silent, read, "no limit of RELU2_NO_MUL: it is not handed on", "nothing is clamped",
        [](const Placement& p) { return !activation_is(p, {"RELU2_NO_MUL"}) || !deployment::constants_of(p.deployment.layer).swiglu_limit; },
        "E/ at 7ca49fbe4: b12x.py _swiglu_params", {}, deployment::since(deployment::kVllm2026_08)),
};

constexpr std::array kClasses = {
    KernelClassFacts{"B12xExperts", ClassKind::plain, ExpertIds::other, WeightOnInput::heeded},
    KernelClassFacts{"FlashInferB12xExperts", ClassKind::plain, ExpertIds::other, WeightOnInput::twice},
};

constexpr std::array kTables = {NeedTable{kNvfp4Oracles, false, kNeeds}, NeedTable{kNvfp4Oracles, false, kPlannedNeeds},
                                NeedTable{kMxfp4Oracles, false, kPlannedNeeds}};

}  // namespace

constinit const std::span<const NeedTable> kB12xNeeds{kTables};
constinit const std::span<const KernelClassFacts> kB12xClasses{kClasses};

}  // namespace mx::families
