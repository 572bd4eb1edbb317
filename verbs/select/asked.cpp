#include "verbs/select/asked.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "checkpoint/checkpoint_files.hpp"
#include "model/audit/deployment_text.hpp"
#include "model/engine/vllm/own_choice.hpp"
#include "model/engine/vllm/tables.hpp"
#include "model/error.hpp"
#include "support/file.hpp"
#include "verbs/select/answer.hpp"

namespace mx::verbs {
namespace {

/// Sizes and platforms are a model's; an INFO file says its own.
void require_none_of_model(const AskedFor& asked) {
  const std::pair<const char*, bool> given[] = {{"--platform", !asked.platform.empty()}, {"--tp", asked.tp.has_value()},
                                                {"--dp", asked.dp.has_value()},          {"--ep", asked.expert_parallel},
                                                {"--all2all", !asked.all2all.empty()},   {"--moe-backend", !asked.moe_backend.empty()}};
  for (const auto& [option, is_given] : given) {
    if (is_given) throw Error(ErrorCode::usage, fmt::format("{} is for a model's directory or configuration: an INFO file says it itself", option));
  }
}

checkpoint::ServingRequest serving_request(const AskedFor& asked) {
  checkpoint::ServingRequest request{.platform = asked.platform, .env = asked.env, .engine = deployment::engine_named(asked.engine)};
  request.parallel.tp = asked.tp.value_or(1);
  request.parallel.dp = asked.dp.value_or(1);
  request.parallel.enable_expert_parallel = asked.expert_parallel;
  if (!asked.all2all.empty()) request.parallel.all2all_backend = asked.all2all;
  if (!asked.moe_backend.empty()) request.moe_backend = asked.moe_backend;
  return request;
}

Json parallel_json(const deployment::ParallelRequest& parallel) {
  return {{"tp", parallel.tp},
          {"dp", parallel.dp},
          {"sp", parallel.sp},
          {"expert_parallel", parallel.enable_expert_parallel},
          {"all2all", parallel.all2all_backend}};
}

/// The layer by the keys of an INFO file: what every layer has, and what is not the reader's default.
Json layer_json(const deployment::Deployment& deployment) {
  const deployment::LayerConfig& layer = deployment.layer;
  Json json = {{"experts", layer.num_experts},
               {"top_k", layer.experts_per_token},
               {"hidden", layer.hidden},
               {"intermediate", layer.intermediate_per_partition * deployment::tensor_ranks(deployment.parallel)},
               {"activation", layer.activation},
               {"routing", layer.routing_method},
               {"dtype", layer.in_dtype},
               {"bias", layer.has_bias},
               {"act_and_mul", layer.is_act_and_mul}};
  const std::pair<const char*, bool> flags[] = {{"correction_bias", layer.has_correction_bias},
                                                {"routed_scaling", layer.has_routed_scaling},
                                                {"router_weight_on_input", layer.router_weight_on_input},
                                                {"hash_routing", layer.has_hash_routing},
                                                {"skip_final_all_reduce", layer.skip_final_all_reduce}};
  for (const auto& [key, is_set] : flags) {
    if (is_set) json[key] = true;
  }
  if (layer.expert_groups != 0) json["expert_groups"] = layer.expert_groups;
  if (layer.topk_group != 0) json["topk_group"] = layer.topk_group;
  if (!layer.router_logits_dtype.empty()) json["router_logits_dtype"] = layer.router_logits_dtype;
  if (!layer.constants) return json;
  const std::pair<const char*, std::optional<double>> constants[] = {{"swiglu_limit", layer.constants->swiglu_limit},
                                                                     {"swiglu_alpha", layer.constants->swiglu_alpha},
                                                                     {"swiglu_beta", layer.constants->swiglu_beta},
                                                                     {"situ_beta", layer.constants->situ_beta},
                                                                     {"situ_linear_beta", layer.constants->situ_linear_beta}};
  for (const auto& [key, value] : constants) {
    if (value) json[key] = *value;
  }
  return json;
}

/// The deployment by those keys; a key of the checkpoint where the oracle takes it from its caller.
Json deployment_json(const support::DeploymentFile& file) {
  const engine::OracleTables& tables = engine::tables_of(file.engine, file.oracle);
  const deployment::Deployment& deployment = file.deployment;
  Json json = {{"oracle", file.oracle}, {"layer", layer_json(deployment)}, {"parallel", parallel_json(deployment.parallel)}};
  if (!tables.weight_key) json["weight_key"] = deployment.weight_key;
  if (tables.support_keys != engine::KeyPolicy::own) json["activation_key"] = deployment.activation_key;
  if (deployment.allow_vllm_cutlass) json["allow_vllm_cutlass"] = true;
  if (deployment.quant_method != "own") json["quant_method"] = deployment.quant_method;
  return json;
}

std::string layer_line(const Asked& asked, const AskedKind& kind) {
  const deployment::Deployment& deployment = kind.file.deployment;
  const deployment::LayerConfig& layer = deployment.layer;
  std::string text = fmt::format("layers {} of {}: {} experts, {} a token, hidden {}, intermediate {}, {}, {}, {}", kind.layers,
                                 asked.model->reading.layers, layer.num_experts, layer.experts_per_token, layer.hidden,
                                 layer.intermediate_per_partition * deployment::tensor_ranks(deployment.parallel), layer.activation,
                                 layer.routing_method, layer.in_dtype);
  if (deployment.parallel.sp > 1) text += fmt::format(", sequence parallel over {}", deployment.parallel.sp);
  return text;
}

/// What a part's text says, into a whole whose JSON has the part elsewhere. A remark stands once.
void add_text(Document& whole, const Document& part, std::set<std::string>& notes) {
  for (const Entry& entry : part.entries) {
    if (const auto* line = std::get_if<Line>(&entry)) whole.line(line->text);
    if (const auto* field = std::get_if<Field>(&entry)) whole.field(field->label, "", field->value, field->text);
    if (const auto* table = std::get_if<Table>(&entry); table != nullptr && std::ranges::any_of(table->columns, &Column::in_text))
      whole.table(text_alone(*table));
    if (const auto* note = std::get_if<Note>(&entry); note != nullptr && notes.insert(note->text).second) whole.note(note->text);
  }
}

/// A document for each kind as one: the kinds in an array, the worst exit code.
template <typename MakePart>
Document of_kinds(const Asked& asked, const std::string& verb, bool explain, const MakePart& part_of) {
  const engine::ModelReading& reading = asked.model->reading;
  Document document{verb, std::string(deployment::name_of(asked.kinds.front().file.engine))};
  document.value("model", asked.model->file.string());
  document.value("architecture", reading.architecture);
  document.value("model_type", reading.model_type);
  document.value("num_hidden_layers", reading.layers);
  document.value("shared_experts", reading.shared_experts);
  document.line(fmt::format(
      "{}: {} of {} layers have experts{}", reading.architecture,
      [&] {
        std::size_t count = 0;
        for (const checkpoint::ServedKind& kind : asked.model->kinds) count += kind.layers.size();
        return count;
      }(),
      reading.layers, asked.kinds.size() == 1 ? "" : fmt::format(", of {} kinds", asked.kinds.size())));
  Json kinds = Json::array();
  std::set<std::string> notes;
  for (const AskedKind& kind : asked.kinds) {
    const Document part = part_of(kind.file);
    document.line(fmt::format("{}{}", asked.kinds.size() == 1 ? "" : "\n", layer_line(asked, kind)));
    add_text(document, part, notes);
    Json json = {{"layers", kind.layers},
                 {"deployment", deployment_json(kind.file)},
                 {"info", audit::info_text(kind.file.engine, kind.file.oracle, kind.file.deployment)}};
    json.update(body_json(part));
    kinds.push_back(std::move(json));
    document.exit_code = std::max(document.exit_code, part.exit_code);
  }
  document.value("kinds", std::move(kinds));
  document.value("remarks", asked.model->remarks);
  document.value("ignored", reading.ignored);
  for (const std::string& remark : asked.model->remarks) document.line(fmt::format("remark: {}", remark));
  if (explain) {
    for (const std::string& name : reading.ignored) document.line(fmt::format("not read by the engine's class: {}", name));
    document.line(fmt::format("read as: {}", reading.row->source));
  }
  return document;
}

}  // namespace

Asked asked_about(const std::string& path, const AskedFor& asked) {
  const deployment::Engine engine = deployment::engine_named(asked.engine);
  const std::string release(deployment::release_named(asked.engine));
  if (!path.empty() && path != "-" && !support::is_there(path)) throw Error(ErrorCode::input, "there is no such file or directory", path);
  if (path.empty() || !checkpoint::is_model(path)) {
    require_none_of_model(asked);
    checkpoint::refuse_onnx(path);
    Asked one{path, std::nullopt, {{{}, support::load_deployment_file(path, asked.oracle, engine)}}};
    one.kinds.front().file.release = release;
    for (const auto& [name, value] : asked.env) one.kinds.front().file.deployment.env.insert_or_assign(name, value);
    return one;
  }
  if (!asked.oracle.empty()) throw Error(ErrorCode::usage, "--oracle is for an INFO file: a model's configuration says which oracle is asked", path);
  if (asked.platform.empty())
    throw Error(ErrorCode::usage, "--platform is missing: a model does not say on what it is to run (--platform B200 --tp 8)", path);
  Asked model{path, checkpoint::served_model(path, serving_request(asked)), {}};
  for (const checkpoint::ServedKind& kind : model.model->kinds)
    model.kinds.push_back({engine::numbers_text(kind.layers), {engine, kind.oracle, kind.deployment, release}});
  return model;
}

const AskedKind& kind_of(const Asked& asked, std::optional<int> layer) {
  if (!layer) return asked.kinds.front();
  if (!asked.model) throw Error(ErrorCode::usage, "--layer is for a model: an INFO file describes one layer", asked.name);
  for (std::size_t i = 0; i < asked.kinds.size(); ++i) {
    const std::vector<int>& layers = asked.model->kinds[i].layers;
    if (std::ranges::find(layers, *layer) != layers.end()) return asked.kinds[i];
  }
  std::string all;
  for (const AskedKind& kind : asked.kinds) all += (all.empty() ? "" : "; ") + kind.layers;
  throw Error(ErrorCode::usage, fmt::format("layer {} has no experts: layers {} have", *layer, all), asked.name);
}

std::string chosen_backend(const AskedKind& kind) {
  const SelectAnswer answer = ask(kind.file, false);
  if (answer.resolution.failure) {
    const engine::Refusal& refusal = answer.resolution.failure->refusal;
    throw Error(ErrorCode::unsupported, fmt::format("layers {}: the engine raises {}: {}", kind.layers, refusal.error_type, refusal.text));
  }
  const engine::Choice& choice = *answer.resolution.decision.choice;
  if (choice.kernel_class.empty() || choice.backend == engine::kNotAsked)
    throw Error(ErrorCode::unsupported, fmt::format("layers {}: the engine takes {} and no backend with a name", kind.layers, choice.kernel_class));
  return choice.backend;
}

std::string chosen_backend(const Asked& asked) {
  std::string backend, each;
  bool one = true;
  for (const AskedKind& kind : asked.kinds) {
    const std::string chosen = chosen_backend(kind);
    one = one && (backend.empty() || backend == chosen);
    backend = chosen;
    each += fmt::format("{}layers {}: {}", each.empty() ? "" : "; ", kind.layers, chosen);
  }
  if (!one) throw Error(ErrorCode::usage, fmt::format("the engine chooses several backends ({}): --backend names one", each), asked.name);
  return backend;
}

Document select_document(const Asked& asked, bool strict, bool explain) {
  const auto part_of = [&](const support::DeploymentFile& file) { return select_document(file, ask(file, strict), strict, explain); };
  return asked.model ? of_kinds(asked, "select-model", explain, part_of) : part_of(asked.kinds.front().file);
}

Document audit_document_of(const Asked& asked) {
  return asked.model ? of_kinds(asked, "select-model", false, deployment_audit_document) : deployment_audit_document(asked.kinds.front().file);
}

Document info_document(const Asked& asked) {
  Document document{"info", std::string(deployment::name_of(asked.kinds.front().file.engine))};
  Table infos{"kinds", {in_json("layers"), in_json("info")}};
  for (const AskedKind& kind : asked.kinds) {
    const std::string text = audit::info_text(kind.file.engine, kind.file.oracle, kind.file.deployment);
    if (asked.kinds.size() > 1) document.line(fmt::format("; layers {}", kind.layers));
    document.line(text);
    infos.add({kind.layers, text});
  }
  document.value(infos.key, infos.json());
  return document;
}

}  // namespace mx::verbs
