// Routers of checkpoints: which way names and configuration stand for, and what of them is refused.

#include "checkpoint/layer_router.hpp"

#include <optional>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/checkpoint/draft.hpp"

namespace mx::tests {
namespace {

constexpr std::int64_t kExperts = 4, kHidden = 8;

/// A tensor behind a layer's prefix, by default of BF16 ones.
struct RouterTensor {
  std::string suffix;
  std::vector<std::int64_t> shape;
  std::string dtype = "BF16";
  std::vector<std::uint8_t> bytes = {};
};
const RouterTensor kGate{".gate.weight", {kExperts, kHidden}};
const RouterTensor kCorrection{".gate.e_score_correction_bias", {kExperts}};

std::vector<std::uint8_t> bytes_of(const RouterTensor& tensor) {
  if (!tensor.bytes.empty()) return tensor.bytes;
  std::vector<std::uint8_t> ones;
  for (std::int64_t i = 0; i < tensor.shape.front() * (tensor.shape.size() > 1 ? tensor.shape[1] : 1); ++i) ones.insert(ones.end(), {0x80, 0x3F});
  return ones;
}

std::optional<checkpoint::LayerRouter> router_of(const std::vector<RouterTensor>& tensors, const std::string& config) {
  Draft draft;
  draft.has_index = false;
  draft.config = config;
  draft.shards["model.safetensors"].push_back({"model.norm.weight", "BF16", {1}, {0x80, 0x3F}});
  for (const RouterTensor& tensor : tensors)
    draft.shards["model.safetensors"].push_back({"model.layers.0.mlp" + tensor.suffix, tensor.dtype, tensor.shape, bytes_of(tensor)});
  const TemporaryDirectory directory;
  draft.write(directory.path());
  return checkpoint::read_router(checkpoint::open_checkpoint_files(directory.path()), checkpoint::read_checkpoint_config(directory.path()),
                                 "model.layers.0.mlp", kExperts, kHidden);
}

}  // namespace

// Source: the model files of vllm at 7ca49fbe4 that the rows name, the arguments of FusedMoEFactory; the methods by fused_moe/config.py
// get_routing_method_type there (those of May by the function of 7e1b45a09); router/custom_routing_router.py.
TEST_CASE("a router goes the way that names and configuration stand for") {
  struct Row {
    std::string id;
    std::vector<RouterTensor> tensors;
    std::string config;
    std::string recipe;  ///< empty: no row of the table
    std::string method;
    std::string method_of_may = {};  ///< empty: the same
  };
  const RouterTensor kRouter{".router.weight", {kExperts, kHidden}};
  const std::vector<Row> rows{
      {"mixtral", {kGate}, R"({"model_type": "mixtral"})", "softmax-topk-norm", "RenormalizeNaive"},
      {"qwen2_moe", {kGate}, R"({"norm_topk_prob": false})", "softmax-topk", "Default"},
      {"olmoe", {kGate}, R"({"model_type": "olmoe", "norm_topk_prob": true})", "softmax-topk", "Default"},
      {"jamba", {kRouter}, R"({"model_type": "jamba"})", "softmax-topk", "Default"},
      {"granite", {{".router.layer.weight", {kExperts, kHidden}}}, R"({"model_type": "granitemoe"})", "softmax-topk-norm", "RenormalizeNaive"},
      {"hunyuan", {{".gate.wg.weight", {kExperts, kHidden}}}, R"({"model_type": "hunyuan_v1_moe"})", "softmax-topk-norm", "RenormalizeNaive"},
      {"deepseek_v2 of one group",
       {kGate},
       R"({"model_type": "deepseek_v2", "topk_method": "greedy", "n_group": 1, "topk_group": 1, "norm_topk_prob": false})",
       "deepseek-v2-greedy",
       "Default"},
      {"deepseek_v2",
       {kGate},
       R"({"model_type": "deepseek_v2", "n_group": 2, "topk_group": 1, "norm_topk_prob": false})",
       "deepseek-v2-grouped-vllm",
       "Default"},
      {"deepseek_v2 normalized",
       {kGate},
       R"({"model_type": "deepseek_v2", "n_group": 2, "topk_group": 1, "norm_topk_prob": true})",
       "",
       "RenormalizeNaive"},
      {"deepseek_v3",
       {kGate, kCorrection},
       R"({"model_type": "deepseek_v3", "scoring_func": "sigmoid", "n_group": 2, "topk_group": 1, "norm_topk_prob": true, "routed_scaling_factor": 2.5})",
       "deepseek-v3-vllm",
       "DeepSeekV3"},
      {"kimi_k2: one group is a group",
       {kGate, kCorrection},
       R"({"model_type": "kimi_k2", "scoring_func": "sigmoid", "n_group": 1, "topk_group": 1, "norm_topk_prob": true, "routed_scaling_factor": 2.827})",
       "deepseek-v3-vllm",
       "DeepSeekV3"},
      {"glm4_moe", {kGate, kCorrection}, R"({"model_type": "glm4_moe", "norm_topk_prob": true})", "deepseek-v3-vllm", "DeepSeekV3"},
      {"nemotron_h",
       {kGate, kCorrection},
       R"({"model_type": "nemotron_h", "n_group": 1, "topk_group": 1, "norm_topk_prob": true})",
       "deepseek-v3-vllm",
       "DeepSeekV3"},
      {"kimi_linear",
       {kGate, kCorrection},
       R"({"moe_router_activation_func": "sigmoid", "num_expert_group": 1, "topk_group": 1, "use_grouped_topk": true, "moe_renormalize": true})",
       "deepseek-v3-vllm",
       "DeepSeekV3"},
      {"bailing_moe",
       {kGate, {".gate.expert_bias", {kExperts}}},
       R"({"score_function": "sigmoid", "n_group": 2, "topk_group": 1, "norm_topk_prob": true})",
       "deepseek-v3-vllm",
       "DeepSeekV3"},
      {"afmoe",
       {{".router.gate.weight", {kExperts, kHidden}}, {".expert_bias", {kExperts}}},
       R"({"model_type": "afmoe", "score_func": "sigmoid", "route_norm": true, "n_group": 1, "topk_group": 1, "route_scale": 2})",
       "deepseek-v3-vllm",
       "DeepSeekV3"},
      {"lfm2_moe", {kGate, {".expert_bias", {kExperts}}}, R"({"model_type": "lfm2_moe", "norm_topk_prob": true})", "deepseek-v3-vllm", "DeepSeekV3"},
      {"minimax_m2",
       {kGate, {".e_score_correction_bias", {kExperts}}},
       R"({"model_type": "minimax_m2", "scoring_func": "sigmoid"})",
       "minimax-m2",
       "MiniMax2"},
      {"step3p5",
       {kGate, {".router_bias", {kExperts}}},
       R"({"model_type": "step3p5", "norm_expert_weight": true, "moe_router_scaling_factor": 3})",
       "minimax-m2",
       "Unspecified",
       "MiniMax2"},
      {"laguna",
       {kGate, {".experts.e_score_correction_bias", {kExperts}}},
       R"({"model_type": "laguna", "norm_topk_prob": true})",
       "minimax-m2",
       "MiniMax2"},
      {"laguna, bounded",
       {kGate, {".experts.e_score_correction_bias", {kExperts}}},
       R"({"model_type": "laguna", "moe_router_logit_softcapping": 5.0})",
       "",
       "MiniMax2"},
      {"laguna, as they are",
       {kGate, {".experts.e_score_correction_bias", {kExperts}}},
       R"({"model_type": "laguna", "norm_topk_prob": false})",
       "",
       "Unspecified",
       "MiniMax2"},
      {"ernie4_5_moe", {kGate, {".moe_statics.e_score_correction_bias", {1, kExperts}}}, R"({"model_type": "ernie4_5_moe"})", "", "Unspecified"},
      {"longcat_flash",
       {{".router.classifier.weight", {kExperts + 2, kHidden}}},
       R"({"model_type": "longcat_flash", "zero_expert_num": 2})",
       "",
       "RenormalizeNaive"},
      {"phimoe", {kGate}, R"({"model_type": "phimoe"})", "", "Custom"},
      {"nemotron_h of latent experts",
       {{".gate.weight", {kExperts, 4 * kHidden}}, kCorrection},
       R"({"model_type": "nemotron_h", "moe_latent_size": 8, "n_group": 1, "norm_topk_prob": true})",
       "",
       "DeepSeekV3"},
      {"deepseek_v4",
       {kGate, {".gate.bias", {kExperts}}},
       R"({"scoring_func": "sqrtsoftplus", "norm_topk_prob": true})",
       "deepseek-v4",
       "DeepseekV4"},
      {"deepseek_v4 as it is", {kGate}, R"({"model_type": "deepseek_v4", "norm_topk_prob": false})", "", "Unspecified"},
      {"sigmoid alone", {kGate}, R"({"scoring_func": "sigmoid", "norm_topk_prob": false})", "sigmoid", "Sigmoid", "Unspecified"},
      {"sigmoid normalized", {kGate}, R"({"scoring_func": "sigmoid"})", "sigmoid-renorm", "SigmoidRenorm"},
      {"llama4", {kRouter}, R"({"text_config": {"model_type": "x"}, "model_type": "llama4"})", "llama4", "Llama4"},
      {"gpt_oss", {kRouter, {".router.bias", {kExperts}}}, R"({"model_type": "gpt_oss"})", "gpt-oss", "RenormalizeNaive"},
      {"gemma4",
       {{".router.proj.weight", {kExperts, kHidden}}, {".router.per_expert_scale", {kExperts}}, {".router.scale", {kHidden}}},
       R"({"text_config": {"model_type": "gemma4_text"}, "model_type": "gemma4"})",
       "softmax-topk-norm",
       "Custom"},
  };
  for (const Row& row : rows) {
    INFO(row.id);
    const std::optional<checkpoint::LayerRouter> router = router_of(row.tensors, row.config);
    REQUIRE(router);
    CHECK(router->is_known() == !row.recipe.empty());
    if (router->is_known()) {
      CHECK(router->facts.recipe == &moe::router_named(row.recipe));
      CHECK(router->weight == std::vector<std::uint32_t>(kExperts * kHidden, 0x3F800000U));
    }
    CHECK(router->text().starts_with("not known here") == row.recipe.empty());
    CHECK(checkpoint::routing_method(router->facts, 2, deployment::kVllm2026_08) == row.method);
    CHECK(checkpoint::routing_method(router->facts, 2, deployment::kVllm2026_05) == (row.method_of_may.empty() ? row.method : row.method_of_may));
  }
  CHECK_FALSE(router_of({}, "{}"));
  const std::optional<checkpoint::LayerRouter> scaled = router_of({kGate}, R"({"routed_scaling_factor": 2.5, "n_group": null})");
  REQUIRE(scaled);
  CHECK(scaled->facts.factor == 2.5);
  CHECK(scaled->facts.groups == 1);
  // Groups that do not divide the experts, or of one expert each, are none: grouped_topk_router.py valid_grouping.
  for (const std::string groups : {"3", "4", "8"}) {
    const std::optional<checkpoint::LayerRouter> plain =
        router_of({kGate}, R"({"model_type": "deepseek_v2", "topk_group": 2, "norm_topk_prob": true, "n_group": )" + groups + "}");
    CHECK(plain->facts.groups == 1);
    CHECK(plain->facts.topk_groups == 1);
  }
  CHECK_FALSE(scaled->facts.grouped);
  // Softmax of one token over one expert is 1 under every method: sigmoid of the engine of May was Llama4's.
  CHECK(checkpoint::routing_method(router_of({kGate}, R"({"scoring_func": "sigmoid"})")->facts, 1, deployment::kVllm2026_05) == "Llama4");
}

// Logits of a weight of zeros are 0 and all scores alike: of equal ones the lower expert comes first, by the table those of the token's id, in its
// order; normalized weights are 1/2, times 1.5.
TEST_CASE("layers of DeepSeek-V4 without a correction take the experts that a table gives the token's id") {
  const RouterTensor zeros{".gate.weight", {kExperts, kHidden}, "BF16", std::vector<std::uint8_t>(2 * kExperts * kHidden)};
  const std::string config = R"({"model_type": "deepseek_v4", "norm_topk_prob": true, "routed_scaling_factor": 1.5, "topk_method": "noaux_tc"})";
  constexpr std::uint32_t kWeight = 0x3F400000U;  // 0.75
  const std::vector<std::uint32_t> x(3 * kHidden, 0x3F80);
  const auto slots_of = [&](const std::vector<RouterTensor>& tensors) { return router_of(tensors, config)->route(x, kHidden, 2); };
  CHECK(slots_of({zeros}) == std::vector<std::vector<moe::Slot>>(3, {{0, kWeight}, {1, kWeight}}));
  const std::vector<std::vector<moe::Slot>> by_table{{{3, kWeight}, {1, kWeight}}, {{2, kWeight}, {0, kWeight}}, {{3, kWeight}, {1, kWeight}}};
  CHECK(slots_of({zeros, {".gate.tid2eid", {2, 2}, "I32", {3, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0}}}) == by_table);
  std::vector<std::uint8_t> wide;
  for (const int expert : {3, 1, 2, 0}) {
    wide.push_back(static_cast<std::uint8_t>(expert));
    wide.resize(wide.size() + 7);
  }
  const RouterTensor table{".gate.tid2eid", {2, 2}, "I64", wide};
  CHECK(slots_of({zeros, table}) == by_table);
  const std::optional<checkpoint::LayerRouter> router = router_of({zeros, table}, config);
  CHECK(router->text() == "deepseek-v4, experts by a table, token t with id t");
  CHECK(router->first(2, kExperts).text() == "deepseek-v4");
  CHECK_THROWS_AS(router->route(x, kHidden, 3), Error);
}

// By hand: logits are the bias where the weight is zero, and the two largest of 0, 2, -1, 2 are experts 1 and 3, alike.
TEST_CASE("a router's bias counts in its logits") {
  const std::vector<RouterTensor> tensors{{".router.weight", {kExperts, kHidden}, "BF16", std::vector<std::uint8_t>(2 * kExperts * kHidden)},
                                          {".router.bias", {kExperts}, "BF16", {0, 0, 0, 0x40, 0x80, 0xBF, 0, 0x40}}};
  const std::vector<std::vector<moe::Slot>> expected{{{1, 0x3F000000U}, {3, 0x3F000000U}}};
  CHECK(router_of(tensors, R"({"model_type": "gpt_oss"})")->route(std::vector<std::uint32_t>(kHidden, 0x3F80), kHidden, 2) == expected);
}

TEST_CASE("a router that the configuration contradicts is refused with the value and the rule") {
  struct Row {
    std::vector<RouterTensor> tensors;
    std::string config;
    std::vector<std::string> parts;
  };
  const RouterTensor table{".gate.tid2eid", {1, 2}, "I32", {0, 0, 0, 0, 4, 0, 0, 0}};
  const std::vector<Row> rows{
      {{kGate}, R"({"n_group": "two"})", {"config.json", "n_group is 'two'", "expected a number"}},
      {{kGate}, R"({"n_group": 1e300})", {"config.json", "n_group is 1e+300", "whole number from 1 to 65536"}},
      {{kGate}, R"({"n_group": 1.5})", {"n_group is 1.5", "whole number from 1 to 65536"}},
      {{kGate}, R"({"n_group": 2, "topk_group": 3})", {"topk_group is 3", "whole number from 1 to 2"}},
      {{kGate}, R"({"num_expert_group": 0.5})", {"num_expert_group is 0.5", "whole number from 1 to 65536"}},
      {{kGate}, R"({"routed_scaling_factor": "2.5x"})", {"routed_scaling_factor is '2.5x'", "expected a number"}},
      {{{".gate.weight", {kHidden, kExperts}}}, "{}", {"model.layers.0.mlp.gate.weight", "shape is [8, 4], expected [4, 8]"}},
      {{kGate, table}, R"({"model_type": "deepseek_v4"})", {"model.layers.0.mlp.gate.tid2eid", "gives id 0 an expert that is none of the 4"}},
      {{kGate, {".gate.tid2eid", {2}, "I32", std::vector<std::uint8_t>(8)}}, "{}", {"tid2eid", "shape is [2], expected [ids, top_k]"}},
      {{kGate, {".gate.tid2eid", {1, 2}}}, "{}", {"tid2eid", "dtype is BF16, expected I32 or I64"}},
  };
  for (const Row& row : rows) {
    INFO(row.config);
    CHECK(input_error_defect(error_of([&] { static_cast<void>(router_of(row.tensors, row.config)); }), row.parts) == "");
  }
  const std::optional<checkpoint::LayerRouter> unknown = router_of({kGate}, R"({"scoring_func": "entmax"})");
  REQUIRE(unknown);
  CHECK(unknown->text() == "not known here: entmax scores without a correction, no groups, weights normalized");
}

}  // namespace mx::tests
