// mxact vectors: the versioned set of vectors as files.

#include <fmt/core.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <memory>

#include "cli/output.hpp"
#include "cli/verbs.hpp"
#include "golden/vectors/files/vector_files.hpp"
#include "model/error.hpp"

namespace mx::cli {
namespace {

struct VectorsOptions {
  std::string output;
  std::string check;
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

int run(const VectorsOptions& options) {
  if (options.output.empty() == options.check.empty()) throw Error(ErrorCode::usage, "say one of --output DIRECTORY and --check DIRECTORY");
  const golden::SetPart part = options.core ? golden::SetPart::core : golden::SetPart::full;
  return options.check.empty() ? write(options, part) : check(options, part);
}

}  // namespace

void add_vectors(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand("vectors", "the versioned set of vectors as files: mxact vectors -o DIRECTORY");
  const auto options = std::make_shared<VectorsOptions>();
  verb->add_option("-o,--output", options->output, "write the set below this directory");
  verb->add_option("--check", options->check, "hold the set below this directory against what would be written");
  verb->add_flag("--core", options->core, "the part that the repository holds (golden/v1), as .hex");
  verb->add_flag("--force", options->force, "overwrite files of the same names");
  verb->add_flag("--json", options->json, "machine-readable output");
  verb->callback([&action, options] { action = [options] { return run(*options); }; });
}

}  // namespace mx::cli
