// What checkpoints need of loaders, quantization methods and converters, whoever computes; those of gpt-oss and of DeepSeek-V4 most. E/ is vllm
// fused_moe/experts/ at 7e1b45a09.

#include <array>

#include "model/audit/around.hpp"
#include "model/engine/vllm/own_choice.hpp"
#include "model/families/facts.hpp"

namespace mx::audit {
namespace {

using namespace families::facts;
using enum families::Effect;
using enum Grounds;
using enum families::NeedOf;

constexpr std::array<Names, 2> kTrtllm = {"TrtLlmMxfp4ExpertsMonolithic", "TrtLlmMxfp4ExpertsModular"};
constexpr std::array<Names, 2> kTriton = {"OAITritonMxfp4ExpertsMonolithic", "OAITritonExperts"};
constexpr std::array<Names, 1> kTritonBackend = {"TRITON"};
constexpr std::array<Names, 1> kTritonUnfused = {"UnfusedOAITritonExperts"};
constexpr std::array<Names, 1> kUnfusedBackend = {"TRITON_UNFUSED"};
constexpr std::array<Names, 1> kAiter = {"AiterExperts"};
constexpr std::array<Names, 1> kAiterBf16 = {"AITER_MXFP4_BF16"};
constexpr std::array<Names, 1> kCpu = {"CPUExpertsMxfp4"};
constexpr std::array<Names, 2> kTrtllmBackends = {"FLASHINFER_TRTLLM_MXFP4_BF16", "FLASHINFER_TRTLLM_MXFP4_MXFP8"};
constexpr std::array<Names, 2> kCutlassBackends = {"FLASHINFER_CUTLASS_MXFP4_BF16", "FLASHINFER_CUTLASS_MXFP4_MXFP8"};
constexpr std::array<Names, 3> kDeinterleave = {"FLASHINFER_CUTLASS_MXFP4_BF16", "FLASHINFER_CUTLASS_MXFP4_MXFP8", "AITER_MXFP4_BF16"};
constexpr Names kQuarkSource =
    "vllm quantization/quark/quark_moe.py _setup_kernel; oracle/mxfp4.py convert_gpt_oss_weight_to_mxfp4_moe_kernel_format; the same at 7ca49fbe4 "
    "and "
    "of 0.33.0";
constexpr std::array<Names, 7> kNotOfStandard = {
    "FLASHINFER_CUTLASS_MXFP4_BF16", "FLASHINFER_CUTLASS_MXFP4_MXFP8", "XPU", "EMULATION", "AITER_MXFP4_MXFP4", "AITER_MXFP4_FP8", "CPU"};

/// compressed-tensors checkpoints do not pass through gpt-oss's loader.
bool has_own_loader(const families::Placement& p) { return p.deployment.quant_method == "compressed_tensors"; }

/// Elements of I that the gpt-oss loader copies to one rank: whole blocks of 32, rounded up.
std::int64_t loaded_per_rank(const families::Placement& p) {
  if (has_ep(p)) return p.deployment.layer.intermediate_per_partition;
  const std::int64_t blocks = p.deployment.layer.intermediate_per_partition * ranks(p) / 32;
  return 32 * ((blocks + ranks(p) - 1) / ranks(p));
}

/// Quark's method hands every checkpoint to the converter of gpt-oss. Only gpt-oss's own rows alternate gate and up.
bool is_quark(const families::Placement& p) { return p.deployment.quant_method == "quark"; }

bool is_oai(const families::Placement& p) { return activation_is(p, {"SWIGLUOAI"}); }

// gpt-oss: Q/ is vllm quantization/, whose method for it always passes alpha, beta and limit.
constexpr std::array kLoaderNeeds = {
    need(
        "loaded_experts", {}, {}, engine, silent, read, "the experts divide by the ranks: a rank loads G // ep of them",
        "the last experts are never loaded", [](const families::Placement& p) { return !is_uneven(p) || has_own_loader(p); },
        "vllm models/gpt_oss.py _load_weights_mxfp4"),
};

/// A name of moe_backend is given to a method that takes its class by the device.
bool is_unheard(const families::Placement& p) {
  const deployment::Deployment& deployment = p.deployment;
  return deployment.quant_method != "own" && deployment.layer.moe_backend != "auto" &&
         engine::own_choice(engine::tables_of(p.engine, p.oracle), deployment).taken();
}

constexpr std::array kMethodNeeds = {
    need(
        "wish", {}, {}, engine, silent, published, "the user names no backend: the quantization method takes its class by the device",
        "another backend than wished", [](const families::Placement& p) { return !is_unheard(p); },
        "vllm compressed_tensors_moe_w4a4_mxfp4.py, quark/quark_moe.py QuarkW8A8Fp8MoEMethod at 7e1b45a09: the oracle is not asked",
        "vllm pull request 55232"),
};

constexpr std::array kGptOssNeeds = {
    need(
        "shard_room", {}, {}, engine, error, published, "a rank's buffer has room for the whole blocks of 32 that the loader cuts",
        "the copy does not fit its buffer", [](const families::Placement& p) { return p.intermediate >= loaded_per_rank(p) || has_own_loader(p); },
        "vllm models/gpt_oss.py _load_weights_mxfp4; quantization/quark/quark_moe.py: EMULATION is not rounded", "vllm issue 43979"),
    need(
        "oai_constants", kTrtllm, {}, engine, silent, read, "SWIGLUOAI: the method always passes alpha, beta and limit",
        "SILU is computed as SwiGLU-OAI", [](const families::Placement& p) { return activation_is(p, {"SWIGLUOAI"}); },
        "vllm quantization/mxfp4.py; E/trtllm_mxfp4_moe.py", {}, deployment::before(deployment::kVllm2026_08)),
    need(
        "oai_constants", kTrtllm, {}, engine, silent, read, "SWIGLUOAI, or SITU, which has its own: the method always passes alpha, beta and limit",
        "SILU is computed as SwiGLU-OAI",
        [](const families::Placement& p) {
          return activation_is(p, {"SWIGLUOAI", "SITU"});
        },
        "vllm quantization/mxfp4.py; E/trtllm_mxfp4_moe.py __init__ at 7ca49fbe4", {}, deployment::since(deployment::kVllm2026_08)),
    need("oai_constants", kCpu, {}, engine, silent, read, "SWIGLUOAI: the presence of alpha and limit chooses it, and the method always passes them",
         "SILU is computed as SwiGLU-OAI", is_oai, "vllm quantization/mxfp4.py; csrc/cpu/sgl-kernels/moe.cpp", {},
         deployment::before(deployment::kVllm2026_08)),
    need("oai_constants", kCpu, {}, engine, silent, read, "SWIGLUOAI: the presence of alpha and limit chooses it, and the method always passes them",
         "SILU is computed as SwiGLU-OAI", is_oai, "vllm quantization/mxfp4.py; csrc/cpu/sgl-kernels/moe.cpp at 7ca49fbe4", {},
         deployment::between(deployment::kVllm2026_08, deployment::kVllm2026_11)),
    need(
        "permutations", {}, kTrtllmBackends, engine, error, read, "a cache of permutations, which Quark's method does not hand to the converter",
        "an assertion", [](const families::Placement& p) { return !is_quark(p); }, kQuarkSource),
    need(
        "converter_biases", {}, kCutlassBackends, engine, error, read, "biases, which the converter that Quark's method calls asserts",
        "an assertion", [](const families::Placement& p) { return !is_quark(p) || p.deployment.layer.has_bias; }, kQuarkSource),
    need(
        "row_order", {}, kDeinterleave, engine, silent, read,
        "rows that alternate gate and up, as gpt-oss has them: the converter that Quark's method calls de-interleaves w13",
        "the rows of [w1; w3] are shuffled as if they alternated", [](const families::Placement& p) { return !is_quark(p) || is_oai(p); },
        kQuarkSource),
    need(
        "two_data_ranks", kTriton, kTritonBackend, engine, error, published, "no data parallelism together with expert parallelism",
        "errors, cause not known", [](const families::Placement& p) { return !exchanges(p); }, "not known", "vllm pull request 37128"),
};

// DeepSeek-V4: [w1; w3] rows, converted by the function for standard checkpoints; alpha and beta are not passed.
constexpr std::array kDeepseekNeeds = {
    need(
        "converter", {}, kNotOfStandard, converter, error, read, "a converter for standard checkpoints",
        "ValueError: Unsupported mxfp4_backend for Mxfp4MoEMethod", [](const families::Placement&) { return false; },
        "vllm oracle/mxfp4.py convert_weight_to_mxfp4_moe_kernel_format", {}, deployment::before(deployment::kVllm2026_08)),
    need(
        "converter", kCpu, {}, converter, error, read, "a converter for standard checkpoints",
        "ValueError: Unsupported mxfp4_backend for Mxfp4MoEMethod", [](const families::Placement&) { return false; },
        "vllm oracle/mxfp4.py convert_weight_to_mxfp4_moe_kernel_format at 7ca49fbe4", {},
        deployment::between(deployment::kVllm2026_08, deployment::kVllm2026_11)),
    need(
        "row_order", kAiter, kAiterBf16, converter, silent, read, "rows that alternate gate and up: w13 is de-interleaved whatever its order",
        "the rows of [w1; w3] are shuffled as if they alternated", [](const families::Placement&) { return false; },
        "vllm oracle/mxfp4.py convert_weight_to_mxfp4_moe_kernel_format, fixed in pull requests of 2026-05-29 and 2026-06-26", {},
        deployment::before(deployment::kVllm2026_08)),
    need(
        "row_order", kTriton, {}, converter, silent, run, "rows that alternate gate and up: of w13 the packed K axis is interleaved, not the rows",
        "weights and scales are shuffled along K", [](const families::Placement&) { return false; },
        "vllm oracle/mxfp4.py convert_weight_to_mxfp4_moe_kernel_format, standard TRITON; the same at 7ca49fbe4 and of 0.33.0"),
    need(
        "no_constants", kTrtllm, {}, kernel_class, silent, read, "SILU: without alpha and beta the kernel computes SwiGLU",
        "SWIGLUOAI is computed as SwiGLU", [](const families::Placement& p) { return activation_is(p, {"SILU"}); },
        "E/trtllm_mxfp4_moe.py; vllm models/deepseek_v4/quant_config.py", {}, deployment::before(deployment::kVllm2026_08)),
    need(
        "no_constants", kTrtllm, {}, kernel_class, silent, read,
        "SILU, or SITU, which has its own: without alpha and beta the kernel computes SwiGLU", "SWIGLUOAI is computed as SwiGLU",
        [](const families::Placement& p) {
          return activation_is(p, {"SILU", "SITU"});
        },
        "vllm quantization/mxfp4.py Mxfp4MoEMethod; E/trtllm_mxfp4_moe.py __init__ at 7ca49fbe4", {}, deployment::since(deployment::kVllm2026_08)),
    need("unfused_rows", kTritonUnfused, kUnfusedBackend, converter, silent, assumed,
         "the row order that the unfused activation reads behind this converter", "not known", nullptr,
         "vllm oracle/mxfp4.py: no reorder for standard TRITON_UNFUSED"),
};

}  // namespace

std::span<const families::KernelNeed> method_needs() { return kMethodNeeds; }
std::span<const families::KernelNeed> gpt_oss_loader_needs() { return kLoaderNeeds; }
std::span<const families::KernelNeed> gpt_oss_needs() { return kGptOssNeeds; }
std::span<const families::KernelNeed> deepseek_v4_needs() { return kDeepseekNeeds; }

}  // namespace mx::audit
