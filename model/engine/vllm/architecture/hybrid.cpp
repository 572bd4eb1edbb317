// Model classes whose experts work on projections of the hidden states, or stand between other kinds of layers. Defaults: transformers 5.20.2
// NemotronHConfig; vllm 0.33.0 transformers_utils/configs/kimi_linear.py.

#include <algorithm>
#include <array>

#include "model/engine/vllm/architecture/rows.hpp"

namespace mx::engine {
namespace {

using Names = std::string_view;
using deployment::ConfigValue;
using deployment::LayerConfig;

constexpr std::array<Names, 2> kNemotron = {"NemotronHForCausalLM", "NemotronHPuzzleForCausalLM"};
constexpr std::array<Names, 1> kNemotronTypes = {"nemotron_h"};
constexpr std::array<Names, 1> kKimi = {"KimiLinearForCausalLM"}, kKimiTypes = {"kimi_linear"};
constexpr std::array<Names, 1> kK3 = {"KimiK3ForConditionalGeneration"}, kK3Types = {"kimi_k3"};
constexpr std::array<Names, 3> kUpDown = {"up_proj", "down_proj", ""};
constexpr std::array<Names, 3> kW = {"w1", "w3", "w2"};
constexpr std::int64_t kLargest = 1 << 20;

/// The name of an activation without a gate as the engine calls it. Source: vllm fused_moe/activation.py activation_without_mul.
struct WithoutGate {
  Names written;
  Names name;
};
constexpr std::array kWithoutGate = {WithoutGate{"relu2", "RELU2_NO_MUL"}, WithoutGate{"silu", "SILU_NO_MUL"}, WithoutGate{"gelu", "GELU_NO_MUL"},
                                     WithoutGate{"gelu_tanh", "GELU_TANH_NO_MUL"}};

void nemotron_layer(const FieldReader& fields, int, LayerConfig& config, deployment::Engine) {
  const std::string written = fields.word({"mlp_hidden_act", "relu2"});
  const auto* const row = std::ranges::find(kWithoutGate, written, &WithoutGate::written);
  if (row == kWithoutGate.end())
    fields.unsupported(fields.called("mlp_hidden_act") + " is '" + written + "', which the engine has no activation without a gate for");
  config.activation = row->name;
  if (fields.given("moe_latent_size") != nullptr) config.hidden = fields.size(must("moe_latent_size"), 1, kLargest);
}

void kimi_layer(const FieldReader& fields, int, LayerConfig& config, deployment::Engine) {
  if (fields.given("routed_expert_hidden_size") != nullptr) config.hidden = fields.size(must("routed_expert_hidden_size"), 1, kLargest);
  const std::string written = fields.word({"hidden_act", "silu"});
  if (written == "silu") return;
  if (written != "situ") fields.unsupported(fields.called("hidden_act") + " is '" + written + "', the engine's class takes silu and situ");
  config.activation = "SITU";
  deployment::ActivationConstants constants;
  if (fields.given("activation_situ_beta") != nullptr) constants.situ_beta = fields.number({"activation_situ_beta", 1});
  if (fields.given("activation_situ_linear_beta") != nullptr) constants.situ_linear_beta = fields.number({"activation_situ_linear_beta", 1});
  config.constants = constants;
}

constexpr ArchitectureRow kKimiFields{.architectures = kKimi,
                                      .model_types = kKimiTypes,
                                      .experts = {.names = {"num_experts"}, .fallback = 0, .has_fallback = true, .null_is_fallback = true},
                                      .top_k = must("num_experts_per_token"),
                                      .intermediate = must("moe_intermediate_size"),
                                      .hidden = usual("hidden_size", 4096),
                                      .layers = usual("num_hidden_layers", 32),
                                      .heads = usual("num_attention_heads", 32),
                                      .none_is_dense = true,
                                      .scoring = {"moe_router_activation_func", "sigmoid"},
                                      .renormalize = {"moe_renormalize", true},
                                      .correction = Correction::always,
                                      .groups = usual("num_expert_group", 1),
                                      .topk_groups = usual("topk_group", 1),
                                      .factor = {"routed_scaling_factor", 1},
                                      .rule = SparseRule::behind_dense,
                                      .first = usual("first_k_dense_replace", 0),
                                      .step = usual("moe_layer_freq", 1),
                                      .sequence_parallel = true,
                                      .share_is_padded_to = 256,
                                      .shared = "num_shared_experts",
                                      .of_layer = kimi_layer,
                                      .experts_module = "model.layers.N.block_sparse_moe.experts",
                                      .projections = kW,
                                      .source = "vllm 0.33.0 vllm/models/kimi_k3/nvidia/model.py KimiMoE (read)"};

constexpr std::array kRows = {
    ArchitectureRow{.architectures = kNemotron,
                    .model_types = kNemotronTypes,
                    .experts = usual("n_routed_experts", 8, "num_local_experts"),
                    .top_k = usual("num_experts_per_tok", 2),
                    .intermediate = usual("moe_intermediate_size", 7688),
                    .hidden = usual("hidden_size", 4096),
                    .layers = {.names = {"num_hidden_layers"}, .fallback = 0, .has_fallback = true, .null_is_fallback = true},
                    .heads = usual("num_attention_heads", 32),
                    .scoring = {"", "sigmoid"},
                    .renormalize = {"norm_topk_prob", true},
                    .correction = Correction::always,
                    .groups = usual("n_group", 1),
                    .topk_groups = usual("topk_group", 1),
                    .factor = {"routed_scaling_factor", 1},
                    .rule = SparseRule::pattern,
                    .gated = false,
                    .float_logits = true,
                    .sequence_parallel = true,
                    .shared = "n_shared_experts",
                    .of_layer = nemotron_layer,
                    .experts_module = "model.layers.N.mixer.experts",
                    .projections = kUpDown,
                    .source = "vllm 0.33.0 models/nemotron_h.py NemotronHMoE"},
    kKimiFields,
    changed(kKimiFields,
            [](ArchitectureRow& row) {
              row.architectures = kK3;
              row.model_types = kK3Types;
              row.versions = deployment::since(deployment::kVllm2026_08);
              row.nested = true;
              row.experts_module = "language_model.model.layers.N.block_sparse_moe.experts";
            }),
};

}  // namespace

std::span<const ArchitectureRow> hybrid_architectures() { return kRows; }

}  // namespace mx::engine
