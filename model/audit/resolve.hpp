#pragma once
// What an engine makes of one layer of a deployment, stage by stage: each stage is a table whose output is the next one's input, and an engine that
// fails, fails at one of them.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/audit/needs.hpp"
#include "model/engine/vllm/select.hpp"
#include "model/engine/vllm/setup/setup.hpp"

namespace mx::audit {

/// One of a model's layers, and the oracle that the engine asks about it. A model's layers need not be answered alike.
struct LayerRequest {
  std::string_view oracle;
  deployment::LayerConfig config;
};

/// Where an engine raises.
struct Failure {
  std::string_view stage;  ///< selection, allocation, preparation, configuration, construction or run: in the engine's order
  engine::Refusal refusal;
};

struct Resolution {
  deployment::Engine engine;
  std::string asked;                   ///< the backend that the user names, or "auto"
  engine::Decision decision;           ///< kernel, class and sizes as the method takes them, or why none; with the trace
  std::optional<engine::Setup> setup;  ///< what follows from a choice
  /// Sizes of the converted weights; absent where none were allocated.
  std::optional<engine::Answer<engine::RoundedSizes>> prepared;
  std::vector<const families::KernelNeed*> broken;  ///< needs that the choice does not meet, in the order of the tables
  std::optional<Failure> failure;
};

/// "needs H and I hold whole blocks of 16; otherwise error: the scales of the checkpoint do not fit"
std::string broken_text(const families::KernelNeed& need);

/// The engine's answer for the deployment with that layer in the place of its own. Throws as select does.
Resolution resolve(deployment::Engine engine, const deployment::Deployment& deployment, const LayerRequest& layer,
                   engine::Detail detail = engine::Detail::codes);

/// What follows from a decision that was made already, by decide() or by a strict search.
Resolution resolve(const engine::OracleTables& tables, const deployment::Deployment& deployment, engine::Decision decision);

}  // namespace mx::audit
