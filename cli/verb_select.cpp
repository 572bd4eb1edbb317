// mxact select: which backend the engine would choose for a deployment, and why.

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "cli/output.hpp"
#include "cli/select_diff.hpp"
#include "cli/select_setup.hpp"
#include "cli/verbs.hpp"
#include "model/audit/strict.hpp"
#include "model/engine/vllm/select.hpp"
#include "model/error.hpp"
#include "sim/deployment_file.hpp"

namespace mx::cli {
namespace {

struct SelectOptions {
  std::vector<std::string> files;
  std::string oracle;
  bool explain = false;
  bool strict = false;
  bool diff = false;
  bool json = false;
};

/// True where the oracle says whether one activation scale may serve the experts of all ranks.
bool says_global_sf(const oracle::OracleTables& tables) {
  return std::any_of(tables.backends.begin(), tables.backends.end(), [](const oracle::BackendRow& row) { return row.global_sf_supported; });
}

Json choice_json(const sim::DeploymentFile& file, const oracle::OracleTables& tables, const oracle::Choice& choice) {
  const oracle::LayerConfig& layer = file.deployment.layer;
  Json json = {{"backend", choice.backend},
               {"kernel_class", choice.kernel_class.empty() ? Json() : Json(choice.kernel_class)},
               {"hidden", layer.hidden},
               {"rounded_hidden", choice.rounded_hidden},
               {"intermediate_per_partition", layer.intermediate_per_partition},
               {"rounded_intermediate", choice.rounded_intermediate}};
  if (says_global_sf(tables)) json["global_sf_supported"] = oracle::backend_named(tables, choice.backend).global_sf_supported;
  return json;
}

Json as_json(const sim::DeploymentFile& file, const oracle::OracleTables& tables, const oracle::Decision& decision) {
  Json json = json_head("select");
  json["oracle"] = file.oracle;
  json["platform"] = oracle::name_of(file.deployment.hardware.platform);
  json["weight_key"] = file.deployment.weight_key;
  json["activation_key"] = file.deployment.activation_key;
  if (decision.choice) {
    json["choice"] = choice_json(file, tables, *decision.choice);
    json["setup"] = setup_json(oracle::set_up(tables, file.deployment, *decision.choice));
  } else {
    json["refusal"] = {{"error_type", decision.refusal->error_type}, {"text", decision.refusal->text}};
  }
  json["trace"] = Json::array();
  for (const oracle::Candidate& candidate : decision.trace) {
    json["trace"].push_back({{"backend", candidate.backend},
                             {"kernel_class", candidate.kernel_class},
                             {"supported", candidate.verdict.supported},
                             {"code", candidate.verdict.code},
                             {"text", candidate.verdict.text}});
  }
  return json;
}

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

Json skipped_json(const std::vector<oracle::Skipped>& skipped) {
  Json json = Json::array();
  for (const oracle::Skipped& one : skipped) {
    json.push_back({{"backend", one.backend},
                    {"kernel_class", one.kernel_class},
                    {"need", one.need->id},
                    {"statement", one.need->statement},
                    {"effect", oracle::name_of(one.need->effect)},
                    {"consequence", one.need->consequence},
                    {"source", one.need->source}});
  }
  return json;
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
  if (says_global_sf(tables)) {
    const bool supported = oracle::backend_named(tables, choice.backend).global_sf_supported;
    fmt::print("one activation scale for the experts of all ranks: {}\n", supported ? "supported" : "not supported");
  }
}

int select(const SelectOptions& options) {
  if (options.files.size() != (options.diff ? 2 : 1)) {
    throw Error(ErrorCode::usage, options.diff ? "--diff takes two files" : "DEPLOYMENT is given twice; two files are for --diff");
  }
  if (options.diff) return select_diff(options.files[0], options.files[1], options.oracle, options.json);
  const sim::DeploymentFile file = sim::load_deployment_file(options.files[0], options.oracle);
  const oracle::OracleTables& tables = oracle::tables_of(file.oracle);
  const oracle::StrictDecision strict = options.strict ? oracle::select_strict(file.oracle, file.deployment, oracle::Detail::texts)
                                                       : oracle::StrictDecision{oracle::select(tables, file.deployment, oracle::Detail::texts), {}};
  const oracle::Decision& decision = strict.decision;
  if (options.json) {
    Json json = as_json(file, tables, decision);
    if (options.strict) json["skipped"] = skipped_json(strict.skipped);
    print_json(json);
  } else {
    if (decision.choice) {
      print_choice(file, tables, *decision.choice);
    } else {
      fmt::print("no backend: {}: {}\n", decision.refusal->error_type, decision.refusal->text);
    }
    print_skipped(strict.skipped);
    if (options.explain) {
      print_trace(decision);
      if (decision.choice) print_setup(oracle::set_up(tables, file.deployment, *decision.choice));
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
