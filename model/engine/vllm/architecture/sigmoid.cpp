// Model classes that choose by sigmoid scores with a correction. Defaults: transformers 5.20.2 HYV3Config, Lfm2MoeConfig, ExaoneMoeConfig,
// MiMoV2FlashConfig, AfmoeConfig.

#include <array>

#include "model/engine/vllm/architecture/rows.hpp"

namespace mx::engine {
namespace {

using Names = std::string_view;
using deployment::ConfigValue;
using deployment::LayerConfig;

constexpr std::array<Names, 1> kHy = {"HYV3ForCausalLM"}, kHyTypes = {"hy_v3"};
constexpr std::array<Names, 1> kLfm = {"Lfm2MoeForCausalLM"}, kLfmTypes = {"lfm2_moe"};
constexpr std::array<Names, 2> kExaone = {"ExaoneMoEForCausalLM", "ExaoneMoeForCausalLM"};
constexpr std::array<Names, 1> kExaoneTypes = {"exaone_moe"};
constexpr std::array<Names, 2> kMimo = {"MiMoV2FlashForCausalLM", "MiMoV2ForCausalLM"};
constexpr std::array<Names, 2> kMimoTypes = {"mimo_v2_flash", "mimo_v2"};
constexpr std::array<Names, 1> kAfmoe = {"AfmoeForCausalLM"}, kAfmoeTypes = {"afmoe"};
constexpr std::array<Names, 3> kW = {"w1", "w3", "w2"};

/// Source: vllm 0.33.0 models/exaone_moe.py ExaoneMoeDecoderLayer.
void exaone_limit(const FieldReader& fields, int layer, LayerConfig& config, deployment::Engine) {
  const ConfigValue* const limits = fields.given("swiglu_limits");
  if (limits == nullptr) return;
  if (!limits->is(ConfigValue::Kind::list) || static_cast<std::size_t>(layer) >= limits->items.size())
    fields.fail(fields.called("swiglu_limits") + " has no entry for layer " + std::to_string(layer));
  const ConfigValue& limit = limits->items[static_cast<std::size_t>(layer)];
  if (!limit.is(ConfigValue::Kind::integer) && !limit.is(ConfigValue::Kind::number))
    fields.fail(fields.called("swiglu_limits") + " has " + limit.written() + " for layer " + std::to_string(layer) + ", must be a number");
  if (limit.number <= 0) return;
  deployment::ActivationConstants constants;
  constants.swiglu_limit = limit.number;
  config.constants = constants;
}

constexpr std::array kRows = {
    ArchitectureRow{.architectures = kHy,
                    .model_types = kHyTypes,
                    .experts = usual("num_experts", 192, "num_local_experts"),
                    .top_k = usual("num_experts_per_tok", 8),
                    .intermediate = must("expert_hidden_dim"),
                    .hidden = usual("hidden_size", 4096),
                    .layers = usual("num_hidden_layers", 80),
                    .heads = usual("num_attention_heads", 64),
                    .scoring = {"", "sigmoid"},
                    .renormalize = {"route_norm", std::nullopt},
                    .correction = Correction::always,
                    .groups = fixed(1),
                    .topk_groups = fixed(1),
                    .factor = {"router_scaling_factor", 2.826},
                    .rule = SparseRule::behind_dense,
                    .first = must("first_k_dense_replace"),
                    .rank_has_expert = true,
                    .shared = "num_shared_experts",
                    .source = "vllm 0.33.0 models/hy_v3.py HYV3MoEFused"},
    ArchitectureRow{.architectures = kLfm,
                    .model_types = kLfmTypes,
                    .experts = usual("num_experts", 32),
                    .top_k = usual("num_experts_per_tok", 4),
                    .intermediate = usual("moe_intermediate_size", 1792),
                    .hidden = usual("hidden_size", 2048),
                    .layers = usual("num_hidden_layers", 32),
                    .heads = usual("num_attention_heads", 32),
                    .scoring = {"", "sigmoid"},
                    .renormalize = {"norm_topk_prob", true},
                    .correction = Correction::by_flag,
                    .correction_flag = {"use_expert_bias", true},
                    .groups = fixed(1),
                    .topk_groups = fixed(1),
                    .factor = {"routed_scaling_factor", 1},
                    .rule = SparseRule::behind_dense,
                    .first = usual("num_dense_layers", 2),
                    .rank_has_expert = true,
                    .experts_module = "model.layers.N.feed_forward.experts",
                    .projections = kW,
                    .source = "vllm 0.33.0 models/lfm2_moe.py Lfm2MoeSparseMoeBlock"},
    ArchitectureRow{.architectures = kExaone,
                    .model_types = kExaoneTypes,
                    .experts = usual("num_experts", 64),
                    .top_k = usual("num_experts_per_tok", 8),
                    .intermediate = usual("moe_intermediate_size", 1024),
                    .hidden = usual("hidden_size", 4096),
                    .layers = usual("num_hidden_layers", 32),
                    .heads = usual("num_attention_heads", 32),
                    .scoring = {"", "sigmoid"},
                    .renormalize = {"norm_topk_prob", true},
                    .correction = Correction::always,
                    .groups = usual("n_group", 1),
                    .topk_groups = usual("topk_group", 1),
                    .factor = {"routed_scaling_factor", 2.5},
                    .rule = SparseRule::types,
                    .first = usual("first_k_dense_replace", 1),
                    .rank_has_expert = true,
                    .shared = "num_shared_experts",
                    .of_layer = exaone_limit,
                    .source = "vllm 0.33.0 models/exaone_moe.py ExaoneMoe"},
    ArchitectureRow{.architectures = kMimo,
                    .model_types = kMimoTypes,
                    .experts = usual("n_routed_experts", 256, "num_local_experts"),
                    .top_k = usual("num_experts_per_tok", 8),
                    .intermediate = usual("moe_intermediate_size", 2048),
                    .hidden = usual("hidden_size", 4096),
                    .layers = usual("num_hidden_layers", 48),
                    .heads = usual("num_attention_heads", 64),
                    .scoring = {"", "sigmoid"},
                    .renormalize = {"norm_topk_prob", true},
                    .correction = Correction::always,
                    .groups = usual("n_group", 1),
                    .topk_groups = usual("topk_group", 1),
                    .rule = SparseRule::frequency_list,
                    .silu_alone = "hidden_act",
                    .float_logits = true,
                    .sequence_parallel = true,
                    .rank_has_expert = true,
                    .source = "vllm 0.33.0 models/mimo_v2.py MiMoV2MoE"},
    ArchitectureRow{.architectures = kAfmoe,
                    .model_types = kAfmoeTypes,
                    .experts = usual("num_experts", 64),
                    .top_k = usual("num_experts_per_tok", 6),
                    .intermediate = usual("moe_intermediate_size", 1408),
                    .hidden = usual("hidden_size", 2048),
                    .layers = usual("num_hidden_layers", 32),
                    .heads = usual("num_attention_heads", 16),
                    .scoring = {"score_func", ""},
                    .renormalize = {"route_norm", std::nullopt},
                    .correction = Correction::always,
                    .groups = must("n_group"),
                    .topk_groups = must("topk_group"),
                    .factor = {"route_scale", 1},
                    .rule = SparseRule::behind_dense,
                    .first = usual("num_dense_layers", 1),
                    .silu_alone = "hidden_act",
                    .float_logits = true,
                    .shared = "num_shared_experts",
                    .source = "vllm 0.33.0 models/afmoe.py AfmoeMoE"},
};

}  // namespace

std::span<const ArchitectureRow> sigmoid_architectures() { return kRows; }

}  // namespace mx::engine
