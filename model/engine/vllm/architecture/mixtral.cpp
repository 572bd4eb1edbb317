// Model classes whose experts route by softmax alone, or by a function of their own. Defaults: transformers 5.20.2 MixtralConfig, GraniteMoeConfig,
// PhimoeConfig, JambaConfig, OlmoeConfig, DbrxConfig, Gemma4TextConfig, Mistral4Config, HunYuanMoEV1Config, Ernie4_5_MoeConfig.

#include <algorithm>
#include <array>

#include "model/engine/vllm/architecture/rows.hpp"

namespace mx::engine {
namespace {

using Names = std::string_view;
using deployment::ConfigValue;
using deployment::LayerConfig;

constexpr std::array<Names, 1> kMixtral = {"MixtralForCausalLM"}, kMixtralTypes = {"mixtral"};
constexpr std::array<Names, 1> kGranite = {"GraniteMoeForCausalLM"}, kGraniteTypes = {"granitemoe"};
constexpr std::array<Names, 2> kPhi = {"PhiMoEForCausalLM", "PhimoeForCausalLM"};
constexpr std::array<Names, 1> kPhiTypes = {"phimoe"};
constexpr std::array<Names, 1> kJamba = {"JambaForCausalLM"}, kJambaTypes = {"jamba"};
constexpr std::array<Names, 1> kOlmoe = {"OlmoeForCausalLM"}, kOlmoeTypes = {"olmoe"};
constexpr std::array<Names, 1> kDbrx = {"DbrxForCausalLM"}, kDbrxTypes = {"dbrx"};
constexpr std::array<Names, 1> kGemma = {"Gemma4ForConditionalGeneration"}, kGemmaTypes = {"gemma4"};
constexpr std::array<Names, 1> kGemmaText = {"Gemma4ForCausalLM"}, kGemmaTextTypes = {"gemma4_text"};
constexpr std::array<Names, 1> kMistral4 = {"Mistral4ForCausalLM"}, kMistral4Types = {"mistral4"};
constexpr std::array<Names, 1> kHunYuan = {"HunYuanMoEV1ForCausalLM"}, kHunYuanTypes = {"hunyuan_v1_moe"};
constexpr std::array<Names, 1> kErnie = {"Ernie4_5_MoeForCausalLM"}, kErnieTypes = {"ernie4_5_moe"};
constexpr std::array<Names, 3> kW = {"w1", "w3", "w2"};

/// A number, or a list with one for each layer.
std::int64_t of_this_layer(const FieldReader& fields, Names name, int layer, std::int64_t fallback, std::int64_t most) {
  const ConfigValue* const value = fields.given(name);
  if (value == nullptr) return fallback;
  if (!value->is(ConfigValue::Kind::list)) return fields.size(must(name), 1, most);
  const std::vector<std::int64_t> numbers = fields.integers(name);
  if (static_cast<std::size_t>(layer) >= numbers.size())
    fields.fail(fields.called(name) + " has " + std::to_string(numbers.size()) + " entries, none for layer " + std::to_string(layer));
  const std::int64_t number = numbers[static_cast<std::size_t>(layer)];
  if (number < 1 || number > most) fields.fail(fields.called(name) + " is " + std::to_string(number) + " for layer " + std::to_string(layer));
  return number;
}

/// Source: vllm 0.33.0 transformers/moe.py, CONFIG_FIELD_ALIASES, maybe_per_layer.
void hunyuan_layer(const FieldReader& fields, int layer, LayerConfig& config, deployment::Engine) {
  constexpr std::int64_t kMost = 1 << 20;
  config.experts_per_token = of_this_layer(fields, "moe_topk", layer, config.experts_per_token, config.num_experts);
  config.intermediate_per_partition = of_this_layer(fields, "moe_intermediate_size", layer, config.intermediate_per_partition, kMost);
}

constexpr ArchitectureRow kMixtralFields{.architectures = kMixtral,
                                         .model_types = kMixtralTypes,
                                         .experts = usual("num_local_experts", 8, "num_experts"),
                                         .top_k = usual("num_experts_per_tok", 2),
                                         .intermediate = usual("intermediate_size", 14336),
                                         .hidden = usual("hidden_size", 4096),
                                         .layers = usual("num_hidden_layers", 32),
                                         .heads = usual("num_attention_heads", 32),
                                         .experts_module = "model.layers.N.block_sparse_moe.experts",
                                         .projections = kW,
                                         .source = "vllm 0.33.0 models/mixtral.py MixtralMoE"};

constexpr ArchitectureRow kGemmaFields{.experts = {.names = {"num_experts"}, .fallback = 0, .has_fallback = true, .null_is_fallback = true},
                                       .top_k = must("top_k_experts"),
                                       .intermediate = must("moe_intermediate_size", "expert_intermediate_size"),
                                       .hidden = usual("hidden_size", 2304),
                                       .layers = usual("num_hidden_layers", 30),
                                       .heads = usual("num_attention_heads", 8),
                                       .none_is_dense = true,
                                       .routing = "Custom",
                                       .activation = "GELU_TANH",
                                       .source = "vllm 0.33.0 models/gemma4.py Gemma4DecoderLayer"};

constexpr std::array kRows = {
    kMixtralFields,
    changed(kMixtralFields,
            [](ArchitectureRow& row) {
              row.architectures = kGranite;
              row.model_types = kGraniteTypes;
              row.experts = usual("num_local_experts", 8);
              row.intermediate = usual("intermediate_size", 11008);
              row.sequence_parallel = true;
              row.projections = {};
              row.source = "vllm 0.33.0 models/granitemoe.py GraniteMoeMoE";
            }),
    changed(kMixtralFields,
            [](ArchitectureRow& row) {
              row.architectures = kPhi;
              row.model_types = kPhiTypes;
              row.experts = usual("num_local_experts", 16);
              row.intermediate = usual("intermediate_size", 6400);
              row.routing = "Custom";
              row.source = "vllm 0.33.0 models/phimoe.py PhiMoE";
            }),
    changed(kMixtralFields,
            [](ArchitectureRow& row) {
              row.architectures = kJamba;
              row.model_types = kJambaTypes;
              row.experts = usual("num_experts", 16, "num_local_experts");
              row.renormalize = {"", false};
              row.rule = SparseRule::offset;
              row.first = usual("expert_layer_offset", 1);
              row.step = usual("expert_layer_period", 2);
              row.experts_module = "model.layers.N.feed_forward.experts";
              row.projections = {};
              row.source = "vllm 0.33.0 models/jamba.py JambaMoE";
            }),
    changed(kMixtralFields,
            [](ArchitectureRow& row) {
              row.architectures = kOlmoe;
              row.model_types = kOlmoeTypes;
              row.experts = usual("num_experts", 64, "num_local_experts");
              row.top_k = usual("num_experts_per_tok", 8);
              row.intermediate = usual("intermediate_size", 2048);
              row.hidden = usual("hidden_size", 2048);
              row.layers = usual("num_hidden_layers", 16);
              row.heads = usual("num_attention_heads", 16);
              row.renormalize = {"", false};
              row.experts_module = "model.layers.N.mlp.experts";
              row.projections = {};
              row.source = "vllm 0.33.0 models/olmoe.py OlmoeMoE";
            }),
    changed(kMixtralFields,
            [](ArchitectureRow& row) {
              row.architectures = kDbrx;
              row.model_types = kDbrxTypes;
              row.experts = usual("ffn_config.moe_num_experts", 4);
              row.top_k = usual("ffn_config.moe_top_k", 1);
              row.intermediate = usual("ffn_config.ffn_hidden_size", 3584);
              row.hidden = usual("d_model", 2048, "hidden_size");
              row.layers = usual("n_layers", 24, "num_hidden_layers");
              row.heads = usual("n_heads", 16, "num_attention_heads");
              row.experts_module = "transformer.blocks.N.ffn.experts";
              row.source = "vllm 0.33.0 models/dbrx.py DbrxMoE";
            }),
    changed(kGemmaFields,
            [](ArchitectureRow& row) {
              row.architectures = kGemma;
              row.model_types = kGemmaTypes;
              row.nested = true;
              row.experts_module = "language_model.model.layers.N.experts";
            }),
    changed(kGemmaFields,
            [](ArchitectureRow& row) {
              row.architectures = kGemmaText;
              row.model_types = kGemmaTextTypes;
              row.experts_module = "model.layers.N.experts";
            }),
    changed(kMixtralFields,
            [](ArchitectureRow& row) {
              row.architectures = kMistral4;
              row.model_types = kMistral4Types;
              row.versions = deployment::since(deployment::kVllm2026_08);
              row.experts = usual("n_routed_experts", 128, "num_local_experts");
              row.top_k = usual("num_experts_per_tok", 4);
              row.intermediate = usual("moe_intermediate_size", 2048);
              row.layers = usual("num_hidden_layers", 36);
              row.rule = SparseRule::behind_dense;
              row.first = usual("first_k_dense_replace", 0);
              row.sequence_parallel = true;
              row.shared = "n_shared_experts";
              row.experts_module = "model.layers.N.mlp.experts";
              row.projections = {};
              row.source = "vllm 0.33.0 models/transformers/moe.py, by the backend of transformers";
            }),
    changed(kMixtralFields,
            [](ArchitectureRow& row) {
              row.architectures = kHunYuan;
              row.model_types = kHunYuanTypes;
              row.versions = deployment::since(deployment::kVllm2026_08);
              row.experts = usual("num_experts", 1, "num_local_experts");
              row.top_k = fixed(1);
              row.intermediate = usual("intermediate_size", 11008);
              row.routing = "Custom";
              row.of_layer = hunyuan_layer;
              row.experts_module = "model.layers.N.mlp.experts";
              row.projections = {};
              row.source = "vllm 0.33.0 models/transformers/moe.py, by the backend of transformers";
            }),
    changed(kMixtralFields,
            [](ArchitectureRow& row) {
              row.architectures = kErnie;
              row.model_types = kErnieTypes;
              row.experts = usual("moe_num_experts", 64, "num_experts");
              row.top_k = usual("moe_k", 6, "num_experts_per_tok");
              row.intermediate = usual("moe_intermediate_size", 1536);
              row.hidden = usual("hidden_size", 2560);
              row.layers = usual("num_hidden_layers", 28);
              row.heads = usual("num_attention_heads", 20);
              row.correction = Correction::always;
              row.rule = SparseRule::span;
              row.first = usual("moe_layer_start_index", 1);
              row.last = usual("moe_layer_end_index", -1);
              row.step = usual("moe_layer_interval", 1);
              row.float_logits = true;
              row.rank_has_expert = true;
              row.shared = "moe_num_shared_experts";
              row.experts_module = "model.layers.N.mlp.experts";
              row.projections = {};
              row.source = "vllm 0.33.0 models/ernie45_moe.py Ernie4_5_MoeMoE";
            }),
};

}  // namespace

std::span<const ArchitectureRow> mixtral_architectures() { return kRows; }

}  // namespace mx::engine
