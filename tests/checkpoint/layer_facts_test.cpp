// What config.json says of a layer beside its form: activations and their limits, sizes of another space, quantizers that are no form here.

#include <string>
#include <vector>

#include "checkpoint/checkpoint.hpp"
#include "sim/verify/verify.hpp"
#include "tests/catch.hpp"
#include "tests/checkpoint/published_forms.hpp"

namespace mx::tests {
namespace {

/// Two layers of a published form whose configuration has these members at the top.
Draft two_layers(const std::string& id, const std::string& members) {
  const PublishedForm& form = published_form(id);
  Draft draft = published_draft(form);
  for (support::TensorData& tensor : published_tensors(form, form.before, 1)) draft.shards["model.safetensors"].push_back(std::move(tensor));
  draft.config->insert(1, members + ", ");
  return draft;
}

sim::VerifyOptions on(const std::string& platform) {
  sim::VerifyOptions options;
  options.platforms = {platform};
  options.tp = {1};
  options.tokens = 1;
  return options;
}

}  // namespace

// Source: vllm at 7ca49fbe4 models/step3p5.py, exaone_moe.py, bailing_moe_v3.py, minimax_m3/nvidia/model.py, deepseek_v4/nvidia/model.py,
// kimi_k3/nvidia/model.py; transformers GptOssConfig.
TEST_CASE("an activation and its limit are read for each layer") {
  struct Row {
    std::string id;
    std::string members;
    std::vector<std::string> texts;  ///< of both layers
  };
  const std::vector<Row> rows{
      {"fp8-static", R"("x": 0)", {"SILU", "SILU"}},
      {"fp8-static", R"("model_type": "step3p5", "swiglu_limits": [0.0, 7.0])", {"SILU", "SWIGLUSTEP, limit 7"}},
      {"fp8-static", R"("model_type": "step3p5", "swiglu_limits": [null])", {"SILU", "SILU"}},
      {"fp8-static", R"("model_type": "exaone_moe", "swiglu_limits": [-1, 12.5])", {"SILU", "SILU, limit 12.5"}},
      {"fp8-static", R"("expert_swiglu_limit_list": [10, 10])", {"SILU, limit 10", "SILU, limit 10"}},
      {"fp8-static", R"("swiglu_limit": 10.0)", {"SILU, limit 10", "SILU, limit 10"}},
      {"fp8-static", R"("text_config": {"swiglu_limit": 10.0})", {"SILU, limit 10", "SILU, limit 10"}},
      {"fp8-static", R"("hidden_act": "swigluoai")", {"SWIGLUOAI_UNINTERLEAVE, limit 7", "SWIGLUOAI_UNINTERLEAVE, limit 7"}},
      {"fp8-static", R"("hidden_act": "situ", "activation_situ_beta": 4)", {"SITU", "SITU"}},
  };
  for (const Row& row : rows) {
    INFO(row.members);
    const TemporaryDirectory directory;
    two_layers(row.id, row.members).write(directory.path());
    const checkpoint::Checkpoint checkpoint(directory.path());
    for (int layer = 0; layer < 2; ++layer) CHECK(checkpoint.activation(layer).text() == row.texts[static_cast<std::size_t>(layer)]);
  }
  const TemporaryDirectory directory;
  two_layers("fp8-static", R"("hidden_act": "swigluoai", "swiglu_alpha": 1.5, "swiglu_limit": 9)").write(directory.path());
  // 1.5, 1, 9
  CHECK(checkpoint::Checkpoint(directory.path()).activation(1).bits() == moe::ActivationConstants{0x3FC00000U, 0x3F800000U, 0x41100000U, 0});
}

TEST_CASE("limits that the engine has no kernel for are refused by name and layers of unlike ones are not verified as alike") {
  const TemporaryDirectory directory;
  two_layers("fp8-static", R"("model_type": "step3p5", "swiglu_limits": [0, 5])").write(directory.path());
  const checkpoint::Checkpoint five(directory.path());
  CHECK(five.activation(0).text() == "SILU");
  const std::optional<Error> wrong = error_of([&] { static_cast<void>(five.activation(1)); });
  REQUIRE(wrong);
  CHECK(wrong->code() == ErrorCode::unsupported);
  CHECK(std::string(wrong->what()).find("swiglu_limits is 5 of layer 1: the engine takes 7 alone") != std::string::npos);

  const TemporaryDirectory other;
  two_layers("fp8-static", R"("model_type": "step3p5", "swiglu_limits": [0, 7])").write(other.path());
  const checkpoint::Checkpoint checkpoint(other.path());
  const std::optional<Error> unlike = error_of([&] { static_cast<void>(sim::verify(checkpoint, on("SM90"))); });
  REQUIRE(unlike);
  CHECK(unlike->code() == ErrorCode::unsupported);
  CHECK(std::string(unlike->what()).find("layer 1 has the activation SWIGLUSTEP, limit 7, layer 0 SILU, for which") != std::string::npos);
  sim::VerifyOptions first = on("SM90");
  first.max_layers = 1;
  CHECK(sim::verify(checkpoint, first).exit_code() == 0);
}

// Gemma 4's and Nemotron's activations are executed as any other: what passes was compared.
TEST_CASE("no cell passes on its bytes alone") {
  for (const char* const id : {"gemma4", "nemotron", "modelopt-mxfp8-e8m0", "fp8-block-F32"}) {
    for (const char* const platform : {"SM100", "SM90", "SM89", "gfx950"}) {
      INFO(id << " " << platform);
      const TemporaryDirectory directory;
      published_draft(published_form(id)).write(directory.path());
      const sim::VerifyReport report = sim::verify(checkpoint::Checkpoint(directory.path()), on(platform));
      for (const sim::Cell& cell : report.cells) {
        if (!cell.conversion || !sim::is_held(report.verdict(cell))) continue;
        INFO(cell.backend);
        CHECK(report.conversions[*cell.conversion].outputs_compared > 0);
      }
      // HUMMING's arithmetic of these formats is not known.
      CHECK(report.count(sim::Verdict::failed) == 0);
    }
  }
  const TemporaryDirectory directory;
  published_draft(published_form("modelopt-mxfp8-e8m0")).write(directory.path());
  const sim::VerifyReport report = sim::verify(checkpoint::Checkpoint(directory.path()), on("gfx950"));
  CHECK(report.cells.front().backend == "TRITON_MXFP8");
  CHECK(report.verdict(report.cells.front()) == sim::Verdict::not_modelled);
  CHECK(report.exit_code() == 5);
}

// Source: transformers modeling_llama4.py Llama4Router: a linear layer without a bias.
TEST_CASE("the router of fused experts needs no bias where the model has none") {
  Draft draft = published_draft(published_form("llama4-nvfp4"));
  draft.shards["model.safetensors"].push_back({"language_model.model.layers.0.feed_forward.router.weight",
                                               "BF16",
                                               {kPublishedExperts, kPublishedHidden},
                                               std::vector<std::uint8_t>(2 * kPublishedExperts * kPublishedHidden)});
  const TemporaryDirectory directory;
  draft.write(directory.path());
  const sim::VerifyReport report = sim::verify(checkpoint::Checkpoint(directory.path()), on("SM100"));
  CHECK(report.router_source == "checkpoint: llama4");
  CHECK(report.held() > 0);
}

// Source: vllm at 7ca49fbe4 models/nemotron_h.py, moe_latent_size.
TEST_CASE("experts that work on a projection of the hidden states have its size") {
  Draft draft = published_draft(published_form("nemotron"));
  draft.config->replace(draft.config->find(R"("hidden_size": 256)"), 18, R"("hidden_size": 1024, "moe_latent_size": 256)");
  const TemporaryDirectory directory;
  draft.write(directory.path());
  CHECK(checkpoint::Checkpoint(directory.path()).sizes(0).hidden == kPublishedHidden);
}

// Source: vllm at 7ca49fbe4 layers/quantization/auto_gptq.py (qweight), auto_awq.py, torchao.py, fbgemm_fp8.py (linear layers alone);
// sgl-project/sglang python/sglang/srt/layers/quantization/w4afp8.py; Model-Optimizer modelopt/torch/export/quant_utils.py.
TEST_CASE("quantizers that are no form here are named") {
  const auto refusal = [](Draft draft) {
    const TemporaryDirectory directory;
    draft.write(directory.path());
    const std::optional<Error> error = error_of([&] { checkpoint::Checkpoint(directory.path()).require_convertible(); });
    return error ? std::string(error->what()) : "";
  };
  const auto with = [](const std::string& config, std::vector<support::TensorData> tensors) {
    Draft draft;
    draft.has_index = false;
    draft.config = config;
    draft.shards["model.safetensors"] = std::move(tensors);
    return draft;
  };
  const std::string expert = "model.layers.0.mlp.experts.0.gate_proj.";
  for (const char* const method : {"gptq", "awq", "torchao"}) {
    const std::string config = std::string(R"({"quantization_config": {"quant_method": ")") + method + "\"}}";
    const std::string text = refusal(with(config, {{expert + "qweight", "I32", {8, 64}, std::vector<std::uint8_t>(2048)}}));
    CHECK(text.find(std::string("quantization_config.quant_method is '") + method + "', a quantizer that no form here is of") != std::string::npos);
  }
  // Four bits in a byte of integers, with FP8 activations.
  CHECK(refusal(with(R"({"quantization_config": {"quant_method": "w4afp8"}})",
                     {{expert + "weight", "I8", {64, 32}, std::vector<std::uint8_t>(2048)},
                      {expert + "weight_scale_inv", "BF16", {64, 1}, std::vector<std::uint8_t>(128)}}))
            .find("gate_proj.weight': dtype is I8, expected F8_E4M3") != std::string::npos);
  // Scales by channel of FBGEMM: the engine has no experts of it.
  Draft fbgemm = published_draft(published_form("llama4-fp8-channel"));
  fbgemm.config = R"({"model_type": "llama4", "quantization_config": {"quant_method": "fbgemm_fp8"}})";
  CHECK(refusal(fbgemm).find("quant_method is 'fbgemm_fp8', where compressed-tensors FP8 channel, fused has compressed-tensors") !=
        std::string::npos);
  Draft mxfp4 = published_draft(published_form("modelopt-w4a16-nvfp4"));
  mxfp4.config->replace(mxfp4.config->find("W4A16_NVFP4"), 11, "W4A8_NVFP4_FP8");
  CHECK(refusal(mxfp4).find("ModelOpt W4A8_NVFP4_FP8, for which mxact lacks an engine that loads them") != std::string::npos);
  // Which way fused matrices lie follows from the model.
  Draft fused = published_draft(published_form("fp8-block-fused-F32"));
  fused.config->replace(fused.config->find("qwen3_moe"), 9, "llama4");
  CHECK(refusal(fused).find("down_proj': shape is [2, 256, 128], expected [2, 128, 256] = [E, I, H]") != std::string::npos);
  fused = published_draft(published_form("fp8-block-fused-F32"));
  fused.config->replace(fused.config->find(R"("model_type": "qwen3_moe", )"), 27, "");
  CHECK(refusal(fused).find("model_type is not given") != std::string::npos);
}

}  // namespace mx::tests
