#include "cli/program.hpp"

#include <fmt/core.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cctype>
#include <iostream>
#include <memory>
#include <sstream>

#include "build_info.hpp"
#include "cli/build.hpp"
#include "cli/numbers.hpp"
#include "cli/usage_error.hpp"
#include "cli/verb_examples.hpp"
#include "cli/verb_help.hpp"
#include "cli/verb_units.hpp"
#include "model/error.hpp"

namespace mx::cli {
namespace {

constexpr const char* kFooter =
    "exit status: 0 passed; 1 a check failed; 2 usage; 3 bad input file; 4 unsupported here;\n"
    "             5 nothing ran or mistrusted; 6 resource; 130 interrupted\n"
    "every verb takes --json and --help";

/// Arguments as CLI11 wants them: last first. It would take the value "-inf" for an option -i, but not with a space before it.
std::vector<std::string> reversed(const std::vector<std::string>& words) {
  std::vector<std::string> arguments;
  for (auto word = words.rbegin(); word != words.rend(); ++word) {
    const bool value = looks_like_a_value(*word) && std::isdigit(static_cast<unsigned char>((*word)[1])) == 0;
    arguments.push_back(value ? " " + *word : *word);
  }
  return arguments;
}

std::string version() {
  return fmt::format("mxact {} ({})\ncompiler: {}\nflags: {}\ntiers: {}", MXACT_VERSION, MXACT_COMMIT, MXACT_COMPILER, MXACT_FLAGS, tiers_text());
}

void add_verbs(const Verb& verbs, Action& action) {
  add_verify(verbs, action);
  add_select(verbs, action);
  add_matrix(verbs, action);
  add_audit(verbs, action);
  add_layout(verbs, action);
  add_convert(verbs, action);
  add_restore(verbs, action);
  add_plan(verbs, action);
  add_run(verbs, action);
  add_merge(verbs, action);
  add_witness(verbs, action);
  add_sim(verbs, action);
  add_study(verbs, action);
  add_formats(verbs, action);
  add_encode(verbs, action);
  add_decode(verbs, action);
  add_quantize(verbs, action);
  add_compare(verbs, action);
  add_sweep(verbs, action);
  add_gen(verbs, action);
  add_ver(verbs, action);
  add_report(verbs, action);
  add_vectors(verbs, action);
  add_faults(verbs, action);
  add_doctor(verbs, action);
  add_help(verbs, action);
}

/// The last line of each verb's --help before the exit status.
void add_examples(CLI::App& program) {
  for (const VerbExample& example : verb_examples()) {
    CLI::App* verb = &program;
    std::istringstream words{std::string(example.verb)};
    for (std::string word; words >> word;) verb = verb->get_subcommand(word);
    verb->footer(fmt::format("for example: {}\n\n{}", example.command, kFooter));
  }
}

}  // namespace

Action action_for(const std::vector<std::string>& words) {
  // Actions may refer to it: `mxact help` prints what it takes.
  const auto app = std::make_shared<CLI::App>("mxact: the bit-exact authority for microscaled MoE inference", "mxact");
  const auto action = std::make_shared<Action>();
  app->footer(kFooter);
  app->set_version_flag("--version", version);
  app->require_subcommand(1);
  app->get_formatter()->label("SUBCOMMAND", "VERB");
  app->get_formatter()->label("Subcommands", "Verbs");
  app->get_formatter()->label("Positionals", "By their place");
  add_verbs(Verb(app.get()), *action);
  add_examples(*app);
  try {
    check_verbs(*app, words);
    app->parse(reversed(words));
  } catch (const CLI::Success& help) {
    app->exit(help);
    if (!std::cout.flush()) throw Error(ErrorCode::resource, "stdout cannot be written");
    return {};
  } catch (const CLI::ParseError& error) {
    throw Error(ErrorCode::usage, usage_message(*app, error, words));
  }
  return [app, action] { return (*action)(); };
}

}  // namespace mx::cli
