// Every backend by name as a whole deployment: allocated, loaded, converted, executed from its packed tensors and held against one rank. The names
// are typed in; where a backend runs is searched, in the order of the places below.

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "sim/ranks/comparison.hpp"
#include "tests/catch.hpp"

namespace {

using namespace mx;
using namespace mx::sim;
using namespace mx::support;
using namespace mx::families;

struct OracleBackends {
  std::string oracle;
  std::string keys;  ///< lines of the deployment file
  std::vector<std::string> backends;
};

const std::string kTensor = "weight_key kFp8StaticTensorSym\nactivation_key kFp8StaticTensorSym\n";
const std::string kDynamicTensor = "weight_key kFp8StaticTensorSym\nactivation_key kFp8DynamicTensorSym\n";
const std::string kToken = "weight_key kFp8StaticChannelSym\nactivation_key kFp8DynamicTokenSym\n";

const OracleBackends kAll[] = {
    {"mxfp4",
     "",
     {"FLASHINFER_TRTLLM_MXFP4_MXFP8", "FLASHINFER_TRTLLM_MXFP4_BF16", "FLASHINFER_CUTLASS_MXFP4_MXFP8", "FLASHINFER_CUTLASS_MXFP4_BF16",
      "BATCHED_MARLIN", "MARLIN", "AITER_MXFP4_BF16", "AITER_MXFP4_FP8", "AITER_MXFP4_MXFP4", "TRITON", "TRITON_UNFUSED", "XPU", "CPU", "EMULATION",
      "HUMMING", "DEEPGEMM_MXFP4"}},
    {"nvfp4",
     "",
     {"FLASHINFER_TRTLLM", "FLASHINFER_CUTLASS", "FLASHINFER_CUTEDSL", "FLASHINFER_CUTEDSL_BATCHED", "FLASHINFER_B12X", "VLLM_CUTLASS", "MARLIN",
      "EMULATION"}},
    {"fp8", "", {"FLASHINFER_TRTLLM", "FLASHINFER_CUTLASS", "DEEPGEMM", "BATCHED_DEEPGEMM", "MARLIN", "TRITON", "BATCHED_TRITON", "AITER", "CPU"}},
    {"fp8", kTensor, {"FLASHINFER_TRTLLM", "FLASHINFER_CUTLASS", "MARLIN", "TRITON", "BATCHED_TRITON"}},
    {"fp8", kDynamicTensor, {"XPU"}},
    {"fp8", kToken, {"MARLIN", "TRITON", "BATCHED_TRITON", "AITER", "VLLM_CUTLASS", "BATCHED_VLLM_CUTLASS"}},
    {"mxfp8", "", {"FLASHINFER_TRTLLM", "MARLIN", "XPU"}},
    {"w4a8", "", {"CUTLASS"}},
};

const char* const kPlatforms[] = {"SM90", "SM100", "SM120", "gfx942", "gfx950", "XPU", "CPU"};
// SWIGLUOAI is gpt-oss's, whose rows of gate and up alternate as its kernels expect; other formats' checkpoints have SILU and halves.
const char* const kActivations[] = {"SWIGLUOAI bias true", "SILU bias false"};
const char* const kParallels[] = {"tp 1", "dp 2 expert_parallel true all2all deepep_low_latency"};
const char* const kKeys[] = {"", "activation_key kMxfp8Dynamic\n", "activation_key kMxfp4Dynamic\n", "activation_key kFp8StaticTensorSym\n"};

/// The first place where a class of the backend accepts it, as a scenario and the class.
struct Place {
  Scenario scenario;
  std::string kernel_class;
};

std::optional<Place> place_of(const OracleBackends& of, const std::string& backend) {
  for (const char* parallel : kParallels) {
    for (const char* platform : kPlatforms) {
      for (const char* activation : kActivations) {
        for (const char* key : kKeys) {
          if (of.oracle != "mxfp4" && activation == kActivations[0]) continue;
          if (of.oracle != "mxfp4" && *key != '\0') continue;
          const std::string text = std::string("platform ") + platform + "\noracle " + of.oracle + "\n" + of.keys + key + "parallel { " + parallel +
                                   " }\nlayer { experts 2 top_k 2 hidden 256 intermediate 256 routing Renormalize activation " + activation + " }\n" +
                                   "env { VLLM_ROCM_USE_AITER 1 }\n";
          const DeploymentFile file = parse_deployment_file(text, "test", {}, mx::deployment::kVllm2026_05);
          const Selected choice = selected(file.engine, file.oracle, file.deployment, backend);
          if (choice.answer != mx::audit::CellState::refused) return Place{make_scenario(file, {.tokens = 2}), choice.kernel_class};
        }
      }
    }
  }
  return std::nullopt;
}

}  // namespace

TEST_CASE("every backend executes: 16 of MXFP4, 8 of NVFP4, each of FP8 and MXFP8, W4A8") {
  for (const OracleBackends& of : kAll) {
    for (const std::string& backend : of.backends) {
      INFO(of.oracle << " " << of.keys << " " << backend);
      const std::optional<Place> place = place_of(of, backend);
      CHECK(place.has_value());
      if (!place) continue;
      const Scenario& scenario = place->scenario;
      const SimulationRequest request = request_of(scenario, scenario.deployment, backend, place->kernel_class);
      const sim::Reference reference = run_reference(request, scenario.layer, scenario.tokens, {});
      const Simulation simulation = simulate(request, scenario.layer, scenario.tokens, reference, in_process());
      INFO((simulation.refusal ? simulation.refusal->text : ""));
      REQUIRE(simulation.result.has_value());
      INFO((simulation.result->broken() != nullptr ? simulation.result->broken()->text : ""));
      // A row that reads no biases says so of a layer that has some.
      const bool leaves_out = scenario.layer.experts.has_bias() && reference.execution.row->bias == BiasEntry::dropped;
      CHECK((simulation.result->broken() != nullptr) == leaves_out);
      CHECK(simulation.result->quality.not_finite == 0);
      CHECK(simulation.result->quality.sqnr_db > 5);
    }
  }
}

TEST_CASE("the twins have the bits of the model in a whole deployment, and sample nothing") {
  for (const std::string backend : {"TRITON", "FLASHINFER_TRTLLM_MXFP4_MXFP8", "CPU"}) {
    INFO(backend);
    const OracleBackends of{"mxfp4", "", {}};
    std::optional<Place> place = place_of(of, backend);
    REQUIRE(place.has_value());
    Scenario& scenario = place->scenario;
    const Outputs sample{std::vector<std::int64_t>{0, 100}, std::vector<std::int64_t>{3, 200}};
    SimulationRequest request = request_of(scenario, scenario.deployment, backend, place->kernel_class);
    request.sums = SumsBy::twins;
    const sim::Reference quick = run_reference(request, scenario.layer, scenario.tokens, sample);
    CHECK_FALSE(quick.outputs.rows.has_value());
    request.sums = SumsBy::model;
    CHECK(run_reference(request, scenario.layer, scenario.tokens, sample).outputs.rows.has_value());
    const sim::Reference slow = run_reference(request, scenario.layer, scenario.tokens, {});
    CHECK((quick.out == slow.out));
    CHECK((quick.exact == slow.exact));
    for (std::size_t slot = 0; slot < slow.stages.size(); ++slot) {
      CHECK((quick.stages[slot].gate == slow.stages[slot].gate));
      CHECK((quick.stages[slot].up == slow.stages[slot].up));
      CHECK((quick.stages[slot].down == slow.stages[slot].down));
    }
  }
}

TEST_CASE("a shared yardstick is each backend's own: it is computed anew where global scales mean something else") {
  const OracleBackends of{"nvfp4", "", {}};
  std::optional<Place> first = place_of(of, "FLASHINFER_CUTLASS");
  REQUIRE(first.has_value());
  const Scenario& scenario = first->scenario;
  ExactOutputs shared(scenario.layer, scenario.tokens);
  std::vector<std::vector<std::uint32_t>> seen;
  for (const ExecutionRow& row : execution_rows()) {
    if (row.format != layout::WeightFormat::nvfp4) continue;
    INFO(row.backend);
    ExactOutputs own(scenario.layer, scenario.tokens);
    const std::vector<std::uint32_t>& exact = own.of(row, {}, SumsBy::model);
    CHECK((shared.of(row, {}, SumsBy::model) == exact));
    CHECK((shared.of(row, {std::vector<std::int64_t>{0}, std::vector<std::int64_t>{3}}, SumsBy::model).size() == scenario.tokens.slots.size()));
    if (std::ranges::find(seen, exact) == seen.end()) seen.push_back(exact);
  }
  // Scales that are folded into e4m3 again are other numbers.
  CHECK(seen.size() > 1);
}
