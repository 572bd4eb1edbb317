#pragma once
// What `mxact engine` says.

#include "verbs/document/document.hpp"
#include "verbs/engine/engine_diff.hpp"

namespace mx::verbs {

/// Known versions, with what of each is held to recordings.
Document engine_list_document();

/// What changes, most deployments first, grouped by cause, each with its smallest deployment.
Document engine_diff_document(const EngineDiff& diff);

}  // namespace mx::verbs
