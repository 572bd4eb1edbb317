#pragma once
// `mxact inspect`: what a checkpoint is, and what is wrong with it.

#include "checkpoint/inspect/inspect.hpp"
#include "verbs/document/document.hpp"

namespace mx::verbs {

/// Exit code 0: nothing is wrong that is known here; 1: something is.
Document inspect_document(const checkpoint::Inspection& inspection);

}  // namespace mx::verbs
