#pragma once
// The mxfp4 method of the engine as it was before there were oracles, executed: its own choice, padding, row orders and scale layouts, and what it
// tells FlashInfer.

#include <optional>
#include <string>
#include <string_view>

#include "model/engine/vllm/oracles/legacy.hpp"
#include "sim/ranks/scenario.hpp"

namespace mx::sim {

/// What the method decides for a deployment, as a request that simulate() takes.
struct LegacyRun {
  std::string_view path;         ///< marlin, flashinfer, triton
  SimulationRequest request;     ///< of the backend whose kernels and layouts the path shares
  std::int64_t tile_tokens_dim;  ///< that FlashInfer is told
  std::string_view routing;      ///< likewise
};

/// The run, or the exception that the method raises. `torch` is the installed version ("2.8.0"). Throws Error(unsupported) for weights that are not
/// MXFP4 in gpt-oss order and for more than one data parallel rank, whose exchange the method does not know; Error(usage) for a text that is no
/// version.
engine::Answer<LegacyRun> legacy_run(const Scenario& scenario, std::string_view torch);

}  // namespace mx::sim
