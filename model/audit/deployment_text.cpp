#include "model/audit/deployment_text.hpp"

#include <array>
#include <charconv>
#include <utility>

#include "model/deployment/vocabulary.hpp"
#include "model/engine/vllm/tables.hpp"

namespace mx::audit {
namespace {

/// Collects "key value" pairs that differ from their default.
class Block {
 public:
  void add(std::string_view key, std::string_view value) { text_ += (text_.empty() ? "" : " ") + std::string(key) + " " + quoted(value); }
  void add(std::string_view key, std::int64_t value) { add(key, std::to_string(value)); }
  void add_if_other(std::string_view key, std::string_view value, std::string_view usual) {
    if (value != usual) add(key, value);
  }
  void add_if_other(std::string_view key, std::int64_t value, std::int64_t usual) {
    if (value != usual) add(key, value);
  }
  void add_if_other(std::string_view key, bool value, bool usual) {
    if (value != usual) add(key, value ? std::string_view("true") : std::string_view("false"));
  }
  void add_block(std::string_view key, const Block& block) {
    if (!block.text_.empty()) text_ += (text_.empty() ? "" : " ") + std::string(key) + " { " + block.text_ + " }";
  }
  const std::string& text() const { return text_; }

 private:
  /// A word as it is; what is none in quotes, where a backslash stands before a quote and before itself.
  static std::string quoted(std::string_view value) {
    if (!value.empty() && value.find_first_of(" {}\"\\;") == std::string_view::npos) return std::string(value);
    std::string text = "\"";
    for (const char c : value) {
      if (c == '"' || c == '\\') text += '\\';
      text += c;
    }
    return text + "\"";
  }

  std::string text_;
};

/// The shortest text that reads back as the value.
std::string shortest(double value) {
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

/// The preset of that hardware, or null.
const deployment::PlatformPreset* preset_of(const deployment::Hardware& hardware) {
  for (const deployment::PlatformPreset& preset : deployment::all_platforms()) {
    if (preset.platform == hardware.platform && preset.capability == hardware.capability.value_or(0) && preset.gcn_arch == hardware.gcn_arch) {
      return &preset;
    }
  }
  return nullptr;
}

void add_hardware(Block& root, const deployment::Hardware& hardware) {
  const deployment::PlatformPreset* preset = preset_of(hardware);
  const deployment::Hardware plain{};
  const bool is_processor = hardware.platform == deployment::PlatformKind::cpu;
  const bool usual_processor = !is_processor || (hardware.amx && hardware.cpu_arch == plain.cpu_arch && !hardware.zen_cpu && !hardware.amx_fp8);
  if (preset != nullptr && usual_processor) return root.add("platform", preset->name);
  Block block;
  block.add("platform", deployment::name_of(hardware.platform));
  if (hardware.platform == deployment::PlatformKind::cuda) block.add("capability", hardware.capability.value_or(0));
  if (!hardware.gcn_arch.empty()) block.add("gcn_arch", hardware.gcn_arch);
  if (is_processor) {
    block.add_if_other("amx", hardware.amx, true);
    block.add_if_other("cpu_arch", hardware.cpu_arch, plain.cpu_arch);
    block.add_if_other("zen_cpu", hardware.zen_cpu, false);
    block.add_if_other("amx_fp8", hardware.amx_fp8, false);
  }
  root.add_block("hardware", block);
}

Block parallel_block(const deployment::ParallelRequest& request) {
  const deployment::ParallelRequest usual;
  Block block;
  block.add_if_other("tp", std::int64_t{request.tp}, usual.tp);
  block.add_if_other("pcp", std::int64_t{request.pcp}, usual.pcp);
  block.add_if_other("dp", std::int64_t{request.dp}, usual.dp);
  block.add_if_other("sp", std::int64_t{request.sp}, usual.sp);
  block.add_if_other("expert_parallel", request.enable_expert_parallel, usual.enable_expert_parallel);
  block.add_if_other("all2all", request.all2all_backend, usual.all2all_backend);
  block.add_if_other("eplb", request.enable_eplb, usual.enable_eplb);
  block.add_if_other("round_robin", request.round_robin, usual.round_robin);
  return block;
}

/// Values where the layer gives them, else whether they are other than the usual ones.
void add_constants(Block& block, const deployment::LayerConfig& layer) {
  if (!layer.constants) {
    block.add_if_other("swiglu_alpha", layer.has_swiglu_alpha, false);
    block.add_if_other("swiglu_limit", layer.has_swiglu_limit, false);
    return;
  }
  const std::pair<std::string_view, std::optional<double>> values[] = {{"swiglu_alpha", layer.constants->swiglu_alpha},
                                                                       {"swiglu_limit", layer.constants->swiglu_limit},
                                                                       {"swiglu_beta", layer.constants->swiglu_beta},
                                                                       {"situ_beta", layer.constants->situ_beta},
                                                                       {"situ_linear_beta", layer.constants->situ_linear_beta}};
  for (const auto& [key, value] : values) block.add(key, value ? shortest(*value) : std::string("none"));
}

/// What the int_wna16 oracle is handed beside the keys.
Block weight_only_block(const deployment::WeightOnlyCall& call) {
  const deployment::WeightOnlyCall usual;
  Block block;
  block.add_if_other("kind", call.kind, usual.kind);
  block.add_if_other("group_size", call.group_size, usual.group_size);
  block.add_if_other("desc_act", call.desc_act, usual.desc_act);
  block.add_if_other("actorder", call.actorder, usual.actorder);
  block.add_if_other("strategy", call.strategy, usual.strategy);
  block.add_if_other("zero_point", call.may_have_zp, usual.may_have_zp);
  block.add_if_other("bias", call.may_have_bias, usual.may_have_bias);
  block.add_if_other("tile_padding", call.allow_tile_padding, usual.allow_tile_padding);
  return block;
}

Block model_block(const deployment::ModelFacts& model) {
  const deployment::ModelFacts usual;
  Block block;
  block.add_if_other("type", model.model_type, usual.model_type);
  block.add_if_other("text_type", model.text_model_type, usual.text_model_type);
  block.add_if_other("weight_transfer", model.weight_transfer, usual.weight_transfer);
  block.add_if_other("dbo", model.enable_dbo, usual.enable_dbo);
  return block;
}

Block layer_block(const deployment::LayerConfig& layer, std::int64_t shards) {
  const deployment::LayerConfig usual{};
  Block block;
  block.add("experts", layer.num_experts);
  block.add("top_k", layer.experts_per_token);
  block.add("hidden", layer.hidden);
  block.add("intermediate", layer.intermediate_per_partition * shards);
  block.add_if_other("activation", layer.activation, usual.activation);
  block.add_if_other("routing", layer.routing_method, usual.routing_method);
  block.add_if_other("dtype", layer.in_dtype, usual.in_dtype);
  block.add_if_other("bias", layer.has_bias, usual.has_bias);
  block.add_if_other("act_and_mul", layer.is_act_and_mul, usual.is_act_and_mul);
  block.add_if_other("lora", layer.is_lora_enabled, usual.is_lora_enabled);
  block.add_if_other("router_weight_on_input", layer.router_weight_on_input, usual.router_weight_on_input);
  block.add_if_other("expert_groups", std::int64_t{layer.expert_groups}, usual.expert_groups);
  block.add_if_other("topk_group", std::int64_t{layer.topk_group}, usual.topk_group);
  block.add_if_other("correction_bias", layer.has_correction_bias, usual.has_correction_bias);
  block.add_if_other("routed_scaling", layer.has_routed_scaling, usual.has_routed_scaling);
  if (!layer.router_logits_dtype.empty()) block.add("router_logits_dtype", layer.router_logits_dtype);
  block.add_if_other("hash_routing", layer.has_hash_routing, false);
  block.add_if_other("decomposed_routing", layer.require_decomposed_backend, false);
  block.add_if_other("skip_final_all_reduce", layer.skip_final_all_reduce, false);
  add_constants(block, layer);
  return block;
}

}  // namespace

std::string info_text(deployment::Engine engine, std::string_view oracle, const deployment::Deployment& deployment) {
  const engine::OracleTables& tables = engine::tables_of(engine, oracle);
  Block root;
  root.add_if_other("oracle", oracle, "mxfp4");
  add_hardware(root, deployment.hardware);
  root.add_if_other("backend", deployment.layer.moe_backend, "auto");
  root.add_if_other("weight_key", deployment.weight_key, deployment::name_of(tables.usual_weight_key));
  root.add_if_other("activation_key", deployment.activation_key, deployment::name_of(tables.usual_activation_key));
  root.add_if_other("quantization_override", deployment.quantization_override, "unset");
  root.add_if_other("allow_vllm_cutlass", deployment.allow_vllm_cutlass, false);
  root.add_if_other("quant_method", deployment.quant_method, "own");
  root.add_block("parallel", parallel_block(deployment.parallel));
  root.add_block("layer", layer_block(deployment.layer, deployment::tensor_ranks(deployment.parallel)));
  root.add_block("weight_only", weight_only_block(deployment.weight_only));
  root.add_block("model", model_block(deployment.model));
  Block env;
  for (const auto& [name, value] : deployment.env) env.add(name, value);
  root.add_block("env", env);
  Block software;
  const deployment::Software installed = deployment::software_on(deployment.hardware.platform);
  for (const deployment::SoftwareRow& row : deployment::software_rows())
    software.add_if_other(row.name, deployment.software.*row.answer, installed.*row.answer);
  root.add_block("software", software);
  return root.text();
}

}  // namespace mx::audit
