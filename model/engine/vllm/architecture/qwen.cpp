// Qwen's model classes. Defaults: transformers 5.20.2 Qwen2MoeConfig, Qwen3MoeConfig, Qwen3VLMoeTextConfig, Qwen3NextConfig, Qwen3_5MoeTextConfig.

#include <array>

#include "model/engine/vllm/architecture/rows.hpp"

namespace mx::engine {
namespace {

using Names = std::string_view;

constexpr std::array<Names, 1> kQwen2 = {"Qwen2MoeForCausalLM"}, kQwen2Types = {"qwen2_moe"};
constexpr std::array<Names, 1> kQwen3 = {"Qwen3MoeForCausalLM"}, kQwen3Types = {"qwen3_moe"};
constexpr std::array<Names, 1> kVl = {"Qwen3VLMoeForConditionalGeneration"}, kVlTypes = {"qwen3_vl_moe"};
constexpr std::array<Names, 1> kNext = {"Qwen3NextForCausalLM"}, kNextTypes = {"qwen3_next"};
constexpr std::array<Names, 1> kQwen35 = {"Qwen3_5MoeForConditionalGeneration"}, kQwen35Types = {"qwen3_5_moe"};
constexpr std::array<Names, 1> kQwen35Text = {"Qwen3_5MoeForCausalLM"}, kQwen35TextTypes = {"qwen3_5_moe_text"};

constexpr ArchitectureRow kFields{.experts = usual("num_experts", 128, "num_local_experts"),
                                  .top_k = usual("num_experts_per_tok", 8),
                                  .intermediate = usual("moe_intermediate_size", 768),
                                  .hidden = usual("hidden_size", 2048),
                                  .layers = usual("num_hidden_layers", 24),
                                  .heads = usual("num_attention_heads", 32),
                                  .renormalize = {"norm_topk_prob", false},
                                  .rule = SparseRule::sparse_step,
                                  .step = usual("decoder_sparse_step", 1),
                                  .sequence_parallel = true,
                                  .rank_has_expert = true,
                                  .shared = "shared_expert_intermediate_size"};

constexpr std::array kRows = {
    changed(kFields,
            [](ArchitectureRow& row) {
              row.architectures = kQwen2;
              row.model_types = kQwen2Types;
              row.experts = usual("num_experts", 60);
              row.top_k = usual("num_experts_per_tok", 4);
              row.intermediate = usual("moe_intermediate_size", 1408);
              row.heads = usual("num_attention_heads", 16);
              row.sequence_parallel = false;
              row.shared = "*";
              row.source = "vllm 0.33.0 models/qwen2_moe.py Qwen2MoeSparseMoeBlock";
            }),
    changed(kFields,
            [](ArchitectureRow& row) {
              row.architectures = kQwen3;
              row.model_types = kQwen3Types;
              row.source = "vllm 0.33.0 models/qwen3_moe.py Qwen3MoeSparseMoeBlock";
            }),
    changed(kFields,
            [](ArchitectureRow& row) {
              row.architectures = kVl;
              row.model_types = kVlTypes;
              row.nested = true;
              row.experts = usual("num_experts", 60, "num_local_experts");
              row.top_k = usual("num_experts_per_tok", 4);
              row.intermediate = usual("moe_intermediate_size", 1408);
              row.heads = usual("num_attention_heads", 16);
              row.renormalize = {"norm_topk_prob", std::nullopt};
              row.experts_module = "language_model.model.layers.N.mlp.experts";
              row.source = "vllm 0.33.0 models/qwen3_vl_moe.py, qwen3_moe.py";
            }),
    changed(kFields,
            [](ArchitectureRow& row) {
              row.architectures = kNext;
              row.model_types = kNextTypes;
              row.experts = usual("num_experts", 512);
              row.top_k = usual("num_experts_per_tok", 10);
              row.intermediate = usual("moe_intermediate_size", 512);
              row.layers = usual("num_hidden_layers", 48);
              row.heads = usual("num_attention_heads", 16);
              row.renormalize = {"norm_topk_prob", true};
              row.shared = "*";
              row.source = "vllm 0.33.0 models/qwen3_next.py Qwen3NextSparseMoeBlock";
            }),
    changed(kFields,
            [](ArchitectureRow& row) {
              row.architectures = kQwen35;
              row.model_types = kQwen35Types;
              row.nested = true;
              row.experts = usual("num_experts", 256);
              row.intermediate = usual("moe_intermediate_size", 512);
              row.layers = usual("num_hidden_layers", 40);
              row.heads = usual("num_attention_heads", 16);
              row.renormalize = {"norm_topk_prob", true};
              row.rule = SparseRule::all;
              row.step = {};
              row.shared = "*";
              row.experts_module = "language_model.model.layers.N.mlp.experts";
              row.source = "vllm 0.33.0 models/qwen3_5.py, qwen3_next.py";
            }),
    changed(kFields,
            [](ArchitectureRow& row) {
              row.architectures = kQwen35Text;
              row.model_types = kQwen35TextTypes;
              row.versions = deployment::since(deployment::kVllm2026_08);
              row.experts = usual("num_experts", 256);
              row.intermediate = usual("moe_intermediate_size", 512);
              row.layers = usual("num_hidden_layers", 40);
              row.heads = usual("num_attention_heads", 16);
              row.renormalize = {"norm_topk_prob", true};
              row.rule = SparseRule::all;
              row.step = {};
              row.shared = "*";
              row.source = "vllm 0.33.0 models/qwen3_5.py, qwen3_next.py";
            }),
};

}  // namespace

std::span<const ArchitectureRow> qwen_architectures() { return kRows; }

}  // namespace mx::engine
