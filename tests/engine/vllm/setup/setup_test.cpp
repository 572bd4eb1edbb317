// What follows from a choice. Expected values are worked out by hand from the engine's tables, as the examples' choices are.

#include "model/engine/vllm/setup/setup.hpp"

#include <string>

#include "support/deployment_file.hpp"
#include "tests/catch.hpp"
#include "tests/engine/vllm/expect_error.hpp"

using namespace mx::deployment;
using namespace mx::engine;
using mx::tests::message_of;
using mx::tests::says;

namespace {

struct Chosen {
  Deployment deployment;
  const OracleTables* tables;
  Choice choice;
  Setup setup() const { return set_up(*tables, deployment, choice); }
};

Chosen chosen(const std::string& example) {
  const auto file = mx::support::load_deployment_file(std::string(MXACT_SOURCE_DIR) + "/docs/examples/" + example + ".info");
  const OracleTables& tables = tables_of(mx::deployment::kVllm2026_05, file.oracle);
  const Decision decision = select(tables, file.deployment);
  REQUIRE(decision.choice);
  return {file.deployment, &tables, *decision.choice};
}

template <typename Value>
const Value& value(const std::optional<Answer<Value>>& answer) {
  REQUIRE(answer);
  REQUIRE(std::holds_alternative<Value>(*answer));
  return std::get<Value>(*answer);
}

}  // namespace

TEST_CASE("a batched choice gets the exchange's step, its dispatchers and biased, unquantized operands") {
  const Setup setup = chosen("gpt-oss-b200-deepep").setup();
  CHECK(std::get<RoundedSizes>(setup.allocated).hidden == 3072);
  CHECK(std::get<RoundedSizes>(setup.allocated).intermediate == 2944);
  const QuantConfig& quant = value(setup.quant);
  CHECK(quant.a1.dtype.empty());
  CHECK(quant.w1.dtype == "mxfp4");
  CHECK(quant.w1.bias == "w1_bias");
  CHECK(quant.gemm1_alpha == 1.702);
  CHECK(quant.gemm1_clamp_limit == 7.0);
  const Assembly& kernel = value(setup.assembly);
  CHECK(kernel.prepare_class == "DeepEPLLPrepareAndFinalize");
  CHECK(kernel.format == ActivationFormat::batched_experts);
  CHECK(kernel.num_dispatchers == 8);
  CHECK_FALSE(kernel.inplace);
}

TEST_CASE("input scales and flags follow the keys") {
  const Setup tensor = chosen("mixtral-l40s-fp8").setup();
  CHECK(value(tensor.quant).a1.scale == "a1_scale");
  CHECK(value(tensor.quant).a1.shape == kPerTensor);
  const Setup token = chosen("llama4-maverick-h200-fp8").setup();
  CHECK(value(token.quant).a1.scale.empty());
  CHECK(value(token.quant).per_act_token_quant());
  CHECK(value(token.quant).per_out_ch_quant());
  const Setup block = chosen("deepseek-v3-mi300x").setup();
  CHECK(value(block.quant).block_shape() == GroupShape{128, 128});
  CHECK(value(block.quant).a1.dtype == "float8_e4m3fnuz");
}

TEST_CASE("a limit of the layer's own is not taken for the usual one") {
  Chosen one = chosen("gpt-oss-b200");
  one.deployment.layer.has_swiglu_limit = true;
  one.deployment.layer.has_swiglu_alpha = true;
  CHECK_FALSE(value(one.setup().quant).gemm1_clamp_limit.has_value());
  CHECK_FALSE(value(one.setup().quant).gemm1_alpha.has_value());
}

TEST_CASE("an exception ends what follows from it") {
  Chosen large = chosen("gpt-oss-b200-deepep");
  large.deployment.layer.hidden = 16384;
  const Setup setup = large.setup();
  REQUIRE(std::holds_alternative<Refusal>(setup.allocated));
  CHECK(std::get<Refusal>(setup.allocated).error_type == "ValueError");
  CHECK_FALSE(setup.assembly);
}

TEST_CASE("a backend without a config of its own has none, one without a class no kernel") {
  Chosen one = chosen("gpt-oss-h100");
  one.choice.backend = "HUMMING";
  one.choice.kernel_class = "HummingIndexedExperts";
  CHECK_FALSE(one.setup().quant);
  CHECK_FALSE(one.setup().assembly);
  one.choice.backend = "NONE";
  one.choice.kernel_class = "";
  CHECK(one.setup().quant);
  CHECK_FALSE(one.setup().assembly);
  one.choice.backend = "MARLYN";
  CHECK(says(message_of(mx::ErrorCode::usage, [&] { one.setup(); }), "MARLIN"));
}
