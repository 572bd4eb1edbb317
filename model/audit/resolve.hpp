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

namespace mx::oracle {

/// One of a model's layers, and the oracle that the engine asks about it. A model's layers need not be answered alike.
struct LayerRequest {
  std::string_view oracle;
  LayerConfig config;
};

/// Where an engine raises.
struct Failure {
  std::string_view stage;  ///< selection, allocation, preparation, configuration, construction or run: in the engine's order
  Refusal refusal;
};

struct Resolution {
  Engine engine;
  std::string asked;           ///< the backend that the user names, or "auto"
  Decision decision;           ///< kernel, class and sizes as the method takes them, or why none; with the trace
  std::optional<Setup> setup;  ///< what follows from a choice
  /// Sizes of the converted weights; absent where none were allocated.
  std::optional<Answer<RoundedSizes>> prepared;
  std::vector<const KernelNeed*> broken;  ///< needs that the choice does not meet, in the order of the tables
  std::optional<Failure> failure;
};

/// "needs H and I hold whole blocks of 16; otherwise error: the scales of the checkpoint do not fit"
std::string broken_text(const KernelNeed& need);

/// The engine's answer for the deployment with that layer in the place of its own. Throws as select does.
Resolution resolve(Engine engine, const Deployment& deployment, const LayerRequest& layer, Detail detail = Detail::codes);

/// What follows from a decision that was made already, by decide() or by a strict search.
Resolution resolve(const OracleTables& tables, const Deployment& deployment, Decision decision);

}  // namespace mx::oracle
