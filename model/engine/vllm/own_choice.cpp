#include "model/engine/vllm/own_choice.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "model/engine/vllm/check.hpp"
#include "model/engine/vllm/env.hpp"
#include "model/engine/vllm/model_file.hpp"

namespace mx::engine {
namespace {

using Names = std::string_view;

/// What a method takes of such deployments. First match wins; a row without a class asks the oracle.
struct OwnRow {
  Names method;
  Names oracle;
  deployment::Versions versions;
  bool (*where)(const deployment::Deployment& deployment);
  OwnChoice choice;
};

bool anywhere(const deployment::Deployment&) { return true; }
bool is_on(const deployment::Deployment& d, deployment::PlatformKind platform) { return d.hardware.platform == platform; }
bool is_cuda_between(const deployment::Deployment& d, int least, int below) {
  return is_on(d, deployment::PlatformKind::cuda) && d.hardware.capability.value_or(0) >= least && d.hardware.capability.value_or(0) < below;
}
template <Names const&... names>
bool wishes(const deployment::Deployment& d) {
  return ((d.layer.moe_backend == names) || ...);
}
bool is_by_tensor_or_channel(const deployment::Deployment& d) {
  const deployment::QuantKey weights = deployment::quant_key_named(d.weight_key);
  return weights == deployment::QuantKey::fp8_static_tensor || weights == deployment::QuantKey::fp8_static_channel;
}
// Source: vllm _aiter_ops.py is_fused_moe_enabled.
bool has_aiter(const deployment::Deployment& d) {
  constexpr std::array kOn = {EnvVariable::rocm_use_aiter, EnvVariable::rocm_use_aiter_moe};
  const Names arch = d.hardware.gcn_arch;
  return is_on(d, deployment::PlatformKind::rocm) && (arch.starts_with("gfx942") || arch.starts_with("gfx950")) && d.software.aiter_found &&
         read_switches(d.env, kOn) == Switch::on;
}
bool lacks_fp8(const deployment::Deployment& d) {
  const bool forced = read_switch(d.env, EnvVariable::test_force_fp8_marlin) == Switch::on;
  return !is_on(d, deployment::PlatformKind::rocm) && (forced || d.hardware.capability.value_or(0) < 89);
}

constexpr Names kCompressed = "compressed_tensors", kQuark = "quark";
constexpr Names kB12x = "b12x", kMoeEpCuteDsl = "flashinfer_moe_ep_cutedsl", kMoeEpDeepGemm = "flashinfer_moe_ep_mega_deep_gemm";
constexpr OwnChoice kAsks{};
constexpr OwnChoice kCutlass{kNotAsked, "CutlassExpertsMxfp4"};
constexpr OwnChoice kMarlin{"MARLIN", "MarlinExperts"};
constexpr deployment::Mask kLimitAndBias = deployment::bit(Constant::limit) | deployment::bit(Constant::bias);

constexpr std::array kRows = {
    // vllm compressed_tensors_moe_w4a4_mxfp4.py CompressedTensorsW4A4Mxfp4MoEMethod.__init__; CutlassExpertsMxfp4._supports_current_device, since
    // 2026-08 by csrc mxfp4_experts_quant_sm_supported.
    OwnRow{kCompressed, "mxfp4", kMay, [](const deployment::Deployment& d) { return is_cuda_between(d, 100, 110); }, kCutlass},
    OwnRow{kCompressed, "mxfp4", kSinceAugust, wishes<kB12x>, kAsks},
    OwnRow{kCompressed, "mxfp4", kSinceNovember, wishes<kMoeEpCuteDsl, kMoeEpDeepGemm>, kAsks},
    OwnRow{kCompressed, "mxfp4", kSinceAugust, [](const deployment::Deployment& d) { return is_cuda_between(d, 100, 120); }, kCutlass},
    OwnRow{kCompressed,
           "mxfp4",
           kSinceAugust,
           [](const deployment::Deployment& d) { return is_on(d, deployment::PlatformKind::xpu); },
           {"XPU", "XPUExpertsMxFp4"}},
    OwnRow{kCompressed, "mxfp4", kAlways, anywhere, kMarlin},
    // vllm quark/quark_moe.py QuarkW8A8Fp8MoEMethod, until 2026-08: the functions of these classes, called directly.
    OwnRow{kQuark, "fp8", kMay, [](const deployment::Deployment& d) { return !is_by_tensor_or_channel(d); }, kAsks},
    OwnRow{kQuark, "fp8", kMay, has_aiter, {"AITER", "AiterExperts", kLimitAndBias}},
    OwnRow{kQuark, "fp8", kMay, lacks_fp8, kMarlin},
    OwnRow{kQuark, "fp8", kMay, anywhere, {"TRITON", "TritonExperts", kLimitAndBias}},
};

/// What is raised when the weights of a class that a method took are prepared.
struct LoadCheck {
  Names method;  ///< empty: any
  Names kernel_class;
  deployment::Versions versions;
  bool (*holds)(const deployment::Deployment& deployment, deployment::Engine engine);
  Names error_type;
  Names text;
};
constexpr std::array kLoadChecks = {
    // vllm CMakeLists.txt compiles csrc gptq_marlin_repack.cu for CUDA alone; _custom_ops.py asks for it all the same.
    LoadCheck{{},
              "MarlinExperts",
              kAlways,
              [](const deployment::Deployment& d, deployment::Engine) { return is_on(d, deployment::PlatformKind::cuda); },
              "AttributeError",
              "'_OpNamespace' '_C' object has no attribute 'gptq_marlin_repack'"},
    // vllm quantization/utils/marlin_utils_fp4.py prepare_moe_fp4_layer_for_marlin at 7e1b45a09: e is moe_config.num_experts, of all ranks.
    LoadCheck{kCompressed, "MarlinExperts", kMay,
              [](const deployment::Deployment& d, deployment::Engine engine) { return deployment::derive(d.parallel, engine).ep_size == 1; },
              "AssertionError", "prepare_moe_fp4_layer_for_marlin: the weights of a rank are not those of all experts"},
};

/// Since 2026-11 the class is asked about the layer after all. Source: vllm oracle/mxfp4.py _validate_mxfp4_experts_config.
std::optional<Refusal> class_refusal(const OracleTables& tables, const deployment::Deployment& deployment, const OwnChoice& own) {
  if (tables.engine < deployment::kVllm2026_11) return std::nullopt;
  const auto row = std::ranges::find_if(tables.backends,
                                        [&](const BackendRow& one) { return std::ranges::find(one.classes, own.kernel_class) != one.classes.end(); });
  const Query query = query_of(deployment, tables.engine);
  const Verdict verdict =
      check_class({tables.classes, own.kernel_class, query, deployment::QuantKey::mxfp4_static, activation_key(tables, row->name)}, Detail::texts);
  if (verdict.supported) return std::nullopt;
  return Refusal{"ValueError", std::string(own.kernel_class) + " does not support this MoE deployment since " + verdict.text + "."};
}

}  // namespace

OwnChoice own_choice(const OracleTables& tables, const deployment::Deployment& deployment) {
  if (const Names experts = own_experts(tables, deployment); !experts.empty()) return {kNotAsked, experts};
  const auto* const row = std::ranges::find_if(kRows, [&](const OwnRow& one) {
    return one.method == deployment.quant_method && one.oracle == tables.name && one.versions.has(tables.engine) && one.where(deployment);
  });
  return row == kRows.end() ? kAsks : row->choice;
}

std::optional<Refusal> own_choice_refusal(const OracleTables& tables, const deployment::Deployment& deployment) {
  if (auto refusal = own_experts_refusal(tables, deployment)) return refusal;
  if (!own_experts(tables, deployment).empty()) return std::nullopt;
  const OwnChoice own = own_choice(tables, deployment);
  if (!own.taken()) return std::nullopt;
  for (const LoadCheck& check : kLoadChecks) {
    if ((!check.method.empty() && check.method != deployment.quant_method) || check.kernel_class != own.kernel_class ||
        !check.versions.has(tables.engine))
      continue;
    if (!check.holds(deployment, tables.engine)) return Refusal{std::string(check.error_type), std::string(check.text)};
  }
  return class_refusal(tables, deployment, own);
}

}  // namespace mx::engine
