#include "tests/sim/ranks/semantic_laws.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <optional>
#include <vector>

#include "model/engine/vllm/tables.hpp"
#include "model/error.hpp"
#include "model/moe/routing.hpp"
#include "props/moe/restated.hpp"
#include "sim/ranks/deployment.hpp"

namespace mx::tests {
namespace {

using layout::Role;

constexpr std::uint32_t kOne = 0x3F800000U;
constexpr std::uint32_t kHalf = 0x3F000000U;
constexpr std::uint32_t kQuarter = 0x3E800000U;
constexpr moe::ActivationConstants kOai{0x3FD9DB23U, kOne, 0x40E00000U, 0};
constexpr moe::ActivationConstants kSilu{0, 0, 0x40E00000U, 0};

constexpr const char* kPlatforms[] = {"SM90", "SM100", "SM120", "gfx950", "XPU", "CPU"};
constexpr const char* kExchanges[] = {"allgather_reducescatter", "deepep_high_throughput", "deepep_low_latency", "flashinfer_nvlink_two_sided"};
struct Ranks {
  int tp;
  int dp;
};
constexpr Ranks kRanks[] = {{1, 1}, {2, 1}, {4, 1}, {1, 2}, {2, 2}, {1, 4}};

template <class T, std::size_t kCount>
const T& one_of(Draws& random, const T (&choices)[kCount]) {
  return choices[random() % kCount];
}

/// A deployment that can be executed, with everything that is executed on.
struct Drawn {
  sim::SimulationRequest request;
  sim::ModelLayer layer;
  std::string text;

  const families::ExecutionRow& row() const { return families::execution_of(layout::WeightFormat::mxfp4, request.backend); }
  std::int64_t hidden() const { return layer.experts.sizes.hidden; }

  /// None where the engine or a converter refuses.
  std::optional<sim::SimulationResult> result(const sim::ModelLayer& of, const sim::SampleTokens& tokens) const {
    return sim::simulate(request, of, tokens, sim::run_reference(request, of, tokens, {}), sim::in_process()).result;
  }
};

/// The class of a backend that accepts a deployment.
std::optional<std::string> class_of(const deployment::Deployment& deployment, std::string_view backend) {
  for (const engine::Candidate& candidate : engine::support(deployment::kVllm2026_05, "mxfp4", deployment)) {
    if (candidate.backend == backend && candidate.verdict.supported) return candidate.kernel_class;
  }
  return std::nullopt;
}

std::optional<Drawn> drawn(Draws& random, std::int64_t experts) {
  const auto& backends = engine::tables_of(deployment::kVllm2026_05, "mxfp4").backends;
  const std::string backend(backends[random() % backends.size()].name);
  const families::ExecutionRow* row = families::find_execution(layout::WeightFormat::mxfp4, backend);
  const Ranks ranks = one_of(random, kRanks);
  deployment::ParallelRequest parallel{.tp = ranks.tp, .dp = ranks.dp, .enable_expert_parallel = ranks.dp > 1 || random() % 3 == 0};
  parallel.all2all_backend = one_of(random, kExchanges);
  const bool oai = random() % 4 != 0;
  deployment::LayerConfig config{};
  config.num_experts = experts;
  config.experts_per_token = 2;
  config.hidden = 64;
  const auto shards = static_cast<std::int64_t>(deployment::tensor_ranks(parallel));
  config.intermediate_per_partition = 32 * static_cast<std::int64_t>(1 + random() % 2);
  config.activation = oai ? "SWIGLUOAI" : "SILU";
  config.has_bias = oai;
  const char* platform = one_of(random, kPlatforms);
  const deployment::Deployment deployment = deployment::deployment_on(deployment::platform_named(platform), parallel, config);
  const std::optional<std::string> kernel_class = class_of(deployment, backend);
  if (row == nullptr || !kernel_class || row->swiglu_oai.row.empty() == oai) return std::nullopt;
  const layout::Sizes sizes{experts, config.intermediate_per_partition * shards, config.hidden, 32};
  const layout::SourceOrder order = oai ? layout::SourceOrder::gpt_oss : layout::SourceOrder::standard;
  const sim::ModelLayer layer{sim::sample_layer(sizes, order, oai, random()), {config.activation, oai ? kOai : kSilu}, {kOne, kOne}};
  return Drawn{{"mxfp4", deployment, backend, *kernel_class, deployment::kVllm2026_05},
               layer,
               backend + " on " + platform + ", TP=" + std::to_string(ranks.tp) + " DP=" + std::to_string(ranks.dp) +
                   (parallel.enable_expert_parallel ? " EP " + parallel.all2all_backend : "") + ", " + config.activation};
}

/// It was executed, and no link of its own is broken: a slot whose expert no rank finds says nothing of the model's numbers.
bool holds(const std::optional<sim::SimulationResult>& result) { return result && result->broken() == nullptr; }

/// A number that a model gives.
struct Parameter {
  std::string_view name;
  bool (*given)(const Drawn& drawn);  ///< the model has it
  bool (*taken)(const Drawn& drawn, const sim::SimulationResult& result);
  void (*change)(sim::ModelLayer& layer, sim::SampleTokens& tokens);
};

const families::ActivationUse& use_of(const Drawn& drawn) {
  return drawn.layer.activation.name == "SILU" ? drawn.row().silu : drawn.row().swiglu_oai;
}
bool is_oai(const Drawn& drawn) { return drawn.layer.activation.name != "SILU"; }
bool always(const Drawn& /*drawn*/) { return true; }

/// Every bias becomes one of 8 to 16.
void enlarge(std::vector<std::uint8_t>& bias) {
  for (std::size_t high = 1; high < bias.size(); high += 2) bias[high] = 0x41;
}
bool reads_bias(const Drawn& drawn, const sim::SimulationResult& /*result*/) { return drawn.row().bias != families::BiasEntry::dropped; }
bool is_calibrated(const families::Quantizer& quantizer) { return quantizer.tensor != families::TensorNumber::none; }

const Parameter kParameters[] = {
    {"alpha", is_oai, [](const Drawn& drawn, const sim::SimulationResult&) { return use_of(drawn).takes_alpha; },
     [](sim::ModelLayer& layer, sim::SampleTokens&) { layer.activation.constants.alpha = kHalf; }},
    {"beta", is_oai, [](const Drawn& drawn, const sim::SimulationResult&) { return use_of(drawn).takes_beta; },
     [](sim::ModelLayer& layer, sim::SampleTokens&) { layer.activation.constants.beta = kHalf; }},
    {"limit", always, [](const Drawn& drawn, const sim::SimulationResult&) { return use_of(drawn).takes_limit; },
     [](sim::ModelLayer& layer, sim::SampleTokens&) { layer.activation.constants.limit = kQuarter; }},
    {"w13 bias", is_oai, reads_bias, [](sim::ModelLayer& layer, sim::SampleTokens&) { enlarge(layer.experts[Role::w13_bias]); }},
    {"w2 bias", is_oai, reads_bias, [](sim::ModelLayer& layer, sim::SampleTokens&) { enlarge(layer.experts[Role::w2_bias]); }},
    {"first scale", always, [](const Drawn&, const sim::SimulationResult& result) { return is_calibrated(*result.execution.first); },
     [](sim::ModelLayer& layer, sim::SampleTokens&) { layer.scales.first = kQuarter; }},
    {"second scale", always, [](const Drawn&, const sim::SimulationResult& result) { return is_calibrated(*result.execution.second); },
     [](sim::ModelLayer& layer, sim::SampleTokens&) { layer.scales.second = kQuarter; }},
    {"routing weight", always, [](const Drawn&, const sim::SimulationResult&) { return true; },
     [](sim::ModelLayer&, sim::SampleTokens& tokens) { tokens.slots.front().front().weight = sim::power_of_two(-3); }},
};

/// What does not hold of one number; empty: it does.
std::string violation(const Drawn& drawn, const Parameter& parameter, const sim::SampleTokens& tokens, const sim::SimulationResult& before) {
  sim::ModelLayer layer = drawn.layer;
  sim::SampleTokens changed = tokens;
  parameter.change(layer, changed);
  const std::optional<sim::SimulationResult> after = drawn.result(layer, changed);
  const std::string name(parameter.name);
  if (!after) return "a changed " + name + " is refused";
  const bool differs = after->out != before.out;
  if (parameter.taken(drawn, before)) return differs ? "" : name + " changes nothing";
  if (differs) return name + " is not taken, and changes the outputs";
  // Constants are named by the result; what the row says of biases and quantizers is in every report.
  const bool is_constant = name == "alpha" || name == "beta" || name == "limit";
  const bool declared = std::ranges::any_of(after->ignored, [&](const std::string& text) { return text.starts_with(name + " "); });
  return is_constant && !declared ? name + " is ignored, and nobody says so" : "";
}

/// Logits of the kinds that routers have failed on, in fp32 or of bf16 numbers.
std::vector<float> drawn_logits(Draws& random, std::int64_t experts) {
  const auto kind = random() % 5;
  const bool as_bf16 = random() % 2 == 0;
  std::vector<float> logits;
  for (std::int64_t i = 0; i < experts; ++i) {
    const auto step = static_cast<float>(random() % 4096) / 512;
    float logit = step - 4;
    if (kind == 1) logit = static_cast<float>(random() % 3);            // ties
    if (kind == 2) logit = -1 - step;                                   // all negative
    if (kind == 3) logit = random() % 2 == 0 ? 60 + step : -60 - step;  // saturated
    if (kind == 4) logit = std::ldexp(step, -20);                       // all but zero
    logits.push_back(as_bf16 ? std::bit_cast<float>(std::bit_cast<std::uint32_t>(logit) & 0xFFFF0000U) : logit);
  }
  return logits;
}

std::uint32_t bits_of(float value) { return std::isnan(value) ? 0x7FC00000U : std::bit_cast<std::uint32_t>(value); }

std::vector<std::uint32_t> bits_of(const std::vector<float>& values) {
  std::vector<std::uint32_t> bits;
  for (const float value : values) bits.push_back(bits_of(value));
  return bits;
}

/// A token's slots, twice.
struct Routed {
  std::vector<moe::Slot> by_model;
  std::vector<moe::Slot> restated;
};

Routed routed(Draws& random, const moe::RouterRecipe& recipe, const props::RestatedRouter& restated, std::int64_t experts) {
  props::RouterInput input{};
  input.groups = restated.groups ? 2 : 1;
  input.topk_groups = 1;
  input.top_k = 2;
  input.logits = drawn_logits(random, experts);
  input.factor = 2.5F;
  if (restated.bias) {
    for (std::int64_t i = 0; i < experts; ++i) input.bias.push_back(static_cast<float>(static_cast<int>(random() % 9) - 4) / 8);
  }
  const props::RestatedSlots slots = restated.route(input);
  Routed result;
  result.by_model = moe::route_logits<moe::F32Arithmetic>(recipe, {input.top_k, input.groups, input.topk_groups, decode(kF32, bits_of(input.factor))},
                                                          bits_of(input.logits), bits_of(input.bias));
  for (std::size_t i = 0; i < slots.experts.size(); ++i) result.restated.push_back({slots.experts[i], bits_of(slots.weights[i])});
  return result;
}

constexpr std::int64_t kTokens = 2;

}  // namespace

LawAnswer law_of_parameters(Draws& random) {
  const std::optional<Drawn> test = drawn(random, 4);
  if (!test) return {};
  const sim::SampleTokens tokens = sim::sample_tokens(kTokens, test->hidden(), 4, 2, random());
  const std::optional<sim::SimulationResult> before = test->result(test->layer, tokens);
  if (!holds(before)) return {};
  LawAnswer answer{0, {}, test->text};
  for (const Parameter& parameter : kParameters) {
    if (!parameter.given(*test)) continue;
    ++answer.compared;
    if (answer.text.empty()) answer.text = violation(*test, parameter, tokens, *before);
  }
  return answer;
}

namespace {

/// Both answers of a router for the tokens.
struct RoutedTokens {
  const moe::RouterRecipe* recipe;
  std::vector<std::vector<moe::Slot>> by_model;
  std::vector<std::vector<moe::Slot>> restated;
};

std::optional<RoutedTokens> routed_tokens(Draws& random, std::int64_t experts) {
  RoutedTokens routes{&moe::all_routers()[random() % moe::all_routers().size()], {}, {}};
  const props::RestatedRouter* restated = props::restated_router(routes.recipe->name);
  if (restated == nullptr) return std::nullopt;
  for (std::int64_t token = 0; token < kTokens; ++token) {
    Routed slots = routed(random, *routes.recipe, *restated, experts);
    routes.by_model.push_back(std::move(slots.by_model));
    routes.restated.push_back(std::move(slots.restated));
  }
  return routes;
}

/// Of many routers one whose answers differ, where there is one: an execution is what the law costs.
std::optional<RoutedTokens> telling_tokens(Draws& random, std::int64_t experts) {
  constexpr int kRouters = 24;
  std::optional<RoutedTokens> routes;
  for (int i = 0; i < kRouters && (!routes || routes->by_model == routes->restated); ++i) {
    std::optional<RoutedTokens> next = routed_tokens(random, experts);
    if (next) routes = std::move(next);
  }
  return routes;
}

}  // namespace

LawAnswer law_of_routers(Draws& random) {
  constexpr std::int64_t kExperts = 4;
  const std::optional<Drawn> test = drawn(random, kExperts);
  const std::optional<RoutedTokens> routes = telling_tokens(random, kExperts);
  if (!test || !routes) return {};
  sim::SampleTokens by_model = sim::sample_tokens(kTokens, test->hidden(), kExperts, 2, random());
  sim::SampleTokens by_restatement = by_model;
  by_model.slots = routes->by_model;
  by_restatement.slots = routes->restated;
  const std::optional<sim::SimulationResult> want = test->result(test->layer, by_restatement);
  if (!holds(want)) return {};
  const std::optional<sim::SimulationResult> got = test->result(test->layer, by_model);
  LawAnswer answer{kTokens, {}, test->text + ", " + std::string(routes->recipe->name)};
  if (!got || got->out != want->out) answer.text = "the outputs are not those of the restated router";
  return answer;
}

}  // namespace mx::tests
