// Configurations of each architecture that say little: experts, routing and layers as the engine's classes make them of defaults, and the
// router by which tokens of verify go, which is the same one. Numbers: defaults of transformers 5.20.2, read by the classes of vllm 0.33.0.

#include <filesystem>
#include <fstream>
#include <string>

#include "checkpoint/checkpoint_files.hpp"
#include "checkpoint/router_facts.hpp"
#include "checkpoint/served_model.hpp"
#include "tests/catch.hpp"
#include "tests/json_text.hpp"
#include "tests/sim/verify/scratch.hpp"

namespace {

using mx::support::Json;

struct Row {
  const char* architecture;
  const char* type;
  const char* says;  ///< members of config.json beside those two
  int experts, top_k, intermediate;
  const char* routing;  ///< by 0.33.0
  const char* layers;   ///< that have experts
};

constexpr Row kRows[] = {
    {"GptOssForCausalLM", "gpt_oss", R"({})", 128, 4, 2880, "RenormalizeNaive", "0-35"},
    {"DeepseekV2ForCausalLM", "deepseek_v2",
     R"({"num_experts_per_tok": 6, "n_group": 8, "topk_group": 3, "moe_intermediate_size": 1536, "num_hidden_layers": 4})", 64, 6, 1536, "Default",
     "0-3"},
    {"DeepseekV3ForCausalLM", "deepseek_v3", R"({"scoring_func": "sigmoid", "topk_method": "noaux_tc"})", 256, 8, 2048, "DeepSeekV3", "3-60"},
    {"DeepseekV3ForCausalLM", "kimi_k2",
     R"({"n_routed_experts": 384, "n_group": 1, "topk_group": 1, "scoring_func": "sigmoid", "topk_method": "noaux_tc"})", 384, 8, 2048, "DeepSeekV3",
     "3-60"},
    {"GlmMoeDsaForCausalLM", "glm_moe_dsa", R"({"n_group": 1, "topk_group": 1, "scoring_func": "sigmoid", "topk_method": "noaux_tc"})", 256, 8, 2048,
     "DeepSeekV3", ""},
    {"DeepseekV4ForCausalLM", "deepseek_v4", R"({"num_hash_layers": 0})", 256, 6, 2048, "DeepseekV4", ""},
    {"Qwen2MoeForCausalLM", "qwen2_moe", R"({})", 60, 4, 1408, "Default", "0-23"},
    {"Qwen2MoeForCausalLM", "qwen2_moe", R"({"norm_topk_prob": true, "decoder_sparse_step": 2, "mlp_only_layers": [3]})", 60, 4, 1408,
     "RenormalizeNaive", "1,5-23/2"},
    {"Qwen3MoeForCausalLM", "qwen3_moe", R"({"n_routed_experts": 7})", 128, 8, 768, "Default", "0-23"},
    {"Qwen3NextForCausalLM", "qwen3_next", R"({})", 512, 10, 512, "RenormalizeNaive", "0-47"},
    {"Glm4MoeForCausalLM", "glm4_moe", R"({"scoring_func": "softmax"})", 128, 8, 1408, "DeepSeekV3", "1-45"},
    {"Glm4MoeLiteForCausalLM", "glm4_moe_lite", R"({})", 64, 4, 1536, "DeepSeekV3", "1-46"},
    {"MiniMaxM2ForCausalLM", "minimax_m2", R"({"scoring_func": "sigmoid", "use_routing_bias": true})", 256, 8, 1536, "MiniMax2", "0-61"},
    {"MixtralForCausalLM", "mixtral", R"({})", 8, 2, 14336, "RenormalizeNaive", "0-31"},
    {"GraniteMoeForCausalLM", "granitemoe", R"({})", 8, 2, 11008, "RenormalizeNaive", "0-31"},
    {"Llama4ForCausalLM", "llama4_text", R"({"num_experts_per_tok": 1})", 16, 1, 8192, "Llama4", "0-47"},
    {"Step3p5ForCausalLM", "step3p5",
     R"({"moe_layers_enum": "3,4,6", "num_hidden_layers": 8, "use_moe_router_bias": true, "need_fp32_gate": true, "norm_expert_weight": true})", 288,
     8, 1280, "MiniMax2", "3-4,6"},
    {"Ernie4_5_MoeForCausalLM", "ernie4_5_moe", R"({})", 64, 6, 1536, "Unspecified", "1-27"},
    {"HYV3ForCausalLM", "hy_v3", R"({"expert_hidden_dim": 1536, "route_norm": true, "first_k_dense_replace": 1, "num_hidden_layers": 4})", 192, 8,
     1536, "DeepSeekV3", "1-3"},
    {"PhimoeForCausalLM", "phimoe", R"({})", 16, 2, 6400, "Custom", "0-31"},
    {"JambaForCausalLM", "jamba", R"({})", 16, 2, 14336, "Default", "1-31/2"},
    {"Lfm2MoeForCausalLM", "lfm2_moe", R"({})", 32, 4, 1792, "DeepSeekV3", "2-31"},
    {"Lfm2MoeForCausalLM", "lfm2_moe", R"({"use_expert_bias": false})", 32, 4, 1792, "SigmoidRenorm", "2-31"},
    {"OlmoeForCausalLM", "olmoe", R"({"norm_topk_prob": true})", 64, 8, 2048, "Default", "0-15"},
    {"Mistral4ForCausalLM", "mistral4", R"({})", 128, 4, 2048, "RenormalizeNaive", "0-35"},
};

}  // namespace

TEST_CASE("architectures: experts, routing and layers follow from the class where a configuration says little") {
  const mx::tests::ScratchDirectory scratch;
  for (const Row& row : kRows) {
    INFO(row.architecture << " " << row.says);
    Json config = mx::tests::parsed(row.says);
    config["architectures"] = Json::array({row.architecture});
    config["model_type"] = row.type;
    std::ofstream(scratch.path() / "config.json") << config.dump();
    const mx::deployment::Engine engine = mx::deployment::kVllm2026_11;
    const mx::checkpoint::ServedModel model = mx::checkpoint::served_model(scratch.path(), {.platform = "SM100", .engine = engine});
    REQUIRE(model.kinds.size() == 1);
    const mx::deployment::LayerConfig& layer = model.kinds.front().deployment.layer;
    CHECK(layer.num_experts == row.experts);
    CHECK(layer.experts_per_token == row.top_k);
    CHECK(layer.intermediate_per_partition == row.intermediate);
    CHECK(layer.routing_method == row.routing);
    if (*row.layers != '\0') CHECK(mx::engine::numbers_text(model.kinds.front().layers) == row.layers);
    // Tokens of verify are routed by the same facts.
    const mx::checkpoint::CheckpointConfig read = mx::checkpoint::read_checkpoint_config(scratch.path(), engine);
    const mx::checkpoint::RouterFacts router = mx::checkpoint::router_facts(read, layer.has_correction_bias, layer.num_experts);
    CHECK(mx::checkpoint::routing_method(router, layer.experts_per_token, engine) == row.routing);
    CHECK((router.grouped ? router.groups : 0) == layer.expert_groups);
    CHECK((router.grouped ? router.topk_groups : 0) == layer.topk_group);
    CHECK((router.factor != 1) == layer.has_routed_scaling);
  }
}
