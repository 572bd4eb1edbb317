// The weights' memory of a choice, held to shapes that the converters' documents give and to bytes counted here.

#include "sim/ranks/weights_memory.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

#include "model/deployment/models.hpp"
#include "model/deployment/vocabulary.hpp"
#include "tests/catch.hpp"

using namespace mx;
using namespace mx::deployment;
using sim::TensorMemory;
using sim::WeightsMemory;

namespace {

using Shape = std::vector<std::int64_t>;

struct Layer {
  std::string_view oracle;
  std::string_view platform;
  std::string_view weights;
  std::string_view activations;
  std::string_view activation;
  std::int64_t hidden;
  std::int64_t intermediate;
  bool bias;
};

WeightsMemory memory_of(Engine engine, const Layer& layer, const std::vector<std::string>& libraries = {}, int dp = 1) {
  deployment::LayerConfig config{.num_experts = 8, .experts_per_token = 2, .hidden = layer.hidden, .intermediate_per_partition = layer.intermediate};
  config.activation = layer.activation;
  config.has_bias = layer.bias;
  deployment::Deployment deployment = deployment::deployment_on(deployment::platform_named(layer.platform), {}, config);
  deployment.weight_key = layer.weights;
  deployment.activation_key = layer.activations;
  if (dp > 1) deployment.parallel = {.dp = dp, .enable_expert_parallel = true};
  const engine::Decision decision = engine::select(engine, layer.oracle, deployment);
  REQUIRE(decision.choice);
  return sim::weights_memory(engine, layer.oracle, deployment, *decision.choice, libraries);
}

const TensorMemory& tensor(const WeightsMemory& memory, std::string_view name) {
  for (const TensorMemory& one : memory.tensors) {
    if (one.tensor == name) return one;
  }
  FAIL("no tensor " << name);
  return memory.tensors.front();
}

constexpr Layer kGptOss{"mxfp4", "SM100", "kMxfp4Static", "None", "SWIGLUOAI", 2880, 2880, true};

}  // namespace

TEST_CASE("TRT-LLM's MXFP4 holds hidden sizes rounded to 256 and I to 256 in May and to 128 since August") {
  for (const auto& [engine, padded] :
       {std::pair{kVllm2026_05, std::int64_t{3072}}, {kVllm2026_08, std::int64_t{2944}}, {kVllm2026_11, std::int64_t{2944}}}) {
    INFO(name_of(engine));
    const WeightsMemory memory = memory_of(engine, kGptOss);
    CHECK(memory.backend == "FLASHINFER_TRTLLM_MXFP4_BF16");
    REQUIRE(memory.is_known());
    constexpr std::int64_t kHidden = 3072, kExperts = 8;
    CHECK(tensor(memory, "w13_weight").shape == Shape{kExperts, 2 * padded, kHidden / 2});
    CHECK(tensor(memory, "w13_bias").dtype == "F32");
    CHECK(tensor(memory, "w2_bias").shape == Shape{kExperts, kHidden});
    const std::int64_t elements = 3 * padded * kHidden;
    CHECK(memory.bytes() == kExperts * (elements / 2 + elements / 32 + 4 * (2 * padded + kHidden)));
  }
}

TEST_CASE("experts of the rank with the most of them count") {
  CHECK(memory_of(kVllm2026_08, kGptOss, {}, 4).tensors.front().shape.front() == 2);
  CHECK(memory_of(kVllm2026_08, kGptOss, {}, 3).tensors.front().shape.front() == 3);
}

TEST_CASE("Marlin pads I of NVFP4 to a tile since August") {
  // H 256, I 96: 6 bytes of 16 elements, 128 of them instead of 96; 4 bits an element, a byte for 16, a global scale an expert.
  constexpr Layer kLayer{"nvfp4", "SM90", "kNvfp4Static", "kNvfp4Dynamic", "SILU", 256, 96, false};
  const auto bytes = [](std::int64_t intermediate) {
    const std::int64_t elements = std::int64_t{3} * 256 * intermediate;
    return 8 * (elements / 2 + elements / 16 + 8);
  };
  const WeightsMemory may = memory_of(kVllm2026_05, kLayer), august = memory_of(kVllm2026_08, kLayer);
  CHECK(may.backend == "MARLIN");
  CHECK(may.bytes() == bytes(96));
  CHECK(august.bytes() == bytes(128));
  CHECK(may.conversion.row != august.conversion.row);
}

TEST_CASE("W4A8 keeps a channel scale a row beside group scales") {
  constexpr Layer kLayer{"w4a8", "SM90", "kInt4Static", "kFp8DynamicTokenSym", "SILU", 512, 256, false};
  const WeightsMemory memory = memory_of(kVllm2026_08, kLayer);
  REQUIRE(memory.is_known());
  CHECK(memory.backend == "CUTLASS");
  CHECK(memory.tensors.size() == 6);
  CHECK(tensor(memory, "w13_channel_scale").bytes == 8 * 2 * 256 * 4);
  CHECK(tensor(memory, "w2_channel_scale").bytes == 8 * 512 * 4);
}

TEST_CASE("the release of a library that a release of the engine asks for decides, and so does the later version's") {
  constexpr Layer kLayer{"mxfp4", "SM90", "kMxfp4Static", "None", "SWIGLUOAI", 256, 256, true};
  deployment::LayerConfig config{.num_experts = 8, .experts_per_token = 2, .hidden = 256, .intermediate_per_partition = 256};
  config.activation = "SWIGLUOAI";
  config.has_bias = true;
  const deployment::Deployment deployment = deployment::deployment_on(deployment::platform_named("SM90"), {}, config);
  const engine::Choice choice{"FLASHINFER_CUTLASS_MXFP4_BF16", "FlashInferExperts", 256, 256};
  const std::vector<std::string> later{"flashinfer=0.6.18"};
  const WeightsMemory own = sim::weights_memory(kVllm2026_08, kLayer.oracle, deployment, choice);
  const WeightsMemory asked = sim::weights_memory(kVllm2026_08, kLayer.oracle, deployment, choice, later);
  const WeightsMemory november = sim::weights_memory(kVllm2026_11, kLayer.oracle, deployment, choice);
  REQUIRE(own.is_known());
  CHECK(own.tensors != asked.tensors);
  CHECK(asked.tensors == november.tensors);
}

TEST_CASE("FP8 blocks that a rank's share cuts are finer ones since August: a scale for 64 x 64") {
  constexpr Layer kLayer{"fp8", "SM90", "kFp8Static128BlockSym", "kFp8Dynamic128Sym", "SILU", 256, 192, false};
  const WeightsMemory memory = memory_of(kVllm2026_08, kLayer);
  CHECK(memory.backend == "TRITON");
  REQUIRE(memory.is_known());
  CHECK(memory.bytes() == 8 * (2 * 192 * 256 + 192 * 256 + 4 * (6 * 4 + 4 * 3)));
}

TEST_CASE("what is not known says why") {
  constexpr Layer kTriton{"mxfp4", "SM90", "kMxfp4Static", "None", "SWIGLUOAI", 2880, 2880, true};
  const WeightsMemory changed = memory_of(kVllm2026_11, kTriton);
  CHECK(changed.backend == "TRITON");
  CHECK(changed.missing == "run at vllm@2026-08, changed since: layouts of triton_kernels 3.8");
  CHECK(changed.tensors.empty());
  constexpr Layer kWide{"fp8", "SM90", "kFp8Static128BlockSym", "kFp8Dynamic128Sym", "SILU", 256, 192, false};
  CHECK(memory_of(kVllm2026_05, kWide).missing == "the engine raises ValueError as it allocates");
  constexpr Layer kPlain{"unquantized", "SM90", "None", "None", "SILU", 256, 256, false};
  CHECK(memory_of(kVllm2026_08, kPlain).missing == "no layout");
}
