#include "golden/witness/oracle.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "golden/witness/oracle_functions.hpp"
#include "golden/witness/oracle_inputs.hpp"
#include "model/engine/vllm/select.hpp"
#include "model/error.hpp"
#include "model/names.hpp"
#include "support/json.hpp"

namespace mx::golden {
namespace {

using deployment::Engine;

/// A probe that answers with a word: what counts as yes, and what else may stand there.
struct WordProbe {
  std::string_view key;
  std::string_view name;  ///< of SoftwareRow
  std::string_view yes;
  std::array<std::string_view, 3> answers;
};
constexpr std::array kWordProbes = {
    WordProbe{"cutlass_group_gemm_op", "cutlass_group_gemm_op", "true", {"true", "false", "missing"}},
    WordProbe{"mxfp4_experts_quant_op", "mxfp4_experts_quant_op", "true", {"true", "false", "missing"}},
    WordProbe{"b12x", "b12x_supported", "supported", {"supported", "unsupported", "missing"}},
    WordProbe{"aiter_mxfp8", "aiter_mxfp8", "supported", {"supported", "no_config", "missing"}},
};

/// In 2026-05 every probe is listed; since then what is present.
deployment::Software read_software(Engine engine, const Json& json, const std::string& where) {
  Values values(json, "software", where);
  deployment::Software software;
  for (const deployment::SoftwareRow& row : deployment::software_rows()) {
    const auto word = std::ranges::find(kWordProbes, row.name, &WordProbe::name);
    const std::string_view key = word == kWordProbes.end() ? row.name : word->key;
    const bool required = engine < deployment::kVllm2026_08 && row.since == deployment::kVllm2026_05;
    if (!required && !values.has(key)) continue;
    if (word == kWordProbes.end()) {
      software.*row.answer = values.boolean(key);
      continue;
    }
    const std::string answer = values.text(key);
    if (std::ranges::find(word->answers, answer) == word->answers.end()) throw Unmodelled(unknown_name("answer", answer, word->answers));
    software.*row.answer = answer == word->yes;
  }
  values.finish();
  return software;
}

/// What versions since 2026-08 say of a layer beside the rest: the intermediate size is the whole layer's.
void read_added_fields(Values& values, deployment::LayerConfig& layer, const deployment::ParallelRequest& parallel) {
  layer.intermediate = values.size("intermediate_size");
  values.ignore("intermediate_size_per_partition");
  layer.intermediate_per_partition = std::max<std::int64_t>(layer.intermediate / deployment::tensor_ranks(parallel), 1);
  values.ignore("is_act_and_mul");
  layer.router_logits_dtype = values.text("router_logits_dtype");
  if (layer.router_logits_dtype == "None") layer.router_logits_dtype.clear();
  layer.constants = {.swiglu_limit = values.number_or_null("swiglu_limit"),
                     .swiglu_alpha = values.number_or_null("swiglu_alpha"),
                     .swiglu_beta = values.number_or_null("swiglu_beta"),
                     .situ_beta = values.number_or_null("activation_situ_beta"),
                     .situ_linear_beta = values.number_or_null("activation_situ_linear_beta")};
  layer.has_hash_routing = values.flag("has_hash_routing");
  layer.require_decomposed_backend = values.flag("require_decomposed_backend");
  layer.skip_final_all_reduce = values.flag("skip_final_all_reduce");
}

deployment::LayerConfig read_layer(Engine engine, const Json& json, const deployment::ParallelRequest& parallel, const std::string& where) {
  Values values(json, "config", where);
  deployment::LayerConfig layer{
      .num_experts = values.size("num_experts"),
      .experts_per_token = values.size("experts_per_token"),
      .hidden = values.size("hidden_dim"),
      .intermediate_per_partition = 0,
      .activation = values.text("activation"),
      .routing_method = values.text("routing_method"),
      .in_dtype = values.text("in_dtype"),
      .moe_backend = values.text("moe_backend"),
      .has_bias = values.boolean("has_bias"),
      .is_lora_enabled = values.boolean("is_lora_enabled"),
  };
  if (engine >= deployment::kVllm2026_08) {
    read_added_fields(values, layer, parallel);
  } else {
    values.ignore("router_logits_dtype");  // no class of this engine version looks at it
    layer.intermediate_per_partition = values.size("intermediate_size_per_partition");
    layer.is_act_and_mul = values.boolean("is_act_and_mul");
  }
  values.finish();
  return layer;
}

/// Whether an oracle has an argument: it is required and read, or may be there and plays no part.
enum class Argument { absent, read, ignored };

/// What a case of one selection oracle has beyond the configuration, and what its result says.
struct SelectionRow {
  std::string_view oracle;
  Argument weight_key;
  Argument activation_key;
  Argument quantization_config;
  Argument allow_vllm_cutlass;
  bool says_rounded_sizes;
  bool says_global_sf;
};
constexpr auto kNo = Argument::absent;
constexpr auto kYes = Argument::read;
// Some recorded calls hand allow_vllm_cutlass to oracles that have no such argument.
constexpr std::array kSelections = {
    SelectionRow{"mxfp4", kNo, kYes, kYes, kNo, true, false},
    SelectionRow{"mxfp4_deepseek_v4", kNo, kNo, kNo, kNo, true, false},
    SelectionRow{"nvfp4", kYes, kYes, kNo, Argument::ignored, false, true},
    SelectionRow{"fp8", kYes, kYes, kNo, kYes, false, false},
    SelectionRow{"mxfp8", kNo, kNo, kNo, kNo, false, false},
    SelectionRow{"w4a8", kYes, kYes, kNo, Argument::ignored, false, false},
    SelectionRow{"unquantized", kNo, kNo, kNo, kNo, false, false},
    SelectionRow{"int_wna16", kYes, kNo, kNo, kNo, false, false},
    SelectionRow{"int8", kYes, kYes, kNo, kNo, false, false},
    SelectionRow{"w4a8_int8", kYes, kYes, kNo, kNo, false, false},
};

const SelectionRow* selection_row(std::string_view oracle) {
  const auto row = std::find_if(kSelections.begin(), kSelections.end(), [&](const SelectionRow& r) { return r.oracle == oracle; });
  return row == kSelections.end() ? nullptr : &*row;
}

const SelectionRow& selection_named(std::string_view oracle) {
  if (const SelectionRow* row = selection_row(oracle)) return *row;
  std::vector<std::string_view> known;
  for (const SelectionRow& row : kSelections) known.push_back(row.oracle);
  throw Error(ErrorCode::usage, unknown_name("oracle", oracle, known));
}

deployment::WeightOnlyCall read_weight_only(Values& call) {
  Values config(call.at("quant_config"), "quant_config", "");
  deployment::WeightOnlyCall read;
  read.kind = config.text("kind");
  if (config.has("group_size")) read.group_size = config.integer("group_size", -1, deployment::kLargestSize);
  read.desc_act = config.flag("desc_act");
  if (config.has("actorder")) read.actorder = config.text_or_null("actorder");
  if (config.has("strategy")) read.strategy = config.text("strategy");
  config.finish();
  read.may_have_zp = call.boolean("may_have_zp");
  read.may_have_bias = call.boolean("may_have_bias");
  read.allow_tile_padding = call.boolean("allow_tile_padding");
  return read;
}

void read_call(const SelectionRow& row, Values& call, deployment::Deployment& deployment) {
  if (row.weight_key == Argument::read) deployment.weight_key = call.text("weight_key");
  if (row.activation_key == Argument::read) deployment.activation_key = call.text("activation_key");
  if (row.quantization_config == Argument::read) deployment.quantization_override = call.text("quantization_config");
  if (row.allow_vllm_cutlass == Argument::read) deployment.allow_vllm_cutlass = call.boolean("allow_vllm_cutlass");
  if (row.allow_vllm_cutlass == Argument::ignored) call.ignore("allow_vllm_cutlass");
  if (row.oracle == "int_wna16") deployment.weight_only = read_weight_only(call);
  call.finish();
}

deployment::ModelFacts read_model(const Json& json, const std::string& where) {
  Values values(json, "model", where);
  deployment::ModelFacts model;
  if (values.has("model_type")) model.model_type = values.text("model_type");
  if (values.has("text_model_type")) model.text_model_type = values.text("text_model_type");
  model.weight_transfer = values.flag("weight_transfer");
  model.enable_dbo = values.flag("enable_dbo");
  values.finish();
  return model;
}

deployment::Deployment read_deployment(Engine engine, const SelectionRow& row, const Json& inputs, const std::string& where) {
  Values values(inputs, "inputs", where);
  values.ignore("parallel_derived");
  deployment::Deployment deployment;
  deployment.hardware = read_hardware(values.at("hardware"), where);
  deployment.software = read_software(engine, values.at("software"), where);
  deployment.env = read_environment(values, where);
  Values parallel(values.at("parallel"), "parallel", where);
  deployment.parallel = read_parallel(parallel);
  parallel.finish();
  deployment.layer = read_layer(engine, values.at("config"), deployment.parallel, where);
  if (values.has("model")) deployment.model = read_model(values.at("model"), where);
  Values call(values.at("call"), "call", where);
  read_call(row, call, deployment);
  values.finish();
  return deployment;
}

/// What read_software, read_layer, read_call and read_deployment read.
Json software_json(const deployment::Software& software) {
  Json json = Json::object();
  for (const deployment::SoftwareRow& row : deployment::software_rows()) {
    if (row.since != deployment::kVllm2026_05) continue;
    const bool answer = software.*row.answer;
    json[row.name] = row.name != "cutlass_group_gemm_op" ? Json(answer) : Json(answer ? "true" : "false");
  }
  return json;
}

Json layer_json(const deployment::LayerConfig& layer) {
  return {{"num_experts", layer.num_experts},
          {"experts_per_token", layer.experts_per_token},
          {"hidden_dim", layer.hidden},
          {"intermediate_size_per_partition", layer.intermediate_per_partition},
          {"activation", layer.activation},
          {"routing_method", layer.routing_method},
          {"in_dtype", layer.in_dtype},
          {"moe_backend", layer.moe_backend},
          {"has_bias", layer.has_bias},
          {"is_act_and_mul", layer.is_act_and_mul},
          {"is_lora_enabled", layer.is_lora_enabled}};
}

Json call_json(const SelectionRow& row, const deployment::Deployment& deployment) {
  Json call = Json::object();
  if (row.weight_key == Argument::read) call["weight_key"] = deployment.weight_key;
  if (row.activation_key == Argument::read) call["activation_key"] = deployment.activation_key;
  if (row.quantization_config == Argument::read) call["quantization_config"] = deployment.quantization_override;
  if (row.allow_vllm_cutlass == Argument::read) call["allow_vllm_cutlass"] = deployment.allow_vllm_cutlass;
  return call;
}

Json inputs_json(const SelectionRow& row, const deployment::Deployment& deployment) {
  Json env = Json::object();
  for (const auto& [name, value] : deployment.env) env[name] = value;
  return {{"hardware", hardware_json(deployment.hardware)},
          {"software", software_json(deployment.software)},
          {"env", env},
          {"parallel", parallel_json(deployment.parallel)},
          {"parallel_derived", derived_json(deployment.parallel, deployment::kVllm2026_05)},
          {"config", layer_json(deployment.layer)},
          {"call", call_json(row, deployment)}};
}

/// What the model says, with the keys of the recorded result.
Json evaluate_selection(Engine engine, const SelectionRow& row, const deployment::Deployment& deployment) {
  const engine::Decision decision = engine::select(engine, row.oracle, deployment);
  if (decision.refusal) {
    Json refused = {{"error_type", decision.refusal->error_type}};
    if (decision.refusal->by_config) refused["stage"] = "config";
    return refused;
  }
  const engine::Choice& choice = *decision.choice;
  Json got = {{"backend", choice.backend}, {"kernel_class", choice.kernel_class.empty() ? Json() : Json(choice.kernel_class)}};
  if (row.says_rounded_sizes) {
    got["rounded_hidden"] = choice.rounded_hidden;
    got["rounded_intermediate"] = choice.rounded_intermediate;
  }
  if (row.says_global_sf)
    got["global_sf_supported"] = engine::backend_named(engine::tables_of(engine, row.oracle), choice.backend).global_sf_supported;
  return got;
}

/// Every candidate's verdict, with the keys of the recorded support.
Json evaluate_support(Engine engine, const SelectionRow& row, const deployment::Deployment& deployment) {
  Json got = Json::object();
  for (const engine::Candidate& candidate : engine::support(engine, row.oracle, deployment)) {
    // No backend at all is no candidate.
    if (engine::backend_named(engine::tables_of(engine, row.oracle), candidate.backend).classes.empty()) continue;
    const bool supported = candidate.verdict.supported;
    const std::string key = candidate.kernel_class.empty() ? candidate.backend : candidate.backend + "/" + candidate.kernel_class;
    got[key] = Json::array({supported, supported ? Json() : Json(candidate.verdict.code)});
  }
  return got;
}

/// Objects within the value spelt as keys with dots: {"a1": {"scale": 1}} is {"a1.scale": 1}. Their order means nothing, in any depth.
void spell_out(const Json& object, const std::string& prefix, Json& out) {
  for (const auto& [key, value] : object.items()) {
    if (value.is_object()) {
      spell_out(value, prefix + key + ".", out);
    } else {
      out[prefix + key] = value;
    }
  }
}

Json spelt_out(const Json& object) {
  Json out = Json::object();
  spell_out(object, "", out);
  return out;
}

/// Key by key. A choice against a refusal differs. An expected key that the model does not produce makes the case unmodelled, unless another differs.
CaseResult compare(const Json& got, const Json& expected, const std::string& prefix = {}) {
  CaseResult result{true, true, 0, "", "", ""};
  if (got.contains("error_type") != expected.contains("error_type")) return {true, false, 1, got.dump(), expected.dump(), ""};
  std::string unknown;
  for (const auto& [key, value] : expected.items()) {
    if (!got.contains(key)) {
      unknown = key;
      continue;
    }
    ++result.compared;
    if (got.at(key) == value || !result.equal) continue;
    result.equal = false;
    result.got = prefix + key + ": " + got.at(key).dump();
    result.expected = prefix + key + ": " + value.dump();
  }
  if (result.equal && !unknown.empty()) throw Unmodelled("unknown key '" + prefix + unknown + "' in result");
  if (result.equal && result.compared != static_cast<std::int64_t>(got.size())) throw Unmodelled("the result lacks a key of " + got.dump());
  if (result.equal) {
    result.got = got.dump();
    result.expected = expected.dump();
  }
  return result;
}

std::string place(const Json& one_case) {
  if (!one_case.is_object()) broken("a case must be an object, not " + shown(one_case), "oracle case");
  const auto id = one_case.find("id");
  if (id == nullptr || !id->is_string()) broken("'id' must be a string", "oracle case");
  return "oracle case " + id->get<std::string>();
}

/// The engine that a case was recorded from; without one it is that of the first recordings.
Engine engine_of(Values& values) { return values.has("engine") ? deployment::engine_named(values.text("engine")) : deployment::kVllm2026_05; }

CaseResult unmodelled(const std::string& why) { return {false, false, 0, "", "", why}; }

/// Names and versions that the model does not know arrive as errors: they make the case unmodelled, like unknown words met in reading.
template <typename Evaluate>
CaseResult guarded(const Evaluate& evaluate) {
  try {
    return evaluate();
  } catch (const Unmodelled& reason) {
    return unmodelled(reason.what());
  } catch (const Error& error) {
    if (error.code() != ErrorCode::usage && error.code() != ErrorCode::unsupported) throw;
    return unmodelled(error.what());
  }
}

/// The recorded derived configuration is held against the model's as well: it is an output of the same engine.
void compare_derived(Engine engine, const Json& inputs, CaseResult& result) {
  const auto recorded = inputs.find("parallel_derived");
  if (recorded == nullptr || !result.equal) return;
  Values values(inputs.at("parallel"), "parallel", "");
  CaseResult derived = compare(derived_json(read_parallel(values), engine), *recorded, "parallel_derived.");
  derived.compared += result.compared;
  if (!derived.equal) result = derived;
  result.compared = derived.compared;
}

}  // namespace

CaseResult evaluate_oracle_case(const support::Json& one_case) {
  const std::string where = place(one_case);
  return guarded([&]() -> CaseResult {
    Values values(one_case, "case", where, Missing::breaks_form);
    values.ignore("id");
    const Engine engine = engine_of(values);
    const std::string name = values.text("oracle");
    const Json& inputs = values.at("inputs");
    Json expected = values.at("result");
    if (!expected.is_object()) values.wrong("result", "an object", expected);
    const FunctionRow* function = oracle_function(name);
    const SelectionRow* selection = selection_row(name);
    if (function != nullptr && !function->versions.has(engine)) return unmodelled("no model for " + name + " of " + std::string(name_of(engine)));
    if (function == nullptr && selection == nullptr) return unmodelled("no model for oracle " + name);
    values.finish();
    expected.erase("error");  // the engine's text is for people; its type is the answer
    const Json got = function != nullptr ? function->evaluate(engine, inputs, where)
                                         : evaluate_selection(engine, *selection, read_deployment(engine, *selection, inputs, where));
    CaseResult result = compare(spelt_out(got), spelt_out(expected));
    compare_derived(engine, inputs, result);
    return result;
  });
}

CaseResult evaluate_support_case(const support::Json& one_case, const support::Json& support) {
  const std::string where = place(one_case);
  if (place(support) != where) broken("joined with the support line of another case, " + shown(support.at("id")), where);
  return guarded([&]() -> CaseResult {
    Values line(support, "support line", where, Missing::breaks_form);
    line.ignore("id");
    Values values(one_case, "case", where, Missing::breaks_form);
    const Engine engine = engine_of(values);
    const std::string name = line.text("oracle");
    if (values.text("oracle") != name) line.wrong("oracle", "that of its case", name);
    const SelectionRow* selection = selection_row(name);
    if (selection == nullptr) return unmodelled("no model for the support of oracle " + name);
    const Json& expected = line.at("support");
    if (!expected.is_object()) line.wrong("support", "an object", expected);
    line.finish();
    for (const auto& [key, verdict] : expected.items()) {
      const bool shaped = verdict.is_array() && verdict.size() == 2 && verdict[0].is_boolean() && (verdict[1].is_null() || verdict[1].is_string());
      if (!shaped) line.wrong(key, "[supported, code or null]", verdict);
    }
    return compare(evaluate_support(engine, *selection, read_deployment(engine, *selection, values.at("inputs"), where)), expected);
  });
}

support::Json oracle_case(const std::string& id, std::string_view oracle, const deployment::Deployment& deployment) {
  const SelectionRow& row = selection_named(oracle);
  return {{"id", id},
          {"oracle", oracle},
          {"inputs", inputs_json(row, deployment)},
          {"result", evaluate_selection(deployment::kVllm2026_05, row, deployment)}};
}

support::Json support_case(const std::string& id, std::string_view oracle, const deployment::Deployment& deployment) {
  return {{"id", id}, {"oracle", oracle}, {"support", evaluate_support(deployment::kVllm2026_05, selection_named(oracle), deployment)}};
}

std::optional<RecordedSelection> recorded_selection(const support::Json& one_case) {
  const std::string where = place(one_case);
  Values values(one_case, "case", where, Missing::breaks_form);
  const std::string name = values.text("oracle");
  const SelectionRow* selection = selection_row(name);
  const Engine engine = engine_of(values);
  if (selection == nullptr || engine != deployment::kVllm2026_05) return std::nullopt;
  return RecordedSelection{name, read_deployment(engine, *selection, values.at("inputs"), where)};
}

}  // namespace mx::golden
