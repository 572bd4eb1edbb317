// mxact vectors: the versioned set of vectors as files.

#include <fmt/core.h>

#include <memory>
#include <vector>

#include "cli/document.hpp"
#include "cli/progress_line.hpp"
#include "cli/verbs.hpp"
#include "model/error.hpp"
#include "support/file.hpp"
#include "verbs/vectors/vectors_document.hpp"

namespace mx::cli {
namespace {

struct VectorsOptions {
  std::string output;
  std::string check;
  std::string edition{golden::name_of(golden::kLatestEdition)};
  bool coverage = false;
  bool growth = false;
  bool core = false;
  DocumentOptions out;
};

golden::SetProgress shown_on(ProgressLine& line) {
  return [&line](std::size_t done, std::size_t all) {
    line.show(fmt::format("{} of {} tables", done, all), static_cast<double>(done) / static_cast<double>(all));
  };
}

int write(const VectorsOptions& options, const golden::SetId& set) {
  const std::size_t files = [&] {
    ProgressLine line;
    return golden::write_set(set, options.output, options.out.force, shown_on(line));
  }();
  return show(verbs::written_set_document(set, files, options.output), options.out);
}

int check(const VectorsOptions& options, const golden::SetId& set) {
  const golden::SetCheck found = [&] {
    ProgressLine line;
    return golden::check_set(set, options.check, shown_on(line));
  }();
  return show(verbs::checked_set_document(set, found, options.check), options.out);
}

/// Bins that the part's tables hit, as text or JSON on stdout, and as a page or a picture.
int show_coverage(const VectorsOptions& options, const golden::SetId& set) {
  const bool is_picture = options.output.ends_with(".svg");
  if (!options.output.empty()) {
    if (!is_picture && !options.output.ends_with(".html"))
      throw Error(ErrorCode::usage, fmt::format("--coverage -o takes a file that ends in .html or .svg, not '{}'", options.output));
    support::require_writable(options.output, options.out.force);
  }
  std::vector<golden::TableRecord> records;
  {
    ProgressLine line;
    records = golden::set_records(set, shown_on(line));
  }
  DocumentOptions out = options.out;
  if (is_picture) out.picture = options.output;
  if (!options.output.empty() && !is_picture) {
    const std::string page = golden::coverage_html(set.edition, records);
    support::write_file(options.output, {reinterpret_cast<const std::uint8_t*>(page.data()), page.size()}, out.force);
  }
  return show(verbs::set_coverage_document(set, records), out);
}

int run(const VectorsOptions& options) {
  const golden::SetId set{golden::edition_named(options.edition), options.core ? golden::SetPart::core : golden::SetPart::full};
  if (options.growth && !options.coverage && options.check.empty() && options.output.empty())
    return show(verbs::set_growth_document(set, golden::set_growth(set)), options.out);
  if (options.coverage && !options.growth && options.check.empty()) return show_coverage(options, set);
  if (options.coverage || options.growth || options.output.empty() == options.check.empty())
    throw Error(ErrorCode::usage, "say one of --output DIRECTORY, --check DIRECTORY, --coverage and --growth");
  return options.check.empty() ? write(options, set) : check(options, set);
}

}  // namespace

void add_vectors(Verb app, Action& action) {
  const Verb verb = app.add_verb("vectors", "the versioned set of vectors as files: mxact vectors -o DIRECTORY");
  const auto options = std::make_shared<VectorsOptions>();
  verb.add_option("-o,--output", options->output,
                  "write the set below this directory; with --coverage: the page, FILE.html, or the picture, FILE.svg");
  verb.add_option("--check", options->check, "hold the set below this directory against what would be written");
  verb.add_option("--edition", options->edition, "v1.1 (default), v1");
  verb.add_flag("--coverage", options->coverage, "which bins the set's tables hit, and why nothing reaches the others");
  verb.add_flag("--growth", options->growth, "how many vectors each table has, and how many times as many as v1's");
  verb.add_flag("--core", options->core, "the part that the repository holds (golden/v1, golden/v1.1), as .hex");
  verb.add_flag("--force", options->out.force, "overwrite files of the same names");
  add_json_option(verb, options->out);
  verb.callback([&action, options] { action = [options] { return run(*options); }; });
}

}  // namespace mx::cli
