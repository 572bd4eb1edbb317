// A layer's sizes between the choice and the kernel.

#include "model/engine/vllm/setup/sizes.hpp"

#include <string>
#include <variant>

#include "tests/catch.hpp"
#include "tests/engine/vllm/expect_error.hpp"

using namespace mx::deployment;
using namespace mx::engine;
using mx::tests::message_of;
using mx::tests::says;

namespace {

Deployment deployment(std::string_view platform, const ParallelRequest& parallel, std::int64_t hidden, const char* dtype = "bfloat16") {
  LayerConfig layer{.num_experts = 32, .experts_per_token = 4, .hidden = hidden, .intermediate_per_partition = 1440};
  layer.in_dtype = dtype;
  return deployment_on(platform_named(platform), parallel, layer);
}

std::int64_t allocated_hidden(std::string_view backend, const Deployment& of) {
  return std::get<RoundedSizes>(allocated_sizes(mxfp4_tables(mx::deployment::kVllm2026_05), backend, of)).hidden;
}

std::string text(const Answer<RoundedSizes>& answer) {
  if (const auto* refusal = std::get_if<Refusal>(&answer)) return refusal->error_type;
  const auto& sizes = std::get<RoundedSizes>(answer);
  return std::to_string(sizes.hidden) + " x " + std::to_string(sizes.intermediate);
}

}  // namespace

TEST_CASE("the exchange rounds before the backend does") {
  const ParallelRequest high_throughput{.dp = 2, .enable_expert_parallel = true, .all2all_backend = "deepep_high_throughput"};
  const ParallelRequest low_latency{.dp = 2, .enable_expert_parallel = true, .all2all_backend = "deepep_low_latency"};
  CHECK(allocated_hidden("TRITON", deployment("SM90", {}, 2880)) == 2880);
  CHECK(allocated_hidden("TRITON", deployment("SM90", high_throughput, 2880)) == 3072);
  CHECK(allocated_hidden("TRITON", deployment("SM90", high_throughput, 2880, "float32")) == 2944);
  CHECK(allocated_hidden("MARLIN", deployment("SM90", high_throughput, 2880, "float32")) == 3072);
  CHECK(allocated_hidden("BATCHED_MARLIN", deployment("SM90", low_latency, 2100)) == 2560);
  CHECK(text(allocated_sizes(mxfp4_tables(mx::deployment::kVllm2026_05), "TRITON", deployment("SM90", {}, 2880))) == "2880 x 1472");
  CHECK(text(allocated_sizes(mxfp4_tables(mx::deployment::kVllm2026_05), "BATCHED_MARLIN", deployment("SM90", low_latency, 9000))) == "ValueError");
}
