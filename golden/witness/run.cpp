// Finds witness sets and runs each in its form.

#include <algorithm>

#include "golden/witness/cases.hpp"
#include "golden/witness/layouts.hpp"
#include "golden/witness/manifest.hpp"
#include "golden/witness/ops.hpp"
#include "golden/witness/witness.hpp"
#include "support/stopwatch.hpp"

namespace mx::golden {

namespace {

namespace fs = std::filesystem;

constexpr const char* kManifest = "manifest.json";

EntryResult manifest_unmodelled(const std::string& reason) {
  EntryResult result;
  result.id = "(manifest)";
  result.what = "manifest";
  result.status = EntryStatus::unmodelled;
  result.reason = reason;
  return result;
}

SetResult run_numerics_set(const fs::path& directory, const Json& json, const WitnessOptions& options, SweepCache& sweeps) {
  const Manifest manifest = read_manifest(directory, json);
  SetResult set{directory, manifest.set, "mxact-witness/1", {}};
  if (!manifest.unmodelled.empty()) set.entries.push_back(manifest_unmodelled(manifest.unmodelled));
  for (const Entry& entry : manifest.entries) {
    const sim::Stopwatch watch;
    set.entries.push_back(run_entry(manifest, entry, options, sweeps));
    set.entries.back().seconds = watch.seconds();
  }
  return set;
}

SetResult run_set(const fs::path& directory, const WitnessOptions& options, SweepCache& sweeps) {
  const fs::path file = directory / kManifest;
  const Json json = load_json(file);
  if (!json.is_object() || !json.contains("format")) broken("a manifest is an object with 'format'", file.string());
  const Json& format = json.at("format");
  if (format == "mxact-witness/1") return run_numerics_set(directory, json, options, sweeps);
  if (format == "layout-vectors/2") return run_layout_set(directory, json, options);
  broken("unknown format " + shown(format) + ": this reads mxact-witness/1 and layout-vectors/2", file.string());
}

// A set is a directory with a manifest, or a file of cases; directories above are searched, links to directories are not followed.
void collect(const fs::path& path, std::vector<fs::path>& sets) {
  if (fs::exists(path / kManifest)) {
    sets.push_back(path);
    return;
  }
  std::vector<fs::path> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(path)) found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  for (const fs::path& one : found) {
    if (fs::is_directory(one) && !fs::is_symlink(one)) collect(one, sets);
    if (one.extension() == ".jsonl" && cases_file(one) == one) sets.push_back(one);
  }
}

std::vector<fs::path> sets_at(const fs::path& path) {
  std::error_code failure;
  if (!fs::exists(path, failure)) broken("no such file or directory", path.string());
  std::vector<fs::path> sets;
  if (fs::is_directory(path)) {
    try {
      collect(path, sets);
    } catch (const fs::filesystem_error& error) {
      broken(error.code().message(), error.path1().string());
    }
    if (sets.empty()) broken("no witness set here: neither manifest.json nor a .jsonl file of cases", path.string());
  } else if (path.filename() == kManifest) {
    sets.push_back(path.parent_path().empty() ? fs::path(".") : path.parent_path());
  } else if (path.extension() == ".jsonl") {
    sets.push_back(cases_file(path));
  } else {
    broken("a witness set is a directory with manifest.json or a .jsonl file of cases", path.string());
  }
  return sets;
}

}  // namespace

std::vector<SetResult> run_witness(const fs::path& path, const WitnessOptions& options) {
  std::vector<SetResult> results;
  SweepCache sweeps;
  for (const fs::path& set : sets_at(path)) {
    results.push_back(set.extension() == ".jsonl" && !fs::is_directory(set) ? run_cases(set, options) : run_set(set, options, sweeps));
  }
  return results;
}

}  // namespace mx::golden
