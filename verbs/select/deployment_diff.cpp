#include "verbs/select/deployment_diff.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

namespace mx::sim {
namespace {

using oracle::Deployment;

std::string text_of(bool value) { return value ? "true" : "false"; }
std::string text_of(std::int64_t value) { return std::to_string(value); }

struct FieldRow {
  std::string_view key;
  std::string (*text)(const Deployment& deployment);
};

constexpr std::array kFields = {
    FieldRow{"hardware.platform", [](const Deployment& d) { return std::string(oracle::name_of(d.hardware.platform)); }},
    FieldRow{"hardware.capability", [](const Deployment& d) { return d.hardware.capability ? std::to_string(*d.hardware.capability) : "none"; }},
    FieldRow{"hardware.gcn_arch", [](const Deployment& d) { return d.hardware.gcn_arch.empty() ? "none" : d.hardware.gcn_arch; }},
    FieldRow{"hardware.amx", [](const Deployment& d) { return text_of(d.hardware.amx); }},
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
    FieldRow{"layer.swiglu_alpha", [](const Deployment& d) { return text_of(d.layer.has_swiglu_alpha); }},
    FieldRow{"layer.swiglu_limit", [](const Deployment& d) { return text_of(d.layer.has_swiglu_limit); }},
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

bool same_step(const oracle::Candidate& a, const oracle::Candidate& b) {
  return a.backend == b.backend && a.kernel_class == b.kernel_class && a.verdict.supported == b.verdict.supported && a.verdict.code == b.verdict.code;
}

}  // namespace

std::vector<InputDifference> input_differences(const DeploymentFile& a, const DeploymentFile& b) {
  std::vector<InputDifference> differences;
  compare(differences, "oracle", a.oracle, b.oracle);
  for (const FieldRow& row : kFields) compare(differences, std::string(row.key), row.text(a.deployment), row.text(b.deployment));
  std::set<std::string> variables;
  for (const Deployment* one : {&a.deployment, &b.deployment}) {
    for (const auto& [name, value] : one->env) variables.insert(name);
  }
  for (const std::string& name : variables) compare(differences, "env." + name, variable(a.deployment, name), variable(b.deployment, name));
  for (const oracle::SoftwareRow& row : oracle::software_rows()) {
    compare(differences, "software." + std::string(row.name), text_of(a.deployment.software.*row.answer), text_of(b.deployment.software.*row.answer));
  }
  return differences;
}

std::optional<std::size_t> first_parting(const oracle::Decision& a, const oracle::Decision& b) {
  const std::size_t both = std::min(a.trace.size(), b.trace.size());
  for (std::size_t i = 0; i < both; ++i) {
    if (!same_step(a.trace[i], b.trace[i])) return i;
  }
  return a.trace.size() == b.trace.size() ? std::nullopt : std::optional(both);
}

}  // namespace mx::sim
