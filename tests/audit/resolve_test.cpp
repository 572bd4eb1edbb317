// An engine's answer stage by stage: what was asked, what follows, and where it fails. Expected stages are worked out by hand from the examples.

#include "model/audit/resolve.hpp"

#include <string>

#include "model/audit/audit_space.hpp"
#include "model/audit/deployment_text.hpp"
#include "model/audit/strict.hpp"
#include "model/engine/vllm/method.hpp"
#include "support/deployment_file.hpp"
#include "tests/catch.hpp"
#include "tests/engine/vllm/expect_error.hpp"

using namespace mx::audit;
using namespace mx::deployment;
using namespace mx::engine;
using namespace mx::families;
using mx::tests::message_of;
using mx::tests::says;

namespace {

mx::support::DeploymentFile example(const std::string& name) {
  return mx::support::load_deployment_file(std::string(MXACT_SOURCE_DIR) + "/docs/examples/" + name + ".info");
}

Resolution resolved(const mx::support::DeploymentFile& file, const LayerConfig& layer) {
  return resolve(mx::deployment::kVllm2026_05, file.deployment, {file.oracle, layer});
}

}  // namespace

TEST_CASE("a deployment that runs goes through every stage") {
  const auto file = example("gpt-oss-b200-deepep");
  const Resolution resolution = resolved(file, file.deployment.layer);
  CHECK(resolution.engine == mx::deployment::kVllm2026_05);
  CHECK(resolution.asked == "auto");
  REQUIRE(resolution.decision.choice);
  REQUIRE(resolution.setup);
  CHECK(std::get<Assembly>(*resolution.setup->assembly).prepare_class == "DeepEPLLPrepareAndFinalize");
  CHECK_FALSE(resolution.failure);
}

TEST_CASE("where an engine raises is named by its stage") {
  // A wish that the device cannot serve.
  auto file = example("gpt-oss-b200");
  LayerConfig layer = file.deployment.layer;
  layer.moe_backend = "aiter";
  const Resolution refused = resolved(file, layer);
  CHECK(refused.asked == "aiter");
  REQUIRE(refused.failure);
  CHECK(refused.failure->stage == "selection");
  CHECK(refused.failure->refusal.error_type == refused.decision.refusal->error_type);
  CHECK_FALSE(refused.setup);
  // The low-latency exchange has no hidden size above its largest.
  file = example("gpt-oss-b200-deepep");
  layer = file.deployment.layer;
  layer.hidden = 16384;
  const Resolution unallocated = resolved(file, layer);
  REQUIRE(unallocated.decision.choice);
  REQUIRE(unallocated.failure);
  CHECK(unallocated.failure->stage == "allocation");
  CHECK_FALSE(unallocated.prepared);
  // Gate and up of 2 * 96 rows fill no whole tiles, and the converter does not pad them.
  file = example("llama4-scout-b200-nvfp4");
  layer = file.deployment.layer;
  layer.intermediate_per_partition = 96;
  layer.moe_backend = "flashinfer_cutlass";
  const Resolution unprepared = resolved(file, layer);
  REQUIRE(unprepared.failure);
  CHECK(unprepared.failure->stage == "preparation");
  CHECK(unprepared.failure->refusal.error_type == "NotImplementedError");
  CHECK(says(unprepared.failure->refusal.text, "2I = 192 is not a multiple of 128"));
}

TEST_CASE("prepared sizes are those of the kernel's tiles, not those that were allocated") {
  const auto file = example("nemotron-nano-b200-nvfp4");
  const Resolution resolution = resolved(file, file.deployment.layer);
  REQUIRE(resolution.setup);
  CHECK(std::get<RoundedSizes>(resolution.setup->allocated).hidden == 2688);
  REQUIRE(resolution.prepared);
  CHECK(std::get<RoundedSizes>(*resolution.prepared).hidden == 2816);
  CHECK(std::get<RoundedSizes>(*resolution.prepared).intermediate == 1920);
}

TEST_CASE("each layer of a deployment gets its own answer") {
  const auto file = example("gpt-oss-b200");
  LayerConfig other = file.deployment.layer;
  other.hidden = 4096;
  CHECK(resolved(file, other).decision.choice->rounded_hidden == 4096);
  CHECK(resolved(file, file.deployment.layer).decision.choice->rounded_hidden == 3072);
}

TEST_CASE("no version's tables answer for another") {
  const auto file = example("gpt-oss-b200");
  const std::string refusal = message_of(mx::ErrorCode::unsupported, [&] {
    resolve(mx::deployment::kVllm2026_05, file.deployment, {"unquantized", file.deployment.layer});
  });
  CHECK(says(refusal, "vllm@2026-05 has no tables of oracle unquantized; vllm@2026-08, vllm@2026-11"));
}

TEST_CASE("what a strict search skips is what the answer breaks, and an answer that breaks nothing is the strict one") {
  for (const std::string_view name : oracle_names(mx::deployment::kVllm2026_05)) {
    const OracleTables& tables = tables_of(mx::deployment::kVllm2026_05, name);
    std::uint64_t at = 0;
    for_each_deployment(tables, [&](const Deployment& deployment) {
      constexpr std::uint64_t kEvery = 1009;
      if (at++ % kEvery != 0) return;
      const Resolution plain = resolve(mx::deployment::kVllm2026_05, deployment, {name, deployment.layer});
      const StrictDecision strict = select_strict(mx::deployment::kVllm2026_05, name, deployment);
      INFO(name << ": " << info_text(mx::deployment::kVllm2026_05, name, deployment));
      CHECK(plain.broken.empty() == strict.skipped.empty());
      if (!plain.decision.choice) {
        CHECK(strict.decision.refusal);
        CHECK(plain.failure);
        return;
      }
      const Choice& choice = *plain.decision.choice;
      if (!strict.skipped.empty()) {
        CHECK(strict.skipped.front().kernel_class == choice.kernel_class);
        CHECK(strict.skipped.front().need == plain.broken.front());
        // No reason is empty.
        if (strict.decision.refusal) CHECK(strict.decision.refusal->text.find_last_not_of(": ") + 1 == strict.decision.refusal->text.size());
        return;
      }
      REQUIRE(strict.decision.choice);
      CHECK(strict.decision.choice->backend == choice.backend);
      CHECK(strict.decision.choice->kernel_class == choice.kernel_class);
      CHECK(strict.is_reachable());
    });
  }
}

TEST_CASE("a method that asks nobody is answered by its class everywhere") {
  auto file = example("gpt-oss-b200");
  file.deployment.quant_method = "compressed_tensors";
  file.deployment.layer.activation = "SILU";
  const Resolution resolution = resolved(file, file.deployment.layer);
  REQUIRE(resolution.decision.choice);
  CHECK(resolution.decision.choice->backend == kNotAsked);
  CHECK(resolution.decision.choice->kernel_class == "CutlassExpertsMxfp4");
  // moe_backend is not heard.
  LayerConfig layer = file.deployment.layer;
  layer.moe_backend = "marlin";
  CHECK(resolved(file, layer).decision.choice->kernel_class == "CutlassExpertsMxfp4");
}

/// What a layer of hidden 128 gets under a method: "CLASS of BACKEND COLUMNS", and what the engine raises.
std::string taken(mx::deployment::Engine engine, const std::string& method, const std::string& oracle, const std::string& more, int columns = 96) {
  const mx::support::DeploymentFile file =
      mx::support::parse_deployment_file("quant_method " + method + " layer { experts 8 top_k 2 hidden 128 intermediate " + std::to_string(columns) +
                                             " activation SILU bias false } " + more,
                                         "drawn", oracle, engine);
  const Resolution resolution = resolve(engine, file.deployment, {file.oracle, file.deployment.layer});
  const auto& choice = resolution.decision.choice;
  if (!choice) return resolution.decision.refusal->error_type;
  const std::string raised = resolution.failure ? " " + resolution.failure->refusal.error_type : "";
  return choice->kernel_class + " of " + choice->backend + " " + std::to_string(choice->rounded_intermediate) + raised;
}

TEST_CASE("a method that takes a class by the device does so on every device") {
  struct Row {
    mx::deployment::Engine engine;
    const char* method;
    const char* oracle;
    const char* more;
    const char* right;
  };
  const std::string tensors = "weight_key kFp8StaticTensorSym activation_key kFp8StaticTensorSym ";
  const std::string aiter = "platform gfx950 env { VLLM_ROCM_USE_AITER 1 } ";
  // vllm compressed_tensors_moe_w4a4_mxfp4.py __init__ and process_weights_after_loading; quark/quark_moe.py QuarkW8A8Fp8MoEMethod at 7e1b45a09;
  // csrc gptq_marlin_repack.cu is compiled for CUDA alone; sizes are allocated as they are.
  for (const Row& row : {
           Row{mx::deployment::kVllm2026_05, "compressed_tensors", "mxfp4", "platform SM90", "MarlinExperts of MARLIN 96"},
           Row{mx::deployment::kVllm2026_05, "compressed_tensors", "mxfp4", "platform SM103", "CutlassExpertsMxfp4 of NOT_ASKED 96"},
           Row{mx::deployment::kVllm2026_05, "compressed_tensors", "mxfp4", "platform SM120", "MarlinExperts of MARLIN 96"},
           Row{mx::deployment::kVllm2026_05, "compressed_tensors", "mxfp4", "platform SM90 backend triton", "MarlinExperts of MARLIN 96"},
           Row{mx::deployment::kVllm2026_05, "compressed_tensors", "mxfp4", "platform SM90 parallel { dp 2 expert_parallel true }",
               "MarlinExperts of MARLIN 96 AssertionError"},
           Row{mx::deployment::kVllm2026_08, "compressed_tensors", "mxfp4", "platform SM90 parallel { dp 2 expert_parallel true }",
               "MarlinExperts of MARLIN 96"},
           Row{mx::deployment::kVllm2026_05, "compressed_tensors", "mxfp4", "platform gfx942", "MarlinExperts of MARLIN 96 AttributeError"},
           Row{mx::deployment::kVllm2026_05, "compressed_tensors", "mxfp4", "platform xpu", "MarlinExperts of MARLIN 96 AttributeError"},
           Row{mx::deployment::kVllm2026_08, "compressed_tensors", "mxfp4", "platform SM80", "MarlinExperts of MARLIN 96"},
           Row{mx::deployment::kVllm2026_08, "compressed_tensors", "mxfp4", "platform SM100", "CutlassExpertsMxfp4 of NOT_ASKED 96"},
           Row{mx::deployment::kVllm2026_08, "compressed_tensors", "mxfp4", "platform xpu", "XPUExpertsMxFp4 of XPU 96"},
           Row{mx::deployment::kVllm2026_08, "compressed_tensors", "mxfp4", "platform cpu", "MarlinExperts of MARLIN 96 AttributeError"},
           Row{mx::deployment::kVllm2026_11, "compressed_tensors", "mxfp4", "platform SM90 backend marlin", "MarlinExperts of MARLIN 96"},
           // Since 2026-11 the class is asked after all (oracle/mxfp4.py _validate_mxfp4_experts_config): no adapters, no DeepEP high throughput.
           Row{mx::deployment::kVllm2026_11, "compressed_tensors", "mxfp4", "platform SM100", "CutlassExpertsMxfp4 of NOT_ASKED 96"},
           Row{mx::deployment::kVllm2026_11, "compressed_tensors", "mxfp4",
               "platform SM100 parallel { dp 2 expert_parallel true all2all deepep_high_throughput }",
               "CutlassExpertsMxfp4 of NOT_ASKED 96 ValueError"},
           Row{mx::deployment::kVllm2026_08, "compressed_tensors", "mxfp4",
               "platform SM100 parallel { dp 2 expert_parallel true all2all deepep_high_throughput }", "CutlassExpertsMxfp4 of NOT_ASKED 96"},
           Row{mx::deployment::kVllm2026_05, "quark", "fp8", "platform SM90", "TritonExperts of TRITON 96"},
           Row{mx::deployment::kVllm2026_05, "quark", "fp8", "platform SM80", "MarlinExperts of MARLIN 96"},
           Row{mx::deployment::kVllm2026_05, "quark", "fp8", "platform SM90 env { VLLM_TEST_FORCE_FP8_MARLIN 1 }", "MarlinExperts of MARLIN 96"},
           Row{mx::deployment::kVllm2026_05, "quark", "fp8", "platform gfx950", "TritonExperts of TRITON 96"},
           Row{mx::deployment::kVllm2026_05, "quark", "fp8", aiter.c_str(), "AiterExperts of AITER 96"},
           Row{mx::deployment::kVllm2026_05, "quark", "fp8", "platform cpu", "MarlinExperts of MARLIN 96 AttributeError"},
       }) {
    INFO(name_of(row.engine) << " " << row.method << " " << row.more);
    const bool is_fp8 = std::string_view(row.oracle) == "fp8";
    CHECK(taken(row.engine, row.method, row.oracle, (is_fp8 ? tensors : std::string()) + row.more) == row.right);
  }
  // The oracle is asked for b12x alone, since 2026-08, and for FP8 under Quark since then.
  CHECK(taken(mx::deployment::kVllm2026_08, "compressed_tensors", "mxfp4", "platform SM120 backend b12x") !=
        taken(mx::deployment::kVllm2026_08, "compressed_tensors", "mxfp4", "platform SM120"));
  CHECK(taken(mx::deployment::kVllm2026_08, "quark", "fp8", tensors + "platform SM90") ==
        taken(mx::deployment::kVllm2026_08, "own", "fp8", tensors + "platform SM90"));
}

TEST_CASE("Quark's emulation is rounded since 2026-08") {
  // quark/quark_moe.py maybe_roundup_sizes; oracle/mxfp4.py mxfp4_round_up_hidden_size_and_intermediate_size at 7ca49fbe4: to OCP_MX_BLOCK_SIZE.
  const std::string more = "platform SM100 backend emulation activation_key kMxfp4Dynamic software { has_quark true }";
  CHECK(taken(mx::deployment::kVllm2026_05, "quark", "mxfp4", more, 80) == "OCP_MXQuantizationEmulationTritonExperts of EMULATION 80");
  CHECK(taken(mx::deployment::kVllm2026_08, "quark", "mxfp4", more, 80) == "OCP_MXQuantizationEmulationTritonExperts of EMULATION 96");
}

TEST_CASE("strict answers for the deployment that it asked in the method's place") {
  const mx::support::DeploymentFile file = mx::support::parse_deployment_file(
      "platform SM90 quant_method compressed_tensors layer { experts 8 top_k 2 hidden 512 intermediate 96 activation SILU bias false }", "drawn",
      "mxfp4", mx::deployment::kVllm2026_08);
  const StrictDecision strict = select_strict(mx::deployment::kVllm2026_08, file.oracle, file.deployment);
  REQUIRE(strict.decision.choice);
  REQUIRE(!strict.skipped.empty());
  CHECK(strict.skipped.front().backend == "MARLIN");
  CHECK(strict.asked.quant_method == "own");
  CHECK(resolve(tables_of(mx::deployment::kVllm2026_08, file.oracle), strict.asked, strict.decision).broken.empty());
  // The method hears no name, so that none leads there.
  CHECK(strict.reached_by.empty());
}

TEST_CASE("Quark's experts of FP8 blocks are refused until the version that took them in") {
  auto file = example("deepseek-v3-h200");
  file.deployment.quant_method = "quark";
  const auto raised = [&](mx::deployment::Engine engine) {
    const Resolution resolution = resolve(engine, file.deployment, {file.oracle, file.deployment.layer});
    return resolution.failure ? std::string(resolution.failure->stage) + " " + resolution.failure->refusal.error_type : std::string();
  };
  CHECK(raised(mx::deployment::kVllm2026_05) == "allocation RuntimeError");
  CHECK(raised(mx::deployment::kVllm2026_08) == "allocation ValueError");
  CHECK(raised(mx::deployment::kVllm2026_11).empty());
  file.deployment.quant_method = "own";
  CHECK(raised(mx::deployment::kVllm2026_05).empty());
}

TEST_CASE("Quark's NVFP4 experts are refused at 2026-05, which has no method for them") {
  const auto raised = [](mx::deployment::Engine engine, const std::string& method) {
    const auto file =
        mx::support::parse_deployment_file("platform SM100 weight_key kNvfp4Static activation_key kNvfp4Dynamic quant_method " + method +
                                               " layer { experts 8 top_k 2 hidden 512 intermediate 256 activation SILU bias false }",
                                           "drawn", "nvfp4", engine);
    const Resolution resolution = resolve(engine, file.deployment, {file.oracle, file.deployment.layer});
    return resolution.failure ? std::string(resolution.failure->stage) + " " + resolution.failure->refusal.error_type : std::string();
  };
  CHECK(raised(mx::deployment::kVllm2026_05, "quark") == "allocation RuntimeError");
  CHECK(raised(mx::deployment::kVllm2026_08, "quark").empty());
  CHECK(raised(mx::deployment::kVllm2026_11, "quark").empty());
  CHECK(raised(mx::deployment::kVllm2026_05, "own").empty());
}

TEST_CASE("what a method asserts before it makes weights is the engine's failure, whatever the backend") {
  auto file = example("deepseek-v3-h200");
  // 0.22.1 has no finer blocks; later versions find none for 72 rows.
  const std::pair<mx::deployment::Engine, int> shares[] = {
      {mx::deployment::kVllm2026_05, 64}, {mx::deployment::kVllm2026_08, 72}, {mx::deployment::kVllm2026_11, 72}};
  for (const auto& [engine, share] : shares)
    for (const std::string_view name : {"auto", "triton", "deep_gemm", "marlin"}) {
      LayerConfig layer = file.deployment.layer;
      layer.moe_backend = name;
      layer.intermediate_per_partition = share;
      const Resolution resolution = resolve(engine, file.deployment, {file.oracle, layer});
      INFO(mx::deployment::name_of(engine) << " " << name);
      REQUIRE(resolution.failure);
      if (!resolution.decision.choice) continue;
      CHECK(resolution.failure->stage == "allocation");
      CHECK(resolution.failure->refusal.error_type == "ValueError");
      CHECK(says(resolution.failure->refusal.text, "= " + std::to_string(share) + " is not divisible by weight quantization block_n = 128"));
    }
}

TEST_CASE("DeepSeek-V4 builds experts of its own for mega MoE and asks no oracle") {
  // vllm models/deepseek_v4/nvidia/model.py, xpu/model.py at 7ca49fbe4, amd/model.py of 0.33.0: what is asked, in that order, each broken alone.
  const auto said = [](mx::deployment::Engine engine, const std::string& platform, const std::string& backend, const std::string& parallel,
                       const std::string& layer, const std::string& more = "") {
    const std::string text = "platform " + platform + "\noracle mxfp4_deepseek_v4\nbackend " + backend + "\nparallel { " + parallel +
                             " }\nlayer { bias false activation SILU " + layer + " }\n" + more;
    const auto file = mx::support::parse_deployment_file(text, "test", {}, engine);
    const Resolution resolution = resolve(engine, file.deployment, {file.oracle, file.deployment.layer});
    REQUIRE(resolution.decision.choice);
    CHECK(resolution.decision.choice->backend == kNotAsked);
    CHECK(resolution.decision.choice->kernel_class == "DeepseekV4MegaMoEExperts");
    return resolution.failure ? resolution.failure->refusal.error_type + ": " + resolution.failure->refusal.text : std::string();
  };
  const std::string ep = "dp 4 expert_parallel true", sizes = "experts 256 top_k 6 hidden 4096 intermediate 2048 routing DeepseekV4";
  for (const mx::deployment::Engine engine : {mx::deployment::kVllm2026_05, mx::deployment::kVllm2026_08, mx::deployment::kVllm2026_11}) {
    CHECK(said(engine, "SM100", "deep_gemm_mega_moe", ep, sizes).empty());
    CHECK(says(said(engine, "SM100", "deep_gemm_mega_moe", "dp 4", sizes), "NotImplementedError: mega MoE needs expert parallelism"));
    CHECK(says(said(engine, "SM100", "deep_gemm_mega_moe", ep, "experts 256 top_k 6 hidden 4096 intermediate 2048 routing DeepSeekV3"),
               "NotImplementedError: mega MoE routes by"));
    CHECK(says(said(engine, "SM100", "deep_gemm_mega_moe", "dp 3 expert_parallel true", sizes), "AssertionError: "));
    CHECK(says(said(engine, "SM90", "deep_gemm_mega_moe", ep, sizes), "NotImplementedError: DeepGEMM's mega MoE needs capability 10.x"));
    CHECK(says(said(engine, "SM100", "deep_gemm_mega_moe", ep, "experts 256 top_k 6 hidden 4096 intermediate 2016 routing DeepseekV4"),
               "ValueError: "));
  }
  CHECK(says(said(mx::deployment::kVllm2026_08, "XPU", "deep_gemm_mega_moe", ep, sizes),
             "NotImplementedError: DeepGEMM's mega MoE is not there on XPU"));
  const std::string mori = "dp 4 expert_parallel true all2all mori_high_throughput", on = "env { VLLM_ROCM_USE_AITER 1 }\n";
  CHECK(said(mx::deployment::kVllm2026_11, "gfx950", "aiter_mega_moe", mori, sizes, on).empty());
  CHECK(says(said(mx::deployment::kVllm2026_11, "gfx950", "aiter_mega_moe", mori, sizes), "ValueError: AITER's mega MoE needs VLLM_ROCM_USE_AITER"));
  CHECK(says(said(mx::deployment::kVllm2026_11, "gfx942", "aiter_mega_moe", mori, sizes, on), "NotImplementedError: AITER's mega MoE needs gfx950"));
  CHECK(says(said(mx::deployment::kVllm2026_11, "gfx950", "aiter_mega_moe", "tp 2 dp 2 expert_parallel true all2all mori_high_throughput", sizes, on),
             "TP 1"));
  CHECK(says(said(mx::deployment::kVllm2026_11, "gfx950", "aiter_mega_moe", ep, sizes, on), "ValueError: AITER's mega MoE needs MoRI's exchange"));
}

TEST_CASE("strict asks the oracle where the model's own experts break a need") {
  // H of 48 holds no whole blocks of 32, whoever computes.
  const auto file = mx::support::parse_deployment_file(
      "platform SM100\noracle mxfp4_deepseek_v4\nbackend deep_gemm_mega_moe\n"
      "parallel { dp 4 expert_parallel true }\n"
      "layer { experts 256 top_k 6 hidden 48 intermediate 2048 activation SILU routing DeepseekV4 bias false }\n",
      "test", {}, mx::deployment::kVllm2026_08);
  const StrictDecision strict = select_strict(mx::deployment::kVllm2026_08, file.oracle, file.deployment);
  REQUIRE(strict.skipped.size() > 1);
  CHECK(strict.skipped[0].kernel_class == "DeepseekV4MegaMoEExperts");
  CHECK(strict.skipped[0].need->id == "hidden_blocks");
  CHECK(strict.skipped[1].backend != kNotAsked);
}
