// Each planted fault of a deployment is caught, and the first broken link is the one that it is in.

#include "model/fault.hpp"
#include "sim/execute/sample_layer.hpp"
#include "sim/ranks/deployment.hpp"
#include "tests/catch.hpp"
#include "tests/sim/ranks/semantic_laws.hpp"

namespace {

using namespace mx;
using namespace mx::sim;
using namespace mx::tests;
using fault::Fault;

struct FaultCase {
  Fault fault;
  const char* platform;
  const char* backend;
  const char* kernel_class;
  deployment::ParallelRequest parallel;
  std::uint32_t alpha;
  std::uint32_t limit;
  Link link;
  const char* text;  ///< part of the first line
};

constexpr std::uint32_t kAlpha = 0x3FD9DB23U;
constexpr std::uint32_t kLimit = 0x40E00000U;

const FaultCase kCases[] = {
    {Fault::sim_shard_from_padded,
     "SM90",
     "TRITON",
     "OAITritonExperts",
     {.tp = 2},
     kAlpha,
     kLimit,
     Link::load,
     "intermediate rows 32..63 of 64 are on no rank"},
    {Fault::sim_bias_on_every_rank, "SM90", "TRITON", "OAITritonExperts", {.tp = 2}, kAlpha, kLimit, Link::load, "the bias of w2 is on 2 of 2"},
    {Fault::sim_expert_offset_twice,
     "SM90",
     "FLASHINFER_CUTLASS_MXFP4_BF16",
     "FlashInferExperts",
     {.dp = 2, .enable_expert_parallel = true},
     kAlpha,
     kLimit,
     Link::experts,
     "rank 1: the kernel takes expert 2 to be elsewhere, the loader put it at local 0"},
    {Fault::sim_swaps_gate_and_up, "SM90", "TRITON", "OAITritonExperts", {}, kAlpha, kLimit, Link::convert, "the kernel reads another w13 gate row"},
    {Fault::sim_scales_stay_linear,
     "SM100",
     "FLASHINFER_CUTLASS_MXFP4_MXFP8",
     "FlashInferExperts",
     {},
     kAlpha,
     kLimit,
     Link::dispatch,
     "scales arrive row-major, the kernel reads the 128x4 tile"},
    {Fault::sim_drops_alpha,
     "SM100",
     "FLASHINFER_TRTLLM_MXFP4_BF16",
     "TrtLlmMxfp4ExpertsModular",
     {},
     0x3F000000U,
     kLimit,
     Link::activation,
     "alpha 0x3f000000 of the model is ignored"},
    {Fault::sim_ignores_limit,
     "SM100",
     "FLASHINFER_TRTLLM_MXFP4_BF16",
     "TrtLlmMxfp4ExpertsModular",
     {},
     kAlpha,
     0x40A00000U,
     Link::activation,
     "limit 0x40a00000 of the model is ignored"},
    {Fault::sim_drops_rank_sum,
     "SM90",
     "TRITON",
     "OAITritonExperts",
     {.tp = 2},
     kAlpha,
     kLimit,
     Link::combine,
     "further apart than rounding explains"},
    {Fault::sim_adds_rank_sum_twice,
     "SM90",
     "TRITON",
     "OAITritonExperts",
     {.tp = 2},
     kAlpha,
     kLimit,
     Link::combine,
     "further apart than rounding explains"},
    {Fault::sim_drops_rank_sum,
     "SM90",
     "FLASHINFER_CUTLASS_MXFP4_BF16",
     "FlashInferExperts",
     {.dp = 2, .enable_expert_parallel = true},
     kAlpha,
     kLimit,
     Link::combine,
     "further apart than rounding explains"},
};

SimulationResult run(const FaultCase& test) {
  const layout::Sizes sizes{4, 64, 64, 32};
  const ModelLayer layer{sample_layer(sizes, layout::SourceOrder::gpt_oss, true, 3), {"SWIGLUOAI", {test.alpha, 0x3F800000U, test.limit, 0}}, {}};
  const SampleTokens tokens = sample_tokens(8, sizes.hidden, sizes.experts, 2, 3);
  deployment::LayerConfig config{};
  config.num_experts = sizes.experts;
  config.experts_per_token = 2;
  config.hidden = sizes.hidden;
  config.intermediate_per_partition = sizes.intermediate / deployment::tensor_ranks(test.parallel);
  const SimulationRequest request{"mxfp4", deployment::deployment_on(deployment::platform_named(test.platform), test.parallel, config), test.backend,
                                  test.kernel_class};
  Simulation simulation = simulate(request, layer, tokens, run_reference(request, layer, tokens, {}), in_process());
  REQUIRE(simulation.result.has_value());
  return *simulation.result;
}

}  // namespace

TEST_CASE("a planted fault of each kind is caught, and the first line names its link") {
  for (const FaultCase& test : kCases) {
    INFO(static_cast<int>(test.fault) << " " << test.backend);
    fault::set_active(Fault::none);
    CHECK(run(test).broken() == nullptr);
    fault::set_active(test.fault);
    const SimulationResult result = run(test);
    fault::set_active(Fault::none);
    REQUIRE(result.broken() != nullptr);
    INFO(result.broken()->text);
    CHECK(result.broken()->link == test.link);
    CHECK(result.broken()->text.find(test.text) != std::string::npos);
  }
}

namespace {

/// What a law says of the first of some deployments that it does not hold for; empty: it holds for all.
std::string first_violation(LawAnswer (*law)(Draws&), int deployments) {
  Draws random(20266);
  for (int executed = 0; executed < deployments;) {
    const LawAnswer answer = law(random);
    executed += answer.compared > 0 ? 1 : 0;
    if (!answer.text.empty()) return answer.text;
  }
  return {};
}

struct BrokenLaw {
  Fault fault;
  LawAnswer (*law)(Draws&);
  const char* text;
};
const BrokenLaw kBrokenLaws[] = {
    {Fault::sim_drops_alpha, law_of_parameters, "alpha changes nothing"},
    {Fault::sim_ignores_limit, law_of_parameters, "limit changes nothing"},
    {Fault::router_tie_to_higher, law_of_routers, "the outputs are not those of the restated router"},
    {Fault::router_negative_is_zero, law_of_routers, "the outputs are not those of the restated router"},
    {Fault::router_weight_from_choice, law_of_routers, "the outputs are not those of the restated router"},
    {Fault::router_softmax_over_all, law_of_routers, "the outputs are not those of the restated router"},
    {Fault::router_factor_dropped, law_of_routers, "the outputs are not those of the restated router"},
};

}  // namespace

TEST_CASE("laws S1 and S2 over random deployments hold, and fall to planted faults of constants and routers") {
  constexpr int kDeployments = 40;
  for (const auto& law : {law_of_parameters, law_of_routers}) CHECK(first_violation(law, 3) == "");
  for (const BrokenLaw& broken : kBrokenLaws) {
    INFO(static_cast<int>(broken.fault));
    fault::set_active(broken.fault);
    const std::string text = first_violation(broken.law, kDeployments);
    fault::set_active(Fault::none);
    CHECK(text == broken.text);
  }
}
