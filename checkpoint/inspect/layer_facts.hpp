#pragma once
// Every part of a layer: what its scales are, and what its codes are where the weights are read.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "checkpoint/inspect/code_facts.hpp"
#include "checkpoint/inspect/scale_facts.hpp"
#include "checkpoint/scan.hpp"

namespace mx::checkpoint {

/// One expert's part of a weight, with the scales that count for less than a matrix.
struct PartFacts {
  ExpertPart part;
  int expert;                        ///< of the layer
  std::optional<CodeFacts> codes;    ///< none: the weights were not read
  std::optional<ScaleFacts> scales;  ///< none: there are no such scales

  /// The place where this expert's numbers begin in a tensor of its own or of all experts.
  std::int64_t begin_in(const FoundTensor& tensor) const;
};

/// In the order of the layer's tensors. All threads. `read` hears of bytes, from any thread. Throws as SafetensorsFile::read does; Stopped.
std::vector<PartFacts> layer_facts(const FoundGroup& layer_group, const FoundLayer& layer, Depth depth, const support::StopPoint& stop,
                                   const std::function<void(std::uint64_t)>& read = {});

/// What scales alone leave open, and the weights would settle.
struct OpenQuestion {
  std::string tensor;
  std::int64_t count;
  std::string text;
};
std::vector<OpenQuestion> open_questions(std::span<const PartFacts> parts);

}  // namespace mx::checkpoint
