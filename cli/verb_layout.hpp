#pragma once
// The verbs under `mxact layout`.

#include "cli/verbs.hpp"

namespace mx::cli {

void add_layout_list(CLI::App& layout, Action& action);
void add_layout_show(CLI::App& layout, Action& action);
void add_layout_where(CLI::App& layout, Action& action);
void add_layout_draw(CLI::App& layout, Action& action);
void add_layout_diff(CLI::App& layout, Action& action);
void add_layout_identify(CLI::App& layout, Action& action);

}  // namespace mx::cli
