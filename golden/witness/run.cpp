// Finds witness sets and runs each in its form.

#include <algorithm>
#include <iterator>
#include <string_view>

#include "golden/witness/cases.hpp"
#include "golden/witness/layouts.hpp"
#include "golden/witness/manifest.hpp"
#include "golden/witness/ops.hpp"
#include "golden/witness/recording.hpp"
#include "golden/witness/witness.hpp"
#include "support/stopwatch.hpp"

namespace mx::golden {

namespace {

namespace fs = std::filesystem;

constexpr const char* kManifest = "manifest.json";

/// Forms of numerics sets: each later one adds words and changes the meaning of none.
constexpr std::string_view kNumericsForms[] = {"mxact-witness/1", "mxact-witness/2", "mxact-witness/3"};
constexpr std::string_view kLayoutForm = "layout-vectors/2";
constexpr std::string_view kUnknownForm = "unknown";

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
  SetResult set{directory, manifest.set, json.at("format").get<std::string>(), {}};
  if (!manifest.unmodelled.empty()) set.entries.push_back(manifest_unmodelled(manifest.unmodelled));
  for (const Entry& entry : manifest.entries) {
    const support::Stopwatch watch;
    set.entries.push_back(run_entry(manifest, entry, options, sweeps));
    set.entries.back().seconds = watch.seconds();
  }
  return set;
}

/// A set in a form that this reader does not know: one entry that says so, since other sets may be readable.
SetResult unknown_set(const fs::path& directory, const Json& format) {
  const fs::path absolute = fs::absolute(directory).lexically_normal();
  const fs::path name = absolute.has_filename() ? absolute.filename() : absolute.parent_path().filename();
  std::string known;
  for (const std::string_view form : kNumericsForms) known += std::string(form) + ", ";
  SetResult set{directory, name.string(), std::string(kUnknownForm), {}};
  set.readable = false;
  set.entries.push_back(manifest_unmodelled("unknown format " + shown(format) + ": this reads " + known + std::string(kLayoutForm)));
  return set;
}

SetResult run_set(const fs::path& directory, const WitnessOptions& options, SweepCache& sweeps) {
  const fs::path file = directory / kManifest;
  const Json json = load_json(file);
  if (!json.is_object() || !json.contains("format")) broken("a manifest is an object with 'format'", file.string());
  const Json& format = json.at("format");
  if (!format.is_string()) broken("'format' must be a text, not " + shown(format), file.string());
  const auto word = format.get<std::string>();
  if (std::ranges::find(kNumericsForms, word) != std::end(kNumericsForms)) return run_numerics_set(directory, json, options, sweeps);
  if (word == kLayoutForm) return run_layout_set(directory, json, options);
  return unknown_set(directory, format);
}

// A set is a directory with a manifest, or a file of cases; directories above are searched, links to directories are not followed.
void collect(const fs::path& path, std::vector<fs::path>& sets) {
  if (fs::exists(path / kManifest)) {
    sets.push_back(path);
    return;
  }
  std::vector<fs::path> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(path)) found.push_back(recording_name(entry.path()));
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  for (const fs::path& one : found) {
    if (fs::is_directory(one) && !fs::is_symlink(one)) collect(one, sets);
    if (one.extension() == ".jsonl" && cases_file(one) == one) sets.push_back(one);
  }
}

std::vector<fs::path> sets_at(const fs::path& given) {
  const fs::path path = recording_name(given);
  std::error_code failure;
  if (!fs::exists(path, failure) && !has_recording(path)) broken("no such file or directory", path.string());
  std::vector<fs::path> sets;
  if (fs::is_directory(path)) {
    try {
      collect(path, sets);
    } catch (const fs::filesystem_error& error) {
      broken(error.code().message(), error.path1().string());
    }
    if (sets.empty()) broken("no witness set here: neither manifest.json nor a .jsonl or .jsonl.gz file of cases", path.string());
  } else if (path.filename() == kManifest) {
    sets.push_back(path.parent_path().empty() ? fs::path(".") : path.parent_path());
  } else if (path.extension() == ".jsonl") {
    sets.push_back(cases_file(path));
  } else {
    broken("a witness set is a directory with manifest.json or a .jsonl or .jsonl.gz file of cases", path.string());
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
