// Sizes of the weights that a backend's converter makes.

#include <string>
#include <variant>

#include "model/audit/placement.hpp"
#include "tests/catch.hpp"

using namespace mx::audit;
using namespace mx::deployment;
using namespace mx::engine;

namespace {

struct Weights {
  const char* oracle;
  const char* key;
  bool gated;
};
constexpr Weights kNvfp4{"nvfp4", "kNvfp4Static", true};
constexpr Weights kNvfp4NotGated{"nvfp4", "kNvfp4Static", false};
constexpr Weights kTensor{"fp8", "kFp8StaticTensorSym", true};
constexpr Weights kTensorNotGated{"fp8", "kFp8StaticTensorSym", false};
constexpr Weights kBlock{"fp8", "kFp8Static128BlockSym", true};

std::string prepared(const Weights& weights, const char* backend, const RoundedSizes& sizes) {
  LayerConfig layer{.num_experts = 32, .experts_per_token = 4, .hidden = sizes.hidden, .intermediate_per_partition = sizes.intermediate};
  layer.is_act_and_mul = weights.gated;
  Deployment deployment = deployment_on(platform_named("SM100"), {}, layer);
  deployment.weight_key = weights.key;
  const Answer<RoundedSizes> answer = prepared_sizes(tables_of(mx::deployment::kVllm2026_05, weights.oracle), deployment, backend, sizes);
  if (const auto* refusal = std::get_if<Refusal>(&answer)) return refusal->error_type + ": " + refusal->text;
  const auto& padded = std::get<RoundedSizes>(answer);
  return std::to_string(padded.hidden) + " x " + std::to_string(padded.intermediate);
}

}  // namespace

TEST_CASE("a converter's padding is seen by the deployment") {
  CHECK(prepared(kNvfp4, "FLASHINFER_TRTLLM", {2880, 1441}) == "3072 x 1456");
  CHECK(prepared(kNvfp4NotGated, "FLASHINFER_TRTLLM", {2880, 1441}) == "3072 x 1536");
  for (const char* backend : {"FLASHINFER_CUTLASS", "FLASHINFER_CUTEDSL", "FLASHINFER_CUTEDSL_BATCHED", "FLASHINFER_B12X", "VLLM_CUTLASS"}) {
    CHECK(prepared(kNvfp4NotGated, backend, {2880, 1441}) == "2880 x 1536");
    CHECK(prepared(kNvfp4, backend, {2880, 1472}) == "2880 x 1472");
    CHECK(prepared(kNvfp4, backend, {2880, 1440}) ==
          "NotImplementedError: 2I = 2880 is not a multiple of 128 (the next is 2944): gate and up together are not padded");
  }
  for (const char* backend : {"FLASHINFER_TRTLLM", "FLASHINFER_CUTLASS"}) {
    CHECK(prepared(kTensor, backend, {2880, 1441}) == "2880 x 1456");
    CHECK(prepared(kTensorNotGated, backend, {2880, 1441}) == "2880 x 1536");
    CHECK(prepared(kBlock, backend, {2880, 1441}) == "2880 x 1441");
  }
  CHECK(prepared(kNvfp4, "MARLIN", {2881, 1441}) == "2881 x 1441");
  CHECK(prepared(kTensor, "TRITON", {2881, 1441}) == "2881 x 1441");
}
