// FP8 blocks that the ranks' shares cut: the engine asks with the key of finer ones. Qwen3-30B-A3B-FP8 and MiniMax-M2.5 as vllm 0.29.0 and 0.33.0
// answered from their configurations (golden/words); vllm 0.22.1 raises.

#include <string>

#include "tests/catch.hpp"
#include "verbs/select/answer.hpp"

namespace {

using mx::verbs::SelectAnswer;

/// A layer of FP8 blocks without a bias on ranks that cut it.
SelectAnswer asked(const std::string& platform, int tp, int hidden, int intermediate, mx::deployment::Engine engine,
                   const std::string& backend = "auto") {
  const std::string text = "platform \"" + platform + "\"\noracle fp8\nbackend " + backend + "\nparallel { tp " + std::to_string(tp) +
                           " }\nlayer { experts 128 top_k 8 hidden " + std::to_string(hidden) + " intermediate " + std::to_string(intermediate) +
                           " activation SILU routing RenormalizeNaive bias false }\n";
  return mx::verbs::ask(mx::support::parse_deployment_file(text, "blocks", {}, engine), false);
}

}  // namespace

TEST_CASE("blocks that shares cut: finer ones from the sizes, by 0.29.0 and 0.33.0, and 0.22.1 raises") {
  for (const mx::deployment::Engine engine : {mx::deployment::kVllm2026_08, mx::deployment::kVllm2026_11}) {
    INFO(mx::deployment::name_of(engine));
    const SelectAnswer qwen = asked("H100", 4, 2048, 768, engine);
    CHECK(qwen.deployment.weight_key == "FP8:float32:64,64");
    REQUIRE(qwen.resolution.decision.choice);
    CHECK(qwen.resolution.decision.choice->backend == "TRITON");
    CHECK(qwen.resolution.decision.choice->kernel_class == "TritonExperts");
    CHECK(qwen.resolution.decision.choice->rounded_intermediate == 192);
    CHECK_FALSE(qwen.resolution.failure);
    const SelectAnswer minimax = asked("B200", 8, 3072, 1536, engine);
    CHECK(minimax.deployment.weight_key == "FP8:float32:64,64");
    CHECK(minimax.resolution.decision.choice->kernel_class == "TritonExperts");
    // Whole blocks are kept.
    CHECK(asked("H100", 2, 2048, 768, engine).deployment.weight_key == "kFp8Static128BlockSym");
    // No divisor of 32 or more: the engine's error, with the numbers that say why.
    const SelectAnswer none = asked("H100", 1, 2048, 760, engine);
    CHECK(none.deployment.weight_key == "kFp8Static128BlockSym");
    REQUIRE(none.resolution.failure);
    for (const char* const part : {"760", "128", "divisor 8"}) CHECK(none.resolution.failure->refusal.text.find(part) != std::string::npos);
  }
  const SelectAnswer may = asked("H100", 4, 2048, 768, mx::deployment::kVllm2026_05);
  CHECK(may.deployment.weight_key == "kFp8Static128BlockSym");
  REQUIRE(may.resolution.failure);
  CHECK(may.resolution.failure->refusal.error_type == "ValueError");
}

TEST_CASE("blocks that shares cut: a wish that takes no finer ones gets whole ones by padding, since 2026-11") {
  const SelectAnswer padded = asked("H100", 4, 2048, 768, mx::deployment::kVllm2026_11, "marlin");
  CHECK(padded.deployment.weight_key == "kFp8Static128BlockSym");
  CHECK(padded.deployment.layer.intermediate_per_partition == 256);
}
