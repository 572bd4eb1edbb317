// Layers under a contract: who computes them, their stages, what is refused, and the rule of somebody else's stage. The law S6/contract-stages holds
// kernels and model together.

#include "sim/layer/contract_layer.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <string>

#include "model/error.hpp"
#include "model/moe/scaled_layer.hpp"
#include "sim/execute/sample_layer.hpp"
#include "sim/layer/compare_stages.hpp"
#include "tests/catch.hpp"

namespace {

using namespace mx;
using namespace mx::sim;
using layout::WeightFormat;

constexpr layout::Sizes kSizes{4, 64, 96, 32};

layout::CanonicalLayer layer_of(std::int64_t intermediate = kSizes.intermediate) {
  return sample_layer({kSizes.experts, intermediate, kSizes.hidden, kSizes.group}, layout::Form(WeightFormat::mxfp4, layout::SourceOrder::gpt_oss),
                      true, 5);
}

LayerTokens contract_tokens() {
  const SampleTokens sample = sample_tokens(3, kSizes.hidden, kSizes.experts, 2, 5);
  LayerTokens tokens{2, {}, {}, sample.x};
  for (const std::vector<moe::Slot>& slots : sample.slots) {
    for (const moe::Slot& slot : slots) {
      tokens.ids.push_back(static_cast<std::int32_t>(slot.expert));
      tokens.weights.push_back(slot.weight);
    }
  }
  tokens.ids[3] = -1;
  return tokens;
}

ContractExperts under(Contract contract, SumsBy sums = SumsBy::twins) { return contract_experts(layer_of(), {"SWIGLUOAI", {}}, contract, sums); }

std::vector<StageValues> all_of(const ContractExperts& experts, const LayerTokens& tokens) {
  std::vector<LayerStage> all;
  for (const StageValues& form : stage_forms(experts, tokens)) all.push_back(form.stage);
  return run_layer(experts, tokens, {}, all);
}

const StageValues& the(const std::vector<StageValues>& all, LayerStage wanted) { return *std::ranges::find(all, wanted, &StageValues::stage); }

std::string said(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing";
}

}  // namespace

TEST_CASE("under a contract the fused kernels compute where they have it") {
  CHECK(twin_of(under(Contract::bf16_block)) == "fused kernels");
  CHECK(twin_of(under(Contract::int8_block)) == "fused kernels");
  CHECK(kernel_of(under(Contract::bf16_chain)).starts_with("bf16-chain "));
  CHECK(twin_of(under(contract_named("hopper-bf16"))) == "quick rows");
  CHECK(twin_of(under(Contract::f32_sequential)).empty());
  CHECK(twin_of(under(Contract::bf16_block, SumsBy::model)).empty());
  // Rows that are no whole blocks of panels go the other way.
  CHECK(contract_experts(sample_layer({2, 48, 64, 16}, layout::Form(WeightFormat::nvfp4, layout::SourceOrder::standard), false, 1), {"SILU", {}},
                         Contract::bf16_block, SumsBy::twins)
            .rows != nullptr);
}

TEST_CASE("stages of a contract are fp32, and int8-block has codes and scales") {
  const LayerTokens tokens = contract_tokens();
  const std::vector<StageValues> made = all_of(under(Contract::int8_block), tokens);
  std::string forms;
  for (const StageValues& stage : made)
    forms += std::string(row_of(stage.stage).name) + " " + std::string(stage.dtype) + " " + std::to_string(stage.shape[0]) + "x" +
             std::to_string(stage.shape[1]) + "\n";
  CHECK(forms == "a1_codes U8 3x96\na1_scales U8 3x3\nh13 F32 6x128\nact F32 6x64\nact_codes U8 6x64\nact_scales U8 6x2\ny F32 6x96\nout F32 3x96\n");
  // A slot without an expert has zeros.
  for (const LayerStage one : {LayerStage::h13, LayerStage::act, LayerStage::act_codes, LayerStage::y}) {
    const StageValues& stage = the(made, one);
    const auto first = stage.words.begin() + 3 * stage.shape[1];
    CHECK(std::all_of(first, first + stage.shape[1], [](std::uint32_t word) { return word == 0; }));
    CHECK_FALSE(std::all_of(stage.words.begin(), first, [](std::uint32_t word) { return word == 0; }));
  }
  for (const SumsBy sums : {SumsBy::twins, SumsBy::model}) {
    const ContractExperts experts = under(contract_named("hopper-bf16"), sums);
    CHECK(all_of(experts, tokens) == all_of(under(contract_named("hopper-bf16"), SumsBy::model), tokens));
  }
}

TEST_CASE("a contract's run refuses what it does not take") {
  const ContractExperts experts = under(Contract::bf16_block);
  const LayerTokens tokens = contract_tokens();
  const std::vector<StageValues> made = all_of(experts, tokens);
  const auto run = [&](const LayerTokens& given, std::vector<StageValues> from, std::vector<LayerStage> wanted) {
    return said([&] { run_layer(experts, given, from, wanted); });
  };
  CHECK(run(tokens, {}, {LayerStage::a1_codes}) == "stages: bf16-block has no a1_codes here; its stages are h13, act, y, out");
  CHECK(run(tokens, {the(made, LayerStage::act)}, {LayerStage::h13}) == "stages: h13 lies before the run, which starts from act");
  LayerTokens other = tokens;
  other.ids[0] = 4;
  CHECK(run(other, {}, {LayerStage::out}) == "ids: token 0, slot 0 goes to expert 4, of 0..3, or -1 for none");
  other = tokens;
  other.weights.clear();
  CHECK(run(other, {}, {LayerStage::out}) == "weights: has 0 values for 6 slots");
  CHECK(run(other, {}, {LayerStage::y}) == "nothing");
  other = tokens;
  other.x.pop_back();
  CHECK(run(other, {}, {LayerStage::h13}) == "x: has 287 values for 3 tokens of 96");
  CHECK(said([] {
          contract_experts(layer_of(), {"RELU2_NO_MUL", {}}, Contract::bf16_block, SumsBy::twins);
        }) == "layer: experts are gated, relu2_no_mul is an activation of one row");
  CHECK(said([] {
          contract_experts(layer_of(), {"RELU2", {}}, Contract::bf16_block, SumsBy::twins);
        }) == "--contract: activation RELU2 is none of the table's in fp32");
}

TEST_CASE("somebody's stage of another contract or activation is explained") {
  const LayerTokens tokens = contract_tokens();
  const ContractExperts experts = under(Contract::bf16_block);
  const std::vector<StageValues> made = all_of(experts, tokens);
  const auto explained = [&](const std::vector<StageValues>& before, LayerStage stage, const StageValues& given) {
    const StageComparison comparison = compare_stage(experts, tokens, the(made, stage), given);
    CHECK(comparison.differing > 0);
    return explanation(experts, tokens, before, the(made, stage), given, comparison);
  };
  // Sums of the sample's x, whose numbers have few bits, are the same under both.
  const std::vector<StageValues> act{the(made, LayerStage::act)};
  const StageValues chain = run_layer(under(Contract::bf16_chain), tokens, act, std::array{LayerStage::y}).front();
  CHECK(explained(act, LayerStage::y, chain) == "sums of contract bf16-chain");
  ContractExperts other = experts;
  other.choices.activation = &moe::activation_named("gelu_tanh_and_mul");
  const std::vector<StageValues> h13{the(made, LayerStage::h13)};
  CHECK(explained(h13, LayerStage::act, run_layer(other, tokens, h13, std::array{LayerStage::act}).front()) ==
        "activation gelu_tanh_and_mul, its own constants");
  StageValues flipped = the(made, LayerStage::y);
  flipped.words[2 * 96 + 7] ^= 1U;
  CHECK(compare_stage(experts, tokens, the(made, LayerStage::y), flipped).where ==
        "token 1, slot 0 (expert " + std::to_string(tokens.ids[2]) + "), column 7");
  CHECK(explained({the(made, LayerStage::act)}, LayerStage::y, flipped).empty());
}
