// mxact vectors: the versioned set of vectors as files.

#include <fmt/core.h>

#include <memory>
#include <vector>

#include "cli/output.hpp"
#include "cli/picture_file.hpp"
#include "cli/verbs.hpp"
#include "golden/vectors/files/vector_files.hpp"
#include "model/error.hpp"
#include "support/file.hpp"

namespace mx::cli {
namespace {

struct VectorsOptions {
  std::string output;
  std::string check;
  bool coverage = false;
  bool core = false;
  bool force = false;
  bool json = false;
};

golden::SetProgress shown_on(ProgressLine& line) {
  return [&line](std::size_t done, std::size_t all) {
    line.show(fmt::format("{} of {} tables", done, all), static_cast<double>(done) / static_cast<double>(all));
  };
}

int write(const VectorsOptions& options, golden::SetPart part) {
  ProgressLine line;
  const std::size_t files = golden::write_set(part, options.output, options.force, shown_on(line));
  if (options.json) {
    Json json = json_head("vectors");
    json["set"] = golden::kSetVersion;
    json["part"] = golden::name_of(part);
    json["files"] = files;
    print_json(json);
  } else {
    fmt::print("{} files of set {} ({}) below {}\n", files, golden::kSetVersion, golden::name_of(part), options.output);
  }
  return 0;
}

int check(const VectorsOptions& options, golden::SetPart part) {
  constexpr int kFailed = 1;
  constexpr int kNothing = 5;
  ProgressLine line;
  const golden::SetCheck found = golden::check_set(part, options.check, shown_on(line));
  if (options.json) {
    Json json = json_head("vectors");
    json["set"] = golden::kSetVersion;
    json["part"] = golden::name_of(part);
    json["files"] = found.files;
    json["missing"] = found.missing;
    json["different"] = found.different;
    json["unknown"] = found.unknown;
    print_json(json);
  } else if (found.files == 0 && found.different.empty()) {
    fmt::print("nothing of set {0} ({1}) is below {2}: the directory is the one that has {0} in it\n", golden::kSetVersion, golden::name_of(part),
               options.check);
  } else {
    for (const std::string& file : found.missing) fmt::print("missing    {}\n", file);
    for (const std::string& file : found.different) fmt::print("different  {}\n", file);
    for (const std::string& file : found.unknown) fmt::print("unknown    {}\n", file);
    fmt::print("{} files are those of set {} ({}), {} missing, {} different, {} unknown\n", found.files, golden::kSetVersion, golden::name_of(part),
               found.missing.size(), found.different.size(), found.unknown.size());
  }
  if (found.files == 0) return kNothing;
  return found.missing.empty() && found.different.empty() && found.unknown.empty() ? 0 : kFailed;
}

Json coverage_run_json(const std::vector<golden::TableRecord>& records, golden::SetPart part) {
  Json json = json_head("vectors");
  json["set"] = golden::kSetVersion;
  json["part"] = golden::name_of(part);
  json["coverage"] = golden::coverage_json(records);
  return json;
}

/// Bins that the part's tables hit, as text or JSON on stdout, and as a page or a picture.
int show_coverage(const VectorsOptions& options, golden::SetPart part) {
  const bool is_picture = options.output.ends_with(".svg");
  if (!options.output.empty()) {
    if (!is_picture && !options.output.ends_with(".html"))
      throw Error(ErrorCode::usage, fmt::format("--coverage -o takes a file that ends in .html or .svg, not '{}'", options.output));
    sim::require_writable(options.output, options.force);
  }
  std::vector<golden::TableRecord> records;
  {
    ProgressLine line;
    records = golden::set_records(part, shown_on(line));
  }
  if (is_picture) {
    write_picture(options.output, coverage_run_json(records, part), options.force);
  } else if (!options.output.empty()) {
    const std::string page = golden::coverage_html(records);
    sim::write_file(options.output, {reinterpret_cast<const std::uint8_t*>(page.data()), page.size()}, options.force);
  }
  if (options.json) {
    print_json(coverage_run_json(records, part));
  } else {
    fmt::print("{}", golden::coverage_text(records));
  }
  constexpr int kMissed = 1;
  return golden::misses_bins(records) ? kMissed : 0;
}

int run(const VectorsOptions& options) {
  const golden::SetPart part = options.core ? golden::SetPart::core : golden::SetPart::full;
  if (options.coverage && options.check.empty()) return show_coverage(options, part);
  if (options.coverage || options.output.empty() == options.check.empty())
    throw Error(ErrorCode::usage, "say one of --output DIRECTORY, --check DIRECTORY and --coverage");
  return options.check.empty() ? write(options, part) : check(options, part);
}

}  // namespace

void add_vectors(Verb app, Action& action) {
  const Verb verb = app.add_verb("vectors", "the versioned set of vectors as files: mxact vectors -o DIRECTORY");
  const auto options = std::make_shared<VectorsOptions>();
  verb.add_option("-o,--output", options->output,
                  "write the set below this directory; with --coverage: the page, FILE.html, or the picture, FILE.svg");
  verb.add_option("--check", options->check, "hold the set below this directory against what would be written");
  verb.add_flag("--coverage", options->coverage, "which bins the set's tables hit, and why nothing reaches the others");
  verb.add_flag("--core", options->core, "the part that the repository holds (golden/v1), as .hex");
  verb.add_flag("--force", options->force, "overwrite files of the same names");
  verb.add_flag("--json", options->json, "machine-readable output");
  verb.callback([&action, options] { action = [options] { return run(*options); }; });
}

}  // namespace mx::cli
