// mxact select: which backend the engine would choose for a deployment, and why.

#include <fmt/core.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <memory>
#include <string>

#include "cli/output.hpp"
#include "cli/verbs.hpp"
#include "model/error.hpp"
#include "model/layout/backend.hpp"
#include "model/oracle/select.hpp"
#include "sim/deployment_file.hpp"

namespace mx::cli {
namespace {

struct SelectOptions {
  std::string file;
  bool explain = false;
  bool json = false;
};

Json as_json(const oracle::Deployment& deployment, const oracle::Decision& decision) {
  Json json = json_head("select");
  json["oracle"] = "mxfp4";
  json["platform"] = oracle::name_of(deployment.hardware.platform);
  if (decision.choice) {
    json["choice"] = {{"backend", decision.choice->backend},
                      {"kernel_class", decision.choice->kernel_class},
                      {"hidden", deployment.layer.hidden},
                      {"rounded_hidden", decision.choice->rounded_hidden},
                      {"intermediate_per_partition", deployment.layer.intermediate_per_partition},
                      {"rounded_intermediate", decision.choice->rounded_intermediate},
                      {"layout_modelled", layout::find_backend_layout(decision.choice->backend) != nullptr}};
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
                    supported ? "" : std::string(candidate.verdict.code) + ": " + candidate.verdict.text});
  }
  fmt::print("\nin the order in which the engine looks:\n");
  print_table(rows);
}

int select(const SelectOptions& options) {
  const oracle::Deployment deployment = sim::load_deployment(options.file);
  const oracle::Decision decision = oracle::select("mxfp4", deployment, oracle::Detail::texts);
  if (options.json) {
    print_json(as_json(deployment, decision));
  } else {
    if (decision.choice) {
      fmt::print("{} ({})\n", decision.choice->backend, decision.choice->kernel_class);
      fmt::print("hidden {} -> {}, intermediate per partition {} -> {}\n", deployment.layer.hidden, decision.choice->rounded_hidden,
                 deployment.layer.intermediate_per_partition, decision.choice->rounded_intermediate);
    } else {
      fmt::print("no backend: {}: {}\n", decision.refusal->error_type, decision.refusal->text);
    }
    if (options.explain) print_trace(decision);
  }
  return decision.choice ? 0 : static_cast<int>(ErrorCode::unsupported);
}

}  // namespace

void add_select(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand("select", "which backend the engine would choose for a deployment (exit 4 when it refuses)");
  const auto options = std::make_shared<SelectOptions>();
  verb->add_option("DEPLOYMENT", options->file, "INFO file that describes the deployment (docs/examples)")->required();
  verb->add_flag("--explain", options->explain, "list every candidate with its first failing check");
  verb->add_flag("--json", options->json, "machine-readable output, always with the trace");
  verb->callback([&action, options] { action = [options] { return select(*options); }; });
}

}  // namespace mx::cli
