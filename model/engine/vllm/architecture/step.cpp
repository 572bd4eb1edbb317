// StepFun's model classes. Defaults: transformers 5.20.2 Step3p7TextConfig, which the engine takes for step3p5; vllm 0.33.0
// transformers_utils/configs/step3_vl.py Step3TextConfig.

#include <array>

#include "model/engine/vllm/architecture/rows.hpp"

namespace mx::engine {
namespace {

using Names = std::string_view;
using deployment::ConfigValue;
using deployment::LayerConfig;

constexpr std::array<Names, 1> kStep35 = {"Step3p5ForCausalLM"}, kStep35Types = {"step3p5"};
constexpr std::array<Names, 1> kStep3 = {"Step3TextForCausalLM"}, kStep3Types = {"step3_text"};
constexpr std::array<Names, 1> kStep3Vl = {"Step3VLForConditionalGeneration"}, kStep3VlTypes = {"step3_vl"};

/// The limit of one layer's experts: none, or 7, which is another activation and no constant.
void swiglu_step(const FieldReader& fields, int layer, LayerConfig& config, deployment::Engine) {
  constexpr double kOnlyLimit = 7;
  const ConfigValue* const limits = fields.given("swiglu_limits");
  if (limits == nullptr) return;
  if (!limits->is(ConfigValue::Kind::list)) fields.fail(fields.called("swiglu_limits") + " is " + limits->written() + ", must be a list");
  if (static_cast<std::size_t>(layer) >= limits->items.size()) return;
  const ConfigValue& limit = limits->items[static_cast<std::size_t>(layer)];
  if (limit.is(ConfigValue::Kind::null)) return;
  if (!limit.is(ConfigValue::Kind::integer) && !limit.is(ConfigValue::Kind::number))
    fields.fail(fields.called("swiglu_limits") + " has " + limit.written() + " for layer " + std::to_string(layer) + ", must be a number or null");
  if (limit.number == 0) return;
  if (limit.number != kOnlyLimit)
    fields.unsupported(fields.called("swiglu_limits") + " is " + limit.text + " for layer " + std::to_string(layer) +
                       ": the engine's experts know 7 alone (AssertionError)");
  config.activation = "SWIGLUSTEP";
}

void router_in_full(const FieldReader& fields) {
  for (const Names name : {"use_moe_router_bias", "need_fp32_gate"}) {
    if (!fields.flag({name, std::nullopt})) fields.unsupported(fields.called(name) + " is false: the engine's class asserts that it is true");
  }
}

constexpr std::array kRows = {
    ArchitectureRow{.architectures = kStep35,
                    .model_types = kStep35Types,
                    .experts = usual("n_routed_experts", 288, "moe_num_experts", "num_local_experts"),
                    .top_k = usual("num_experts_per_tok", 8, "moe_top_k"),
                    .intermediate = usual("moe_intermediate_size", 1280),
                    .hidden = usual("hidden_size", 4096),
                    .layers = usual("num_hidden_layers", 45),
                    .heads = usual("num_attention_heads", 64),
                    .scoring = {"moe_router_activation", "sigmoid"},
                    .renormalize = {"norm_expert_weight", std::nullopt},
                    .correction = Correction::always,
                    .factor = {"moe_router_scaling_factor", 1},
                    .rule = SparseRule::enumerated,
                    .first = fixed(3),
                    .float_logits = true,
                    .rank_has_expert = true,
                    .shared = "*",
                    .of_layer = swiglu_step,
                    .of_model = router_in_full,
                    .experts_module = "model.layers.N.moe.experts",
                    .source = "vllm 0.33.0 models/step3p5.py FusedMoEBlock"},
    ArchitectureRow{.architectures = kStep3,
                    .model_types = kStep3Types,
                    .experts = usual("moe_num_experts", 48),
                    .top_k = usual("moe_top_k", 3),
                    .intermediate = usual("moe_intermediate_size", 5120),
                    .hidden = usual("hidden_size", 7168),
                    .layers = usual("num_hidden_layers", 61),
                    .heads = usual("num_attention_heads", 64),
                    .renormalize = {"norm_expert_weight", false},
                    .rule = SparseRule::enumerated,
                    .rank_has_expert = true,
                    .experts_module = "model.layers.N.moe.experts",
                    .source = "vllm 0.33.0 models/step3_text.py FusedMoEBlock"},
    ArchitectureRow{.architectures = kStep3Vl,
                    .model_types = kStep3VlTypes,
                    .nested = true,
                    .experts = usual("moe_num_experts", 48),
                    .top_k = usual("moe_top_k", 3),
                    .intermediate = usual("moe_intermediate_size", 5120),
                    .hidden = usual("hidden_size", 7168),
                    .layers = usual("num_hidden_layers", 61),
                    .heads = usual("num_attention_heads", 64),
                    .renormalize = {"norm_expert_weight", false},
                    .rule = SparseRule::enumerated,
                    .rank_has_expert = true,
                    .experts_module = "language_model.model.layers.N.moe.experts",
                    .source = "vllm 0.33.0 models/step3_vl.py, step3_text.py FusedMoEBlock"},
};

}  // namespace

std::span<const ArchitectureRow> step_architectures() { return kRows; }

}  // namespace mx::engine
