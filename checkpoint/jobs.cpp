#include "checkpoint/jobs.hpp"

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

void check_plan_of(const JobRecord& record, const JobPlan& plan, const fs::path& path) {
  if (record.plan != plan.id) fail(path.string(), fmt::format("is a job of plan {}, this is plan {}", record.plan, plan.id));
  const auto count = static_cast<int>(plan.jobs.size());
  if (record.job >= count) fail(path.string(), fmt::format("is job {}, but the plan has jobs 0..{}", record.job, count - 1));
  const std::string& file = plan.jobs[static_cast<std::size_t>(record.job)].file;
  if (record.result.file != file)
    fail(path.string(), fmt::format("is job {} with the file {}, planned was {}", record.job, record.result.file, file));
}

/// A directory holds jobs of one plan: files of two would have the same names. One record tells, since every run asks.
void check_directory_of(const JobPlan& plan, const fs::path& directory) {
  for (const fs::directory_entry& entry : fs::directory_iterator(directory)) {
    if (!is_record_name(entry.path().filename().string())) continue;
    const JobRecord record = read_record(entry.path());
    if (record.plan != plan.id) {
      fail(entry.path().string(), fmt::format("is a job of plan {}, this is plan {}: name another directory, or remove it", record.plan, plan.id));
    }
    return;
  }
}

/// A record, where it lies, and the file that belongs to it.
struct HeldJob {
  JobRecord record;
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

/// True when the output has the files of all jobs.
bool is_merged(const JobPlan& plan) {
  return std::ranges::all_of(plan.jobs, [&](const PlannedJob& job) { return support::is_there(plan.output / job.file); });
}

/// Every job of the plan once, in their order.
std::vector<HeldJob> collect_jobs(const JobPlan& plan, const std::vector<fs::path>& directories) {
  std::map<int, HeldJob> held;
  std::set<fs::path> seen;
  for (const fs::path& directory : directories) {
    std::error_code error;
    if (!fs::is_directory(directory, error)) {
      if (is_merged(plan)) fail(plan.output.string(), fmt::format("is merged already: it has the files of all {} jobs", plan.jobs.size()));
      fail(directory.string(), "is no directory of jobs: none has been run yet, or elsewhere");
    }
    if (!seen.insert(fs::canonical(directory, error)).second) continue;
    for (const fs::directory_entry& entry : fs::directory_iterator(directory)) {
      if (!is_record_name(entry.path().filename().string())) continue;
      JobRecord record = read_record(entry.path());
      check_plan_of(record, plan, entry.path());
      const int job = record.job;
      const fs::path file = directory / record.result.file;
      const auto [known, is_new] = held.emplace(job, HeldJob{std::move(record), entry.path(), file});
      if (is_new) continue;
      const auto [first, second] = std::minmax({known->second.path.string(), entry.path().string()});
      fail(second, fmt::format("is job {}, and so is {}", job, first));
    }
  }
  std::vector<int> missing;
  for (const PlannedJob& job : plan.jobs) {
    if (!held.contains(job.job)) missing.push_back(job.job);
  }
  if (held.empty() && is_merged(plan))
    fail(plan.output.string(), fmt::format("is merged already: it has the files of all {} jobs", plan.jobs.size()));
  if (!missing.empty()) {
    fail("plan " + plan.id, fmt::format("job{} {} of {} {} missing", missing.size() == 1 ? "" : "s", numbers_text(missing), plan.jobs.size(),
                                        missing.size() == 1 ? "is" : "are"));
  }
  std::vector<HeldJob> jobs;
  for (auto& [number, job] : held) jobs.push_back(std::move(job));
  return jobs;
}

/// Reads every file again. False when it was stopped.
bool check_files(const std::vector<HeldJob>& jobs, const MergeOptions& options) {
  std::uint64_t total = 0, done = 0;
  for (const HeldJob& job : jobs) total += job.record.result.size;
  bool stopped = false;
  support::Rescue rescue;
#pragma omp parallel for schedule(dynamic)
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    rescue.run([&] {
      const JobResult& result = jobs[i].record.result;
      bool stop = false;
#pragma omp critical(mxact_merge)
      {
        stopped = stopped || (options.stop && options.stop());
        stop = stopped;
        if (options.progress && !stop) options.progress("checking " + result.file, done, total);
        done += result.size;
      }
      if (stop) return;
      const std::string where = jobs[i].file.string();
      if (!support::is_there(jobs[i].file)) fail(where, fmt::format("is missing, though {} speaks of it", jobs[i].path.filename().string()));
      const std::uint64_t size = support::file_size(jobs[i].file);
      if (size != result.size) fail(where, fmt::format("has {} bytes, but {} were written", size, result.size));
      const std::string digest = support::digest_of_file(jobs[i].file);
      if (digest != result.digest) fail(where, fmt::format("has the digest {}, but was written with {}", digest, result.digest));
    });
  }
  rescue.rethrow();
  if (options.progress && !stopped) options.progress("putting the files in place", total, total);
  return !stopped;
}

/// Takes away what killed writers of these jobs left beside them: ".FILE.PID.NUMBER.tmp".
void remove_leftovers(const std::vector<HeldJob>& jobs, const fs::path& directory) {
  std::error_code ignored;
  std::vector<fs::path> left;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, ignored)) {
    const std::string name = entry.path().filename().string();
    const auto is_of = [&](const std::string& file) { return name.starts_with("." + file + ".") && name.ends_with(".tmp"); };
    const bool is_left =
        std::ranges::any_of(jobs, [&](const HeldJob& job) { return is_of(job.record.result.file) || is_of(job.path.filename().string()); });
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

fs::path jobs_directory(const JobPlan& plan) { return plan.output.string() + ".units"; }

std::vector<JobStatus> status_of(const JobPlan& plan, const fs::path& directory) {
  std::vector<JobStatus> all;
  std::error_code error;
  if (fs::is_directory(directory, error)) check_directory_of(plan, directory);
  for (const PlannedJob& job : plan.jobs) {
    const fs::path path = directory / record_name(job.job);
    JobStatus status{job.job, JobOutcome::left};
    status.result.file = job.file;
    if (support::is_there(path)) {
      JobRecord record = read_record(path);
      check_plan_of(record, plan, path);
      const fs::path file = directory / record.result.file;
      if (support::is_there(file) && support::file_size(file) == record.result.size)
        status = {job.job, JobOutcome::there_already, std::move(record.result)};
    }
    all.push_back(std::move(status));
  }
  return all;
}

JobRunner::JobRunner(const JobPlan& plan, const JobOptions& options)
    : plan_(plan), options_(options), conversion_(plan.checkpoint, [&] {
        require_files(plan);
        ConvertOptions how = options_of(plan);
        how.stop = options.stop;
        return how;
      }()) {
  check_plan(plan, conversion_, options.program);
  require_apart(options_.directory, std::span(&plan.checkpoint, 1));
  std::error_code error;
  fs::create_directories(options_.directory, error);
  if (error) throw Error(ErrorCode::resource, "cannot be created: " + error.message(), options_.directory.string());
  check_directory_of(plan, options_.directory);
}

JobOutcome JobRunner::run(int job) {
  if (job < 0 || job >= static_cast<int>(plan_.jobs.size())) {
    throw Error(ErrorCode::usage, fmt::format("job {} is not in 0..{}", job, plan_.jobs.size() - 1), "plan " + plan_.id);
  }
  const fs::path path = options_.directory / record_name(job);
  if (support::is_there(path)) {
    JobRecord record = read_record(path);
    check_plan_of(record, plan_, path);
    const fs::path file = options_.directory / record.result.file;
    if (!options_.again && support::is_there(file) && support::file_size(file) == record.result.size) {
      result_ = std::move(record.result);
      return JobOutcome::there_already;
    }
  }
  const std::uint64_t bytes = conversion_.bytes_of(job);
  const auto advance = [&](const char* what, std::uint64_t done) {
    if (options_.progress) options_.progress(fmt::format("job {}, {}{}", job, conversion_.name_of(job), what), done, bytes);
  };
  try {
    advance(": comparing with the plan", 0);
    check_source(plan_.jobs[static_cast<std::size_t>(job)], conversion_);
    advance(": converting", 0);
    WrittenJob written = conversion_.write(job, options_.directory, true);
    conversion_.checkpoint().check_unchanged();
    advance(": writing", bytes);
    result_ = conversion_.commit(std::move(written));
  } catch (const support::Stopped&) {
    return JobOutcome::stopped;
  }
  const std::string text = text_of(JobRecord{plan_.id, job, result_});
  support::write_file(path, std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()), true);
  return JobOutcome::written;
}

ConvertReport merge_jobs(const JobPlan& plan, const MergeOptions& options) {
  const std::vector<HeldJob> jobs = collect_jobs(plan, options.directories);
  require_files(plan);
  const CheckpointConversion conversion(plan.checkpoint, options_of(plan));
  check_plan(plan, conversion, options.program);
  std::vector<JobResult> results;
  for (const HeldJob& job : jobs) results.push_back(job.record.result);
  ConvertReport report = conversion.report(results);
  StagedDirectory staged(plan.output, std::span(&plan.checkpoint, 1), options.force);
  if (!check_files(jobs, options)) return report;
  for (const HeldJob& job : jobs) link_or_copy(job.file, staged.path() / job.record.result.file);
  report.left = conversion.finish(staged.path(), results);
  staged.commit();
  for (const HeldJob& job : jobs) {
    std::error_code ignored;
    fs::remove(job.path, ignored);
    fs::remove(job.file, ignored);
  }
  for (const fs::path& directory : options.directories) {
    std::error_code ignored;
    remove_leftovers(jobs, directory);
    fs::remove(directory, ignored);  // only when it is empty
  }
  report.finished = true;
  return report;
}

}  // namespace mx::checkpoint
