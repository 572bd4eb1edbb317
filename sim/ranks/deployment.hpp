#pragma once
// A deployment executed rank by rank, and held, link by link, against one rank that executes the checkpoint's own form in the same arithmetic.

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "model/engine/vllm/select.hpp"
#include "model/engine/vllm/setup/setup.hpp"
#include "sim/execute/yardstick.hpp"
#include "sim/ranks/exchange.hpp"

namespace mx::sim {

/// A layer as a model has it.
struct ModelLayer {
  layout::CanonicalLayer experts;
  ModelActivation activation;
  StaticScales scales;
};

/// The exact layer's outputs on some tokens. What backends ask for alike is computed once: they differ in what is computed at all, and in what they
/// take a checkpoint's global scales to be.
class ExactOutputs {
 public:
  /// Both must outlive this.
  ExactOutputs(const ModelLayer& layer, const SampleTokens& tokens) : layer_(layer), tokens_(tokens) {}

  /// As exact_output gives them; valid as long as this.
  const std::vector<std::uint32_t>& of(const families::ExecutionRow& row, const Outputs& outputs, SumsBy by);

 private:
  struct Known {
    std::optional<families::GlobalScale> global;  ///< none: the format has no such scales
    Outputs outputs;
    std::vector<std::uint32_t> bits;
  };
  const ModelLayer& layer_;
  const SampleTokens& tokens_;
  std::deque<Known> known_;
};

/// What an engine without oracles decides by itself: the legacy method.
struct FixedSetup {
  std::int64_t hidden;  ///< allocated on a rank
  std::int64_t intermediate;
  std::string_view prepare_class;
  int num_warps;            ///< of the scale layout on sm90
  bool torch_before_2_8_1;  ///< no swizzle on sm90
};

/// What is simulated.
struct SimulationRequest {
  std::string oracle;
  deployment::Deployment deployment;
  std::string backend;
  std::string kernel_class;
  deployment::Engine engine = deployment::kDefaultEngine;
  std::optional<FixedSetup> fixed = std::nullopt;  ///< instead of what follows from the oracle's choice
  SumsBy sums = SumsBy::model;
  std::vector<std::string> libraries = {};  ///< for families::choose_libraries
  families::LaunchChoice launch = {};
};

/// One rank that executes the checkpoint's own form: what every deployment of the same backend is held against.
struct Reference {
  Execution execution;
  Outputs outputs;                   ///< that are computed, rows of the whole layer's intermediate size
  layout::Sizes sizes;               ///< padded
  Activations input;                 ///< read as row-major
  std::vector<SlotStages> stages;    ///< tokens in order, their slots by position
  std::vector<std::uint32_t> out;    ///< fp32 bits [tokens, columns]
  std::vector<std::uint32_t> exact;  ///< the yardstick, likewise
};

/// The links of the chain, in its order.
enum class Link : std::uint8_t { load, experts, convert, dispatch, first_product, activation, second_product, combine };
std::string_view name_of(Link link);

enum class LinkState : std::uint8_t {
  equal,    ///< bit for bit
  bounded,  ///< other sums are rounded; within the bound
  broken,
  skipped  ///< an earlier link broke, or the contract promises nothing to compare
};
std::string_view name_of(LinkState state);

struct LinkCheck {
  Link link;
  LinkState state;
  std::int64_t compared = 0;
  std::string text = {};  ///< what is broken, or how the bound is met
  double seconds = 0;     ///< that the check took in this process
};

struct SimulationResult {
  Plan plan;
  Execution execution;
  Grounds grounds;
  std::vector<families::KnownDifference> differences;  ///< of the row, its quantizers and its unit, on this device
  engine::Assembly assembly;
  const ExchangeRow* exchange;
  std::vector<LinkCheck> links;
  std::vector<layout::Loss> losses;  ///< of the conversion, of the first rank that has any
  std::vector<std::string> ignored;  ///< constants of the model that the kernel does not use
  std::vector<std::uint32_t> out;    ///< fp32 bits [tokens, columns]
  bool bit_equal;                    ///< with the reference
  double worst_share;                ///< of the bound that the largest difference from the reference is
  Quality reference;                 ///< of the reference against the yardstick
  Quality quality;                   ///< of the deployment
  Outputs outputs;                   ///< that were computed: all where a twin sums
  std::string mistrusted;            ///< why nothing wrong could have shown: outputs or exchanged parts are alike; empty where it could

  /// Of `out`, in a few characters.
  std::string digest() const;
  /// The first link that broke; none when the deployment computes what it should.
  const LinkCheck* broken() const;
  /// 0 passed, 1 broken, 5 mistrusted.
  int exit_code() const;
};

/// The engine or a converter refuses: an answer.
struct SimulationRefusal {
  std::string stage;  ///< "allocate", "assemble", "shard", "convert", "execute"
  std::string text;
};

struct Simulation {
  std::optional<SimulationResult> result;
  std::optional<SimulationRefusal> refusal;
};

/// Runs the reference: for all outputs where a twin computes its sums, else for those of `sample`, rows of the whole layer's intermediate size.
/// `exact` may serve several references. Throws Error(usage) for sizes that disagree and an activation key that is none, Error(unsupported) for an
/// activation that the backend does not take.
Reference run_reference(const SimulationRequest& request, const ModelLayer& layer, const SampleTokens& tokens, const Outputs& sample,
                        ExactOutputs& exact);
/// With a yardstick of its own.
Reference run_reference(const SimulationRequest& request, const ModelLayer& layer, const SampleTokens& tokens, const Outputs& sample);

/// Runs the deployment, for the reference's outputs, with what follows from the choice of its backend: sizes, plan, conversion on every rank,
/// exchange, execution, combination. Every process of the transport gets the same. Throws Error(usage) for a backend without a row, for as many
/// processes as the deployment has not and for processes with different deployments, Error(unsupported) for what is not simulated.
Simulation simulate(const SimulationRequest& request, const ModelLayer& layer, const SampleTokens& tokens, const Reference& reference,
                    Transport& transport);

}  // namespace mx::sim
