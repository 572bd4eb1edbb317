#pragma once
// Somebody else's stage held against a run's, and the rule that would make it.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/execute/run_layer.hpp"
#include "sim/layer/contract_layer.hpp"

namespace mx::sim {

/// What comparing a stage showed. Bits are compared; any NaN equals any NaN, and of an element that may have several values each is right.
struct StageComparison {
  LayerStage stage;
  std::int64_t compared = 0;
  std::int64_t differing = 0;
  bool is_blind = false;    ///< the given elements have the same bits: an exchange of two could not show
  std::int64_t first = 0;   ///< of the differing elements
  std::string where = {};   ///< of it: "token 2, slot 1 (expert 5), up 17"
  std::string values = {};  ///< "0x3f81 (1.0078125) in the file, 0x3f80 (1) here"
};

/// `made` is the run's. Where it is F32 and `given` is BF16, it is rounded to nearest even first. Throws Error(usage) for another dtype or shape.
StageComparison compare_stage(const LayerExperts& experts, const LayerTokens& tokens, const StageValues& made, const StageValues& given);
StageComparison compare_stage(const ContractExperts& experts, const LayerTokens& tokens, const StageValues& made, const StageValues& given);

/// The first rule, other than the backend's own, under which the rows of the first differing token are as given; empty: none that is known here.
/// `before` has the stages of the step before; empty: the run's start. Computes that token anew for each rule.
std::string explanation(const LayerExperts& experts, const LayerTokens& tokens, std::span<const StageValues> before, const StageValues& made,
                        const StageValues& given, const StageComparison& comparison);
/// Likewise another contract or activation than was asked for; of contracts those that the experts' form takes.
std::string explanation(const ContractExperts& experts, const LayerTokens& tokens, std::span<const StageValues> before, const StageValues& made,
                        const StageValues& given, const StageComparison& comparison);

}  // namespace mx::sim
