#include "golden/witness/oracle_functions.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <variant>
#include <vector>

#include "golden/witness/oracle_inputs.hpp"
#include "golden/witness/oracle_legacy.hpp"
#include "golden/witness/oracle_quant_config.hpp"
#include "model/engine/vllm/select.hpp"
#include "model/engine/vllm/setup/flashinfer_variant.hpp"
#include "model/engine/vllm/setup/fp8_block_shape.hpp"
#include "model/engine/vllm/setup/hidden_roundup.hpp"
#include "model/engine/vllm/setup/routing_method.hpp"

namespace mx::golden {
namespace {

Json refused(const engine::Refusal& refusal) { return {{"error_type", refusal.error_type}}; }

Json evaluate_round_up(deployment::Engine engine, const Json& inputs, const std::string& where) {
  Values values(inputs, "inputs", where);
  const deployment::Hardware hardware = read_hardware(values.at("hardware"), where);
  const engine::OracleTables& tables = engine::mxfp4_tables(engine);
  const engine::BackendRow& backend = engine::backend_named(tables, values.text("backend"));
  const engine::RoundedSizes given{values.size("hidden_size"), values.size("intermediate_size")};
  const std::string activation = engine < deployment::kVllm2026_08 ? std::string() : values.text_or_null("activation");
  const bool silu_or_situ = activation == "SILU" || activation == "SITU";
  const engine::RoundedSizes sizes =
      engine::rounded_up(tables.roundings, {engine, backend.name, hardware.platform, silu_or_situ, given, hardware.gcn_arch});
  values.finish();
  return {{"hidden_size", sizes.hidden}, {"intermediate_size", sizes.intermediate}};
}

Json evaluate_activation_key(deployment::Engine engine, const Json& inputs, const std::string& where) {
  Values values(inputs, "inputs", where);
  const std::string backend = values.text("backend");
  values.finish();
  return {{"activation_key", deployment::name_of(engine::activation_key(engine::mxfp4_tables(engine), backend))}};
}

Json evaluate_routing_method(deployment::Engine engine, const Json& inputs, const std::string& where) {
  Values values(inputs, "inputs", where);
  const std::string scoring = values.text("scoring_func");
  if (engine >= deployment::kVllm2026_11) values.ignore("routed_scaling_factor");  // no longer looked at
  const engine::RoutingRequest request{
      .scoring = scoring,
      .top_k = values.integer("top_k", 0, deployment::kLargestSize),
      .renormalize = values.boolean("renormalize"),
      .expert_groups = values.integer_or_null("num_expert_group", 0, deployment::kLargestSize),
      .has_score_bias = values.boolean("has_e_score_bias"),
      .routed_scaling = engine == deployment::kVllm2026_08 ? values.number_or_null("routed_scaling_factor") : std::nullopt,
  };
  values.finish();
  return {{"routing_method", deployment::name_of(engine::routing_method_of(engine, request))}};
}

deployment::ParallelRequest parallel_of(Values& values, const std::string& where) {
  Values parallel(values.at("parallel"), "parallel", where);
  const deployment::ParallelRequest request = read_parallel(parallel);
  parallel.finish();
  return request;
}

Json evaluate_parallel(deployment::Engine engine, const Json& inputs, const std::string& where) {
  Values values(inputs, "inputs", where);
  const deployment::ParallelRequest request = engine < deployment::kVllm2026_08 ? read_parallel(values) : parallel_of(values, where);
  Json got = derived_json(request, engine);
  if (engine < deployment::kVllm2026_08) {
    const deployment::Ranks ranks =
        deployment::derive_ranks(request, {values.small("tp_rank", 0), values.small("pcp_rank", 0), values.small("dp_rank", 0), 0});
    got["tp_rank"] = ranks.tp;
    got["pcp_rank"] = ranks.pcp;
    got["dp_rank"] = ranks.dp;
    got["ep_rank"] = ranks.ep;
  }
  values.finish();
  return got;
}

Json evaluate_exchange_hidden(deployment::Engine engine, const Json& inputs, const std::string& where) {
  Values values(inputs, "inputs", where);
  const std::int64_t hidden = values.size("hidden_size");
  const std::string dtype = values.text("act_dtype");
  const deployment::ParallelRequest request = parallel_of(values, where);
  values.finish();
  const auto answer = engine::hidden_for_exchange(hidden, dtype, deployment::derive(request, engine));
  if (const auto* refusal = std::get_if<engine::Refusal>(&answer)) return refused(*refusal);
  return {{"hidden_size", std::get<std::int64_t>(answer)}};
}

/// A layer of which nothing but what the case says can matter.
deployment::Deployment plain_deployment(const deployment::Hardware& hardware) {
  deployment::Deployment deployment;
  deployment.hardware = hardware;
  deployment.layer = {.num_experts = 8, .experts_per_token = 1, .hidden = 256, .intermediate_per_partition = 256, .activation = "SILU"};
  return deployment;
}

/// What an oracle's order is asked with beside the hardware.
enum class OrderInput : std::uint8_t { nothing, parallel_and_keys, parallel_and_activation };

/// The order of an oracle. That of fp8 was asked with the ranks of experts alone in 2026-05, that of mxfp4 without hardware in 2026-08.
Json evaluate_order(deployment::Engine engine, std::string_view oracle, OrderInput input, const Json& inputs, const std::string& where) {
  Values values(inputs, "inputs", where);
  const bool no_hardware = oracle == "mxfp4" && engine == deployment::kVllm2026_08;
  deployment::Deployment deployment = plain_deployment(no_hardware ? deployment::Hardware{} : read_hardware(values.at("hardware"), where));
  if (input != OrderInput::nothing && engine >= deployment::kVllm2026_08) deployment.parallel = parallel_of(values, where);
  if (input == OrderInput::parallel_and_keys) {
    if (engine < deployment::kVllm2026_08) deployment.parallel = {.tp = values.small("ep_size", 1), .enable_expert_parallel = true};
    deployment.weight_key = values.text("weight_key");
    deployment.activation_key = values.text("activation_key");
  }
  if (input == OrderInput::parallel_and_activation) deployment.layer.activation = values.text("activation");
  values.finish();
  return {{"backends", engine::order_of(engine::tables_of(engine, oracle), deployment)}};
}
template <const char* oracle_name, OrderInput input = OrderInput::nothing>
Json evaluate_order_of(deployment::Engine engine, const Json& inputs, const std::string& where) {
  return evaluate_order(engine, oracle_name, input, inputs, where);
}
constexpr char kFp8[] = "fp8";
constexpr char kMxfp4[] = "mxfp4";
constexpr char kMxfp4V4[] = "mxfp4_deepseek_v4";
constexpr char kMxfp8[] = "mxfp8";
constexpr char kNvfp4[] = "nvfp4";
constexpr char kUnquantized[] = "unquantized";
constexpr char kIntWna16[] = "int_wna16";
constexpr char kInt8[] = "int8";
constexpr char kW4a8Int8[] = "w4a8_int8";

Json evaluate_map(deployment::Engine engine, const Json& inputs, const std::string& where) {
  Values values(inputs, "inputs", where);
  const std::string oracle = values.text("oracle");
  const std::string wish = values.text("moe_backend");
  values.finish();
  for (const engine::UserNameRow& row : engine::tables_of(engine, oracle).user_names) {
    if (row.name == wish) return {{"backends", row.backends}};
  }
  return {{"error_type", "ValueError"}};
}

Json evaluate_prefers_humming(deployment::Engine engine, const Json& inputs, const std::string& where) {
  Values values(inputs, "inputs", where);
  const deployment::Deployment deployment = plain_deployment(read_hardware(values.at("hardware"), where));
  values.finish();
  const auto order = engine::order_of(engine::tables_of(engine, "nvfp4"), deployment);
  return {{"prefers", std::ranges::find(order, "HUMMING") < std::ranges::find(order, "MARLIN")}};
}

Json evaluate_deep_gemm_off(deployment::Engine engine, const Json& inputs, const std::string& where) {
  Values values(inputs, "inputs", where);
  const deployment::Hardware hardware = read_hardware(values.at("hardware"), where);
  const std::string model = values.text_or_null("model_type");
  values.finish();
  return {{"disabled", engine::deep_gemm_auto_disabled(engine, hardware, model)}};
}

Json evaluate_plain_round_up(deployment::Engine engine, const Json& inputs, const std::string& where) {
  Values values(inputs, "inputs", where);
  const std::string backend = values.text("backend");
  const engine::RoundedSizes given{values.size("hidden_size"), values.size("intermediate_size")};
  values.finish();
  const engine::RoundedSizes sizes =
      engine::rounded_up(engine::unquantized_tables(engine).roundings, {engine, backend, deployment::PlatformKind::cuda, false, given});
  return {{"hidden_size", sizes.hidden}, {"intermediate_size", sizes.intermediate}};
}

engine::GroupShape group_of(const Json& json, const std::string& where) {
  if (!json.is_array() || json.size() != 2 || !json[0].is_int64() || !json[1].is_int64())
    broken("'weight_block_size' must be [rows, columns]", where);
  return {json[0].get<std::int64_t>(), json[1].get<std::int64_t>()};
}
Json json_of(const std::optional<engine::GroupShape>& shape) { return shape ? Json::array({shape->row, shape->col}) : Json(); }

Json evaluate_block_shape(deployment::Engine engine, const Json& inputs, const std::string& where) {
  Values values(inputs, "inputs", where);
  const engine::BlockRequest request{
      .engine = engine,
      .hardware = read_hardware(values.at("hardware"), where),
      .parallel = parallel_of(values, where),
      .block = group_of(values.at("weight_block_size"), where),
      .hidden = values.size("hidden_dim"),
      .intermediate = values.size("intermediate_size"),
      .moe_backend = values.text("moe_backend"),
      .checkpoint_is_fp8 = values.boolean("checkpoint_is_fp8"),
      .has_bias = values.boolean("has_bias"),
      .is_lora_enabled = values.boolean("is_lora_enabled"),
  };
  values.finish();
  const auto answer = engine::fp8_block_shape(request);
  if (const auto* refusal = std::get_if<engine::Refusal>(&answer)) return refused(*refusal);
  const auto& shape = std::get<engine::BlockShape>(answer);
  return {{"refined", json_of(shape.refined)},
          {"block", json_of(shape.block)},
          {"factor", json_of(shape.factor)},
          {"intermediate_size_per_partition", shape.intermediate_per_partition},
          {"shard_with_padding", shape.shard_with_padding}};
}

Json evaluate_flashinfer_variant(deployment::Engine /*engine*/, const Json& inputs, const std::string& where) {
  Values values(inputs, "inputs", where);
  const deployment::Hardware hardware = read_hardware(values.at("hardware"), where);
  const engine::Environment environment = read_environment(values, where);
  values.finish();
  const auto answer = engine::flashinfer_variant(hardware.capability, environment);
  if (const auto* refusal = std::get_if<engine::Refusal>(&answer)) return refused(*refusal);
  return {{"flashinfer_moe_backend", engine::name_of(std::get<engine::FlashinferVariant>(answer))}};
}

constexpr deployment::Versions kMay = deployment::before(deployment::kVllm2026_08);
constexpr deployment::Versions kAlways = deployment::since(deployment::kVllm2026_05);
constexpr deployment::Versions kSinceAugust = deployment::since(deployment::kVllm2026_08);
constexpr deployment::Versions kSinceNovember = deployment::since(deployment::kVllm2026_11);

constexpr std::array kFunctions = {
    FunctionRow{"mxfp4_round_up", evaluate_round_up, kAlways},
    FunctionRow{"mxfp4_backend_activation_key", evaluate_activation_key, kAlways},
    FunctionRow{"routing_method_type", evaluate_routing_method, kAlways},
    FunctionRow{"parallel_make", evaluate_parallel, kAlways},
    FunctionRow{"all2all_hidden_roundup", evaluate_exchange_hidden, kAlways},
    FunctionRow{"fp8_priority", evaluate_order_of<kFp8, OrderInput::parallel_and_keys>, kAlways},
    FunctionRow{"flashinfer_moe_backend", evaluate_flashinfer_variant, kMay},
    FunctionRow{"mxfp4_quant_config", evaluate_mxfp4_quant_config, kAlways},
    FunctionRow{"fp8_quant_config", evaluate_fp8_quant_config, kAlways},
    FunctionRow{"nvfp4_quant_config", evaluate_nvfp4_quant_config, kAlways},
    FunctionRow{"w4a8_quant_config", evaluate_w4a8_quant_config, kAlways},
    FunctionRow{"int8_quant_config", evaluate_int8_quant_config, kSinceAugust},
    FunctionRow{"int_wna16_quant_config", evaluate_int_wna16_quant_config, kSinceAugust},
    FunctionRow{"w4a8_int8_quant_config", evaluate_w4a8_int8_quant_config, kSinceAugust},
    FunctionRow{"legacy_mxfp4", evaluate_legacy_mxfp4, kMay},
    FunctionRow{"legacy_tile_tokens_dim", evaluate_legacy_tile_tokens_dim, kMay},
    FunctionRow{"legacy_can_support_mxfp4", evaluate_legacy_can_support, kMay},
    FunctionRow{"moe_backend_map", evaluate_map, kSinceAugust},
    FunctionRow{"mxfp4_priority", evaluate_order_of<kMxfp4>, kSinceAugust},
    FunctionRow{"mxfp4_deepseek_v4_priority", evaluate_order_of<kMxfp4V4>, kSinceAugust},
    FunctionRow{"mxfp8_priority", evaluate_order_of<kMxfp8>, kSinceAugust},
    FunctionRow{"nvfp4_priority", evaluate_order_of<kNvfp4>, kSinceNovember},
    FunctionRow{"unquantized_priority", evaluate_order_of<kUnquantized, OrderInput::parallel_and_activation>, kSinceAugust},
    FunctionRow{"int_wna16_priority", evaluate_order_of<kIntWna16>, kSinceAugust},
    FunctionRow{"int8_priority", evaluate_order_of<kInt8>, kSinceAugust},
    FunctionRow{"w4a8_int8_priority", evaluate_order_of<kW4a8Int8>, kSinceAugust},
    FunctionRow{"prefers_humming", evaluate_prefers_humming, kSinceNovember},
    FunctionRow{"deep_gemm_auto_disabled", evaluate_deep_gemm_off, kSinceNovember},
    FunctionRow{"unquantized_round_up", evaluate_plain_round_up, kSinceNovember},
    FunctionRow{"fp8_block_shape", evaluate_block_shape, kSinceNovember},
};

}  // namespace

std::vector<FunctionRow> oracle_functions(deployment::Engine engine) {
  std::vector<FunctionRow> rows;
  std::ranges::copy_if(kFunctions, std::back_inserter(rows), [&](const FunctionRow& row) { return row.versions.has(engine); });
  return rows;
}

const FunctionRow* oracle_function(std::string_view oracle) {
  for (const FunctionRow& row : kFunctions) {
    if (row.oracle == oracle) return &row;
  }
  return nullptr;
}

}  // namespace mx::golden
