#include "sim/ranks/legacy.hpp"

#include <algorithm>
#include <array>
#include <variant>

#include "model/error.hpp"

namespace mx::sim {
namespace {

constexpr std::string_view kNoExchange = "MoEPrepareAndFinalizeNoDPEPModular";
constexpr std::array<int, 3> kTorchWithSwizzle{2, 8, 1};

std::string lower(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

void check(const Scenario& scenario) {
  const layout::Form& form = scenario.layer.experts.form;
  if (form.format != layout::WeightFormat::mxfp4 || form.order != layout::SourceOrder::gpt_oss) {
    throw Error(ErrorCode::unsupported, "the legacy method takes MXFP4 weights in gpt-oss order, not " + std::string(layout::name_of(form.format)) +
                                            " in " + std::string(layout::name_of(form.order)) + " order");
  }
  if (scenario.deployment.parallel.dp > 1)
    throw Error(ErrorCode::unsupported,
                "the legacy method over " + std::to_string(scenario.deployment.parallel.dp) + " data parallel ranks is not simulated");
}

engine::LegacyLayer layer_of(const deployment::Deployment& deployment, bool use_ep) {
  engine::LegacyLayer layer;
  layer.expert_map = use_ep;
  layer.use_grouped_topk = deployment.layer.expert_groups > 0;
  layer.num_expert_group = deployment.layer.expert_groups;
  layer.topk_group = deployment.layer.topk_group;
  layer.e_score_correction_bias = deployment.layer.has_correction_bias;
  layer.apply_router_weight_on_input = deployment.layer.router_weight_on_input;
  layer.activation = lower(deployment.layer.activation);
  return layer;
}

}  // namespace

engine::Answer<LegacyRun> legacy_run(const Scenario& scenario, std::string_view torch) {
  check(scenario);
  const deployment::Deployment& deployment = scenario.deployment;
  const deployment::Parallel parallel = deployment::derive(deployment.parallel, scenario.engine);
  const engine::TorchVersion version = engine::torch_version_of(torch);
  const engine::Answer<engine::LegacyChoice> chosen = engine::legacy_choice(
      {deployment.hardware, deployment.software.has_flashinfer, deployment.software.has_triton_kernels, version, deployment.env});
  if (const auto* refusal = std::get_if<engine::Refusal>(&chosen)) return *refusal;
  const auto& choice = std::get<engine::LegacyChoice>(chosen);
  const engine::Answer<engine::LegacyPath> taken =
      engine::legacy_path(choice, parallel.enable_eplb, parallel.use_ep, layer_of(deployment, parallel.use_ep));
  if (const auto* refusal = std::get_if<engine::Refusal>(&taken)) return *refusal;
  const engine::LegacyPath path = std::get<engine::LegacyPath>(taken);
  const engine::LegacySizes padded =
      engine::legacy_padding(choice, deployment.hardware.platform, {deployment.layer.hidden, deployment.layer.intermediate_per_partition});
  const FixedSetup fixed{padded.hidden, padded.intermediate, kNoExchange, engine::legacy_num_warps(parallel.use_ep),
                         !engine::at_least(version, kTorchWithSwizzle)};
  const bool renormalizes = deployment.layer.routing_method.starts_with("Renormalize");
  const auto tokens = static_cast<std::int64_t>(scenario.tokens.slots.size());
  return LegacyRun{
      engine::name_of(path),
      {scenario.oracle, deployment, std::string(engine::legacy_backend(path, choice)), "Mxfp4MoEMethod", scenario.engine, fixed, scenario.sums},
      engine::legacy_tile_tokens_dim(tokens, deployment.layer.experts_per_token, deployment.layer.num_experts),
      deployment::name_of(engine::legacy_flashinfer_routing(renormalizes))};
}

}  // namespace mx::sim
