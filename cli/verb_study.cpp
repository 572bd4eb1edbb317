// mxact study: what quantization costs, format by scale rule by distribution of the data.

#include <fmt/core.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "cli/numbers.hpp"
#include "cli/output.hpp"
#include "cli/picture_file.hpp"
#include "cli/study_curves.hpp"
#include "cli/verbs.hpp"
#include "sim/study/study.hpp"

namespace mx::cli {
namespace {

struct StudyChoices {
  sim::StudyOptions options;
  std::int64_t tiles = 1;
  std::int64_t seed = 1;
  std::string output;
  bool rules = false;
  bool line = false;
  bool force = false;
  bool json = false;
};

std::string decibels(double value) {
  if (std::isnan(value)) return "NaN";
  return std::isinf(value) ? "exact" : fmt::format("{:.2f}", value);
}

double share(std::int64_t count, const sim::Study& study) { return 100 * static_cast<double>(count) / static_cast<double>(study.values); }

void print_text(const sim::Study& study) {
  std::vector<std::vector<std::string>> rows{{"format", "profile", "rule", "data", "SQNR dB", "max error", "saturated %", "flushed %"}};
  for (const sim::StudyRow& row : study.rows) {
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      const sim::StudyCell& cell = row.cells[i];
      rows.push_back({i == 0 ? row.format : "", i == 0 ? row.profile : "", i == 0 ? row.rule : "", std::string(study.distributions[i]->name),
                      decibels(cell.sqnr_db), fmt::format("{:.5f}", cell.max_error), fmt::format("{:.3f}", share(cell.saturated, study)),
                      fmt::format("{:.3f}", share(cell.flushed, study))});
    }
  }
  print_table(rows);
}

Json as_json(const sim::Study& study) {
  Json json = json_head("study");
  json["values"] = study.values;
  json["rows"] = Json::array();
  for (const sim::StudyRow& row : study.rows) {
    Json one = {{"format", row.format}, {"profile", row.profile}, {"rule", row.rule}, {"cells", Json::array()}};
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      const sim::StudyCell& cell = row.cells[i];
      one["cells"].push_back({{"distribution", study.distributions[i]->name},
                              {"sqnr_db", std::isfinite(cell.sqnr_db) ? Json(cell.sqnr_db) : Json()},
                              {"max_error", cell.max_error},
                              {"saturated", cell.saturated},
                              {"flushed", cell.flushed}});
    }
    json["rows"].push_back(std::move(one));
  }
  return json;
}

/// A picture, JSON or a table of what needs no data: scale rules, or errors along the real line.
int curves(const StudyChoices& choices) {
  if (!choices.output.empty()) require_svg(choices.output, choices.force);
  const Json json = choices.rules ? scale_rules_json(choices.options.formats) : error_line_json(choices.options.formats);
  if (!choices.output.empty()) write_picture(choices.output, json, choices.force);
  if (choices.json) {
    print_json(json);
  } else if (choices.output.empty()) {
    choices.rules ? print_scale_rules(json) : print_error_line(json);
  }
  return 0;
}

int study(const StudyChoices& choices) {
  if (choices.rules || choices.line) return curves(choices);
  sim::StudyOptions options = choices.options;
  options.values = choices.tiles * sim::kStudyUnit;
  options.seed = static_cast<std::uint64_t>(choices.seed);
  if (!choices.output.empty()) require_svg(choices.output, choices.force);
  const sim::Study result = sim::run_study(options);
  const Json json = as_json(result);
  if (!choices.output.empty()) write_picture(choices.output, json, choices.force);
  if (choices.json) {
    print_json(json);
  } else if (choices.output.empty()) {
    print_text(result);
  }
  return 0;
}

}  // namespace

void add_study(Verb app, Action& action) {
  const Verb verb = app.add_verb("study", "what quantization costs: format x scale rule x distribution of the data");
  const auto choices = std::make_shared<StudyChoices>();
  const Option rules =
      verb.add_flag("--rules", choices->rules, "where scale rules part instead: the scale that each takes for the largest magnitude of a block");
  const Option line = verb.add_flag("--line", choices->line, "the error of element formats along the real line instead").excludes(rules);
  const Option profile =
      verb.add_option("--profile", choices->options.profiles, "torchao-rceil, flashinfer-mx, ...; repeat for several (default: all)");
  profile.excludes(rules).excludes(line);
  verb.add_option("--format", choices->options.formats,
                  "mxfp4, mxfp8_e4m3, nvfp4, ...; with --line e2m1, e4m3fn, ...; repeat for several (default: all)");
  verb.add_option("--data", choices->options.distributions, "uniform, normal, heavy, outliers, gated, tiny; repeat for several (default: all)");
  verb.add_option("--tiles", choices->tiles, "values of each distribution, in tiles of 128 x 128 (default 1)").check(whole_number_in(1, 4096));
  verb.add_option("--seed", choices->seed, "of the data (default 1)").check(whole_number_in(0, INT64_MAX));
  verb.add_option("-o,--output", choices->output, "writes the picture, FILE.svg, instead of the table");
  verb.add_flag("--force", choices->force, "overwrite the file");
  verb.add_flag("--json", choices->json, "machine-readable output");
  verb.callback([&action, choices] { action = [choices] { return study(*choices); }; });
}

}  // namespace mx::cli
