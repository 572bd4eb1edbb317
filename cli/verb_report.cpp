// mxact report: the JSON of runs as one page that needs nothing else.

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/document.hpp"
#include "cli/verbs.hpp"
#include "model/error.hpp"
#include "model/names.hpp"
#include "support/file.hpp"
#include "verbs/report/report_document.hpp"

namespace mx::cli {
namespace {

struct ReportOptions {
  std::vector<std::string> runs;
  std::vector<std::string> against;
  std::string output;
  std::string annotate;
  std::string picture;
  DocumentOptions out;
};

/// A page, its checks for continuous integration or, of one run, its picture: the ending of the file's name says which.
enum class Form { page, picture, junit };

Form form_of(const std::filesystem::path& path) {
  const std::string ending = path.extension().string();
  if (ending == ".html") return Form::page;
  if (ending == ".svg") return Form::picture;
  if (ending == ".xml") return Form::junit;
  throw Error(ErrorCode::usage, fmt::format("-o takes a file that ends in .html, .svg or .xml, not '{}'", path.string()));
}

std::vector<verbs::Run> read_runs(const std::vector<std::string>& paths) {
  std::vector<verbs::Run> runs;
  for (const std::string& path : paths) {
    const auto same = [&](const verbs::Run& run) { return run.name == path; };
    if (std::ranges::any_of(runs, same)) throw Error(ErrorCode::usage, fmt::format("{} is given twice", path));
    runs.push_back(verbs::read_run(path));
  }
  return runs;
}

std::string text_of(Form form, const std::string& picture, std::span<const verbs::Run> runs, const std::optional<verbs::Comparison>& comparison) {
  switch (form) {
    case Form::picture: return verbs::as_file(verbs::picture_of(runs.front(), picture));
    case Form::junit: return support::junit_xml({"mxact report"}, verbs::checks_of(runs));
    default: return verbs::report_html(runs, comparison);
  }
}

int report(const ReportOptions& options) {
  if (!options.annotate.empty() && options.annotate != "github")
    throw Error(ErrorCode::usage, unknown_name("service", options.annotate, std::vector<std::string_view>{"github"}), "--annotate");
  if (!options.annotate.empty() && options.out.json) throw Error(ErrorCode::usage, "--annotate and --json both write to standard output");
  const Form form = form_of(options.output);
  if (form == Form::picture && options.runs.size() != 1) {
    throw Error(ErrorCode::usage, fmt::format("a picture is that of one run, not of {}; a page ends in .html", options.runs.size()));
  }
  if (!options.picture.empty() && form != Form::picture) throw Error(ErrorCode::usage, "--picture goes with -o FILE.svg", options.output);
  if (!options.against.empty() && form != Form::page) throw Error(ErrorCode::usage, "--against goes with -o FILE.html", options.output);
  support::require_writable(options.output, options.out.force);
  const std::vector<verbs::Run> runs = read_runs(options.runs);
  const std::vector<verbs::Outcome> outcomes = verbs::outcomes_of(runs);
  std::optional<verbs::Comparison> comparison;
  if (!options.against.empty()) comparison = verbs::compare_runs(runs, read_runs(options.against));
  const std::string text = text_of(form, options.picture, runs, comparison);
  support::write_file(options.output, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, options.out.force);
  if (!options.annotate.empty()) {
    fmt::print("{}", support::github_annotations(verbs::checks_of(runs)));
    return verbs::exit_code(verbs::worst(outcomes));
  }
  return show(verbs::report_document(runs, outcomes, comparison, options.output, text.size()), options.out);
}

}  // namespace

void add_report(Verb app, Action& action) {
  const Verb verb =
      app.add_verb("report", "one self-contained HTML page, or JUnit's XML, from the JSON of any runs; the exit status is that of the worst of them");
  const auto options = std::make_shared<ReportOptions>();
  verb.add_option("RUN", options->runs, "what a verb printed with --json, or mxact_bench wrote with --benchmark_out").required();
  verb.add_option("-o,--output", options->output,
                  "the page, FILE.html; every single check as JUnit's XML, FILE.xml; or the picture of one run, FILE.svg")
      .required();
  verb.add_option("--against", options->against, "an earlier run, or several: the page has a part of answers that are others now, gone or new");
  verb.add_option("--picture", options->picture,
                  "which picture, where a run has several: speed, of mxact_bench (default: the first, kernels under their limits)");
  verb.add_option("--annotate", options->annotate, "github: prints a line for each failure that GitHub shows beside the change");
  verb.add_flag("--force", options->out.force, "overwrite the file");
  add_json_option(verb, options->out, "machine-readable output: the verdict of each run");
  verb.callback([&action, options] { action = [options] { return report(*options); }; });
}

}  // namespace mx::cli
