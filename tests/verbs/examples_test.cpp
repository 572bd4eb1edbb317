// The example deployments: every file in docs/examples is read and chooses what is said here, worked out by hand from the engine's lists.

#include <filesystem>
#include <set>
#include <string>

#include "model/engine/vllm/select.hpp"
#include "support/deployment_file.hpp"
#include "tests/catch.hpp"

namespace {

struct Example {
  const char* file;
  const char* oracle;
  const char* backend;
  const char* kernel_class;
  std::int64_t hidden;        ///< after rounding, where the oracle rounds
  std::int64_t intermediate;  ///< of a rank, likewise
};

const Example kExamples[] = {
    {"gpt-oss-b200", "mxfp4", "FLASHINFER_TRTLLM_MXFP4_BF16", "TrtLlmMxfp4ExpertsMonolithic", 3072, 1536},
    {"gpt-oss-b200-deepep", "mxfp4", "BATCHED_MARLIN", "BatchedMarlinExperts", 3072, 2944},
    {"gpt-oss-cpu", "mxfp4", "CPU", "CPUExpertsMxfp4", 2880, 2880},
    {"gpt-oss-h100", "mxfp4", "TRITON", "OAITritonMxfp4ExpertsMonolithic", 2880, 768},
    {"gpt-oss-mi300x", "mxfp4", "TRITON", "OAITritonMxfp4ExpertsMonolithic", 3072, 512},
    {"gpt-oss-mi355x", "mxfp4", "AITER_MXFP4_BF16", "AiterExperts", 3072, 3072},
    {"gpt-oss-rtx5090", "mxfp4", "MARLIN", "MarlinExperts", 3072, 2944},
    {"gpt-oss-xpu", "mxfp4", "XPU", "XPUExpertsMXFp4", 2880, 1472},
    {"sim-b200", "mxfp4", "FLASHINFER_TRTLLM_MXFP4_BF16", "TrtLlmMxfp4ExpertsMonolithic", 256, 256},
    {"qwen3-mxfp4-b200", "mxfp4", "FLASHINFER_TRTLLM_MXFP4_BF16", "TrtLlmMxfp4ExpertsMonolithic", 2048, 768},
    {"sim-b200-dp4", "mxfp4", "FLASHINFER_TRTLLM_MXFP4_BF16", "TrtLlmMxfp4ExpertsModular", 256, 256},
    {"sim-b200-dp2", "mxfp4", "FLASHINFER_TRTLLM_MXFP4_BF16", "TrtLlmMxfp4ExpertsModular", 256, 256},
    {"deepseek-v4-b200", "mxfp4_deepseek_v4", "FLASHINFER_TRTLLM_MXFP4_MXFP8", "TrtLlmMxfp4ExpertsModular", 4096, 2048},
    {"deepseek-v4-h100", "mxfp4_deepseek_v4", "MARLIN", "MarlinExperts", 7168, 3072},
    {"deepseek-v4-mi355x", "mxfp4_deepseek_v4", "TRITON_UNFUSED", "UnfusedOAITritonExperts", 7168, 3072},
    {"deepseek-v3-b200-nvfp4", "nvfp4", "FLASHINFER_TRTLLM", "TrtLlmNvFp4ExpertsModular", 7168, 2048},
    {"llama4-scout-b200-nvfp4", "nvfp4", "FLASHINFER_TRTLLM", "TrtLlmNvFp4ExpertsMonolithic", 5120, 2048},
    {"nemotron-nano-b200-nvfp4", "nvfp4", "FLASHINFER_TRTLLM", "TrtLlmNvFp4ExpertsMonolithic", 2688, 1856},
    {"qwen3-rtx-pro-nvfp4", "nvfp4", "FLASHINFER_CUTLASS", "FlashInferExperts", 2048, 768},
    {"deepseek-v3-h200", "fp8", "FLASHINFER_CUTLASS", "FlashInferExperts", 7168, 2048},
    {"deepseek-v3-mi300x", "fp8", "AITER", "AiterExperts", 7168, 256},
    {"llama4-maverick-h200-fp8", "fp8", "VLLM_CUTLASS", "TritonOrCutlassExperts", 5120, 1024},
    {"mixtral-l40s-fp8", "fp8", "TRITON", "TritonExperts", 4096, 7168},
    {"qwen3-h100-fp8", "fp8", "FLASHINFER_CUTLASS", "FlashInferExperts", 4096, 1536},
    {"qwen3-b200-mxfp8", "mxfp8", "FLASHINFER_TRTLLM", "TrtLlmFp8ExpertsMonolithic", 2048, 768},
    {"mixtral-h100-w4a8", "w4a8", "CUTLASS", "CutlassExpertsW4A8Fp8", 4096, 7168},
};

std::filesystem::path examples() { return std::filesystem::path(MXACT_SOURCE_DIR) / "docs" / "examples"; }

}  // namespace

TEST_CASE("every example deployment chooses what is said of it") {
  for (const Example& example : kExamples) {
    INFO(example.file);
    const mx::support::DeploymentFile file = mx::support::load_deployment_file(examples() / (std::string(example.file) + ".info"));
    CHECK(file.oracle == example.oracle);
    const mx::engine::Decision decision = mx::engine::select(mx::deployment::kVllm2026_05, file.oracle, file.deployment);
    REQUIRE(decision.choice);
    CHECK(decision.choice->backend == example.backend);
    CHECK(decision.choice->kernel_class == example.kernel_class);
    CHECK(decision.choice->rounded_hidden == example.hidden);
    CHECK(decision.choice->rounded_intermediate == example.intermediate);
  }
}

TEST_CASE("no example is left out") {
  std::set<std::string> here, said;
  for (const auto& entry : std::filesystem::directory_iterator(examples())) {
    if (entry.path().extension() == ".info") here.insert(entry.path().filename().string());
  }
  for (const Example& example : kExamples) said.insert(std::string(example.file) + ".info");
  CHECK(here == said);
}
