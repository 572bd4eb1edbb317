#include "model/engine/vllm/method.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <variant>

#include "model/deployment/vocabulary.hpp"
#include "model/engine/vllm/own_choice.hpp"
#include "model/engine/vllm/setup/fp8_block_shape.hpp"
#include "model/fault.hpp"

namespace mx::engine {
namespace {

using Names = std::string_view;

/// A quantization method that does something else with the oracle's answer.
struct MethodRow {
  Names method;
  Names oracle;
  bool first_class;                    ///< the first class of the backend replaces the chosen one
  std::span<const Names> not_rounded;  ///< backends whose sizes stay as they are
  deployment::Versions versions;
};

constexpr std::array<Names, 1> kEmulation = {"EMULATION"};
// vllm quark/quark_moe.py QuarkOCP_MX_MoEMethod: backend_to_kernel_cls(backend)[0]; until 2026-08 maybe_roundup_sizes leaves EMULATION's as they are.
constexpr std::array kMethods = {
    MethodRow{"quark", "mxfp4", true, kEmulation, kMay},
    MethodRow{"quark", "mxfp4", true, {}, kSinceAugust},
};

const MethodRow* method_of(const OracleTables& tables, const deployment::Deployment& deployment) {
  const auto* const row = std::ranges::find_if(kMethods, [&](const MethodRow& one) {
    return one.method == deployment.quant_method && one.oracle == tables.name && one.versions.has(tables.engine);
  });
  return row == kMethods.end() ? nullptr : row;
}

bool is_listed(std::span<const Names> names, Names name) { return std::ranges::find(names, name) != names.end(); }

/// What becomes of blocks that a rank's share cuts; none where they are kept, or the key is of no blocks. 2026-08 (0.29.0; the commits before it
/// raise) looks at no wish. Source: vllm 0.29.0 fused_moe/oracle/fp8.py refine_fp8_moe_block_shape; 0.33.0 resolve_fp8_moe_weight_block_shape.
std::optional<Answer<BlockShape>> cut_blocks(const OracleTables& tables, const deployment::Deployment& deployment) {
  const deployment::LayerConfig& layer = deployment.layer;
  if (!kSinceAugust.has(tables.engine) || tables.weight_key) return std::nullopt;
  const std::optional<deployment::KeyBlock> block = deployment::fp8_block_of_key(deployment.weight_key);
  if (!block || layer.intermediate_per_partition % std::lcm(block->rows, block->columns) == 0) return std::nullopt;
  const bool listens = kSinceNovember.has(tables.engine);
  return fp8_block_shape({.engine = tables.engine,
                          .hardware = deployment.hardware,
                          .parallel = deployment.parallel,
                          .block = {block->rows, block->columns},
                          .hidden = layer.hidden,
                          .intermediate = layer.intermediate_per_partition * deployment::tensor_ranks(deployment.parallel),
                          .moe_backend = listens ? layer.moe_backend : "auto",
                          .checkpoint_is_fp8 = true,
                          .has_bias = layer.has_bias,
                          .is_lora_enabled = layer.is_lora_enabled});
}

/// Schemes that a method has no experts for, by the key of the weights.
struct SchemeCheck {
  Names method;
  deployment::QuantKey weights;
  Names error_type;
  Names text;
  deployment::Versions versions;
};
constexpr Names kOneScale = "the method's weight scale is one number, which those of rows or blocks do not fit";
// vllm quantization/quark/quark_moe.py QuarkMoEMethod.get_moe_method, QuarkW8A8Fp8MoEMethod.__init__; vllm#52263 took blocks in, and
// QuarkNvfp4MoEMethod came between May and August, QuarkW8A8Mxfp8MoEMethod after.
constexpr std::array kSchemeChecks = {
    SchemeCheck{"quark", deployment::QuantKey::fp8_static_128_block, "RuntimeError", "Unsupported FusedMoe scheme", kMay},
    SchemeCheck{"quark", deployment::QuantKey::nvfp4_static, "RuntimeError", "Unsupported FusedMoe scheme", kMay},
    SchemeCheck{"quark", deployment::QuantKey::mxfp8_static, "RuntimeError", "Unsupported FusedMoe scheme", kUntilNovember},
    // quantization/modelopt.py ModelOptFp8MoEMethod.create_weights: one scale a tensor for every FP8 algorithm, into which no more fit.
    SchemeCheck{"modelopt", deployment::QuantKey::fp8_static_channel, "RuntimeError", kOneScale, kAlways},
    SchemeCheck{"modelopt", deployment::QuantKey::fp8_static_128_block, "RuntimeError", kOneScale, kAlways},
    SchemeCheck{
        "quark", deployment::QuantKey::fp8_static_128_block, "ValueError",
        "For FP8 Fused MoE layers, only per-tensor and per-channel scales for weights and activations are supported. Found per_block, per_group",
        kAugust},
};

/// Methods of FP8 experts that ask nothing of is_fp8_fnuz.
// vllm 0.22.1, 0.29.0 and 0.33.0 quantization/modelopt.py ModelOptFp8MoEMethod.process_weights_after_loading; beside it fp8.py Fp8MoEMethod,
// compressed_tensors_moe_w8a8_fp8.py and quark/quark_moe.py QuarkW8A8Fp8MoEMethod call normalize_e4m3fn_to_e4m3fnuz for tensors, channels and blocks;
// fbgemm_fp8.py has no experts.
constexpr std::array<Names, 1> kLeavesE4m3fn = {"modelopt"};

/// Why the size that a check names has no finer block either, in versions that look for one.
std::string no_finer_block(const OracleTables& tables, const deployment::Deployment& deployment, const deployment::KeyBlock& block) {
  if (!kSinceAugust.has(tables.engine)) return {};
  const std::int64_t common =
      std::gcd(std::gcd(std::gcd(block.rows, block.columns), deployment.layer.intermediate_per_partition), deployment.layer.hidden);
  return " Their common divisor " + std::to_string(common) + " is below " + std::to_string(kSmallestBlock) + ", so there is no finer block.";
}

}  // namespace

bool makes_fnuz(std::string_view method) { return !is_listed(kLeavesE4m3fn, method); }

deployment::Deployment as_asked(const OracleTables& tables, const deployment::Deployment& deployment) {
  deployment::Deployment asked = deployment;
  const auto cut = cut_blocks(tables, deployment);
  const BlockShape* const shape = cut ? std::get_if<BlockShape>(&*cut) : nullptr;
  if (shape == nullptr) return asked;
  asked.layer.intermediate_per_partition = shape->intermediate_per_partition;
  if (!shape->shard_with_padding && shape->refined) asked.weight_key = deployment::key_of_fp8_block({shape->block.row, shape->block.col});
  return asked;
}

std::string_view method_class(const OracleTables& tables, const deployment::Deployment& deployment, std::string_view backend,
                              std::string_view kernel_class) {
  const MethodRow* const method = method_of(tables, deployment);
  const BackendRow& row = backend_named(tables, backend);
  if (method != nullptr && method->first_class && !row.classes.empty()) return row.classes.front();
  if (!row.lora_class.empty() && kernel_class == row.lora_class) return row.lora_class;
  const auto chosen = std::ranges::find(row.classes, kernel_class);
  return chosen == row.classes.end() ? std::string_view() : *chosen;
}

std::optional<Refusal> method_refusal(const OracleTables& tables, const deployment::Deployment& given) {
  const auto cut = cut_blocks(tables, given);
  if (const Refusal* const raised = cut ? std::get_if<Refusal>(&*cut) : nullptr) return *raised;
  const deployment::Deployment deployment = as_asked(tables, given);
  const deployment::QuantKey weights = tables.weight_key.value_or(deployment::quant_key_named(deployment.weight_key));
  const std::int64_t intermediate = deployment.layer.intermediate_per_partition;
  if (auto refusal = own_choice_refusal(tables, deployment)) return refusal;
  for (const SchemeCheck& check : kSchemeChecks) {
    if ((!check.versions.has(tables.engine) && !fault::planted(fault::Fault::method_schemes_of_any_version)) ||
        check.method != deployment.quant_method || check.weights != weights)
      continue;
    return Refusal{std::string(check.error_type), std::string(check.text)};
  }
  // vllm quantization/fp8.py Fp8MoEMethod.create_weights: block_n of weight_block_size, after finer blocks were looked for.
  const std::optional<deployment::KeyBlock> block = tables.weight_key ? std::nullopt : deployment::fp8_block_of_key(deployment.weight_key);
  if (!block || intermediate % block->rows == 0) return std::nullopt;
  return Refusal{"ValueError", "The output_size of gate's and up's weight = " + std::to_string(intermediate) +
                                   " is not divisible by weight quantization block_n = " + std::to_string(block->rows) + "." +
                                   no_finer_block(tables, deployment, *block)};
}

RoundedSizes method_sizes(const OracleTables& tables, std::string_view backend, const deployment::Deployment& deployment,
                          const RoundedSizes& exchanged) {
  if (own_choice(tables, deployment).backend == backend) return exchanged;
  const MethodRow* const method = method_of(tables, deployment);
  if (method != nullptr && is_listed(method->not_rounded, backend_named(tables, backend).name)) return exchanged;
  return round_up(tables, backend, deployment, exchanged);
}

Decision after_method(const OracleTables& tables, const deployment::Deployment& deployment, Decision decision) {
  const deployment::LayerConfig& layer = deployment.layer;
  const RoundedSizes given{layer.hidden, layer.intermediate_per_partition};
  if (const OwnChoice own = own_choice(tables, deployment); own.taken()) {
    return {Choice{std::string(own.backend), std::string(own.kernel_class), given.hidden, given.intermediate}, {}, std::move(decision.trace)};
  }
  if (!decision.choice || method_of(tables, deployment) == nullptr) return decision;
  Choice& choice = *decision.choice;
  const RoundedSizes sizes = method_sizes(tables, choice.backend, deployment, given);
  choice.kernel_class = method_class(tables, deployment, choice.backend, choice.kernel_class);
  choice.rounded_hidden = sizes.hidden;
  choice.rounded_intermediate = sizes.intermediate;
  return decision;
}

Decision decide(const OracleTables& tables, const deployment::Deployment& deployment, Detail detail) {
  const deployment::Deployment asked = as_asked(tables, deployment);
  return after_method(tables, asked, select(tables, asked, detail));
}

}  // namespace mx::engine
