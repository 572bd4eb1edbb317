// mxact layout: which byte goes where.

#include "cli/verb_layout.hpp"

namespace mx::cli {

void add_layout(Verb app, Action& action) {
  const Verb verb = app.add_verb("layout", "which byte goes where: list, show, where, draw, diff, identify");
  verb.require_verb();
  add_layout_list(verb, action);
  add_layout_show(verb, action);
  add_layout_where(verb, action);
  add_layout_draw(verb, action);
  add_layout_diff(verb, action);
  add_layout_identify(verb, action);
}

}  // namespace mx::cli
