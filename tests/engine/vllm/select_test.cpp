// Decisions that people ask about, the quirks one by one, and what the interpreter does with another table.

#include "model/engine/vllm/select.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <string>

#include "tests/catch.hpp"
#include "tests/engine/vllm/expect_error.hpp"

using namespace mx::deployment;
using namespace mx::engine;
using mx::tests::message_of;
using mx::tests::says;

namespace {

LayerConfig gpt_oss() { return {.num_experts = 128, .experts_per_token = 4, .hidden = 2880, .intermediate_per_partition = 2880}; }

Deployment on(std::string_view platform, std::string_view moe_backend = "auto") {
  LayerConfig layer = gpt_oss();
  layer.moe_backend = moe_backend;
  return deployment_on(platform_named(platform), {}, layer);
}

Deployment with_env(Deployment deployment, const std::string& name, const std::string& value) {
  deployment.env[name] = value;
  return deployment;
}

Decision select_texts(const Deployment& deployment) { return select(mx::deployment::kVllm2026_05, "mxfp4", deployment, Detail::texts); }

std::string answer(const Deployment& deployment) {
  const Decision decision = select_texts(deployment);
  return decision.choice ? decision.choice->backend + "/" + decision.choice->kernel_class : decision.refusal->error_type;
}

}  // namespace

TEST_CASE("gpt-oss on every platform") {
  struct Row {
    const char* platform;
    const char* answer;
    std::int64_t hidden;
    std::int64_t intermediate;
  };
  const Row rows[] = {
      {"SM75", "MARLIN/MarlinExperts", 3072, 2944},
      {"SM89", "MARLIN/MarlinExperts", 3072, 2944},
      {"SM90", "TRITON/OAITritonMxfp4ExpertsMonolithic", 2880, 2880},
      {"SM100", "FLASHINFER_TRTLLM_MXFP4_BF16/TrtLlmMxfp4ExpertsMonolithic", 3072, 3072},
      {"SM103", "FLASHINFER_TRTLLM_MXFP4_BF16/TrtLlmMxfp4ExpertsMonolithic", 3072, 3072},
      {"SM110", "MARLIN/MarlinExperts", 3072, 2944},
      {"SM120", "MARLIN/MarlinExperts", 3072, 2944},
      {"gfx90a", "TRITON/OAITritonMxfp4ExpertsMonolithic", 3072, 3072},
      {"gfx950", "TRITON/OAITritonMxfp4ExpertsMonolithic", 3072, 3072},
      {"gfx1250", "TRITON/OAITritonMxfp4ExpertsMonolithic", 3072, 3072},
      {"XPU", "XPU/XPUExpertsMXFp4", 2880, 2880},
      {"CPU", "CPU/CPUExpertsMxfp4", 2880, 2880},
  };
  for (const Row& row : rows) {
    INFO(row.platform);
    const Decision decision = select_texts(on(row.platform));
    REQUIRE(decision.choice);
    CHECK(decision.choice->backend + "/" + decision.choice->kernel_class == row.answer);
    CHECK(decision.choice->rounded_hidden == row.hidden);
    CHECK(decision.choice->rounded_intermediate == row.intermediate);
  }
}

TEST_CASE("quirks of the search") {
  SECTION("a conflict of keys comes before an unknown name") {
    Deployment deployment = on("SM100", "bogus");
    deployment.activation_key = "kMxfp8Dynamic";
    deployment.quantization_override = "mxfp4";
    const Decision decision = select_texts(deployment);
    REQUIRE(decision.refusal);
    CHECK(decision.refusal->error_type == "ValueError");
    CHECK(says(decision.refusal->text, "kMxfp8Dynamic"));
    CHECK(says(decision.refusal->text, "kMxfp4Dynamic"));
    CHECK(decision.trace.back().verdict.code == "activation_key_conflict");
  }
  SECTION("a missing module escapes, a class that answers no does not") {
    Deployment deployment = on("SM90", "humming");
    CHECK(answer(deployment) == "HUMMING/HummingIndexedExperts");
    deployment.software.humming_installed = false;
    CHECK(answer(deployment) == "ModuleNotFoundError");
  }
  SECTION("the BF16 variable looks at the capability alone, so gfx90a passes as 90 and fails on the device") {
    CHECK(answer(with_env(on("SM90"), "VLLM_USE_FLASHINFER_MOE_MXFP4_BF16", "1")) == "FLASHINFER_CUTLASS_MXFP4_BF16/FlashInferExperts");
    const Decision decision = select_texts(with_env(on("gfx90a"), "VLLM_USE_FLASHINFER_MOE_MXFP4_BF16", "1"));
    REQUIRE(decision.refusal);
    CHECK(decision.trace.back().backend == "FLASHINFER_CUTLASS_MXFP4_BF16");
    CHECK(decision.trace.back().verdict.code == "device");
  }
  SECTION("the variable that is off removes candidates, and the trace says so") {
    const Decision decision = select_texts(with_env(on("SM100"), "VLLM_USE_FLASHINFER_MOE_MXFP4_BF16", "0"));
    REQUIRE(decision.choice);
    CHECK(decision.choice->backend == "TRITON");
    int removed = 0;
    for (const Candidate& candidate : decision.trace) removed += candidate.verdict.code == "environment" ? 1 : 0;
    CHECK(removed == 2);
  }
  SECTION("USE_MARLIN is not rewritten to the batched member, a wish for marlin is") {
    Deployment deployment = on("SM90");
    deployment.parallel = {.dp = 2, .enable_expert_parallel = true, .all2all_backend = "deepep_low_latency"};
    CHECK(answer(with_env(deployment, "VLLM_MXFP4_USE_MARLIN", "1")) == "ValueError");
    deployment.layer.moe_backend = "marlin";
    CHECK(answer(deployment) == "BATCHED_MARLIN/BatchedMarlinExperts");
  }
  SECTION("a wish ignores the variables") {
    CHECK(answer(with_env(on("SM100", "triton"), "VLLM_MXFP4_USE_MARLIN", "1")) == "TRITON/OAITritonMxfp4ExpertsMonolithic");
  }
  SECTION("CPU drops the requested key in its last step") {
    Deployment deployment = on("CPU");
    deployment.activation_key = "kMxfp8Dynamic";
    CHECK(answer(deployment) == "CPU/CPUExpertsMxfp4");
  }
  SECTION("a variable that is no integer is a ValueError when it is read, and only then") {
    CHECK(answer(with_env(on("SM100"), "VLLM_MXFP4_USE_MARLIN", "yes")) == "ValueError");
    CHECK(answer(with_env(on("SM100"), "VLLM_BATCH_INVARIANT", "yes")) == "ValueError");
    CHECK(answer(with_env(on("SM100", "triton"), "VLLM_MXFP4_USE_MARLIN", "yes")) == "TRITON/OAITritonMxfp4ExpertsMonolithic");
  }
  SECTION("the two backends of other activations are filtered out, the third fails with the engine's hint") {
    const Decision decision = select_texts(on("gfx950", "aiter"));
    REQUIRE(decision.refusal);
    CHECK(decision.trace.back().kernel_class == "AiterExperts");
    CHECK(decision.trace.back().verdict.code == "device+aiter_hint");
  }
  SECTION("a key whose dtype has no text raises KeyError in the check") {
    Deployment deployment = on("SM100");
    deployment.activation_key = "kInt4Static";
    for (const Candidate& candidate : support(mx::deployment::kVllm2026_05, "mxfp4", deployment)) {
      if (candidate.backend == "TRITON") CHECK(candidate.verdict.code == "exc:KeyError");
    }
  }
}

TEST_CASE("a deployment that cannot exist is a usage error") {
  const auto message = [](const std::function<void(Deployment&)>& change) {
    Deployment deployment = on("SM100");
    change(deployment);
    return message_of(mx::ErrorCode::usage, [&] { select(mx::deployment::kVllm2026_05, "mxfp4", deployment); });
  };
  CHECK(says(message([](Deployment& d) { d.layer.activation = "SWIGLU"; }), "did you mean"));
  CHECK(says(message([](Deployment& d) { d.layer.routing_method = "Renormalise"; }), "did you mean Renormalize"));
  CHECK(says(message([](Deployment& d) { d.layer.in_dtype = "bf16"; }), "unknown dtype 'bf16'"));
  CHECK(says(message([](Deployment& d) { d.layer.hidden = 0; }), "hidden is 0"));
  CHECK(says(message([](Deployment& d) { d.layer.hidden = INT64_MAX; }), "hidden is"));
  CHECK(says(message([](Deployment& d) { d.layer.intermediate_per_partition = -5; }), "intermediate_per_partition is -5"));
  CHECK(says(message([](Deployment& d) { d.layer.num_experts = 0; }), "num_experts is 0"));
  CHECK(says(message([](Deployment& d) { d.activation_key = "mxfp8"; }), "unknown quantization key 'mxfp8'"));
  CHECK(says(message([](Deployment& d) { d.quantization_override = "mxfp9"; }), "did you mean mxfp"));
  CHECK(says(message([](Deployment& d) { d.parallel.all2all_backend = "none"; }), "unknown all2all backend 'none'"));
  CHECK(says(message_of(mx::ErrorCode::usage,
                        [] {
                          round_up(mxfp4_tables(mx::deployment::kVllm2026_05), "MARLYN", on("SM100"), {1, 1});
                        }),
             "did you mean MARLIN"));
  CHECK(says(message_of(mx::ErrorCode::usage, [] { activation_key(mxfp4_tables(mx::deployment::kVllm2026_05), "AITER"); }), "unknown backend"));
  CHECK(says(message_of(mx::ErrorCode::usage,
                        [] {
                          round_up(mxfp4_tables(mx::deployment::kVllm2026_05), "MARLIN", on("SM100"), {0, 1});
                        }),
             "size 0"));
}

TEST_CASE("another table is another oracle") {
  constexpr std::array<std::string_view, 2> kMarlinFirst = {"MARLIN", "TRITON"};
  OracleTables tables = mxfp4_tables(mx::deployment::kVllm2026_05);
  tables.priority = kMarlinFirst;
  const Decision decision = select(tables, on("SM100"));
  REQUIRE(decision.choice);
  CHECK(decision.choice->backend == "MARLIN");
  CHECK(decision.trace.size() == 1);
}
