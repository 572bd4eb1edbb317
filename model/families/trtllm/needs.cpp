// What TRT-LLM gen needs: the kernels, their converters and the engine's classes around them. E/ is vllm fused_moe/experts/ at 7e1b45a09, fi is
// flashinfer-ai/flashinfer at 41e5aa29a, where a source says so 0.6.17, which vllm 7ca49fbe4 requires.

#include <array>

#include "model/families/facts.hpp"
#include "model/families/trtllm/family.hpp"

namespace mx::families {
namespace {

using namespace facts;
using enum Effect;
using enum Grounds;
using enum NeedOf;

// Limits of the router inside the kernel. Source: fi csrc/trtllm_fused_moe_runner.cu and its DeepSeek routing.
bool router_takes_deepseek(const Placement& p) {
  const deployment::LayerConfig& layer = p.deployment.layer;
  return !routing_is(p, {"DeepSeekV3"}) || (layer.experts_per_token <= 22 && layer.topk_group <= 4 && layer.expert_groups <= 8);
}

constexpr Names kSituBetas = "SITU with both betas above 0";
bool has_situ_betas(const Placement& p) {
  if (!activation_is(p, {"SITU"})) return true;
  const deployment::ActivationConstants constants = deployment::constants_of(p.deployment.layer);
  return constants.situ_beta.value_or(0) > 0 && constants.situ_linear_beta.value_or(0) > 0;
}

/// Limits of the block-scaled launcher's router. Source: fi csrc/trtllm_fused_moe_kernel_launcher.cu, FP8 block scale.
bool router_takes(const Placement& p) {
  const deployment::LayerConfig& layer = p.deployment.layer;
  const std::int64_t k = layer.experts_per_token, experts = layer.num_experts, groups = layer.expert_groups, used = layer.topk_group;
  if (!routing_is(p, {"DeepSeekV3"})) return groups <= 1 && used <= 1 && experts > k && k <= 32;
  const bool grouped = groups <= 1 || (experts % groups == 0 && used <= 4 && k < used * (experts / groups));
  return k <= (experts <= 384 ? 8 : 22) && grouped;
}

namespace mxfp4 {

constexpr std::array<Names, 2> kTrtllm = {"TrtLlmMxfp4ExpertsMonolithic", "TrtLlmMxfp4ExpertsModular"};
constexpr std::array<Names, 1> kTrtllmMonolithic = {"TrtLlmMxfp4ExpertsMonolithic"};
constexpr std::array<Names, 1> kTrtllmModular = {"TrtLlmMxfp4ExpertsModular"};

constexpr std::array kNeeds = {
    need(
        "device", kTrtllm, {}, kernel, error, read, "SM major 10 or 12", "an error in the launcher",
        [](const Placement& p) { return cuda_in(p, 100, 109) || cuda_in(p, 120, 129); }, "fi csrc/trtllm_fused_moe_kernel_launcher.cu, device check",
        "vllm issue 43906"),
    need("sizes", kTrtllm, {}, converter, error, run, "rows of both tensors and columns of both scales in tiles of 128 x 4: 2I, H, H/32 and I/32",
         "an assertion or a reshape error in the converter", converter_takes,
         "fi flashinfer/utils.py get_shuffle_matrix_sf_a_row_indices, 128 rows; block_scale_interleave, 4 columns"),
    need("kernel_sizes", kTrtllm, {}, kernel, error, assumed, "sizes below the rounding of 256 that some kernel takes",
         "the list of compiled kernels decides", nullptr, "fi csrc/trtllm_batched_gemm_runner.cu"),
    need(
        "dtype", kTrtllm, {}, kernel_class, error, read, "16-bit activations and outputs are bfloat16", kTorchError,
        [](const Placement& p) { return dtype_is(p, {"bfloat16"}); }, "E/trtllm_mxfp4_moe.py: bf16 or mxfp8 in, bf16 out"),
    need(
        "activation", kTrtllm, {}, kernel_class, silent, read, "SILU or SWIGLUOAI: the argument is not forwarded", "computed as SwiGLU",
        [](const Placement& p) {
          return activation_is(p, {"SILU", "SWIGLUOAI"});
        },
        "E/trtllm_mxfp4_moe.py apply", {}, deployment::before(deployment::kVllm2026_08)),
    need(
        "activation", kTrtllm, {}, kernel_class, error, read, "SILU, SWIGLUOAI, or SITU where FlashInfer has it", "KeyError",
        [](const Placement& p) {
          return activation_is(p, {"SILU", "SWIGLUOAI"}) || (activation_is(p, {"SITU"}) && p.deployment.software.flashinfer_situ);
        },
        "E/trtllm_mxfp4_moe.py _supports_activation at 7ca49fbe4", {}, deployment::since(deployment::kVllm2026_08)),
    need("situ_betas", kTrtllm, {}, kernel_class, error, read, kSituBetas, "an assertion when the class is made", has_situ_betas,
         "E/trtllm_mxfp4_moe.py TrtLlmMxfp4ExpertsBase at 7ca49fbe4", {}, deployment::since(deployment::kVllm2026_08)),
    need("gated", kTrtllm, {}, kernel_class, error, read, "a gated layer", "w13 has 2I rows for the kernel", is_gated, "E/trtllm_mxfp4_moe.py apply"),
    need(
        "expert_groups", kTrtllmMonolithic, {}, kernel_class, silent, read, "no groups of experts: they are not forwarded",
        "the router chooses among all experts", [](const Placement& p) { return p.deployment.layer.expert_groups <= 1; },
        "E/trtllm_mxfp4_moe.py apply", {}, deployment::before(deployment::kVllm2026_08)),
    need(
        "expert_groups", kTrtllmMonolithic, {}, kernel, silent, read, "no groups of experts but with DeepSeekV3: other routing leaves them out",
        "the router chooses among all experts",
        [](const Placement& p) { return routing_is(p, {"DeepSeekV3"}) || p.deployment.layer.expert_groups <= 1; },
        "fi csrc/trtllm_fused_moe_runner.cu of 0.6.17", {}, deployment::since(deployment::kVllm2026_08)),
    need(
        "routed_scaling", kTrtllmMonolithic, {}, kernel_class, silent, read, "no scaling of the routed sum: it is not forwarded",
        "a factor of 1 is used", [](const Placement& p) { return !p.deployment.layer.has_routed_scaling; }, "E/trtllm_mxfp4_moe.py apply",
        "vllm issues 43769, 44007", deployment::before(deployment::kVllm2026_08)),
    need(
        "routed_scaling", kTrtllmMonolithic, {}, kernel, silent, read,
        "no scaling of the routed sum but with DeepSeekV3: other routing leaves it out", "a factor of 1 is used",
        [](const Placement& p) { return routing_is(p, {"DeepSeekV3"}) || !p.deployment.layer.has_routed_scaling; },
        "fi csrc/trtllm_fused_moe_runner.cu of 0.6.17", {}, deployment::since(deployment::kVllm2026_08)),
    need(
        "router_limits", kTrtllmMonolithic, {}, kernel, error, read,
        "DeepSeekV3 with groups: at most 22 experts a token, 8 groups, 4 of them a token", "an error in the launcher",
        [](const Placement& p) { return p.deployment.layer.expert_groups <= 1 || router_takes_deepseek(p); },
        "fi csrc/trtllm_fused_moe_runner.cu of 0.6.17 and its DeepSeek routing", {}, deployment::since(deployment::kVllm2026_08)),
    need(
        "unpadded_output", kTrtllmModular, {}, engine, error, published, "behind an exchange the hidden size needs no padding",
        "the finalize step allocates the padded hidden size, the kernel writes the given one",
        [](const Placement& p) { return !exchanges(p) || p.hidden == p.deployment.layer.hidden; }, "vllm modular_kernel.py finalize",
        "vllm issue 52051"),
};

}  // namespace mxfp4

namespace nvfp4 {

constexpr std::array<Names, 2> kTrtllm = {"TrtLlmNvFp4ExpertsMonolithic", "TrtLlmNvFp4ExpertsModular"};
constexpr std::array<Names, 1> kTrtllmMonolithic = {"TrtLlmNvFp4ExpertsMonolithic"};

constexpr std::array kNeeds = {
    need(
        "device", kTrtllm, {}, kernel, error, read, "SM major 10 or 12", "an error in the launcher",
        [](const Placement& p) { return cuda_in(p, 100, 109) || cuda_in(p, 120, 129); }, "fi csrc/trtllm_fused_moe_kernel_launcher.cu, device check",
        "vllm issue 43906"),
    need("scale_rows", kTrtllm, {}, converter, error, run, "rows of w13 and w2 in tiles of 128, columns of their scales in fours",
         "AssertionError: M % 128 == 0", converter_takes, "fi flashinfer/utils.py get_shuffle_matrix_sf_a_row_indices; I is rounded to 16 when gated",
         "vllm issue 46879, pull request 46880; flashinfer issue 3206"),
    need(
        "halves", kTrtllm, {}, converter, silent, run, "I a multiple of 64 when gated: gate and up are padded together, behind both", kShiftedHalves,
        [](const Placement& p) { return halves_end_whole(p, 64); }, "vllm quantization/utils/flashinfer_utils.py align_fp4_moe_weights_for_fi",
        "vllm issue 55649, mended in 0.29.0", deployment::between(deployment::kVllm2026_08, deployment::kVllm2026_11)),
    need("kernel_sizes", kTrtllm, {}, kernel, error, assumed, "sizes for which a kernel is compiled", "the list of compiled kernels decides", nullptr,
         "fi csrc/trtllm_batched_gemm_runner.cu"),
    need(
        "activation", kTrtllm, {}, kernel, error, read, "SILU, GELU or RELU2_NO_MUL", "the launcher throws",
        [](const Placement& p) {
          return activation_is(p, {"SILU", "GELU", "RELU2_NO_MUL"});
        },
        "E/trtllm_nvfp4_moe.py; fi launcher", {}, deployment::before(deployment::kVllm2026_08)),
    need(
        "activation", kTrtllm, {}, kernel_class, error, read,
        "SILU, GELU, GELU_TANH, SWIGLUOAI_UNINTERLEAVE, RELU2_NO_MUL, or SITU where FlashInfer has it", "KeyError",
        [](const Placement& p) {
          return activation_is(p, {"SILU", "GELU", "GELU_TANH", "SWIGLUOAI_UNINTERLEAVE", "RELU2_NO_MUL"}) ||
                 (activation_is(p, {"SITU"}) && p.deployment.software.flashinfer_situ);
        },
        "E/trtllm_nvfp4_moe.py _supports_activation at 7ca49fbe4", {}, deployment::since(deployment::kVllm2026_08)),
    need("situ_betas", kTrtllm, {}, kernel_class, error, read, kSituBetas, "an assertion when the class is made", has_situ_betas,
         "E/trtllm_nvfp4_moe.py TrtLlmNvFp4ExpertsBase at 7ca49fbe4", {}, deployment::since(deployment::kVllm2026_08)),
    need("dtype", kTrtllm, {}, kernel_class, error, read, "float16 or bfloat16", "an error in the first batch", is_16_bit, "E/trtllm_nvfp4_moe.py"),
    need(
        "router_case", kTrtllmMonolithic, {}, kernel, error, read, "a routing method with a case in the kernel: Simulated has none",
        "Unimplemented routing method", [](const Placement& p) { return !routing_is(p, {"Simulated"}); }, "fi csrc/trtllm_fused_moe_runner.cu"),
    need("router_limits", kTrtllmMonolithic, {}, kernel, error, read, "DeepSeekV3: at most 22 experts a token, 8 groups, 4 of them a token",
         "an error in the launcher", router_takes_deepseek, "fi csrc/trtllm_fused_moe_runner.cu"),
    need(
        "llama4_one", kTrtllmMonolithic, {}, kernel, error, read, "Llama4: one expert a token", "an error in the launcher",
        [](const Placement& p) { return !routing_is(p, {"Llama4"}) || p.deployment.layer.experts_per_token == 1; },
        "fi csrc/trtllm_fused_moe_runner.cu"),
    need(
        "llama4_weight", kTrtllmMonolithic, {}, kernel_class, error, read, "Llama4 routing if and only if the weight is on the input", "an assertion",
        [](const Placement& p) { return routing_is(p, {"Llama4"}) == p.deployment.layer.router_weight_on_input; }, "E/trtllm_nvfp4_moe.py apply"),
    need(
        "correction_bias", kTrtllmMonolithic, {}, kernel_class, silent, published, "no correction bias that bfloat16 cannot hold: it is cast",
        "experts with close scores change places", [](const Placement& p) { return !p.deployment.layer.has_correction_bias; },
        "E/trtllm_nvfp4_moe.py apply", "flashinfer issue 2909", deployment::before(deployment::kVllm2026_08)),
    need(
        "routed_scaling", kTrtllmMonolithic, {}, kernel, silent, read, "no scaling of the routed sum with MiniMax2: 1 is used whatever is passed",
        "a factor of 1 is used", [](const Placement& p) { return !routing_is(p, {"MiniMax2"}) || !p.deployment.layer.has_routed_scaling; },
        "fi csrc/trtllm_fused_moe_runner.cu", {}, deployment::before(deployment::kVllm2026_08)),
};

}  // namespace nvfp4

namespace fp8 {

constexpr std::array<Names, 2> kTrtllm = {"TrtLlmFp8ExpertsMonolithic", "TrtLlmFp8ExpertsModular"};
constexpr std::array<Names, 1> kTrtllmMonolithic = {"TrtLlmFp8ExpertsMonolithic"};
constexpr std::array<Names, 1> kTrtllmModular = {"TrtLlmFp8ExpertsModular"};

constexpr std::array kNeeds = {
    need(
        "device", kTrtllm, {}, kernel, error, read, "SM major 10", "an error in the launcher",
        [](const Placement& p) { return cuda_in(p, 100, 109); }, "fi csrc/trtllm_fused_moe_kernel_launcher.cu"),
    need(
        "sizes", kTrtllm, {}, kernel, error, read, "H and I multiples of 128 with block or MX scales", "an error in the converter or the launcher",
        [](const Placement& p) { return is_per_tensor(p) || both_divide(p, 128); },
        "fi csrc/trtllm_fused_moe_kernel_launcher.cu; block-major K of 128"),
    need(
        "shuffle_rows", kTrtllm, {}, converter, error, run, "rows of w13 and w2 in groups of 32 with per-tensor scales",
        "an assertion in the shuffle", [](const Placement& p) { return !is_per_tensor(p) || converter_takes(p); },
        "fi flashinfer/utils.py get_shuffle_matrix_a_row_indices"),
    need(
        "halves", kTrtllmMonolithic, {}, converter, silent, run,
        "I a multiple of 16 when gated, with per-tensor scales: gate and up are padded together, behind both", kShiftedHalves,
        [](const Placement& p) { return !is_per_tensor(p) || halves_end_whole(p, 16); },
        "vllm quantization/utils/flashinfer_utils.py align_moe_weights_for_fi", {}, deployment::before(deployment::kVllm2026_11)),
    need("kernel_sizes", kTrtllm, {}, kernel, error, assumed, "smallest sizes with per-tensor scales", "not known", nullptr,
         "fi csrc/trtllm_fused_moe_kernel_launcher.cu checks none"),
    need("dtype", kTrtllm, {}, kernel_class, error, read, "float16 or bfloat16", "an error in the first batch", is_16_bit, "E/trtllm_fp8_moe.py"),
    need(
        "activation", kTrtllm, {}, kernel_class, error, read, "SILU or RELU2_NO_MUL", "an assertion",
        [](const Placement& p) {
          return activation_is(p, {"SILU", "RELU2_NO_MUL"});
        },
        "E/trtllm_fp8_moe.py", {}, deployment::before(deployment::kVllm2026_08)),
    need(
        "activation", kTrtllm, {}, kernel_class, error, read, "SILU or RELU2_NO_MUL; with block or MX scales SWIGLUOAI_UNINTERLEAVE, too",
        "an assertion",
        [](const Placement& p) {
          return activation_is(p, {"SILU", "RELU2_NO_MUL"}) || (!is_per_tensor(p) && activation_is(p, {"SWIGLUOAI_UNINTERLEAVE"}));
        },
        "E/trtllm_fp8_moe.py _apply_per_tensor, _apply_block_scale at 7ca49fbe4", {}, deployment::since(deployment::kVllm2026_08)),
    need(
        "block_activation", kTrtllmMonolithic, {}, kernel_class, error, read, "SILU with block or MX scales, though the class lists RELU2_NO_MUL",
        "an assertion", [](const Placement& p) { return is_per_tensor(p) || is_silu(p); }, "E/trtllm_fp8_moe.py apply", {},
        deployment::before(deployment::kVllm2026_08)),
    need(
        "block_activation", kTrtllmMonolithic, {}, kernel, error, read, "no RELU2_NO_MUL with block scales, though the class takes it",
        "NotImplementedError: DeepSeekFp8 only supports ActivationType::Swiglu",
        [](const Placement& p) { return !is_block(p) || !activation_is(p, {"RELU2_NO_MUL"}); },
        "fi csrc/trtllm_fused_moe_kernel_launcher.cu of 0.6.17", {}, deployment::between(deployment::kVllm2026_08, deployment::kVllm2026_11)),
    need("forwarded_activation", kTrtllmModular, {}, kernel_class, silent, read,
         "SILU: the activation is not forwarded, though the class lists RELU2_NO_MUL", "computed as SwiGLU, or a shape error", is_silu,
         "E/trtllm_fp8_moe.py TrtLlmFp8ExpertsModular.apply", {}, deployment::before(deployment::kVllm2026_08)),
    need(
        "forwarded_activation", kTrtllmModular, {}, kernel_class, silent, read,
        "SILU or SWIGLUOAI_UNINTERLEAVE, whose constants are passed: the activation is not forwarded, though the class lists RELU2_NO_MUL",
        "computed as SwiGLU, or a shape error",
        [](const Placement& p) {
          return activation_is(p, {"SILU", "SWIGLUOAI_UNINTERLEAVE"});
        },
        "E/trtllm_fp8_moe.py TrtLlmFp8ExpertsModular.apply at 7ca49fbe4", {}, deployment::since(deployment::kVllm2026_08)),
    need(
        "experts", kTrtllmMonolithic, {}, kernel_class, error, read, "at most 512 experts, in fours, with block or MX scales", "an assertion",
        [](const Placement& p) {
          const std::int64_t experts = p.deployment.layer.num_experts;
          return is_per_tensor(p) || (experts % 4 == 0 && experts <= 512);
        },
        "E/trtllm_fp8_moe.py apply"),
    need(
        "experts", kTrtllmModular, {}, kernel, error, read, "experts in fours", "an error in the launcher",
        [](const Placement& p) { return p.deployment.layer.num_experts % 4 == 0; }, "fi csrc/trtllm_fused_moe_kernel_launcher.cu"),
    need(
        "top_k", kTrtllmMonolithic, {}, kernel_class, error, read, "at most 10 experts a token with block or MX scales", "an assertion",
        [](const Placement& p) {
          return is_per_tensor(p) || p.deployment.layer.experts_per_token <= std::min<std::int64_t>(p.deployment.layer.num_experts, 10);
        },
        "E/trtllm_fp8_moe.py apply", {}, deployment::before(deployment::kVllm2026_08)),
    need(
        "top_k", kTrtllmMonolithic, {}, kernel_class, error, read, "at most 32 experts a token with block scales, and no more than there are",
        "an assertion",
        [](const Placement& p) {
          const deployment::LayerConfig& layer = p.deployment.layer;
          return is_per_tensor(p) || (layer.experts_per_token <= layer.num_experts && (!is_block(p) || layer.experts_per_token <= 32));
        },
        "E/trtllm_fp8_moe.py _apply_block_scale at 7ca49fbe4", {}, deployment::since(deployment::kVllm2026_08)),
    need(
        "top_k", kTrtllmModular, {}, kernel, error, read, "at most 32 experts a token, and fewer than there are", "an error in the launcher",
        [](const Placement& p) { return p.deployment.layer.experts_per_token <= std::min<std::int64_t>(p.deployment.layer.num_experts - 1, 32); },
        "fi csrc/trtllm_fused_moe_kernel_launcher.cu, checked of chosen experts, too"),
    need(
        "router_limits", kTrtllmMonolithic, {}, kernel, error, read,
        "DeepSeekV3: 8 experts a token up to 384 experts, else 22, groups that divide; other methods: no groups, at most 32 of more experts",
        "an error in the launcher", [](const Placement& p) { return is_per_tensor(p) || router_takes(p); },
        "fi csrc/trtllm_fused_moe_kernel_launcher.cu"),
    need(
        "router_case", kTrtllmMonolithic, {}, kernel, error, read, "a routing method with a case in the kernel: Simulated has none",
        "Unimplemented routing method", [](const Placement& p) { return !routing_is(p, {"Simulated"}); },
        "fi csrc/trtllm_fused_moe_runner.cu: cases 0 to 8"),
    need(
        "topk_group", kTrtllmMonolithic, {}, kernel_class, silent, read, "per-tensor scales: no groups of experts, topk_group is not forwarded",
        "the router works with no group or refuses",
        [](const Placement& p) { return !is_per_tensor(p) || !routing_is(p, {"DeepSeekV3"}) || p.deployment.layer.topk_group <= 1; },
        "E/trtllm_fp8_moe.py apply, the same at 7ca49fbe4 and of 0.33.0"),
    need(
        "correction_bias", kTrtllmMonolithic, {}, kernel_class, silent, read,
        "per-tensor scales: no correction bias that bfloat16 cannot hold, it is cast", "experts with close scores change places",
        [](const Placement& p) { return !is_per_tensor(p) || !p.deployment.layer.has_correction_bias; }, "E/trtllm_fp8_moe.py apply",
        "flashinfer issue 2909", deployment::before(deployment::kVllm2026_08)),
    need(
        "weight_on_input", kTrtllmMonolithic, {}, kernel_class, error, read, "no weight on the input with block or MX scales", "an assertion",
        [](const Placement& p) { return is_per_tensor(p) || !p.deployment.layer.router_weight_on_input; }, "E/trtllm_fp8_moe.py apply"),
    need(
        "llama4_weight", kTrtllmMonolithic, {}, kernel_class, error, read,
        "per-tensor scales: Llama4 routing if and only if the weight is on the input", "an assertion",
        [](const Placement& p) { return !is_per_tensor(p) || routing_is(p, {"Llama4"}) == p.deployment.layer.router_weight_on_input; },
        "E/trtllm_fp8_moe.py apply"),
};

}  // namespace fp8

constexpr std::array kClasses = {
    KernelClassFacts{"TrtLlmMxfp4ExpertsMonolithic", ClassKind::monolithic, ExpertIds::offset, WeightOnInput::late, true},
    KernelClassFacts{"TrtLlmMxfp4ExpertsModular", ClassKind::plain, ExpertIds::offset, WeightOnInput::twice, true},
    KernelClassFacts{"TrtLlmNvFp4ExpertsMonolithic", ClassKind::monolithic, ExpertIds::offset, WeightOnInput::late, true},
    KernelClassFacts{"TrtLlmNvFp4ExpertsModular", ClassKind::plain, ExpertIds::offset, WeightOnInput::twice, true},
    KernelClassFacts{"TrtLlmFp8ExpertsMonolithic", ClassKind::monolithic, ExpertIds::offset, WeightOnInput::heeded, true},
    KernelClassFacts{"TrtLlmFp8ExpertsModular", ClassKind::plain, ExpertIds::offset, WeightOnInput::twice, true},
};

constexpr std::array kTables = {NeedTable{kMxfp4Oracles, false, mxfp4::kNeeds}, NeedTable{kNvfp4Oracles, false, nvfp4::kNeeds},
                                NeedTable{kFp8Oracles, false, fp8::kNeeds}};

}  // namespace

constinit const std::span<const NeedTable> kTrtllmNeeds{kTables};
constinit const std::span<const KernelClassFacts> kTrtllmClasses{kClasses};

}  // namespace mx::families
