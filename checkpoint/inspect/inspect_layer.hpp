#pragma once
// One layer of a checkpoint looked at: its numbers, what is computed from them, what many of them have together, its router.

#include <cstdint>
#include <functional>
#include <vector>

#include "checkpoint/inspect/layer_statistics.hpp"
#include "checkpoint/inspect/producers.hpp"

namespace mx::checkpoint {

struct LayerInspection {
  std::vector<ScannedFault> faults;  ///< of single numbers, then of many together, then of the router
  std::vector<PartFacts> parts;
  std::vector<OpenQuestion> open;
};

struct LayerLook {
  Depth depth;
  support::Stop stop = {};
  std::function<void(std::uint64_t)> read = {};  ///< hears of bytes of experts' tensors, from any thread
  const Producer* producer = nullptr;            ///< whose known faults explain what is found
  bool is_first = false;                         ///< the first layer of its group: what the producer always wrote wrongly is said here
};

/// All threads. Throws Error(input) when a file is no longer what was opened; Stopped.
LayerInspection inspect_layer(const CheckpointFiles& files, const FoundGroup& layer_group, const FoundLayer& layer, const LayerLook& look);

}  // namespace mx::checkpoint
