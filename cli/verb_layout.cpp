// mxact layout: which byte goes where.

#include "cli/verb_layout.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

namespace mx::cli {

void add_layout(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand("layout", "which byte goes where: list, show, where, draw, diff, identify");
  verb->require_subcommand(1);
  add_layout_list(*verb, action);
  add_layout_show(*verb, action);
  add_layout_where(*verb, action);
  add_layout_draw(*verb, action);
  add_layout_diff(*verb, action);
  add_layout_identify(*verb, action);
}

}  // namespace mx::cli
