#pragma once
// The verbs about the program itself: help, completion, manual.

#include "cli/verbs.hpp"

namespace mx::cli {

/// To be called last: `app` has every other verb by the time it is asked.
void add_help(Verb app, Action& action);

}  // namespace mx::cli
