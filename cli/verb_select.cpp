// mxact select: which backend the engine would choose for a deployment, and why.

#include <fmt/core.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/engine_option.hpp"
#include "cli/output.hpp"
#include "cli/select_diff.hpp"
#include "cli/select_setup.hpp"
#include "cli/verbs.hpp"
#include "model/error.hpp"
#include "sim/deployment_file.hpp"
#include "verbs/select/answer.hpp"

namespace mx::cli {
namespace {

struct SelectOptions {
  std::vector<std::string> files;
  std::string oracle;
  std::string engine;
  bool explain = false;
  bool strict = false;
  bool diff = false;
  bool json = false;
};

void print_trace(const oracle::Decision& decision) {
  std::vector<std::vector<std::string>> rows{{"candidate", "kernel class", "verdict", "first failing check"}};
  for (const oracle::Candidate& candidate : decision.trace) {
    const bool supported = candidate.verdict.supported;
    rows.push_back({candidate.backend, candidate.kernel_class.empty() ? "-" : candidate.kernel_class, supported ? "supported" : "rejected",
                    supported ? "" : fmt::format("{}: {}", candidate.verdict.code, candidate.verdict.text)});
  }
  fmt::print("\nin the order in which the engine looks:\n");
  print_table(rows);
}

void print_skipped(const std::vector<oracle::Skipped>& skipped) {
  for (const oracle::Skipped& one : skipped) {
    fmt::print("skipped {} ({}): needs {}; otherwise {}: {}\n", one.backend, one.kernel_class, one.need->statement, oracle::name_of(one.need->effect),
               one.need->consequence);
  }
}

void print_choice(const sim::DeploymentFile& file, const oracle::OracleTables& tables, const oracle::Choice& choice) {
  const oracle::LayerConfig& layer = file.deployment.layer;
  fmt::print("{} ({})\n", choice.backend,
             choice.kernel_class.empty() ? "no kernel class: the engine goes on without a backend" : choice.kernel_class);
  if (!tables.weight_key) fmt::print("{} weights, {} activations\n", file.deployment.weight_key, file.deployment.activation_key);
  if (tables.roundings.empty()) {
    fmt::print("hidden {}, intermediate per partition {}: this oracle rounds nothing\n", layer.hidden, layer.intermediate_per_partition);
  } else {
    fmt::print("hidden {} -> {}, intermediate per partition {} -> {}\n", layer.hidden, choice.rounded_hidden, layer.intermediate_per_partition,
               choice.rounded_intermediate);
  }
  if (sim::says_global_sf(tables)) {
    const bool supported = oracle::backend_named(tables, choice.backend).global_sf_supported;
    fmt::print("one activation scale for the experts of all ranks: {}\n", supported ? "supported" : "not supported");
  }
}

int select(const SelectOptions& options) {
  if (options.files.size() != (options.diff ? 2 : 1)) {
    throw Error(ErrorCode::usage, options.diff ? "--diff takes two files" : "DEPLOYMENT is given twice; two files are for --diff");
  }
  const Engine engine = engine_named(options.engine);
  if (options.diff) return select_diff(options.files[0], options.files[1], options.oracle, engine, options.json);
  const sim::DeploymentFile file = sim::load_deployment_file(options.files[0], options.oracle, engine);
  const oracle::OracleTables& tables = oracle::tables_of(engine, file.oracle);
  const sim::SelectAnswer answer = sim::ask(file, options.strict);
  const oracle::Resolution& resolution = answer.resolution;
  const oracle::Decision& decision = resolution.decision;
  if (options.json) {
    Json json = json_head("select");
    json.update(sim::answer_json(file, answer, options.strict));
    print_json(json);
  } else {
    if (decision.choice) {
      print_choice(file, tables, *decision.choice);
    } else {
      fmt::print("no backend: {}: {}\n", decision.refusal->error_type, decision.refusal->text);
    }
    print_skipped(answer.skipped);
    fmt::print("engine {}\n", name_of(engine));
    if (options.explain) {
      print_trace(decision);
      if (resolution.setup) print_setup(resolution);
    }
  }
  return decision.choice ? 0 : static_cast<int>(ErrorCode::unsupported);
}

}  // namespace

void add_select(Verb app, Action& action) {
  const Verb verb = app.add_verb("select", "which backend the engine would choose for a deployment (exit 4 when it refuses)");
  const auto options = std::make_shared<SelectOptions>();
  verb.add_option("DEPLOYMENT", options->files, "INFO file that describes the deployment (docs/examples); two of them with --diff").required();
  verb.add_option("--oracle", options->oracle, "mxfp4, mxfp4_deepseek_v4, nvfp4, fp8, mxfp8 or w4a8, instead of the file's (default mxfp4)");
  add_engine_option(verb, options->engine);
  const Option explain =
      verb.add_flag("--explain", options->explain, "list every candidate with its first failing check, and what follows from the choice");
  const Option strict = verb.add_flag("--strict", options->strict, "never a backend whose kernel's needs are broken; says what was skipped and why");
  verb.add_flag("--diff", options->diff, "why two deployments get different answers: inputs that differ, where the searches part")
      .excludes(explain)
      .excludes(strict);
  verb.add_flag("--json", options->json, "machine-readable output, always with the trace");
  verb.callback([&action, options] { action = [options] { return select(*options); }; });
}

}  // namespace mx::cli
