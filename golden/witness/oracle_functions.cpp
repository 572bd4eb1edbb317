#include "golden/witness/oracle_functions.hpp"

#include <array>
#include <variant>
#include <vector>

#include "golden/witness/oracle_inputs.hpp"
#include "golden/witness/oracle_legacy.hpp"
#include "golden/witness/oracle_quant_config.hpp"
#include "model/engine/vllm/oracles/fp8_priority.hpp"
#include "model/engine/vllm/select.hpp"
#include "model/engine/vllm/setup/flashinfer_variant.hpp"
#include "model/engine/vllm/setup/hidden_roundup.hpp"
#include "model/engine/vllm/setup/routing_method.hpp"

namespace mx::golden {
namespace {

Json refused(const oracle::Refusal& refusal) { return {{"error_type", refusal.error_type}}; }

Json evaluate_round_up(const Json& inputs, const std::string& where) {
  Values values(inputs, "inputs", where);
  const oracle::Hardware hardware = read_hardware(values.at("hardware"), where);
  const oracle::OracleTables& tables = oracle::mxfp4_tables();
  const oracle::BackendRow& backend = oracle::backend_named(tables, values.text("backend"));
  const oracle::RoundedSizes given{values.size("hidden_size"), values.size("intermediate_size")};
  const oracle::RoundedSizes sizes = oracle::rounded_up(tables.roundings, {tables.engine, backend.name, hardware.platform, false, given});
  values.finish();
  return {{"hidden_size", sizes.hidden}, {"intermediate_size", sizes.intermediate}};
}

Json evaluate_activation_key(const Json& inputs, const std::string& where) {
  Values values(inputs, "inputs", where);
  const std::string backend = values.text("backend");
  values.finish();
  return {{"activation_key", oracle::name_of(oracle::activation_key(oracle::mxfp4_tables(), backend))}};
}

Json evaluate_routing_method(const Json& inputs, const std::string& where) {
  Values values(inputs, "inputs", where);
  const std::string scoring = values.text("scoring_func");
  const oracle::RoutingRequest request{
      .scoring = scoring,
      .top_k = values.integer("top_k", 0, oracle::kLargestSize),
      .renormalize = values.boolean("renormalize"),
      .expert_groups = values.integer_or_null("num_expert_group", 0, oracle::kLargestSize),
      .has_score_bias = values.boolean("has_e_score_bias"),
  };
  values.finish();
  return {{"routing_method", oracle::name_of(oracle::routing_method_of(request))}};
}

Json evaluate_parallel(const Json& inputs, const std::string& where) {
  Values values(inputs, "inputs", where);
  const oracle::ParallelRequest request = read_parallel(values);
  const oracle::Ranks given{values.small("tp_rank", 0), values.small("pcp_rank", 0), values.small("dp_rank", 0), 0};
  values.finish();
  const oracle::Ranks ranks = oracle::derive_ranks(request, given);
  Json got = derived_json(request);
  got["tp_rank"] = ranks.tp;
  got["pcp_rank"] = ranks.pcp;
  got["dp_rank"] = ranks.dp;
  got["ep_rank"] = ranks.ep;
  return got;
}

Json evaluate_exchange_hidden(const Json& inputs, const std::string& where) {
  Values values(inputs, "inputs", where);
  const std::int64_t hidden = values.size("hidden_size");
  const std::string dtype = values.text("act_dtype");
  Values parallel(values.at("parallel"), "parallel", where);
  const oracle::ParallelRequest request = read_parallel(parallel);
  parallel.finish();
  values.finish();
  const auto answer = oracle::hidden_for_exchange(hidden, dtype, oracle::derive(request));
  if (const auto* refusal = std::get_if<oracle::Refusal>(&answer)) return refused(*refusal);
  return {{"hidden_size", std::get<std::int64_t>(answer)}};
}

Json evaluate_fp8_priority(const Json& inputs, const std::string& where) {
  Values values(inputs, "inputs", where);
  const oracle::Hardware hardware = read_hardware(values.at("hardware"), where);
  const auto order =
      oracle::priority_order(oracle::fp8_priority_table(), hardware, values.small("ep_size", 1), oracle::quant_key_named(values.text("weight_key")),
                             oracle::quant_key_named(values.text("activation_key")));
  values.finish();
  return {{"backends", order}};
}

Json evaluate_flashinfer_variant(const Json& inputs, const std::string& where) {
  Values values(inputs, "inputs", where);
  const oracle::Hardware hardware = read_hardware(values.at("hardware"), where);
  const oracle::Environment environment = read_environment(values, where);
  values.finish();
  const auto answer = oracle::flashinfer_variant(hardware.capability, environment);
  if (const auto* refusal = std::get_if<oracle::Refusal>(&answer)) return refused(*refusal);
  return {{"flashinfer_moe_backend", oracle::name_of(std::get<oracle::FlashinferVariant>(answer))}};
}

constexpr std::array<FunctionRow, 14> kFunctions = {{
    {"mxfp4_round_up", evaluate_round_up},
    {"mxfp4_backend_activation_key", evaluate_activation_key},
    {"routing_method_type", evaluate_routing_method},
    {"parallel_make", evaluate_parallel},
    {"all2all_hidden_roundup", evaluate_exchange_hidden},
    {"fp8_priority", evaluate_fp8_priority},
    {"flashinfer_moe_backend", evaluate_flashinfer_variant},
    {"mxfp4_quant_config", evaluate_mxfp4_quant_config},
    {"fp8_quant_config", evaluate_fp8_quant_config},
    {"nvfp4_quant_config", evaluate_nvfp4_quant_config},
    {"w4a8_quant_config", evaluate_w4a8_quant_config},
    {"legacy_mxfp4", evaluate_legacy_mxfp4},
    {"legacy_tile_tokens_dim", evaluate_legacy_tile_tokens_dim},
    {"legacy_can_support_mxfp4", evaluate_legacy_can_support},
}};

}  // namespace

std::span<const FunctionRow> oracle_functions() { return kFunctions; }

const FunctionRow* oracle_function(std::string_view oracle) {
  for (const FunctionRow& row : kFunctions) {
    if (row.oracle == oracle) return &row;
  }
  return nullptr;
}

}  // namespace mx::golden
