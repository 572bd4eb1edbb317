#include "cli/program.hpp"

#include <fmt/core.h>

#include <memory>

#include "build_info.hpp"
#include "cli/verb_examples.hpp"
#include "cli/verb_help.hpp"
#include "cli/verb_jobs.hpp"
#include "model/error.hpp"
#include "verbs/doctor/doctor_document.hpp"

namespace mx::cli {
namespace {

constexpr const char* kFooter =
    "exit status: 0 passed; 1 a check failed; 2 usage; 3 bad input file; 4 unsupported here;\n"
    "             5 nothing ran or mistrusted; 6 resource; 130 interrupted\n"
    "every verb takes --json and --help";

std::string version() {
  return fmt::format("mxact {} ({})\ncompiler: {}\nflags: {}\ntiers: {}", MXACT_VERSION, MXACT_COMMIT, MXACT_COMPILER, MXACT_FLAGS,
                     verbs::tiers_text());
}

void add_verbs(const Verb& verbs, Action& action) {
  add_verify(verbs, action);
  add_select(verbs, action);
  add_matrix(verbs, action);
  add_engine(verbs, action);
  add_audit(verbs, action);
  add_layout(verbs, action);
  add_inspect(verbs, action);
  add_convert(verbs, action);
  add_restore(verbs, action);
  add_plan(verbs, action);
  add_run(verbs, action);
  add_merge(verbs, action);
  add_layer(verbs, action);
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
  add_coverage(verbs, action);
  add_report(verbs, action);
  add_vectors(verbs, action);
  add_laws(verbs, action);
  add_faults(verbs, action);
  add_doctor(verbs, action);
  add_help(verbs, action);
}

/// The last line of each verb's --help before the exit status.
void add_examples(const Verb& program) {
  for (const VerbExample& example : verb_examples()) {
    program.verb(std::string(example.verb)).footer(fmt::format("for example: {}\n\n{}", example.command, kFooter));
  }
}

}  // namespace

Action action_for(const std::vector<std::string>& words) {
  if (words.empty())
    throw Error(ErrorCode::usage, "no verb: `mxact verify` is the main job, `mxact help` lists what there is, `mxact --help` the options");
  // Actions may refer to it: `mxact help` prints what it takes.
  const auto program = std::make_shared<Program>("mxact", "mxact: the bit-exact authority for microscaled MoE inference");
  const auto action = std::make_shared<Action>();
  const Verb root = program->root();
  root.footer(kFooter);
  root.require_verb();
  program->version_flag(version);
  add_verbs(root, *action);
  add_examples(root);
  if (!program->parse(words)) return {};
  return [program, action] { return (*action)(); };
}

}  // namespace mx::cli
