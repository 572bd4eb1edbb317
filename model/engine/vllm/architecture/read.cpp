#include "model/engine/vllm/architecture/read.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "model/deployment/vocabulary.hpp"
#include "model/engine/vllm/architecture/layers.hpp"
#include "model/engine/vllm/setup/routing_method.hpp"
#include "model/error.hpp"

namespace mx::engine {
namespace {

using deployment::ConfigValue;
using deployment::LayerConfig;
using Names = std::string_view;

constexpr std::int64_t kMostExperts = 1 << 16;
constexpr std::int64_t kLargestSize = 1 << 20;
constexpr std::array<Names, 3> kScorings = {"softmax", "sigmoid", "sqrtsoftplus"};
constexpr std::array<Names, 3> kFurther = {"num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_modules"};

/// Words that speak of experts: which of them a class does not read is said.
constexpr auto kWordsOfExperts = std::to_array<Names>({"num_experts",
                                                       "num_local_experts",
                                                       "n_routed_experts",
                                                       "moe_num_experts",
                                                       "num_experts_per_tok",
                                                       "experts_per_token",
                                                       "num_experts_per_token",
                                                       "moe_topk",
                                                       "moe_top_k",
                                                       "moe_k",
                                                       "top_k_experts",
                                                       "moe_intermediate_size",
                                                       "expert_hidden_dim",
                                                       "expert_intermediate_size",
                                                       "norm_topk_prob",
                                                       "scoring_func",
                                                       "score_func",
                                                       "topk_method",
                                                       "n_group",
                                                       "topk_group",
                                                       "routed_scaling_factor",
                                                       "route_scale",
                                                       "first_k_dense_replace",
                                                       "moe_layer_freq",
                                                       "mlp_only_layers",
                                                       "decoder_sparse_step",
                                                       "moe_layers",
                                                       "interleave_moe_layer_step",
                                                       "use_routing_bias",
                                                       "use_expert_bias",
                                                       "swiglu_limit",
                                                       "swiglu_alpha",
                                                       "swiglu_limits",
                                                       "hidden_act",
                                                       "enable_moe_block",
                                                       "moe_router_dtype",
                                                       "router_dtype"});

std::string list_of(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

bool is_in(std::span<const Names> names, Names name) { return std::ranges::find(names, name) != names.end(); }

[[noreturn]] void refuse(ErrorCode code, const std::string& text, const std::string& where) { throw Error(code, text, where); }

/// "architectures" as a list of texts; none where it is missing or null.
std::vector<std::string> architectures_of(const ConfigValue& config, const std::string& where) {
  const ConfigValue* const value = config.find("architectures");
  std::vector<std::string> names;
  if (value == nullptr || value->is(ConfigValue::Kind::null)) return names;
  const auto wrong = [&](const ConfigValue& found) {
    refuse(ErrorCode::input, "architectures is " + found.written() + ", must be a list of names", where);
  };
  if (!value->is(ConfigValue::Kind::list)) wrong(*value);
  for (const ConfigValue& item : value->items) {
    if (!item.is(ConfigValue::Kind::text)) wrong(item);
    names.push_back(item.text);
  }
  return names;
}

std::string model_type_of(const ConfigValue& config, const std::string& where) {
  const ConfigValue* const value = config.find("model_type");
  if (value == nullptr || value->is(ConfigValue::Kind::null))
    refuse(ErrorCode::input, "model_type is missing: the engine takes the configuration class, which fills the defaults, by it", where);
  if (!value->is(ConfigValue::Kind::text)) refuse(ErrorCode::input, "model_type is " + value->written() + ", must be text", where);
  return value->text;
}

[[noreturn]] void refuse_unread(const std::string& name, const UnreadArchitecture& unread, const std::string& where, deployment::Engine engine) {
  const std::string engine_name(deployment::name_of(engine));
  switch (unread.why) {
    case Unread::dense: refuse(ErrorCode::unsupported, "no experts: " + name + " is a model whose layers are dense", where);
    case Unread::not_taken_apart:
      refuse(ErrorCode::unsupported, name + " is known to the engine, not to mxact: its fields were not taken apart, and nothing is guessed", where);
    case Unread::dropped:
      refuse(ErrorCode::unsupported, name + " was known to the engine until " + std::string(unread.last_release) + ", and is not to mxact", where);
    case Unread::unknown: break;
  }
  refuse(ErrorCode::unsupported,
         "architecture " + name + " is not known to " + engine_name + ": which of its fields say what of experts is not guessed from their names",
         where);
}

struct Found {
  const ArchitectureRow* row;
  std::string name;
};

/// The first architecture of the file that the engine has, or that of its model_type.
Found architecture_of(const ConfigValue& config, const std::string& model_type, const std::string& where, deployment::Engine engine) {
  const std::vector<std::string> names = architectures_of(config, where);
  const auto row_of = [&](const auto& fits) {
    const auto rows = architecture_rows();
    const auto found = std::ranges::find_if(rows, [&](const ArchitectureRow* row) { return fits(*row); });
    return found == rows.end() ? nullptr : *found;
  };
  for (const std::string& name : names) {
    const ArchitectureRow* const row = row_of([&](const ArchitectureRow& one) { return is_in(one.architectures, name); });
    if (row == nullptr) {
      const UnreadArchitecture unread = unread_architecture(name);
      if (unread.why != Unread::unknown) refuse_unread(name, unread, where, engine);
      continue;
    }
    if (!row->versions.has(engine))
      refuse(ErrorCode::unsupported, name + " is none of the model classes that " + std::string(deployment::name_of(engine)) + " has here", where);
    if (!is_in(row->model_types, model_type)) {
      refuse(ErrorCode::input,
             "architectures has " + name + ", but model_type is '" + model_type +
                 "', whose configuration class is another model's: its defaults would be, too",
             where);
    }
    return {row, name};
  }
  if (!names.empty()) refuse_unread(names.front(), {}, where, engine);
  const ArchitectureRow* const row =
      row_of([&](const ArchitectureRow& one) { return is_in(one.model_types, model_type) && one.versions.has(engine); });
  if (row == nullptr)
    refuse(ErrorCode::unsupported, "no architectures are given, and model_type '" + model_type + "' is that of none that is known here", where);
  return {row, std::string(row->architectures.front())};
}

/// The object that the class reads; an empty one where it is missing: the text class fills all.
const ConfigValue& part_of(const ConfigValue& config, const ArchitectureRow& row, const std::string& where) {
  static const ConfigValue kEmpty{.kind = ConfigValue::Kind::object};
  if (!row.nested) return config;
  const ConfigValue* const text = config.find("text_config");
  if (text == nullptr || text->is(ConfigValue::Kind::null)) return kEmpty;
  if (!text->is(ConfigValue::Kind::object)) refuse(ErrorCode::input, "text_config is " + text->written() + ", must be an object", where);
  return *text;
}

/// Source: vllm config/model.py _get_and_verify_dtype; the choice for fp32 files depends on the card.
std::string dtype_of(const ConfigValue& config, const std::string& where, const deployment::Hardware& hardware, std::vector<std::string>& remarks) {
  const bool no_bfloat16 = hardware.platform == deployment::PlatformKind::cuda && hardware.capability.value_or(0) < 80;
  const std::string usual = no_bfloat16 ? "float16" : "bfloat16";
  for (const Names path : {"dtype", "torch_dtype", "text_config.dtype", "text_config.torch_dtype"}) {
    const ConfigValue* const value = config.find(path);
    if (value == nullptr || value->is(ConfigValue::Kind::null)) continue;
    if (!value->is(ConfigValue::Kind::text)) refuse(ErrorCode::input, std::string(path) + " is " + value->written() + ", must be text", where);
    if (value->text == "float32" || value->text == "auto") return usual;
    if (value->text == "float16" || value->text == "half") return "float16";
    if (value->text == "bfloat16") return no_bfloat16 ? "float16" : "bfloat16";
    refuse(ErrorCode::input, std::string(path) + " is '" + value->text + "', must be bfloat16, float16 or float32", where);
  }
  remarks.push_back("no dtype is written: " + usual);
  return usual;
}

/// Groups that experts are dealt out to: equal ones, and enough of them for a token's experts.
void check_groups(const ArchitectureRow& row, const FieldReader& fields, const LayerConfig& config) {
  const std::int64_t groups = config.expert_groups, used = config.topk_group, experts = config.num_experts;
  if (groups == 0) return;
  const std::string name = fields.called(row.groups) + " " + std::to_string(groups);
  if (experts % groups != 0) fields.fail(name + ": " + std::to_string(experts) + " experts cannot be dealt out to so many groups equally");
  if (used > groups) fields.fail(fields.called(row.topk_groups) + " is " + std::to_string(used) + ", above " + name);
  const std::int64_t reached = experts / groups * used;
  if (config.experts_per_token > reached) {
    fields.fail(fields.called(row.topk_groups) + " " + std::to_string(used) + " of " + std::to_string(groups) + " groups has " +
                std::to_string(reached) + " experts, but " + fields.called(row.top_k) + " asks for " + std::to_string(config.experts_per_token));
  }
}

bool corrected(const ArchitectureRow& row, const FieldReader& fields) {
  switch (row.correction) {
    case Correction::never: return false;
    case Correction::always: return true;
    case Correction::by_flag: return fields.flag(row.correction_flag);
    case Correction::by_method: break;
  }
  return fields.word({"topk_method", "none"}) == "noaux_tc";
}

RouterReading read_routing(const ArchitectureRow& row, const FieldReader& fields, deployment::Engine engine, LayerConfig& config) {
  config.router_weight_on_input = row.weight_on_input;
  if (!row.routing.empty()) {
    config.routing_method = row.routing;
    return {};
  }
  const std::string scoring = fields.word(row.scoring);
  if (!is_in(kScorings, scoring)) {
    fields.unsupported(fields.called(row.scoring.name) + " is '" + scoring + "', the engine's routers have softmax, sigmoid and sqrtsoftplus");
  }
  config.has_correction_bias = corrected(row, fields);
  if (row.groups.exists()) {
    config.expert_groups = static_cast<int>(fields.size(row.groups, 1, kMostExperts));
    config.topk_group = static_cast<int>(fields.size(row.topk_groups, 1, kMostExperts));
    check_groups(row, fields, config);
  }
  const RouterReading router{scoring, fields.flag(row.renormalize), fields.number(row.factor), config.expert_groups, config.topk_group};
  config.has_routed_scaling = router.factor != 1;
  const RoutingRequest request{.scoring = scoring,
                               .top_k = config.experts_per_token,
                               .renormalize = router.renormalizes,
                               .expert_groups = config.expert_groups == 0 ? std::nullopt : std::optional<std::int64_t>(config.expert_groups),
                               .has_score_bias = config.has_correction_bias,
                               .routed_scaling = router.factor};
  config.routing_method = deployment::name_of(routing_method_of(engine, request));
  return router;
}

/// What all layers with experts have in common, their router beside it.
LayerConfig read_layer(const ArchitectureRow& row, const FieldReader& fields, deployment::Engine engine, RouterReading& router) {
  LayerConfig config{};
  config.num_experts = fields.size(row.experts, 1, kMostExperts);
  config.experts_per_token = fields.size(row.top_k, 1, kMostExperts);
  if (config.experts_per_token > config.num_experts) {
    fields.fail(fields.called(row.top_k) + " is " + std::to_string(config.experts_per_token) + ", but " + fields.called(row.experts) + " is " +
                std::to_string(config.num_experts));
  }
  config.hidden = fields.size(row.hidden, 1, kLargestSize);
  config.intermediate_per_partition = fields.size(row.intermediate, 1, kLargestSize);
  config.activation = row.activation;
  if (!row.silu_alone.empty()) {
    const std::string word = fields.word({row.silu_alone, "silu"});
    if (word != "silu") fields.unsupported(fields.called(row.silu_alone) + " is '" + word + "': the engine's class takes silu alone");
  }
  config.has_bias = row.bias;
  config.is_act_and_mul = row.gated;
  if (row.float_logits) config.router_logits_dtype = "float32";
  router = read_routing(row, fields, engine, config);
  return config;
}

/// Whether a layer's constants are other than those of common checkpoints of its activation.
void note_constants(LayerConfig& config) {
  if (!config.constants) return;
  LayerConfig plain{};
  plain.activation = config.activation;
  const deployment::ActivationConstants common = deployment::constants_of(plain);
  config.has_swiglu_alpha = config.constants->swiglu_alpha != common.swiglu_alpha || config.constants->swiglu_beta != common.swiglu_beta;
  config.has_swiglu_limit = config.constants->swiglu_limit != common.swiglu_limit;
}

void add_to_kinds(std::vector<LayerKind>& kinds, int layer, const LayerConfig& config) {
  const auto alike = std::ranges::find(kinds, config, &LayerKind::config);
  if (alike != kinds.end()) {
    alike->layers.push_back(layer);
  } else {
    kinds.push_back({{layer}, config});
  }
}

bool has_shared(const ArchitectureRow& row, const FieldReader& fields) {
  if (row.shared.empty() || row.shared == "*") return row.shared == "*";
  const ConfigValue* const value = fields.given(row.shared);
  if (value == nullptr) return row.shared == "n_shared_experts" && fields.object().find(row.shared) == nullptr;  // the classes fill in 1 or 2
  return fields.size(must(row.shared), 0, kLargestSize) > 0;
}

void add_remarks(const FieldReader& fields, ModelReading& model) {
  for (const LayerKind& kind : model.kinds) {
    if (kind.config.has_hash_routing)
      model.remarks.push_back("layers " + numbers_text(kind.layers) + " route by a table of token ids and have no correction bias");
  }
  if (const std::vector<std::string> names = fields.defaults(); !names.empty())
    model.remarks.push_back("not in the file, filled in by its configuration class: " + list_of(names));
  if (model.further_layers == 0) return;
  std::vector<int> further;
  for (int i = 0; i < model.further_layers; ++i) further.push_back(model.layers + i);
  model.remarks.push_back(
      (further.size() == 1 ? "layer " : "layers ") + numbers_text(further) +
      " for predicting further tokens: built only when it is asked for, with the same experts and, where no list names it, the same scheme");
}

}  // namespace

std::string numbers_text(const std::vector<int>& numbers) {
  std::string text;
  for (std::size_t begin = 0; begin < numbers.size();) {
    std::size_t end = begin + 1;
    const int step = end < numbers.size() ? numbers[end] - numbers[begin] : 1;
    while (end < numbers.size() && numbers[end] - numbers[end - 1] == step) ++end;
    // Two numbers that are no neighbours are no run.
    if (end - begin == 2 && step != 1) end = begin + 1;
    text += (text.empty() ? "" : ",") + std::to_string(numbers[begin]);
    if (end - begin > 1) text += "-" + std::to_string(numbers[end - 1]);
    if (end - begin > 1 && step != 1) text += "/" + std::to_string(step);
    begin = end;
  }
  return text;
}

ModelReading read_model(const ConfigValue& config, const std::string& where, deployment::Engine engine, const deployment::Hardware& hardware) {
  if (!config.is(ConfigValue::Kind::object))
    refuse(ErrorCode::input, "the top level is " + std::string(deployment::name_of(config.kind)) + ", must be an object", where);
  const std::string model_type = model_type_of(config, where);
  const Found found = architecture_of(config, model_type, where, engine);
  const ArchitectureRow& row = *found.row;
  const FieldReader fields(part_of(config, row, where), where, row.nested ? "text_config." : "");
  ModelReading model{.row = &row,
                     .architecture = found.name,
                     .model_type = model_type,
                     .text_model_type = {},
                     .layers = 0,
                     .further_layers = 0,
                     .heads = 0,
                     .shared_experts = false,
                     .router = {},
                     .kinds = {},
                     .remarks = {},
                     .ignored = {}};
  if (row.nested) model.text_model_type = fields.word({"model_type", model_type});
  if (row.none_is_dense && fields.size(row.experts, 0, kMostExperts) == 0)
    fields.unsupported("no experts: " + fields.called(row.experts.names[0]) + " is not there");
  model.layers = layer_count(row, fields);
  if (row.of_model != nullptr) row.of_model(fields);
  LayerConfig base = read_layer(row, fields, engine, model.router);
  base.in_dtype = dtype_of(config, where, hardware, model.remarks);
  for (const int layer : expert_layers(row, fields, model.layers)) {
    LayerConfig one = base;
    if (row.of_layer != nullptr) row.of_layer(fields, layer, one, engine);
    note_constants(one);
    add_to_kinds(model.kinds, layer, one);
  }
  model.heads = fields.size(row.heads, 1, kLargestSize);
  model.shared_experts = has_shared(row, fields);
  for (const Names name : kFurther) {
    if (fields.given(name) != nullptr) model.further_layers = static_cast<int>(fields.size(must(name), 0, kMostExperts));
  }
  add_remarks(fields, model);
  for (const Names name : kWordsOfExperts) {
    if (!fields.was_asked(name) && fields.object().find(name) != nullptr) model.ignored.push_back(fields.called(name));
  }
  return model;
}

deployment::ParallelRequest parallel_of(const ModelReading& model, const deployment::ParallelRequest& asked, deployment::Engine engine) {
  constexpr auto kListed =
      std::to_array<Names>({"allgather_reducescatter", "deepep_high_throughput", "deepep_low_latency", "deepep_v2", "flashinfer_nvlink_one_sided",
                            "passthrough", "mori", "mori_high_throughput", "mori_low_latency", "nixl_ep"});
  deployment::ParallelRequest parallel = asked;
  parallel.all2all_backend = deployment::all2all_of(engine, asked.all2all_backend);
  if (parallel.enable_expert_parallel && parallel.tp * parallel.pcp * parallel.dp == 1) parallel.enable_expert_parallel = false;
  const bool splits = model.row->sequence_parallel && parallel.enable_expert_parallel && parallel.tp > 1 && parallel.dp > 1 &&
                      is_in(kListed, parallel.all2all_backend);
  if (splits) parallel.sp = parallel.tp;
  return parallel;
}

LayerConfig on_ranks(const ModelReading& model, const LayerConfig& layer, const deployment::ParallelRequest& parallel, deployment::Engine engine,
                     const std::string& where) {
  const ArchitectureRow& row = *model.row;
  LayerConfig config = layer;
  const std::int64_t ranks = deployment::tensor_ranks(parallel);
  const std::int64_t share = layer.intermediate_per_partition / ranks;
  if (ranks > 1 && share < row.share_is_padded_to) config.intermediate_per_partition = row.share_is_padded_to * ranks;
  if (config.intermediate_per_partition % ranks != 0) {
    refuse(ErrorCode::input,
           std::string(row.intermediate.names[0]) + " is " + std::to_string(layer.intermediate_per_partition) + ", which " + std::to_string(ranks) +
               " tensor parallel ranks cannot share equally",
           where);
  }
  config.intermediate_per_partition /= ranks;
  if (model.heads % parallel.tp != 0) {
    refuse(ErrorCode::input,
           std::string(row.heads.names[0]) + " is " + std::to_string(model.heads) + ", which " + std::to_string(parallel.tp) +
               " tensor parallel ranks cannot share equally: the engine refuses the model",
           where);
  }
  if (row.rank_has_expert && parallel.tp > layer.num_experts) {
    refuse(ErrorCode::unsupported,
           "tensor parallel size " + std::to_string(parallel.tp) + " is above the number of experts " + std::to_string(layer.num_experts) +
               ": the engine's class raises ValueError",
           where);
  }
  const deployment::Parallel derived = deployment::derive(parallel, engine);
  config.skip_final_all_reduce = row.skips_reduce && deployment::since(deployment::kVllm2026_11).has(engine) && !derived.use_all2all_kernels() &&
                                 !derived.is_sequence_parallel();
  return config;
}

}  // namespace mx::engine
