// mxact coverage merge: what several runs of ver covered together.

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/document.hpp"
#include "cli/verbs.hpp"
#include "model/error.hpp"
#include "support/file.hpp"
#include "verbs/vectors/coverage_document.hpp"

namespace mx::cli {
namespace {

struct MergeOptions {
  std::vector<std::string> files;
  std::string output;
  std::string coverage_out;
  DocumentOptions out;
};

void write_text(const std::string& path, const std::string& text, bool force) {
  support::write_file(path, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, force);
}

int merge(const MergeOptions& options) {
  if (!options.output.empty() && !options.output.ends_with(".html"))
    throw Error(ErrorCode::usage, "-o takes a file that ends in .html, not '" + options.output + "'");
  for (const std::string& path : {options.output, options.coverage_out}) {
    if (!path.empty()) support::require_writable(path, options.out.force);
  }
  require_outputs(options.out);
  const golden::CoverageRecord record = golden::merge_coverage_files({options.files.begin(), options.files.end()});
  if (!options.output.empty()) write_text(options.output, verbs::merged_coverage_page(record), options.out.force);
  if (!options.coverage_out.empty()) write_text(options.coverage_out, golden::coverage_file_text(record), options.out.force);
  return show(verbs::merged_coverage_document(record, options.files), options.out);
}

}  // namespace

void add_coverage(Verb app, Action& action) {
  const Verb verb = app.add_verb("coverage", "what runs of ver covered: coverage merge FILE..");
  verb.require_verb();
  const Verb merge_verb = verb.add_verb("merge", "files of ver --coverage-out as one: bins that all runs hit together");
  const auto options = std::make_shared<MergeOptions>();
  merge_verb.add_option("FILE", options->files, "file that ver --coverage-out or this verb wrote").required();
  merge_verb.add_option("-o,--output", options->output, "write the page FILE.html");
  merge_verb.add_option("--coverage-out", options->coverage_out, "write what was merged as such a file");
  add_check_options(merge_verb, options->out);
  merge_verb.footer(
      "exit status: 0 every reachable bin was hit by right answers; 1 one was missed, or an answer was wrong; 2 usage; 3 a file cannot be read, or "
      "its edition is not the others'; 5 a run that is not to be trusted");
  merge_verb.callback([&action, options] { action = [options] { return merge(*options); }; });
}

}  // namespace mx::cli
