#include "verbs/select/deployment_diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>

namespace mx::verbs {
namespace {

using deployment::Deployment;

std::string text_of(bool value) { return value ? "true" : "false"; }
std::string text_of(std::int64_t value) { return std::to_string(value); }

struct FieldRow {
  std::string_view key;
  std::string (*text)(const Deployment& deployment);
};

using Constants = deployment::ActivationConstants;

/// The value where the layer gives it, else whether it is another than the usual one.
std::string constant(const Deployment& deployment, bool other, std::optional<double> Constants::*value) {
  if (!deployment.layer.constants) return text_of(other);
  const std::optional<double> given = *deployment.layer.constants.*value;
  return given ? fmt::format("{}", *given) : "none";
}

constexpr std::array kFields = {
    FieldRow{"hardware.platform", [](const Deployment& d) { return std::string(deployment::name_of(d.hardware.platform)); }},
    FieldRow{"hardware.capability", [](const Deployment& d) { return d.hardware.capability ? std::to_string(*d.hardware.capability) : "none"; }},
    FieldRow{"hardware.gcn_arch", [](const Deployment& d) { return d.hardware.gcn_arch.empty() ? "none" : d.hardware.gcn_arch; }},
    FieldRow{"hardware.amx", [](const Deployment& d) { return text_of(d.hardware.amx); }},
    FieldRow{"hardware.cpu_arch", [](const Deployment& d) { return d.hardware.cpu_arch; }},
    FieldRow{"hardware.zen_cpu", [](const Deployment& d) { return text_of(d.hardware.zen_cpu); }},
    FieldRow{"hardware.amx_fp8", [](const Deployment& d) { return text_of(d.hardware.amx_fp8); }},
    FieldRow{"parallel.tp", [](const Deployment& d) { return text_of(std::int64_t{d.parallel.tp}); }},
    FieldRow{"parallel.pcp", [](const Deployment& d) { return text_of(std::int64_t{d.parallel.pcp}); }},
    FieldRow{"parallel.dp", [](const Deployment& d) { return text_of(std::int64_t{d.parallel.dp}); }},
    FieldRow{"parallel.sp", [](const Deployment& d) { return text_of(std::int64_t{d.parallel.sp}); }},
    FieldRow{"parallel.expert_parallel", [](const Deployment& d) { return text_of(d.parallel.enable_expert_parallel); }},
    FieldRow{"parallel.all2all", [](const Deployment& d) { return d.parallel.all2all_backend; }},
    FieldRow{"parallel.eplb", [](const Deployment& d) { return text_of(d.parallel.enable_eplb); }},
    FieldRow{"parallel.round_robin", [](const Deployment& d) { return text_of(d.parallel.round_robin); }},
    FieldRow{"layer.experts", [](const Deployment& d) { return text_of(d.layer.num_experts); }},
    FieldRow{"layer.top_k", [](const Deployment& d) { return text_of(d.layer.experts_per_token); }},
    FieldRow{"layer.hidden", [](const Deployment& d) { return text_of(d.layer.hidden); }},
    FieldRow{"layer.intermediate of a rank", [](const Deployment& d) { return text_of(d.layer.intermediate_per_partition); }},
    FieldRow{"layer.activation", [](const Deployment& d) { return d.layer.activation; }},
    FieldRow{"layer.routing", [](const Deployment& d) { return d.layer.routing_method; }},
    FieldRow{"layer.dtype", [](const Deployment& d) { return d.layer.in_dtype; }},
    FieldRow{"layer.bias", [](const Deployment& d) { return text_of(d.layer.has_bias); }},
    FieldRow{"layer.act_and_mul", [](const Deployment& d) { return text_of(d.layer.is_act_and_mul); }},
    FieldRow{"layer.lora", [](const Deployment& d) { return text_of(d.layer.is_lora_enabled); }},
    FieldRow{"layer.router_weight_on_input", [](const Deployment& d) { return text_of(d.layer.router_weight_on_input); }},
    FieldRow{"layer.expert_groups", [](const Deployment& d) { return text_of(std::int64_t{d.layer.expert_groups}); }},
    FieldRow{"layer.topk_group", [](const Deployment& d) { return text_of(std::int64_t{d.layer.topk_group}); }},
    FieldRow{"layer.correction_bias", [](const Deployment& d) { return text_of(d.layer.has_correction_bias); }},
    FieldRow{"layer.routed_scaling", [](const Deployment& d) { return text_of(d.layer.has_routed_scaling); }},
    FieldRow{"layer.router_logits_dtype", [](const Deployment& d) { return d.layer.router_logits_dtype; }},
    FieldRow{"layer.hash_routing", [](const Deployment& d) { return text_of(d.layer.has_hash_routing); }},
    FieldRow{"layer.decomposed_routing", [](const Deployment& d) { return text_of(d.layer.require_decomposed_backend); }},
    FieldRow{"layer.skip_final_all_reduce", [](const Deployment& d) { return text_of(d.layer.skip_final_all_reduce); }},
    FieldRow{"layer.swiglu_alpha", [](const Deployment& d) { return constant(d, d.layer.has_swiglu_alpha, &Constants::swiglu_alpha); }},
    FieldRow{"layer.swiglu_limit", [](const Deployment& d) { return constant(d, d.layer.has_swiglu_limit, &Constants::swiglu_limit); }},
    FieldRow{"layer.swiglu_beta", [](const Deployment& d) { return constant(d, false, &Constants::swiglu_beta); }},
    FieldRow{"layer.situ_beta", [](const Deployment& d) { return constant(d, false, &Constants::situ_beta); }},
    FieldRow{"layer.situ_linear_beta", [](const Deployment& d) { return constant(d, false, &Constants::situ_linear_beta); }},
    FieldRow{"weight_only.kind", [](const Deployment& d) { return d.weight_only.kind; }},
    FieldRow{"weight_only.group_size", [](const Deployment& d) { return text_of(d.weight_only.group_size); }},
    FieldRow{"weight_only.desc_act", [](const Deployment& d) { return text_of(d.weight_only.desc_act); }},
    FieldRow{"weight_only.actorder", [](const Deployment& d) { return d.weight_only.actorder; }},
    FieldRow{"weight_only.strategy", [](const Deployment& d) { return d.weight_only.strategy; }},
    FieldRow{"weight_only.zero_point", [](const Deployment& d) { return text_of(d.weight_only.may_have_zp); }},
    FieldRow{"weight_only.bias", [](const Deployment& d) { return text_of(d.weight_only.may_have_bias); }},
    FieldRow{"weight_only.tile_padding", [](const Deployment& d) { return text_of(d.weight_only.allow_tile_padding); }},
    FieldRow{"model.type", [](const Deployment& d) { return d.model.model_type; }},
    FieldRow{"model.text_type", [](const Deployment& d) { return d.model.text_model_type; }},
    FieldRow{"model.weight_transfer", [](const Deployment& d) { return text_of(d.model.weight_transfer); }},
    FieldRow{"model.dbo", [](const Deployment& d) { return text_of(d.model.enable_dbo); }},
    FieldRow{"backend", [](const Deployment& d) { return d.layer.moe_backend; }},
    FieldRow{"weight_key", [](const Deployment& d) { return d.weight_key; }},
    FieldRow{"activation_key", [](const Deployment& d) { return d.activation_key; }},
    FieldRow{"quantization_override", [](const Deployment& d) { return d.quantization_override; }},
    FieldRow{"allow_vllm_cutlass", [](const Deployment& d) { return text_of(d.allow_vllm_cutlass); }},
    FieldRow{"quant_method", [](const Deployment& d) { return d.quant_method; }},
};

/// Adds the key when its values differ.
void compare(std::vector<InputDifference>& differences, const std::string& key, const std::string& a, const std::string& b) {
  if (a != b) differences.push_back({key, a, b});
}

std::string variable(const Deployment& deployment, const std::string& name) {
  const auto at = deployment.env.find(name);
  return at == deployment.env.end() ? "not set" : "'" + at->second + "'";
}

bool same_step(const engine::Candidate& a, const engine::Candidate& b) {
  return a.backend == b.backend && a.kernel_class == b.kernel_class && a.verdict.supported == b.verdict.supported && a.verdict.code == b.verdict.code;
}

}  // namespace

std::vector<InputDifference> input_differences(const support::DeploymentFile& a, const support::DeploymentFile& b) {
  std::vector<InputDifference> differences;
  compare(differences, "oracle", a.oracle, b.oracle);
  for (const FieldRow& row : kFields) compare(differences, std::string(row.key), row.text(a.deployment), row.text(b.deployment));
  std::set<std::string> variables;
  for (const Deployment* one : {&a.deployment, &b.deployment}) {
    for (const auto& [name, value] : one->env) variables.insert(name);
  }
  for (const std::string& name : variables) compare(differences, "env." + name, variable(a.deployment, name), variable(b.deployment, name));
  for (const deployment::SoftwareRow& row : deployment::software_rows()) {
    compare(differences, "software." + std::string(row.name), text_of(a.deployment.software.*row.answer), text_of(b.deployment.software.*row.answer));
  }
  return differences;
}

std::optional<std::size_t> first_parting(const engine::Decision& a, const engine::Decision& b) {
  const std::size_t both = std::min(a.trace.size(), b.trace.size());
  for (std::size_t i = 0; i < both; ++i) {
    if (!same_step(a.trace[i], b.trace[i])) return i;
  }
  return a.trace.size() == b.trace.size() ? std::nullopt : std::optional(both);
}

}  // namespace mx::verbs
