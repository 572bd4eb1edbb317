// Routers of checkpoints: which way names and configuration stand for, and what of them is refused.

#include "sim/checkpoint/layer_router.hpp"

#include <optional>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/sim/checkpoint/draft.hpp"

namespace mx::test {
namespace {

constexpr std::int64_t kExperts = 4, kHidden = 8;

/// A BF16 tensor of ones behind a layer's prefix.
struct RouterTensor {
  std::string suffix;
  std::vector<std::int64_t> shape;
};
const RouterTensor kGate{".gate.weight", {kExperts, kHidden}};
const RouterTensor kCorrection{".gate.e_score_correction_bias", {kExperts}};

std::optional<sim::LayerRouter> router_of(const std::vector<RouterTensor>& tensors, const std::string& config) {
  Draft draft;
  draft.has_index = false;
  draft.config = config;
  draft.shards["model.safetensors"].push_back({"model.norm.weight", "BF16", {1}, {0x80, 0x3F}});
  for (const RouterTensor& tensor : tensors) {
    std::vector<std::uint8_t> ones;
    for (std::int64_t i = 0; i < tensor.shape.front() * (tensor.shape.size() > 1 ? tensor.shape[1] : 1); ++i) ones.insert(ones.end(), {0x80, 0x3F});
    draft.shards["model.safetensors"].push_back({"model.layers.0.mlp" + tensor.suffix, "BF16", tensor.shape, std::move(ones)});
  }
  const TemporaryDirectory directory;
  draft.write(directory.path());
  return sim::read_router(sim::open_checkpoint_files(directory.path()), sim::read_checkpoint_config(directory.path()), "model.layers.0.mlp", kExperts,
                          kHidden);
}

}  // namespace

// Source of the ways: transformers modeling_mixtral.py, modeling_qwen2_moe.py, modeling_deepseek_v2.py and _v3.py, modeling_minimax_m2.py,
// modeling_llama4.py; DeepSeek-V4 inference/model.py.
TEST_CASE("a router goes the way that names and configuration stand for") {
  struct Row {
    std::string id;
    std::vector<RouterTensor> tensors;
    std::string config;
    std::string recipe;
  };
  const std::vector<Row> rows{
      {"mixtral", {kGate}, R"({"model_type": "mixtral"})", "softmax-topk-norm"},
      {"qwen2_moe", {kGate}, R"({"norm_topk_prob": false})", "softmax-topk"},
      {"deepseek_v2", {kGate}, R"({"scoring_func": "softmax", "n_group": 2, "topk_group": 1})", "deepseek-v2-grouped-vllm"},
      {"deepseek_v3", {kGate, kCorrection}, R"({"scoring_func": "sigmoid", "n_group": 2, "topk_group": 1})", "deepseek-v3-vllm"},
      {"minimax_m2", {kGate, {".e_score_correction_bias", {kExperts}}}, R"({"scoring_func": "sigmoid"})", "minimax-m2"},
      {"deepseek_v4", {kGate, {".gate.bias", {kExperts}}}, R"({"scoring_func": "sqrtsoftplus"})", "deepseek-v4"},
      {"llama4", {{".router.weight", {kExperts, kHidden}}}, R"({"text_config": {"model_type": "x"}, "model_type": "llama4"})", "llama4"},
  };
  for (const Row& row : rows) {
    INFO(row.id);
    const std::optional<sim::LayerRouter> router = router_of(row.tensors, row.config);
    REQUIRE(router);
    CHECK(router->recipe == &moe::router_named(row.recipe));
    CHECK(router->correction.empty() == (row.tensors.size() == 1));
    CHECK(router->weight == std::vector<std::uint32_t>(kExperts * kHidden, 0x3F800000U));
  }
  CHECK_FALSE(router_of({}, "{}"));
  const std::optional<sim::LayerRouter> scaled = router_of({kGate}, R"({"routed_scaling_factor": 2.5, "n_group": null})");
  REQUIRE(scaled);
  CHECK(scaled->factor == 0x40200000U);
  CHECK(scaled->groups == 1);
}

TEST_CASE("a router that the configuration contradicts is refused with the value and the rule") {
  struct Row {
    RouterTensor tensor;
    std::string config;
    std::vector<std::string> parts;
  };
  const std::vector<Row> rows{
      {kGate, R"({"n_group": "two"})", {"config.json", "n_group is 'two'", "expected a number"}},
      {kGate, R"({"n_group": 1e300})", {"config.json", "n_group is 1e+300", "whole number from 1 to 4"}},
      {kGate, R"({"n_group": 1.5})", {"n_group is 1.5", "whole number from 1 to 4"}},
      {kGate, R"({"n_group": 3})", {"n_group is 3", "does not divide the 4 experts"}},
      {kGate, R"({"n_group": 2, "topk_group": 3})", {"topk_group is 3", "whole number from 1 to 2"}},
      {kGate, R"({"routed_scaling_factor": "2.5x"})", {"routed_scaling_factor is '2.5x'", "expected a number"}},
      {{".gate.weight", {kHidden, kExperts}}, "{}", {"model.layers.0.mlp.gate.weight", "shape is [8, 4], expected [4, 8]"}},
  };
  for (const Row& row : rows) {
    INFO(row.config);
    CHECK(input_error_defect(error_of([&] { static_cast<void>(router_of({row.tensor}, row.config)); }), row.parts) == "");
  }
  const std::optional<Error> unknown = error_of([] { static_cast<void>(router_of({kGate}, R"({"scoring_func": "entmax"})")); });
  REQUIRE(unknown);
  CHECK(unknown->code() == ErrorCode::unsupported);
  CHECK(std::string(unknown->what()).find("a router of 'entmax' scores") != std::string::npos);
}

}  // namespace mx::test
