// Decisions of the oracles other than mxfp4, worked from their description, and the quirks of each one by one.

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "model/engine/vllm/check.hpp"
#include "model/engine/vllm/select.hpp"
#include "tests/catch.hpp"
#include "tests/engine/vllm/expect_error.hpp"

using namespace mx::deployment;
using namespace mx::engine;
using mx::tests::message_of;
using mx::tests::says;

namespace {

Deployment on(std::string_view platform, std::string_view oracle, std::string_view activation = "SILU") {
  Deployment deployment =
      deployment_on(platform_named(platform), {}, {.num_experts = 256, .experts_per_token = 8, .hidden = 7168, .intermediate_per_partition = 2048});
  const OracleTables& tables = tables_of(mx::deployment::kVllm2026_05, oracle);
  deployment.weight_key = name_of(tables.usual_weight_key);
  deployment.activation_key = name_of(tables.usual_activation_key);
  deployment.layer.activation = activation;
  return deployment;
}

struct Asked {
  std::string oracle;
  Deployment deployment;

  Asked(std::string_view platform, std::string name, std::string_view activation = "SILU")
      : oracle(std::move(name)), deployment(on(platform, oracle, activation)) {}
  Asked& wish(std::string name) {
    deployment.layer.moe_backend = std::move(name);
    return *this;
  }
  Asked& env(const std::string& name, std::string value) {
    deployment.env[name] = std::move(value);
    return *this;
  }
  Asked& keys(std::string weight, std::string activation) {
    deployment.weight_key = std::move(weight);
    deployment.activation_key = std::move(activation);
    return *this;
  }
  Asked& experts_over(int dp, std::string exchange = "allgather_reducescatter") {
    deployment.parallel = {.dp = dp, .enable_expert_parallel = true, .all2all_backend = std::move(exchange)};
    return *this;
  }
  Asked& allow_cutlass() {
    deployment.allow_vllm_cutlass = true;
    return *this;
  }

  /// BACKEND/Class, or the type of the exception.
  std::string answer() const {
    const Decision decision = select(mx::deployment::kVllm2026_05, oracle, deployment);
    return decision.choice ? decision.choice->backend + "/" + decision.choice->kernel_class : decision.refusal->error_type;
  }
};

}  // namespace

TEST_CASE("oracles are found by name") {
  CHECK(oracle_names(mx::deployment::kVllm2026_05).size() == 6);
  for (std::string_view name : oracle_names(mx::deployment::kVllm2026_05)) CHECK(tables_of(mx::deployment::kVllm2026_05, name).name == name);
  CHECK(says(message_of(mx::ErrorCode::usage, [] { tables_of(mx::deployment::kVllm2026_05, "nvpf4"); }), "did you mean nvfp4?"));
}

TEST_CASE("the tables of an oracle name only what they hold") {
  for (std::string_view name : oracle_names(mx::deployment::kVllm2026_05)) {
    const OracleTables& tables = tables_of(mx::deployment::kVllm2026_05, name);
    INFO(name);
    const auto known = [&](std::string_view backend) {
      return std::any_of(tables.backends.begin(), tables.backends.end(), [&](const BackendRow& row) { return row.name == backend; });
    };
    const auto all_known = [&](std::span<const std::string_view> names) { return std::all_of(names.begin(), names.end(), known); };
    CHECK(all_known(tables.priority));
    for (const UserNameRow& row : tables.user_names) CHECK(all_known(row.backends));
    for (const RewriteRow& row : tables.batched_rewrites) CHECK((known(row.from) && known(row.to)));
    for (const FrontRow& row : tables.to_front) CHECK(known(row.backend));
    for (const RoundingRow& row : tables.roundings) CHECK(all_known(row.backends));
    for (const Step& step : tables.steps) {
      CHECK(all_known(step.backends));
      CHECK((step.kind == StepKind::raise) == !step.error_type.empty());
      CHECK((step.kind == StepKind::force) == (step.backends.size() == 1 && step.kind != StepKind::remove && step.kind != StepKind::candidates));
    }
    for (const BackendRow& row : tables.backends) {
      for (std::string_view class_name : row.classes) {
        CHECK(std::count_if(tables.classes.begin(), tables.classes.end(), [&](const KernelClass& c) { return c.name == class_name; }) == 1);
      }
    }
    const StepKind last = tables.steps.back().kind;
    CHECK((last == StepKind::raise || last == StepKind::choose_none));
    CHECK(tables.steps.back().when.variables.empty());
  }
}

TEST_CASE("texts of verdicts are written when asked for, and change nothing else") {
  for (std::string_view name : oracle_names(mx::deployment::kVllm2026_05)) {
    const Deployment deployment = on("SM75", name, "SWIGLUSTEP");
    const Decision codes = select(mx::deployment::kVllm2026_05, name, deployment);
    const Decision texts = select(mx::deployment::kVllm2026_05, name, deployment, Detail::texts);
    REQUIRE(codes.trace.size() == texts.trace.size());
    for (std::size_t i = 0; i < codes.trace.size(); ++i) {
      CHECK(codes.trace[i].verdict.code == texts.trace[i].verdict.code);
      CHECK((texts.trace[i].verdict.supported || !texts.trace[i].verdict.text.empty()));
    }
    CHECK(codes.refusal.has_value() == texts.refusal.has_value());
    if (codes.refusal) CHECK(codes.refusal->text == texts.refusal->text);
  }
}

TEST_CASE("the DeepSeek-V4 path of mxfp4") {
  const std::string oracle = "mxfp4_deepseek_v4";
  CHECK(Asked("SM100", oracle).answer() == "FLASHINFER_TRTLLM_MXFP4_MXFP8/TrtLlmMxfp4ExpertsMonolithic");
  CHECK(Asked("SM90", oracle).answer() == "MARLIN/MarlinExperts");
  CHECK(Asked("CPU", oracle).answer() == "NotImplementedError");
  CHECK(Asked("XPU", oracle).answer() == "NotImplementedError");
  SECTION("rocm has another list for the model's own routing") {
    Asked asked("gfx950", oracle);
    asked.env("VLLM_ROCM_USE_AITER", "1");
    CHECK(asked.answer() == "AITER_MXFP4_BF16/AiterExperts");
    asked.deployment.layer.routing_method = "DeepseekV4";
    CHECK(asked.answer() == "TRITON_UNFUSED/UnfusedOAITritonExperts");
  }
  SECTION("no override variable is read, not even one that is no integer") {
    CHECK(Asked("SM90", oracle).env("VLLM_USE_FLASHINFER_MOE_MXFP4_BF16", "1").env("VLLM_MXFP4_USE_MARLIN", "yes").answer() ==
          "MARLIN/MarlinExperts");
  }
  SECTION("a name is not filtered by activation keys: aiter goes on to the backends with other keys") {
    CHECK(Asked("gfx950", oracle, "SWIGLUOAI").env("VLLM_ROCM_USE_AITER", "1").env("VLLM_ROCM_USE_AITER_MOE", "0").wish("aiter").answer() ==
          "AITER_MXFP4_FP8/AiterW4A8ExpertsMonolithic");
  }
  SECTION("sizes are rounded as on the other path") {
    const Decision decision = select(mx::deployment::kVllm2026_05, oracle, on("SM90", oracle));
    CHECK(round_up(tables_of(mx::deployment::kVllm2026_05, oracle), "MARLIN", on("XPU", oracle), {100, 100}).hidden == 128);
    REQUIRE(decision.choice);
    CHECK(decision.choice->rounded_hidden == 7168);
  }
}

TEST_CASE("nvfp4") {
  const std::string oracle = "nvfp4";
  CHECK(Asked("SM100", oracle).answer() == "FLASHINFER_TRTLLM/TrtLlmNvFp4ExpertsMonolithic");
  CHECK(Asked("SM120", oracle).answer() == "FLASHINFER_CUTLASS/FlashInferExperts");
  CHECK(Asked("SM110", oracle).answer() == "VLLM_CUTLASS/CutlassExpertsFp4");
  CHECK(Asked("SM90", oracle).answer() == "MARLIN/MarlinExperts");
  CHECK(Asked("gfx950", oracle).answer() == "EMULATION/Nvfp4QuantizationEmulationTritonExperts");
  CHECK(Asked("CPU", oracle).answer() == "NotImplementedError");
  SECTION("nothing is rounded, and the backend row says whether one activation scale serves all ranks") {
    const Decision decision = select(mx::deployment::kVllm2026_05, oracle, on("SM100", oracle));
    CHECK(decision.choice->rounded_hidden == 7168);
    CHECK(decision.choice->rounded_intermediate == 2048);
    CHECK(backend_named(tables_of(mx::deployment::kVllm2026_05, oracle), "FLASHINFER_B12X").global_sf_supported);
    CHECK_FALSE(backend_named(tables_of(mx::deployment::kVllm2026_05, oracle), "VLLM_CUTLASS").global_sf_supported);
  }
  SECTION("weight-only checkpoints: only Marlin takes no activation key") {
    CHECK(Asked("SM100", oracle).keys("kNvfp4Static", "None").answer() == "MARLIN/MarlinExperts");
  }
  SECTION("B12X is reached by its name or by the variable, never by itself") {
    CHECK(Asked("SM121", oracle).wish("flashinfer_b12x").answer() == "FLASHINFER_B12X/FlashInferB12xExperts");
    Asked asked("SM121", oracle);
    asked.deployment.software.has_flashinfer_cutlass_fused_moe = false;
    CHECK(asked.answer() == "VLLM_CUTLASS/CutlassExpertsFp4");
    CHECK(asked.env("VLLM_USE_FLASHINFER_MOE_FP4", "1").answer() == "FLASHINFER_B12X/FlashInferB12xExperts");
  }
  SECTION("the variable that is off always raises: it removes a backend that the list does not hold") {
    for (const char* platform : {"SM75", "SM100", "gfx950", "CPU"}) {
      CHECK(Asked(platform, oracle).env("VLLM_USE_FLASHINFER_MOE_FP4", "0").answer() == "ValueError");
    }
    CHECK(Asked("SM90", oracle).env("VLLM_USE_FLASHINFER_MOE_FP4", "0").wish("marlin").answer() == "MARLIN/MarlinExperts");
  }
  SECTION("the variant counts only when its variable is set") {
    const auto variant = [&](const char* platform, const char* text) {
      return Asked(platform, oracle).env("VLLM_USE_FLASHINFER_MOE_FP4", "1").env("VLLM_FLASHINFER_MOE_BACKEND", text).answer();
    };
    CHECK(variant("SM100", "throughput") == "FLASHINFER_CUTLASS/FlashInferExperts");
    CHECK(variant("SM100", "latency") == "FLASHINFER_TRTLLM/TrtLlmNvFp4ExpertsMonolithic");
    CHECK(variant("SM120", "latency") == "FLASHINFER_CUTLASS/FlashInferExperts");
    CHECK(variant("SM100", "masked_gemm") == "FLASHINFER_CUTEDSL/FlashInferCuteDSLExperts");
    CHECK(variant("SM120", "masked_gemm") == "ValueError");
    CHECK(variant("SM100", "Latency") == "ValueError");
    CHECK(Asked("SM90", oracle).env("VLLM_FLASHINFER_MOE_BACKEND", "nonsense").answer() == "MARLIN/MarlinExperts");
  }
  SECTION("masked GEMM by variable never becomes the batched member, by name it does") {
    Asked asked("SM100", oracle);
    asked.experts_over(2, "deepep_low_latency");
    CHECK(asked.answer() == "FLASHINFER_CUTEDSL_BATCHED/FlashInferCuteDSLBatchedExperts");
    CHECK(Asked(asked).wish("flashinfer_cutedsl").answer() == "FLASHINFER_CUTEDSL_BATCHED/FlashInferCuteDSLBatchedExperts");
    asked.env("VLLM_USE_FLASHINFER_MOE_FP4", "1").env("VLLM_FLASHINFER_MOE_BACKEND", "masked_gemm");
    CHECK(asked.answer() == "ValueError");
  }
  SECTION("CUTLASS refuses expert parallelism, the monolithic kernel only the exchange") {
    CHECK(Asked("SM110", oracle).experts_over(2).answer() == "MARLIN/MarlinExperts");
    Asked asked("SM100", oracle);
    asked.deployment.parallel.dp = 2;
    CHECK(asked.answer() == "FLASHINFER_TRTLLM/TrtLlmNvFp4ExpertsMonolithic");
    CHECK(asked.experts_over(2).answer() == "FLASHINFER_TRTLLM/TrtLlmNvFp4ExpertsModular");
  }
  SECTION("the FP8 variable forces Marlin here too") {
    CHECK(Asked("SM100", oracle).env("VLLM_TEST_FORCE_FP8_MARLIN", "True").answer() == "MARLIN/MarlinExperts");
    CHECK(Asked("gfx950", oracle).env("VLLM_TEST_FORCE_FP8_MARLIN", "1").answer() == "ValueError");
  }
}

TEST_CASE("fp8") {
  const std::string oracle = "fp8";
  CHECK(Asked("SM100", oracle).answer() == "FLASHINFER_TRTLLM/TrtLlmFp8ExpertsMonolithic");
  CHECK(Asked("SM100", oracle, "SWIGLUSTEP").answer() == "DEEPGEMM/TritonOrDeepGemmExperts");
  CHECK(Asked("SM89", oracle).answer() == "TRITON/TritonExperts");
  CHECK(Asked("SM75", oracle).answer() == "MARLIN/MarlinExperts");
  CHECK(Asked("gfx942", oracle).answer() == "TRITON/TritonExperts");
  CHECK(Asked("XPU", oracle).keys("kFp8StaticTensorSym", "kFp8DynamicTensorSym").answer() == "XPU/XPUExpertsFp8");
  SECTION("CPU takes what its routing allows, and else nothing: no exception") {
    Asked asked("CPU", oracle);
    CHECK(asked.answer() == "CPU/CPUExpertsFp8");
    asked.deployment.layer.routing_method = "DeepSeekV3";
    CHECK(asked.answer() == "NONE/");
  }
  SECTION("on capability 90 with block scales Triton comes first, with expert parallelism FlashInfer") {
    CHECK(Asked("SM90", oracle).answer() == "TRITON/TritonExperts");
    CHECK(Asked("SM90", oracle).experts_over(2).answer() == "FLASHINFER_CUTLASS/FlashInferExperts");
    CHECK(Asked("SM90", oracle).keys("kFp8StaticTensorSym", "kFp8StaticTensorSym").answer() == "FLASHINFER_CUTLASS/FlashInferExperts");
  }
  SECTION("setting a DeepGEMM variable to its own default forces DeepGEMM") {
    CHECK(Asked("SM90", oracle).env("VLLM_MOE_USE_DEEP_GEMM", "1").answer() == "DEEPGEMM/TritonOrDeepGemmExperts");
    CHECK(Asked("SM89", oracle).env("VLLM_USE_DEEP_GEMM", "1").answer() == "ValueError");
    CHECK(Asked("SM100", oracle, "SWIGLUSTEP").env("VLLM_MOE_USE_DEEP_GEMM", "0").answer() == "TRITON/TritonExperts");
    CHECK(Asked("SM90", oracle).env("VLLM_USE_DEEP_GEMM", "1").experts_over(2, "nixl_ep").answer() == "BATCHED_DEEPGEMM/BatchedDeepGemmExperts");
  }
  SECTION("AITER's variables: on forces it everywhere, the MOE one alone removes it") {
    CHECK(Asked("gfx942", oracle).env("VLLM_ROCM_USE_AITER", "true").answer() == "AITER/AiterExperts");
    CHECK(Asked("SM100", oracle).env("VLLM_ROCM_USE_AITER", "1").answer() == "ValueError");
    CHECK(Asked("gfx942", oracle).env("VLLM_ROCM_USE_AITER_MOE", "1").answer() == "TRITON/TritonExperts");
  }
  SECTION("FlashInfer's variables") {
    CHECK(Asked("SM100", oracle).env("VLLM_USE_FLASHINFER_MOE_FP8", "1").answer() == "FLASHINFER_TRTLLM/TrtLlmFp8ExpertsMonolithic");
    CHECK(Asked("SM89", oracle).env("VLLM_USE_FLASHINFER_MOE_FP8", "1").answer() == "NotImplementedError");
    CHECK(Asked("SM90", oracle).experts_over(2).env("VLLM_USE_FLASHINFER_MOE_FP8", "0").answer() == "DEEPGEMM/TritonOrDeepGemmExperts");
    Asked asked("SM100", oracle);
    asked.env("VLLM_USE_FLASHINFER_MOE_FP8", "1").env("VLLM_FLASHINFER_MOE_BACKEND", "masked_gemm");
    CHECK(asked.answer() == "ValueError");
  }
  SECTION("vLLM's own CUTLASS needs its caller's leave") {
    Asked asked("SM90", oracle);
    asked.keys("kFp8StaticChannelSym", "kFp8DynamicTokenSym");
    CHECK(asked.answer() == "TRITON/TritonExperts");
    CHECK(Asked(asked).wish("cutlass").answer() == "ValueError");
    asked.allow_cutlass();
    CHECK(asked.answer() == "VLLM_CUTLASS/TritonOrCutlassExperts");
    CHECK(Asked(asked).wish("cutlass").experts_over(2, "deepep_low_latency").answer() == "BATCHED_VLLM_CUTLASS/CutlassBatchedExpertsFp8");
  }
  SECTION("a pair of classes loses LoRA, which Triton alone has") {
    Asked asked("SM100", oracle, "SWIGLUSTEP");
    asked.deployment.layer.is_lora_enabled = true;
    CHECK(asked.answer() == "TRITON/TritonExperts");
  }
  SECTION("a key without a text form raises in the middle of the walk") {
    CHECK(Asked("SM100", oracle).keys("kInt4Static", "None").answer() == "KeyError");
  }
  SECTION("xpu and cpu are no names here") {
    CHECK(Asked("XPU", oracle).wish("xpu").answer() == "ValueError");
    CHECK(Asked("CPU", oracle).wish("cpu").answer() == "ValueError");
  }
  SECTION("Llama4 routing is taken by the monolithic kernel for per-tensor scales alone") {
    Asked asked("SM100", oracle);
    asked.deployment.layer.routing_method = "Llama4";
    asked.wish("flashinfer_trtllm").keys("kFp8StaticTensorSym", "kFp8StaticTensorSym");
    CHECK(asked.answer() == "FLASHINFER_TRTLLM/TrtLlmFp8ExpertsMonolithic");
    CHECK(asked.keys("kFp8Static128BlockSym", "kFp8Dynamic128Sym").answer() == "FLASHINFER_TRTLLM/TrtLlmFp8ExpertsModular");
  }
}

TEST_CASE("mxfp8") {
  const std::string oracle = "mxfp8";
  CHECK(Asked("SM100", oracle).answer() == "FLASHINFER_TRTLLM/TrtLlmFp8ExpertsMonolithic");
  CHECK(Asked("SM90", oracle).answer() == "MARLIN/MarlinExperts");
  CHECK(Asked("XPU", oracle).answer() == "XPU/XPUExpertsMxfp8");
  CHECK(Asked("XPU", oracle).wish("xpu").answer() == "XPU/XPUExpertsMxfp8");
  CHECK(Asked("CPU", oracle).answer() == "ValueError");
  CHECK(Asked("SM90", oracle).wish("triton").answer() == "ValueError");
  CHECK(Asked("SM90", oracle).experts_over(2, "deepep_low_latency").answer() == "ValueError");
  CHECK(Asked("SM100", oracle).env("VLLM_TEST_FORCE_FP8_MARLIN", "1").answer() == "FLASHINFER_TRTLLM/TrtLlmFp8ExpertsMonolithic");
}

TEST_CASE("w4a8") {
  const std::string oracle = "w4a8";
  CHECK(Asked("SM90", oracle).answer() == "CUTLASS/CutlassExpertsW4A8Fp8");
  CHECK(Asked("SM90", oracle).wish("marlin").env("VLLM_TEST_FORCE_FP8_MARLIN", "1").answer() == "CUTLASS/CutlassExpertsW4A8Fp8");
  CHECK(Asked("SM120", oracle).answer() == "NotImplementedError");
  CHECK(Asked("SM90", oracle).keys("kFp8StaticChannelSym", "kFp8DynamicTokenSym").answer() == "NotImplementedError");
  CHECK(Asked("SM90", oracle).keys("kInt4Static", "None").answer() == "KeyError");
  // The device is refused first, so the message is never built.
  CHECK(Asked("SM120", oracle).keys("kInt4Static", "None").answer() == "NotImplementedError");
  SECTION("the dtype is asked before everything else") {
    Asked asked("SM120", oracle);
    asked.deployment.layer.in_dtype = "float16";
    CHECK(select(mx::deployment::kVllm2026_05, oracle, asked.deployment).trace.back().verdict.code == "in_dtype");
  }
}
