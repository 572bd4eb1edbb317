#pragma once
// Which codes a scale counts for, by their places in the weight's own tensor.

#include <cstdint>
#include <vector>

#include "checkpoint/expert_tensors.hpp"

namespace mx::checkpoint {

/// Bytes of a weight's tensor, one behind the other.
struct CodeRun {
  std::int64_t first;
  std::int64_t count;
};
/// Those that number `at` of a scale's tensor counts for.
std::vector<CodeRun> covered_runs(const SourceForm& form, const FoundTensor& scale, std::int64_t at, const FoundTensor& weight);

}  // namespace mx::checkpoint
