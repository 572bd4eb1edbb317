// mxact coverage: which bins the vectors of a device met, over several runs.

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/document.hpp"
#include "cli/verbs.hpp"
#include "model/error.hpp"
#include "verbs/vectors/coverage_document.hpp"

namespace mx::cli {
namespace {

struct MergeOptions {
  std::vector<std::string> files;
  DocumentOptions out;
};

int merge_coverage(const MergeOptions& options) {
  require_outputs(options.out);
  for (auto file = options.files.begin(); file != options.files.end(); ++file) {
    if (std::find(options.files.begin(), file, *file) != file) throw Error(ErrorCode::usage, *file + " is given twice");
  }
  const std::vector<std::filesystem::path> paths(options.files.begin(), options.files.end());
  return show(verbs::coverage_document(verbs::merged(paths)), options.out);
}

}  // namespace

void add_coverage(Verb app, Action& action) {
  const Verb coverage = app.add_verb("coverage", "which bins the vectors of a device met: merge");
  coverage.require_verb();
  const Verb verb = coverage.add_verb("merge", "the bins that several runs of ver met, as one (exit 1 where an answer was wrong)");
  const auto options = std::make_shared<MergeOptions>();
  verb.add_option("FILE", options->files, "what ver --coverage-out wrote, or a merge of such as JSON").required();
  add_check_options(verb, options->out);
  verb.callback([&action, options] { action = [options] { return merge_coverage(*options); }; });
}

}  // namespace mx::cli
