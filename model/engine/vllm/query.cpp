// A deployment as the oracles ask it, and layers that the engine does not build.

#include <algorithm>
#include <array>

#include "model/engine/vllm/check.hpp"
#include "model/engine/vllm/tables.hpp"
#include "model/error.hpp"
#include "model/fault.hpp"
#include "model/names.hpp"

namespace mx::engine {
namespace {

void require_size(std::int64_t value, std::string_view what) {
  if (value >= 1 && value <= deployment::kLargestSize) return;
  throw Error(ErrorCode::usage,
              std::string(what) + " is " + std::to_string(value) + ", must be in [1, " + std::to_string(deployment::kLargestSize) + "]");
}

}  // namespace

ActivationFormat Query::format() const {
  return asks_batched || parallel.use_batched_activation_format() ? ActivationFormat::batched_experts : ActivationFormat::standard;
}

std::string_view name_of(ActivationFormat format) { return format == ActivationFormat::standard ? "Standard" : "BatchedExperts"; }

Query query_of(const deployment::Deployment& deployment, deployment::Engine engine) {
  const deployment::LayerConfig& layer = deployment.layer;
  require_size(layer.num_experts, "num_experts");
  require_size(layer.experts_per_token, "experts_per_token");
  require_size(layer.hidden, "hidden");
  require_size(layer.intermediate_per_partition, "intermediate_per_partition");
  const auto dtypes = deployment::dtype_names();
  if (std::find(dtypes.begin(), dtypes.end(), layer.in_dtype) == dtypes.end()) {
    throw Error(ErrorCode::usage, unknown_name("dtype", layer.in_dtype, dtypes));
  }
  if (!layer.router_logits_dtype.empty() && std::ranges::find(dtypes, layer.router_logits_dtype) == dtypes.end()) {
    throw Error(ErrorCode::usage, unknown_name("dtype", layer.router_logits_dtype, dtypes));
  }
  const Query query{engine,
                    deployment,
                    deployment::derive(deployment.parallel, engine),
                    deployment::activation_named(layer.activation),
                    deployment::routing_named(layer.routing_method),
                    deployment::quant_key_named(deployment.weight_key),
                    deployment::quant_key_named(deployment.activation_key),
                    deployment::override_key_named(deployment.quantization_override),
                    deployment::constants_of(layer)};
  deployment::require_word(engine, query.activation);
  deployment::require_word(engine, query.routing);
  deployment::require_word(engine, query.caller_weight_key);
  deployment::require_word(engine, query.caller_key);
  deployment::require_override(engine, deployment.quantization_override);
  return query;
}

namespace {

bool fused_moe_aiter(const Query& query) {
  constexpr std::array kOn = {EnvVariable::rocm_use_aiter, EnvVariable::rocm_use_aiter_moe};
  constexpr std::array<std::string_view, 3> kSupported = {"gfx942", "gfx950", "gfx1250"};
  const deployment::Deployment& deployment = query.deployment;
  return deployment::holds(deployment::on_rocm(kSupported), deployment.hardware) && deployment.software.aiter_found &&
         read_switches(deployment.env, kOn) == Switch::on;
}

/// A layer that the engine does not build.
struct ConfigRow {
  deployment::Versions versions;
  bool (*refuses)(const Query& query);
  std::string_view error_type;
  std::string_view text;
};
constexpr std::array kConfigRows = {
    ConfigRow{kSinceAugust,
              [](const Query& q) { return q.deployment.layer.intermediate != 0 && q.deployment.layer.intermediate % q.parallel.tp_size != 0; },
              "AssertionError", "the intermediate size cannot be shared equally"},
    ConfigRow{kSinceNovember,
              [](const Query& q) {
                if (read_switch(q.deployment.env, EnvVariable::rocm_use_aiter_moe_a4w4_dsv4) != Switch::on || !fused_moe_aiter(q)) return false;
                const std::string& type = q.deployment.model.model_type;
                return (type != "deepseek_v41" && type != "deepseek_v41_text") || !q.deployment.software.aiter_quant_dtype_a;
              },
              "ValueError", "VLLM_ROCM_USE_AITER_MOE_A4W4_DSV4 is on, which is for DeepSeek-V4.1 with an AITER that takes quant_dtype_a"},
    ConfigRow{kSinceAugust, [](const Query& q) { return q.parallel.use_mori_kernels() && !(fused_moe_aiter(q) && q.gated()); }, "AssertionError",
              "the MORI exchange needs AITER's fused MoE and a gated activation"},
    ConfigRow{kSinceAugust,
              [](const Query& q) {
                return q.parallel.use_mori_kernels() &&
                       read_switch(q.deployment.env, EnvVariable::rocm_use_aiter_fusion_shared_experts) == Switch::on;
              },
              "AssertionError", "the MORI exchange does not take fused shared experts"},
    ConfigRow{kSinceAugust, [](const Query& q) { return q.deployment.hardware.platform == deployment::PlatformKind::cpu && !q.gated(); },
              "NotImplementedError", "an activation without gate on cpu"},
};

}  // namespace

bool Query::gated() const { return engine < deployment::kVllm2026_08 ? deployment.layer.is_act_and_mul : deployment::is_gated(activation); }

std::string_view Query::router_logits() const {
  return deployment.layer.router_logits_dtype.empty() ? deployment.layer.in_dtype : deployment.layer.router_logits_dtype;
}

std::optional<Refusal> config_refusal(const Query& query) {
  for (const ConfigRow& row : kConfigRows) {
    if (fault::planted(fault::Fault::configs_take_all)) break;
    if (row.versions.has(query.engine) && row.refuses(query)) return Refusal{std::string(row.error_type), std::string(row.text), true};
  }
  return std::nullopt;
}

}  // namespace mx::engine
