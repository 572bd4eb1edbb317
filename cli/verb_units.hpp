#pragma once
// The verbs of conversions in units: plan, run, merge.

#include "cli/verbs.hpp"

namespace mx::cli {

void add_plan(CLI::App& app, Action& action);
void add_run(CLI::App& app, Action& action);
void add_merge(CLI::App& app, Action& action);

}  // namespace mx::cli
