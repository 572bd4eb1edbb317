// Deployments held against the exact layer, which model/moe computes from the checkpoint without ranks, exchanges or packed tensors. What a fault
// breaks is far from it; what rounding moves is not.

#include <rapidcheck.h>

#include <bit>
#include <cmath>

#include "model/moe/layer.hpp"
#include "props/layout/generators.hpp"
#include "props/moe/generators.hpp"
#include "props/sim/laws.hpp"
#include "sim/ranks/deployment.hpp"

namespace mx::props {
namespace {

/// Powers of signal over noise that rounding to bf16 and to MXFP8 keep by far; a lost shard, slot, bias or constant does not.
constexpr double kBf16 = 1000;
constexpr double kMxfp8 = 50;

constexpr int kCases = 6;  // a case is a whole deployment

constexpr std::uint32_t kOne = 0x3F800000U;
constexpr moe::ActivationConstants kOai{0x3FD9DB23U, kOne, 0x40E00000U, 0};

struct Case {
  const char* platform;
  const char* backend;
  const char* kernel_class;
  deployment::ParallelRequest parallel;
  layout::Sizes sizes;
  moe::ActivationConstants constants = kOai;
};

/// Biases of about the size of what they are added to: 2 to 4, and 128 to 256 behind the second product.
void enlarge_biases(layout::CanonicalLayer& layer) {
  const auto enlarge = [](std::vector<std::uint8_t>& bias, std::uint8_t exponent) {
    for (std::size_t high = 1; high < bias.size(); high += 2) bias[high] = static_cast<std::uint8_t>((bias[high] & 0x80U) | exponent);
  };
  enlarge(layer[layout::Role::w13_bias], 0x40);
  enlarge(layer[layout::Role::w2_bias], 0x43);
}

double number(std::uint32_t f32) { return static_cast<double>(std::bit_cast<float>(f32)); }

/// Power of the exact layer's outputs over that of the deployment's differences; 0 when a result is no number.
double signal_over_noise(const Case& test) {
  sim::ModelLayer layer{random_moe_layer(test.sizes), {"SWIGLUOAI", test.constants}, {kOne, kOne}};
  enlarge_biases(layer.experts);
  constexpr std::int64_t kTokens = 3;
  const sim::SampleTokens tokens{random_tokens(kTokens * test.sizes.hidden), random_slots(kTokens, test.sizes.experts, 2)};
  deployment::LayerConfig config{};
  config.num_experts = test.sizes.experts;
  config.experts_per_token = 2;
  config.hidden = test.sizes.hidden;
  config.intermediate_per_partition = test.sizes.intermediate / deployment::tensor_ranks(test.parallel);
  config.routing_method = "RenormalizeNaive";
  const sim::SimulationRequest request{"mxfp4", deployment::deployment_on(deployment::platform_named(test.platform), test.parallel, config),
                                       test.backend, test.kernel_class, deployment::kVllm2026_05};
  const sim::Simulation simulation = sim::simulate(request, layer, tokens, sim::run_reference(request, layer, tokens, {}), sim::in_process());
  RC_ASSERT(simulation.result.has_value());
  const moe::RunConfig exact{Contract::exact, {test.constants.alpha, test.constants.beta, test.constants.limit}, true};
  const std::vector<std::uint32_t> want = moe::run_experts(*moe::canonical_experts(layer.experts), exact, tokens.x, test.sizes.hidden, tokens.slots);
  double signal = 0;
  double noise = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    const double difference = number(simulation.result->out[i]) - number(want[i]);
    if (!std::isfinite(difference)) return 0;
    signal += number(want[i]) * number(want[i]);
    noise += difference * difference;
  }
  return noise > 0 ? signal / noise : HUGE_VAL;
}

}  // namespace

Outcome law_shards(const Law& law) {
  return check_property(
      law,
      [] {
        const auto ranks = static_cast<int>(pick(2, 3));
        deployment::ParallelRequest parallel;
        (pick(0, 1) == 0 ? parallel.tp : parallel.dp) = ranks;
        // A rank's part is no multiple of what its buffer is rounded up to.
        const std::int64_t intermediate = std::int64_t{ranks} * 32 * (2 * pick(0, 1) + 1);
        RC_ASSERT(signal_over_noise({"SM90", "TRITON", "OAITritonExperts", parallel, {2, intermediate, 64}}) > kBf16);
      },
      3 * kCases);  // not every draw has ranks that share w2's bias
}

Outcome law_expert_ranks(const Law& law) {
  return check_property(
      law,
      [] {
        deployment::ParallelRequest parallel;
        (pick(0, 1) == 0 ? parallel.tp : parallel.dp) = 2;
        parallel.enable_expert_parallel = true;
        const layout::Sizes sizes{2 * pick(1, 2), 64, 64};
        RC_ASSERT(signal_over_noise({"SM90", "FLASHINFER_CUTLASS_MXFP4_BF16", "FlashInferExperts", parallel, sizes}) > kBf16);
      },
      kCases);
}

Outcome law_dispatched_scales(const Law& law) {
  return check_property(
      law,
      [] {
        deployment::ParallelRequest parallel;
        parallel.tp = static_cast<int>(pick(1, 2));
        RC_ASSERT(signal_over_noise({"SM100", "FLASHINFER_CUTLASS_MXFP4_MXFP8", "FlashInferExperts", parallel, {2, 64, 64 * pick(1, 2)}}) > kMxfp8);
      },
      kCases);
}

Outcome law_kernel_order(const Law& law) {
  return check_property(
      law,
      [] {
        RC_ASSERT(signal_over_noise({"SM90", "TRITON", "OAITritonExperts", {}, {2, 32 * pick(1, 2), 64}}) > kBf16);
      },
      kCases);
}

Outcome law_constants(const Law& law) {
  return check_property(
      law,
      [] {
        constexpr std::uint32_t kAlphas[] = {0x3F000000U, 0x40400000U};  // 0.5, 3
        constexpr std::uint32_t kLimits[] = {0x3E800000U, 0x3F000000U};  // 0.25, 0.5
        moe::ActivationConstants constants = kOai;
        const bool alpha = pick(0, 1) == 0;
        (alpha ? constants.alpha : constants.limit) = alpha ? kAlphas[pick(0, 1)] : kLimits[pick(0, 1)];
        RC_ASSERT(signal_over_noise({"SM100", "FLASHINFER_TRTLLM_MXFP4_BF16", "TrtLlmMxfp4ExpertsModular", {}, {2, 64, 64}, constants}) > kBf16);
      },
      2 * kCases);
}

}  // namespace mx::props
