#include "model/engine/vllm/method.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>

#include "model/deployment/vocabulary.hpp"
#include "model/engine/vllm/model_file.hpp"

namespace mx::oracle {
namespace {

using Names = std::string_view;

/// The class that a method takes on some devices without asking.
struct OwnClass {
  PlatformKind platform;
  int major;  ///< 0: all
  Names kernel_class;
};

/// A quantization method that does something else with the answer.
struct MethodRow {
  Names method;
  Names oracle;
  std::span<const OwnClass> own;       ///< empty: the oracle is asked; a device without a row is not known here, and the oracle's answer stands
  bool first_class;                    ///< the first class of the backend replaces the chosen one
  std::span<const Names> not_rounded;  ///< backends whose sizes stay as they are
};

constexpr std::array kCompressedMxfp4 = {OwnClass{PlatformKind::cuda, 10, "CutlassExpertsMxfp4"}};
constexpr std::array<Names, 1> kEmulation = {"EMULATION"};
constexpr std::array kMethods = {
    // vllm quark/quark_moe.py QuarkOCP_MX_MoEMethod: backend_to_kernel_cls(backend)[0]; EMULATION skips the rounding.
    MethodRow{"quark", "mxfp4", {}, true, kEmulation},
    // vllm compressed_tensors_moe_w4a4_mxfp4.py: the class follows from the device.
    MethodRow{"compressed_tensors", "mxfp4", kCompressedMxfp4, false, {}},
};

const MethodRow* method_of(const OracleTables& tables, const Deployment& deployment) {
  const auto* const row =
      std::ranges::find_if(kMethods, [&](const MethodRow& one) { return one.method == deployment.quant_method && one.oracle == tables.name; });
  return row == kMethods.end() ? nullptr : row;
}

bool is_listed(std::span<const Names> names, Names name) { return std::ranges::find(names, name) != names.end(); }

/// Sizes that a method asserts before it makes weights, by the key of the weights.
struct SizeCheck {
  QuantKey weights;
  std::int64_t intermediate;  ///< of a rank: a multiple of this
  Names error_type;
  Versions versions;
};
// vllm quantization/fp8.py Fp8MoEMethod.create_weights: block_n of weight_block_size. 2026-11 takes finer blocks instead (fp8_block_shape).
constexpr std::array kSizeChecks = {SizeCheck{QuantKey::fp8_static_128_block, 128, "ValueError", kUntilNovember}};

/// Schemes that a method has no experts for, by the key of the weights.
struct SchemeCheck {
  Names method;
  QuantKey weights;
  Names error_type;
  Names text;
  Versions versions;
};
// vllm quantization/quark/quark_moe.py QuarkMoEMethod.get_moe_method, QuarkW8A8Fp8MoEMethod.__init__; vllm#52263 took blocks in.
constexpr std::array kSchemeChecks = {
    SchemeCheck{"quark", QuantKey::fp8_static_128_block, "RuntimeError", "Unsupported FusedMoe scheme", kMay},
    SchemeCheck{
        "quark", QuantKey::fp8_static_128_block, "ValueError",
        "For FP8 Fused MoE layers, only per-tensor and per-channel scales for weights and activations are supported. Found per_block, per_group",
        kAugust},
};

}  // namespace

std::string_view own_class(const OracleTables& tables, const Deployment& deployment) {
  if (const std::string_view experts = own_experts(tables, deployment); !experts.empty()) return experts;
  const MethodRow* const method = method_of(tables, deployment);
  if (method == nullptr) return {};
  const Hardware& hardware = deployment.hardware;
  const auto row = std::ranges::find_if(method->own, [&](const OwnClass& one) {
    return one.platform == hardware.platform && (one.major == 0 || one.major == hardware.capability.value_or(0) / 10);
  });
  return row == method->own.end() ? std::string_view() : row->kernel_class;
}

std::string_view method_class(const OracleTables& tables, const Deployment& deployment, std::string_view backend, std::string_view kernel_class) {
  const MethodRow* const method = method_of(tables, deployment);
  const BackendRow& row = backend_named(tables, backend);
  if (method != nullptr && method->first_class && !row.classes.empty()) return row.classes.front();
  if (!row.lora_class.empty() && kernel_class == row.lora_class) return row.lora_class;
  const auto chosen = std::ranges::find(row.classes, kernel_class);
  return chosen == row.classes.end() ? std::string_view() : *chosen;
}

std::optional<Refusal> method_refusal(const OracleTables& tables, const Deployment& deployment) {
  const QuantKey weights = tables.weight_key.value_or(quant_key_named(deployment.weight_key));
  const std::int64_t intermediate = deployment.layer.intermediate_per_partition;
  if (auto refusal = own_experts_refusal(tables, deployment)) return refusal;
  for (const SchemeCheck& check : kSchemeChecks) {
    if (!check.versions.has(tables.engine) || check.method != deployment.quant_method || check.weights != weights) continue;
    return Refusal{std::string(check.error_type), std::string(check.text)};
  }
  for (const SizeCheck& check : kSizeChecks) {
    if (!check.versions.has(tables.engine) || check.weights != weights || intermediate % check.intermediate == 0) continue;
    return Refusal{std::string(check.error_type), "The output_size of gate's and up's weight = " + std::to_string(intermediate) +
                                                      " is not divisible by weight quantization block_n = " + std::to_string(check.intermediate) +
                                                      "."};
  }
  return std::nullopt;
}

RoundedSizes method_sizes(const OracleTables& tables, std::string_view backend, const Deployment& deployment, const RoundedSizes& exchanged) {
  if (backend == kNotAsked) return exchanged;
  const MethodRow* const method = method_of(tables, deployment);
  if (method != nullptr && is_listed(method->not_rounded, backend_named(tables, backend).name)) return exchanged;
  return round_up(tables, backend, deployment, exchanged);
}

Decision after_method(const OracleTables& tables, const Deployment& deployment, Decision decision) {
  const LayerConfig& layer = deployment.layer;
  const RoundedSizes given{layer.hidden, layer.intermediate_per_partition};
  if (const std::string_view own = own_class(tables, deployment); !own.empty()) {
    return {Choice{std::string(kNotAsked), std::string(own), given.hidden, given.intermediate}, {}, std::move(decision.trace)};
  }
  if (!decision.choice || method_of(tables, deployment) == nullptr) return decision;
  Choice& choice = *decision.choice;
  const RoundedSizes sizes = method_sizes(tables, choice.backend, deployment, given);
  choice.kernel_class = method_class(tables, deployment, choice.backend, choice.kernel_class);
  choice.rounded_hidden = sizes.hidden;
  choice.rounded_intermediate = sizes.intermediate;
  return decision;
}

Decision decide(const OracleTables& tables, const Deployment& deployment, Detail detail) {
  return after_method(tables, deployment, select(tables, deployment, detail));
}

}  // namespace mx::oracle
