#include "sim/ranks/scenario.hpp"

#include <algorithm>
#include <string>

#include "model/error.hpp"
#include "sim/execute/run_backend.hpp"
#include "sim/ranks/converter.hpp"

namespace mx::sim {
namespace {

using layout::WeightFormat;

constexpr std::uint32_t kOne = 0x3F800000U;
constexpr std::uint32_t kAlpha = 0x3FD9DB23U;       // 1.702
constexpr std::uint32_t kOtherAlpha = 0x3FC00000U;  // 1.5
constexpr std::uint32_t kSeven = 0x40E00000U;
constexpr std::uint32_t kFive = 0x40A00000U;
constexpr std::uint32_t kTen = 0x41200000U;

ModelActivation activation_of(const deployment::LayerConfig& layer) {
  if (layer.activation == "SILU") return {"SILU", {0, 0, layer.has_swiglu_limit ? kTen : 0, 0}};
  if (layer.activation == "SWIGLUOAI")
    return {"SWIGLUOAI", {layer.has_swiglu_alpha ? kOtherAlpha : kAlpha, kOne, layer.has_swiglu_limit ? kFive : kSeven, 0}};
  throw Error(ErrorCode::unsupported, "activation " + layer.activation + " is not simulated; SWIGLUOAI and SILU are");
}

/// Fewer weights are multiplied by the model in less time than the twins need to make their tables.
constexpr std::int64_t kWorthTwins = std::int64_t{1} << 22;

/// So many of 0..count-1, at equal distances; none: all.
std::optional<std::vector<std::int64_t>> spread_over(std::int64_t count, std::int64_t wanted) {
  if (wanted == 0 || wanted >= count) return std::nullopt;
  std::vector<std::int64_t> sample;
  for (std::int64_t i = 0; i < wanted; ++i) sample.push_back(i * count / wanted);
  return sample;
}

}  // namespace

WeightFormat format_of(std::string_view oracle, std::string_view weight_key) {
  if (const auto format = families::format_of_key(weight_key)) return *format;
  throw Error(ErrorCode::unsupported, "weights of key " + std::string(weight_key) + " are not simulated", "oracle " + std::string(oracle));
}

SimulationRequest request_of(const Scenario& scenario, const deployment::Deployment& deployment, const std::string& backend,
                             const std::string& kernel_class) {
  return {scenario.oracle, deployment, backend, kernel_class, scenario.engine, std::nullopt, scenario.sums, scenario.libraries, scenario.launch};
}

std::int64_t whole_intermediate(const deployment::Deployment& deployment) {
  return deployment.layer.intermediate_per_partition * deployment::tensor_ranks(deployment.parallel);
}

deployment::Deployment respread(const deployment::Deployment& deployment, const deployment::ParallelRequest& parallel) {
  deployment::Deployment other = deployment;
  const std::int64_t intermediate = whole_intermediate(deployment);
  other.parallel = parallel;
  const int tp = deployment::tensor_ranks(parallel);
  if (intermediate % tp != 0) {
    throw Error(ErrorCode::usage,
                "intermediate size " + std::to_string(intermediate) + " is not divisible by " + std::to_string(tp) + " tensor parallel ranks");
  }
  other.layer.intermediate_per_partition = intermediate / tp;
  return other;
}

Scenario make_scenario(const support::DeploymentFile& file, const ScenarioOptions& options) {
  Scenario scenario{file.oracle, file.deployment, file.engine, {}, {}, {}, SumsBy::model};
  scenario.release = file.release;
  deployment::LayerConfig& layer = scenario.deployment.layer;
  if (!layer.is_act_and_mul) throw Error(ErrorCode::unsupported, "a layer without gate (act_and_mul false) is not simulated");
  if (options.experts > 0) layer.num_experts = options.experts;
  if (layer.experts_per_token > layer.num_experts) {
    throw Error(ErrorCode::usage,
                "a token goes to " + std::to_string(layer.experts_per_token) + " experts, there are " + std::to_string(layer.num_experts));
  }
  const WeightFormat format = format_of(file.oracle, file.deployment.weight_key);
  if (!options.backend.empty()) static_cast<void>(families::execution_of(format, options.backend));
  const std::int64_t intermediate = whole_intermediate(scenario.deployment);
  const layout::Sizes sizes{layer.num_experts, intermediate, layer.hidden, families::group_of_key(file.deployment.weight_key)};
  layout::check(sizes);
  if (const std::int64_t weights = 3 * sizes.experts * intermediate; weights > kMostWeights / layer.hidden) {
    throw Error(ErrorCode::resource, "the layer has 3 * " + std::to_string(sizes.experts) + " * " + std::to_string(intermediate) + " * " +
                                         std::to_string(layer.hidden) + " weights, at most " + std::to_string(kMostWeights) +
                                         " are generated (--experts N lets fewer experts stand for all)");
  }
  if (3 * sizes.experts * intermediate * layer.hidden >= kWorthTwins) scenario.sums = SumsBy::twins;
  scenario.layer = {sample_layer(sizes, checkpoint_form(layer, format), layer.has_bias, options.seed), activation_of(layer), usual_scales(format)};
  scenario.sample = {spread_over(intermediate, options.sample), spread_over(layer.hidden, options.sample)};
  scenario.tokens = sample_tokens(options.tokens, layer.hidden, layer.num_experts, layer.experts_per_token, options.seed);
  return scenario;
}

}  // namespace mx::sim
