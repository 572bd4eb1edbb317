// mxact study: what quantization costs, format by scale rule by distribution of the data.

#include <memory>
#include <optional>
#include <string>

#include "cli/document.hpp"
#include "cli/numbers.hpp"
#include "cli/progress_line.hpp"
#include "cli/verbs.hpp"
#include "verbs/study/study_document.hpp"

namespace mx::cli {
namespace {

struct StudyChoices {
  sim::StudyOptions options;
  std::int64_t tiles = 1;
  std::int64_t seed = 1;
  bool rules = false;
  bool line = false;
  DocumentOptions out;
};

int study(const StudyChoices& choices) {
  require_outputs(choices.out);
  if (choices.rules) return show(verbs::scale_rules_document(choices.options.formats), choices.out);
  if (choices.line) return show(verbs::error_line_document(choices.options.formats), choices.out);
  sim::StudyOptions options = choices.options;
  options.values = choices.tiles * sim::kStudyUnit;
  options.seed = static_cast<std::uint64_t>(choices.seed);
  std::optional<sim::Study> study;
  {
    ProgressLine line;
    options.progress = [&line](const std::string& profile, std::uint64_t done, std::uint64_t all) {
      line.show(profile, static_cast<double>(done) / static_cast<double>(all));
    };
    study = sim::run_study(options);
  }
  return show(verbs::study_document(*study), choices.out);
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
  add_picture_option(verb, choices->out, "writes the picture, FILE.svg, instead of the table");
  verb.add_flag("--force", choices->out.force, "overwrite the file");
  add_json_option(verb, choices->out);
  verb.callback([&action, choices] { action = [choices] { return study(*choices); }; });
}

}  // namespace mx::cli
