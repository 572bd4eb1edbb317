// MiniMax's and Zhipu's model classes, gpt-oss and Llama-4: each has its routing in the class. Defaults: transformers 5.20.2 MiniMaxM2Config,
// Glm4MoeConfig, Glm4MoeLiteConfig, GptOssConfig, Llama4TextConfig; vllm 0.33.0 transformers_utils/configs/minimax_m3.py.

#include <array>

#include "model/engine/vllm/architecture/rows.hpp"

namespace mx::engine {
namespace {

using Names = std::string_view;
using deployment::LayerConfig;

constexpr std::array<Names, 1> kGptOss = {"GptOssForCausalLM"}, kGptOssTypes = {"gpt_oss"};
constexpr std::array<Names, 1> kM2 = {"MiniMaxM2ForCausalLM"}, kM2Types = {"minimax_m2"};
constexpr std::array<Names, 1> kM3 = {"MiniMaxM3SparseForCausalLM"}, kM3Types = {"minimax_m3_text"};
constexpr std::array<Names, 1> kM3Vl = {"MiniMaxM3SparseForConditionalGeneration"}, kM3VlTypes = {"minimax_m3_vl"};
constexpr std::array<Names, 1> kGlm = {"Glm4MoeForCausalLM"}, kGlmTypes = {"glm4_moe"};
constexpr std::array<Names, 1> kLite = {"Glm4MoeLiteForCausalLM"}, kLiteTypes = {"glm4_moe_lite"};
constexpr std::array<Names, 1> kLlama = {"Llama4ForConditionalGeneration"}, kLlamaTypes = {"llama4"};
constexpr std::array<Names, 1> kLlamaText = {"Llama4ForCausalLM"}, kLlamaTextTypes = {"llama4_text"};
constexpr std::array<Names, 3> kW = {"w1", "w3", "w2"};

void oai_constants(const FieldReader& fields, int, LayerConfig& config, deployment::Engine) {
  const double limit = fields.number({"swiglu_limit", 7}), alpha = fields.number({"swiglu_alpha", 1.702}), beta = fields.number({"swiglu_beta", 1});
  deployment::ActivationConstants constants;
  constants.swiglu_limit = limit;
  constants.swiglu_alpha = alpha;
  constants.swiglu_beta = beta;
  config.constants = constants;
}

constexpr ArchitectureRow kM3Fields{.versions = deployment::since(deployment::kVllm2026_08),
                                    .experts = usual("num_local_experts", 128),
                                    .top_k = usual("num_experts_per_tok", 4),
                                    .intermediate = usual("intermediate_size", 3072),
                                    .hidden = usual("hidden_size", 6144),
                                    .layers = usual("num_hidden_layers", 60),
                                    .heads = usual("num_attention_heads", 64),
                                    .scoring = {"scoring_func", "sigmoid"},
                                    .correction = Correction::by_flag,
                                    .correction_flag = {"use_routing_bias", true},
                                    .factor = {"routed_scaling_factor", 2},
                                    .rule = SparseRule::frequency_list,
                                    .first = fixed(3),
                                    .activation = "SWIGLUOAI_UNINTERLEAVE",
                                    .float_logits = true,
                                    .skips_reduce = true,
                                    .shared = "n_shared_experts",
                                    .of_layer = oai_constants,
                                    .experts_module = "model.layers.N.block_sparse_moe.experts",
                                    .projections = kW,
                                    .source = "vllm 0.33.0 vllm/models/minimax_m3/nvidia/model.py MiniMaxM3MoE"};

constexpr ArchitectureRow kGlmFields{.architectures = kGlm,
                                     .model_types = kGlmTypes,
                                     .experts = usual("n_routed_experts", 128, "num_local_experts"),
                                     .top_k = usual("num_experts_per_tok", 8),
                                     .intermediate = usual("moe_intermediate_size", 1408),
                                     .hidden = usual("hidden_size", 4096),
                                     .layers = usual("num_hidden_layers", 46),
                                     .heads = usual("num_attention_heads", 96),
                                     .scoring = {"", "sigmoid"},
                                     .renormalize = {"norm_topk_prob", true},
                                     .correction = Correction::always,
                                     .groups = usual("n_group", 1),
                                     .topk_groups = usual("topk_group", 1),
                                     .factor = {"routed_scaling_factor", 1},
                                     .rule = SparseRule::behind_dense,
                                     .first = usual("first_k_dense_replace", 1),
                                     .silu_alone = "hidden_act",
                                     .float_logits = true,
                                     .shared = "n_shared_experts",
                                     .source = "vllm 0.33.0 models/glm4_moe.py Glm4MoE"};

constexpr ArchitectureRow kLlamaFields{.experts = usual("num_local_experts", 16),
                                       .top_k = usual("num_experts_per_tok", 1),
                                       .intermediate = usual("intermediate_size", 8192),
                                       .hidden = usual("hidden_size", 5120),
                                       .layers = usual("num_hidden_layers", 48),
                                       .heads = usual("num_attention_heads", 40),
                                       .routing = "Llama4",
                                       .rule = SparseRule::interleaved,
                                       .step = usual("interleave_moe_layer_step", 1),
                                       .weight_on_input = true,
                                       .sequence_parallel = true,
                                       .shared = "*",
                                       .source = "vllm 0.33.0 models/llama4.py Llama4MoE"};

constexpr std::array kRows = {
    ArchitectureRow{.architectures = kGptOss,
                    .model_types = kGptOssTypes,
                    .experts = usual("num_local_experts", 128, "num_experts"),
                    .top_k = usual("num_experts_per_tok", 4),
                    .intermediate = usual("intermediate_size", 2880),
                    .hidden = usual("hidden_size", 2880),
                    .layers = usual("num_hidden_layers", 36),
                    .heads = usual("num_attention_heads", 64),
                    .activation = "SWIGLUOAI",
                    .bias = true,
                    .sequence_parallel = true,
                    .source = "vllm 0.33.0 models/gpt_oss.py MLPBlock"},
    ArchitectureRow{.architectures = kM2,
                    .model_types = kM2Types,
                    .experts = usual("num_local_experts", 256, "num_experts"),
                    .top_k = usual("num_experts_per_tok", 8),
                    .intermediate = usual("intermediate_size", 1536),
                    .hidden = usual("hidden_size", 3072),
                    .layers = usual("num_hidden_layers", 62),
                    .heads = usual("num_attention_heads", 48),
                    .scoring = {"scoring_func", ""},
                    .correction = Correction::by_flag,
                    .correction_flag = {"use_routing_bias", false},
                    .float_logits = true,
                    .rank_has_expert = true,
                    .experts_module = "model.layers.N.block_sparse_moe.experts",
                    .projections = kW,
                    .source = "vllm 0.33.0 models/minimax_m2.py MiniMaxM2MoE"},
    changed(kM3Fields,
            [](ArchitectureRow& row) {
              row.architectures = kM3;
              row.model_types = kM3Types;
            }),
    changed(kM3Fields,
            [](ArchitectureRow& row) {
              row.architectures = kM3Vl;
              row.model_types = kM3VlTypes;
              row.nested = true;
              row.experts_module = "language_model.model.layers.N.block_sparse_moe.experts";
            }),
    kGlmFields,
    changed(kGlmFields,
            [](ArchitectureRow& row) {
              row.architectures = kLite;
              row.model_types = kLiteTypes;
              row.experts = usual("n_routed_experts", 64, "num_local_experts");
              row.top_k = usual("num_experts_per_tok", 4);
              row.intermediate = usual("moe_intermediate_size", 1536);
              row.hidden = usual("hidden_size", 2048);
              row.layers = usual("num_hidden_layers", 47);
              row.heads = usual("num_attention_heads", 20);
              row.factor = {"routed_scaling_factor", 1.8};
              row.step = usual("moe_layer_freq", 1);
              row.source = "vllm 0.33.0 models/glm4_moe_lite.py";
            }),
    changed(kLlamaFields,
            [](ArchitectureRow& row) {
              row.architectures = kLlama;
              row.model_types = kLlamaTypes;
              row.nested = true;
              row.experts_module = "language_model.model.layers.N.feed_forward.experts";
            }),
    changed(kLlamaFields,
            [](ArchitectureRow& row) {
              row.architectures = kLlamaText;
              row.model_types = kLlamaTextTypes;
              row.experts_module = "model.layers.N.feed_forward.experts";
            }),
};

}  // namespace

std::span<const ArchitectureRow> minimax_architectures() { return kRows; }

}  // namespace mx::engine
