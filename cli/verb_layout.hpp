#pragma once
// The verbs under `mxact layout`.

#include "cli/verbs.hpp"

namespace mx::cli {

void add_layout_list(Verb layout, Action& action);
void add_layout_show(Verb layout, Action& action);
void add_layout_where(Verb layout, Action& action);
void add_layout_draw(Verb layout, Action& action);
void add_layout_diff(Verb layout, Action& action);
void add_layout_identify(Verb layout, Action& action);

}  // namespace mx::cli
