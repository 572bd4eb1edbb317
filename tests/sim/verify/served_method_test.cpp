// Which backend a checkpoint is served by, where a hook or a scheme of its configuration decides.

#include <algorithm>
#include <string>
#include <vector>

#include "sim/verify/verify.hpp"
#include "tests/catch.hpp"
#include "tests/checkpoint/draft.hpp"
#include "tests/checkpoint/published_forms.hpp"

namespace {

using namespace mx;
using namespace mx::tests;

/// The backend that the engine chooses.
std::string chosen(const Draft& draft, const std::string& platform, const engine::Environment& env, deployment::Engine version) {
  sim::VerifyOptions options;
  options.platforms = {platform};
  options.tp = {1};
  options.engine = version;
  options.env = env;
  const TemporaryDirectory directory;
  draft.write(directory.path());
  const sim::VerifyReport report = sim::planned_report(checkpoint::Checkpoint(directory.path(), 0, version), options);
  const auto cell = std::ranges::find(report.cells, "auto", &sim::Cell::request);
  return cell == report.cells.end() ? "" : cell->backend;
}

struct Served {
  std::string platform;
  engine::Environment env;
  std::string backend;
};

}  // namespace

// vllm#50000, #50516, #50682, recipes#838: since 2026-08 the method is mxfp4, whose oracle is DeepSeek-V4's; on ROCm with amd-quark.
TEST_CASE("Kimi-K3 is served by the backend of the method that the engine takes") {
  Draft draft = published_draft(published_form("kimi-k3"));
  draft.config =
      R"({"model_type": "kimi_k3", "architectures": ["KimiK3ForConditionalGeneration"], "text_config": {"model_type": "kimi_k3_text", "hidden_size": 256,
      "moe_intermediate_size": 128, "num_experts": 2, "num_experts_per_token": 1, "num_hidden_layers": 1, "hidden_act": "situ", "activation_situ_beta": 4.0,
      "activation_situ_linear_beta": 25.0, "moe_router_activation_func": "sigmoid", "routed_scaling_factor": 2.5}, "quantization_config": {"quant_method":
      "compressed-tensors", "format": "mxfp4-pack-quantized", "ignore": ["lm_head"], "config_groups": {"group_0": {"targets": ["Linear"], "weights": {"num_bits": 4,
      "type": "float", "strategy": "group", "group_size": 32, "symmetric": true}, "input_activations": null}}}})";
  const std::vector<Served> rows{{"SM90", {}, "MARLIN"},
                                 {"SM100", {}, "FLASHINFER_TRTLLM_MXFP4_MXFP8"},
                                 {"SM120", {}, "DEEPGEMM_MXFP4"},
                                 {"gfx950", {{"VLLM_ROCM_USE_AITER", "1"}}, "AITER_MXFP4_BF16"},
                                 {"gfx942", {}, "EMULATION"}};
  for (const Served& row : rows) {
    INFO(row.platform);
    CHECK(chosen(draft, row.platform, row.env, deployment::kVllm2026_08) == row.backend);
  }
}

// vllm quark/quark_moe.py QuarkOCP_MX_MoEMethod asks with the activations of the configuration. The backends are those of `select` for the same keys:
// oracle decisions that are recorded (quant_method quark).
TEST_CASE("Quark's MXFP4 is asked about with the activations that its configuration has") {
  const auto of = [](const std::string& id, const std::string& platform, deployment::Engine version) {
    return chosen(published_draft(published_form(id)), platform, {}, version);
  };
  CHECK(of("quark-mxfp4-w4a4", "SM100", deployment::kVllm2026_11) == "CUTLASS_MXFP4_MXFP4");
  CHECK(of("quark-mxfp4-w4a4", "gfx942", deployment::kVllm2026_08) == "EMULATION");
  CHECK(of("quark-mxfp4-w4a8", "SM100", deployment::kVllm2026_11) == "FLASHINFER_TRTLLM_MXFP4_BF16");
}
