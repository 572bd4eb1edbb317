#pragma once
// The verbs of conversions in jobs: plan, run, merge.

#include "cli/verbs.hpp"

namespace mx::cli {

void add_plan(Verb app, Action& action);
void add_run(Verb app, Action& action);
void add_merge(Verb app, Action& action);

}  // namespace mx::cli
