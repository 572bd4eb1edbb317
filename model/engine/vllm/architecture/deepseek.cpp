// DeepSeek's model classes and those that are made of them. Defaults: transformers 5.20.2 DeepseekV2Config, DeepseekV3Config, DeepseekV4Config,
// GlmMoeDsaConfig; vllm transformers_utils/configs/mistral.py adapt_config_dict.

#include <algorithm>
#include <array>

#include "model/engine/vllm/architecture/rows.hpp"

namespace mx::engine {
namespace {

using Names = std::string_view;
using deployment::LayerConfig;

constexpr std::array<Names, 1> kV2 = {"DeepseekV2ForCausalLM"}, kV2Types = {"deepseek_v2"};
constexpr std::array<Names, 1> kV3 = {"DeepseekV3ForCausalLM"};
constexpr std::array<Names, 3> kV3Types = {"deepseek_v3", "kimi_k2", "deepseek_v32"};
constexpr std::array<Names, 1> kV32 = {"DeepseekV32ForCausalLM"};
constexpr std::array<Names, 2> kV32Types = {"deepseek_v32", "deepseek_v3"};
constexpr std::array<Names, 1> kGlm = {"GlmMoeDsaForCausalLM"}, kGlmTypes = {"glm_moe_dsa"};
constexpr std::array<Names, 1> kV4 = {"DeepseekV4ForCausalLM"}, kV4Types = {"deepseek_v4"};
constexpr std::array<Names, 1> kK25 = {"KimiK25ForConditionalGeneration"}, kK25Types = {"kimi_k25"};
constexpr std::array<Names, 1> kLarge3 = {"MistralLarge3ForCausalLM"}, kLarge3Types = {"mistral_large_3"};
constexpr std::array<Names, 3> kW = {"w1", "w3", "w2"};

/// Source: vllm deepseek_v2.py _get_moe_router_dtype.
void router_dtype(const FieldReader& fields, int, LayerConfig& config, deployment::Engine) {
  const std::string dtype = fields.word({"moe_router_dtype", "none"});
  if (dtype == "float32") config.router_logits_dtype = "float32";
}

bool hashes(const FieldReader& fields, int layer) {
  if (const std::vector<std::string> types = fields.words("mlp_layer_types"); !types.empty()) return layer < std::ranges::count(types, "hash_moe");
  return layer < fields.size(usual("num_hash_layers", 3), 0, 1 << 20);
}

/// Source: vllm models/deepseek_v4/nvidia/model.py DeepseekV4MoE; the word hash_routing came with 0.33.0.
void hash_layers(const FieldReader& fields, int layer, LayerConfig& config, deployment::Engine engine) {
  const double limit = fields.number({"swiglu_limit", 10});
  deployment::ActivationConstants constants;
  constants.swiglu_limit = limit;
  config.constants = constants;
  if (!hashes(fields, layer)) return;
  config.has_correction_bias = false;
  config.has_hash_routing = deployment::since(deployment::kVllm2026_11).has(engine);
}

/// What DeepSeek-V3's own class fills in.
constexpr ArchitectureRow kV3Fields{.experts = usual("n_routed_experts", 256, "num_local_experts"),
                                    .top_k = usual("num_experts_per_tok", 8),
                                    .intermediate = usual("moe_intermediate_size", 2048),
                                    .hidden = usual("hidden_size", 7168),
                                    .layers = usual("num_hidden_layers", 61),
                                    .heads = usual("num_attention_heads", 128),
                                    .scoring = {"scoring_func", "softmax"},
                                    .renormalize = {"norm_topk_prob", true},
                                    .correction = Correction::by_method,
                                    .groups = usual("n_group", 8),
                                    .topk_groups = usual("topk_group", 4),
                                    .factor = {"routed_scaling_factor", 2.5},
                                    .rule = SparseRule::behind_dense,
                                    .first = usual("first_k_dense_replace", 3),
                                    .step = usual("moe_layer_freq", 1),
                                    .silu_alone = "hidden_act",
                                    .sequence_parallel = true,
                                    .shared = "n_shared_experts",
                                    .of_layer = router_dtype,
                                    .source = "vllm 0.33.0 models/deepseek_v2.py DeepseekV2MoE"};

constexpr std::array kRows = {
    changed(kV3Fields,
            [](ArchitectureRow& row) {
              row.architectures = kV2;
              row.model_types = kV2Types;
              row.experts = usual("n_routed_experts", 64, "num_experts");
              row.top_k = must("num_experts_per_tok");
              row.intermediate = usual("moe_intermediate_size", 1407);
              row.hidden = usual("hidden_size", 4096);
              row.layers = usual("num_hidden_layers", 32);
              row.heads = usual("num_attention_heads", 32);
              row.renormalize = {"norm_topk_prob", false};
              row.groups = must("n_group");
              row.topk_groups = must("topk_group");
              row.factor = {"routed_scaling_factor", 1};
              row.first = usual("first_k_dense_replace", 0);
            }),
    changed(kV3Fields,
            [](ArchitectureRow& row) {
              row.architectures = kV3;
              row.model_types = kV3Types;
            }),
    changed(kV3Fields,
            [](ArchitectureRow& row) {
              row.architectures = kK25;
              row.model_types = kK25Types;
              row.nested = true;
              row.experts_module = "language_model.model.layers.N.mlp.experts";
              row.source = "vllm 0.33.0 models/kimi_k25.py, deepseek_v2.py DeepseekV2MoE";
            }),
    changed(kV3Fields,
            [](ArchitectureRow& row) {
              row.architectures = kV32;
              row.model_types = kV32Types;
              row.skips_reduce = true;
              row.source = "vllm 0.33.0 vllm/models/deepseek_v32";
            }),
    changed(kV3Fields,
            [](ArchitectureRow& row) {
              row.architectures = kGlm;
              row.model_types = kGlmTypes;
              row.hidden = usual("hidden_size", 6144);
              row.layers = usual("num_hidden_layers", 78);
              row.heads = usual("num_attention_heads", 64);
              row.groups = usual("n_group", 1);
              row.topk_groups = usual("topk_group", 1);
              row.float_logits = true;
              row.skips_reduce = true;
              row.of_layer = nullptr;
              row.source = "vllm 0.33.0 vllm/models/deepseek_v32, deepseek_v2.py _get_moe_router_dtype";
            }),
    changed(kV3Fields,
            [](ArchitectureRow& row) {
              row.architectures = kV4;
              row.model_types = kV4Types;
              row.top_k = usual("num_experts_per_tok", 6);
              row.hidden = usual("hidden_size", 4096);
              row.layers = usual("num_hidden_layers", 43);
              row.heads = usual("num_attention_heads", 64);
              row.scoring = {"scoring_func", "sqrtsoftplus"};
              row.groups = {};
              row.topk_groups = {};
              row.factor = {"routed_scaling_factor", 1.5};
              row.rule = SparseRule::all;
              row.first = {};
              row.step = {};
              row.silu_alone = {};
              row.float_logits = true;
              row.of_layer = hash_layers;
              row.experts_module = "layers.N.ffn.experts";
              row.projections = kW;
              row.source = "vllm 0.33.0 vllm/models/deepseek_v4/nvidia/model.py DeepseekV4MoE";
            }),
    changed(kV3Fields,
            [](ArchitectureRow& row) {
              row.architectures = kLarge3;
              row.model_types = kLarge3Types;
              row.experts = must("moe.num_experts");
              row.top_k = must("moe.num_experts_per_tok");
              row.intermediate = must("moe.expert_hidden_dim");
              row.hidden = must("dim");
              row.layers = must("n_layers");
              row.heads = must("n_heads");
              row.scoring = {"", "softmax"};
              row.renormalize = {"", true};
              row.correction = Correction::never;
              row.groups = must("moe.num_expert_groups");
              row.topk_groups = must("moe.num_expert_groups_per_tok");
              row.factor = {"moe.routed_scale", 1};
              row.first = must("moe.first_k_dense_replace");
              row.step = usual("moe.route_every_n", 1);
              row.silu_alone = "activation";
              row.shared = "moe.num_shared_experts";
              row.of_layer = nullptr;
              row.projections = kW;
              row.source = "vllm 0.33.0 transformers_utils/configs/mistral.py, models/mistral_large_3.py (read)";
            }),
};

}  // namespace

std::span<const ArchitectureRow> deepseek_architectures() { return kRows; }

}  // namespace mx::engine
