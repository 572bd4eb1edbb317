#pragma once
// What `mxact compare` says of two checkpoints.

#include <string>

#include "checkpoint/compare/compare_checkpoints.hpp"
#include "verbs/document/document.hpp"

namespace mx::verbs {

/// Exit code 0: the same numbers; 1: they differ, or one has what the other lacks; 5: nothing was compared. `lossless`: says whether the second
/// proves to be the first without loss.
Document checkpoints_document(const checkpoint::CheckpointComparison& result, const std::string& first, const std::string& second,
                              bool lossless = false);

}  // namespace mx::verbs
