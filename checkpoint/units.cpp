#include "checkpoint/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "checkpoint/staging.hpp"
#include "model/error.hpp"
#include "support/digest.hpp"
#include "support/rescue.hpp"

namespace mx::checkpoint {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& where, const std::string& message) { throw Error(ErrorCode::input, message, where); }

void check_plan_of(const UnitRecord& record, const UnitPlan& plan, const fs::path& path) {
  if (record.plan != plan.id) fail(path.string(), fmt::format("is a unit of plan {}, this is plan {}", record.plan, plan.id));
  const auto count = static_cast<int>(plan.units.size());
  if (record.unit >= count) fail(path.string(), fmt::format("is unit {}, but the plan has units 0..{}", record.unit, count - 1));
  const std::string& file = plan.units[static_cast<std::size_t>(record.unit)].file;
  if (record.result.file != file)
    fail(path.string(), fmt::format("is unit {} with the file {}, planned was {}", record.unit, record.result.file, file));
}

/// A directory holds units of one plan: files of two would have the same names. One record tells, since every run asks.
void check_directory_of(const UnitPlan& plan, const fs::path& directory) {
  for (const fs::directory_entry& entry : fs::directory_iterator(directory)) {
    if (!is_record_name(entry.path().filename().string())) continue;
    const UnitRecord record = read_record(entry.path());
    if (record.plan != plan.id) {
      fail(entry.path().string(), fmt::format("is a unit of plan {}, this is plan {}: name another directory, or remove it", record.plan, plan.id));
    }
    return;
  }
}

/// A record, where it lies, and the file that belongs to it.
struct HeldUnit {
  UnitRecord record;
  fs::path path;
  fs::path file;
};

/// "3, 5..7"
std::string numbers_text(const std::vector<int>& numbers) {
  std::string text;
  for (std::size_t first = 0; first < numbers.size();) {
    std::size_t last = first;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", numbers[first]);
    if (last > first) text += fmt::format("..{}", numbers[last]);
    first = last + 1;
  }
  return text;
}

/// Every unit of the plan once, in their order.
std::vector<HeldUnit> collect_units(const UnitPlan& plan, const std::vector<fs::path>& directories) {
  std::map<int, HeldUnit> held;
  std::set<fs::path> seen;
  for (const fs::path& directory : directories) {
    std::error_code error;
    if (!fs::is_directory(directory, error)) fail(directory.string(), "is no directory of units: none has been run yet, or elsewhere");
    if (!seen.insert(fs::canonical(directory, error)).second) continue;
    for (const fs::directory_entry& entry : fs::directory_iterator(directory)) {
      if (!is_record_name(entry.path().filename().string())) continue;
      UnitRecord record = read_record(entry.path());
      check_plan_of(record, plan, entry.path());
      const int unit = record.unit;
      const fs::path file = directory / record.result.file;
      const auto [known, is_new] = held.emplace(unit, HeldUnit{std::move(record), entry.path(), file});
      if (is_new) continue;
      const auto [first, second] = std::minmax({known->second.path.string(), entry.path().string()});
      fail(second, fmt::format("is unit {}, and so is {}", unit, first));
    }
  }
  std::vector<int> missing;
  for (const PlannedUnit& unit : plan.units) {
    if (!held.contains(unit.unit)) missing.push_back(unit.unit);
  }
  if (!missing.empty()) {
    fail("plan " + plan.id, fmt::format("unit{} {} of {} {} missing", missing.size() == 1 ? "" : "s", numbers_text(missing), plan.units.size(),
                                        missing.size() == 1 ? "is" : "are"));
  }
  std::vector<HeldUnit> units;
  for (auto& [number, unit] : held) units.push_back(std::move(unit));
  return units;
}

/// Reads every file again. False when it was stopped.
bool check_files(const std::vector<HeldUnit>& units, const MergeOptions& options) {
  std::uint64_t total = 0, done = 0;
  for (const HeldUnit& unit : units) total += unit.record.result.size;
  bool stopped = false;
  support::Rescue rescue;
#pragma omp parallel for schedule(dynamic)
  for (std::size_t i = 0; i < units.size(); ++i) {
    rescue.run([&] {
      const UnitResult& result = units[i].record.result;
      bool stop = false;
#pragma omp critical(mxact_merge)
      {
        stopped = stopped || (options.stop && options.stop());
        stop = stopped;
        if (options.progress && !stop) options.progress("checking " + result.file, done, total);
        done += result.size;
      }
      if (stop) return;
      const std::string where = units[i].file.string();
      if (!support::is_there(units[i].file)) fail(where, fmt::format("is missing, though {} speaks of it", units[i].path.filename().string()));
      const std::uint64_t size = support::file_size(units[i].file);
      if (size != result.size) fail(where, fmt::format("has {} bytes, but {} were written", size, result.size));
      const std::string digest = support::digest_of_file(units[i].file);
      if (digest != result.digest) fail(where, fmt::format("has the digest {}, but was written with {}", digest, result.digest));
    });
  }
  rescue.rethrow();
  if (options.progress && !stopped) options.progress("putting the files in place", total, total);
  return !stopped;
}

/// Takes away what killed writers of these units left beside them: ".FILE.PID.NUMBER.tmp".
void remove_leftovers(const std::vector<HeldUnit>& units, const fs::path& directory) {
  std::error_code ignored;
  std::vector<fs::path> left;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, ignored)) {
    const std::string name = entry.path().filename().string();
    const auto is_of = [&](const std::string& file) { return name.starts_with("." + file + ".") && name.ends_with(".tmp"); };
    const bool is_left =
        std::ranges::any_of(units, [&](const HeldUnit& unit) { return is_of(unit.record.result.file) || is_of(unit.path.filename().string()); });
    if (is_left) left.push_back(entry.path());
  }
  for (const fs::path& path : left) fs::remove(path, ignored);
}

/// The same file under another name, or a copy where the file system has no such thing.
void link_or_copy(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::create_hard_link(from, to, error);
  if (error) copy_plain(from, to);
}

}  // namespace

fs::path units_directory(const UnitPlan& plan) { return plan.output.string() + ".units"; }

std::vector<UnitStatus> status_of(const UnitPlan& plan, const fs::path& directory) {
  std::vector<UnitStatus> all;
  std::error_code error;
  if (fs::is_directory(directory, error)) check_directory_of(plan, directory);
  for (const PlannedUnit& unit : plan.units) {
    const fs::path path = directory / record_name(unit.unit);
    UnitStatus status{unit.unit, UnitOutcome::left};
    status.result.file = unit.file;
    if (support::is_there(path)) {
      UnitRecord record = read_record(path);
      check_plan_of(record, plan, path);
      const fs::path file = directory / record.result.file;
      if (support::is_there(file) && support::file_size(file) == record.result.size) status = {unit.unit, UnitOutcome::there_already, std::move(record.result)};
    }
    all.push_back(std::move(status));
  }
  return all;
}

UnitRunner::UnitRunner(const UnitPlan& plan, const UnitOptions& options)
    : plan_(plan), options_(options), job_(plan.checkpoint, [&] {
        ConvertOptions how = options_of(plan);
        how.stop = options.stop;
        return how;
      }()) {
  check_plan(plan, job_, options.program);
  std::error_code error;
  fs::create_directories(options_.directory, error);
  if (error) throw Error(ErrorCode::resource, "cannot be created: " + error.message(), options_.directory.string());
  check_directory_of(plan, options_.directory);
}

UnitOutcome UnitRunner::run(int unit) {
  if (unit < 0 || unit >= static_cast<int>(plan_.units.size())) {
    throw Error(ErrorCode::usage, fmt::format("unit {} is not in 0..{}", unit, plan_.units.size() - 1), "plan " + plan_.id);
  }
  const fs::path path = options_.directory / record_name(unit);
  if (support::is_there(path)) {
    UnitRecord record = read_record(path);
    check_plan_of(record, plan_, path);
    const fs::path file = options_.directory / record.result.file;
    if (!options_.again && support::is_there(file) && support::file_size(file) == record.result.size) {
      result_ = std::move(record.result);
      return UnitOutcome::there_already;
    }
  }
  const std::uint64_t bytes = job_.bytes_of(unit);
  const auto advance = [&](const char* what, std::uint64_t done) {
    if (options_.progress) options_.progress(fmt::format("unit {}, {}{}", unit, job_.name_of(unit), what), done, bytes);
  };
  try {
    advance(": converting", 0);
    WrittenUnit written = job_.write(unit, options_.directory, true);
    job_.checkpoint().check_unchanged();
    advance(": writing", bytes);
    result_ = job_.commit(std::move(written));
  } catch (const support::Stopped&) {
    return UnitOutcome::stopped;
  }
  const std::string text = text_of(UnitRecord{plan_.id, unit, result_});
  support::write_file(path, std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()), true);
  return UnitOutcome::written;
}

ConvertReport merge_units(const UnitPlan& plan, const MergeOptions& options) {
  const std::vector<HeldUnit> units = collect_units(plan, options.directories);
  const ConversionJob job(plan.checkpoint, options_of(plan));
  check_plan(plan, job, options.program);
  std::vector<UnitResult> results;
  for (const HeldUnit& unit : units) results.push_back(unit.record.result);
  ConvertReport report = job.report(results);
  StagedDirectory staged(plan.output, std::span(&plan.checkpoint, 1), options.force);
  if (!check_files(units, options)) return report;
  for (const HeldUnit& unit : units) link_or_copy(unit.file, staged.path() / unit.record.result.file);
  report.left = job.finish(staged.path(), results);
  staged.commit();
  for (const HeldUnit& unit : units) {
    std::error_code ignored;
    fs::remove(unit.path, ignored);
    fs::remove(unit.file, ignored);
  }
  for (const fs::path& directory : options.directories) {
    std::error_code ignored;
    remove_leftovers(units, directory);
    fs::remove(directory, ignored);  // only when it is empty
  }
  report.finished = true;
  return report;
}

}  // namespace mx::checkpoint
