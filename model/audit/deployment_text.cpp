#include "model/audit/deployment_text.hpp"

#include "model/deployment/vocabulary.hpp"
#include "model/engine/vllm/tables.hpp"

namespace mx::oracle {
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

/// The preset of that hardware, or null.
const PlatformPreset* preset_of(const Hardware& hardware) {
  for (const PlatformPreset& preset : all_platforms()) {
    if (preset.platform == hardware.platform && preset.capability == hardware.capability.value_or(0) && preset.gcn_arch == hardware.gcn_arch) {
      return &preset;
    }
  }
  return nullptr;
}

void add_hardware(Block& root, const Hardware& hardware) {
  const PlatformPreset* preset = preset_of(hardware);
  if (preset != nullptr && hardware.amx) return root.add("platform", preset->name);
  Block block;
  block.add("platform", name_of(hardware.platform));
  if (hardware.platform == PlatformKind::cuda) block.add("capability", hardware.capability.value_or(0));
  if (!hardware.gcn_arch.empty()) block.add("gcn_arch", hardware.gcn_arch);
  block.add_if_other("amx", hardware.amx, true);
  root.add_block("hardware", block);
}

Block parallel_block(const ParallelRequest& request) {
  const ParallelRequest usual;
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

Block layer_block(const LayerConfig& layer, std::int64_t shards) {
  const LayerConfig usual{};
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
  block.add_if_other("swiglu_alpha", layer.has_swiglu_alpha, usual.has_swiglu_alpha);
  block.add_if_other("swiglu_limit", layer.has_swiglu_limit, usual.has_swiglu_limit);
  return block;
}

}  // namespace

std::string info_text(Engine engine, std::string_view oracle, const Deployment& deployment) {
  const OracleTables& tables = tables_of(engine, oracle);
  Block root;
  root.add_if_other("oracle", oracle, "mxfp4");
  add_hardware(root, deployment.hardware);
  root.add_if_other("backend", deployment.layer.moe_backend, "auto");
  root.add_if_other("weight_key", deployment.weight_key, name_of(tables.usual_weight_key));
  root.add_if_other("activation_key", deployment.activation_key, name_of(tables.usual_activation_key));
  root.add_if_other("quantization_override", deployment.quantization_override, "unset");
  root.add_if_other("allow_vllm_cutlass", deployment.allow_vllm_cutlass, false);
  root.add_if_other("quant_method", deployment.quant_method, "own");
  root.add_block("parallel", parallel_block(deployment.parallel));
  root.add_block("layer", layer_block(deployment.layer, derive(deployment.parallel).tp_size));
  Block env;
  for (const auto& [name, value] : deployment.env) env.add(name, value);
  root.add_block("env", env);
  Block software;
  const Software installed = software_on(deployment.hardware.platform);
  for (const SoftwareRow& row : software_rows()) software.add_if_other(row.name, deployment.software.*row.answer, installed.*row.answer);
  root.add_block("software", software);
  return root.text();
}

}  // namespace mx::oracle
