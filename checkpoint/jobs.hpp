#pragma once
// The jobs of a planned conversion: done one by one, in any order, by any number of processes, and put together.

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "checkpoint/job_plan.hpp"

namespace mx::checkpoint {

/// Where a plan's jobs are put unless another directory is named: "OUTPUT.units".
std::filesystem::path jobs_directory(const JobPlan& plan);

enum class JobOutcome : std::uint8_t {
  written,
  there_already,  ///< done by an earlier run of the same plan: nothing to do
  left,           ///< not done yet
  stopped,        ///< nothing was written
};

/// What became of each job of a plan in a directory, which need not be there. Throws Error(input) when it holds jobs of another plan.
struct JobStatus {
  int job;
  JobOutcome outcome;  ///< there_already or left
  JobResult result = {};
};
std::vector<JobStatus> status_of(const JobPlan& plan, const std::filesystem::path& directory);

struct JobOptions {
  std::filesystem::path directory;  ///< where jobs are put
  std::string program;              ///< must be the plan's
  bool again = false;               ///< also what is there already is done again
  support::Progress progress = {};  ///< of the job in hand
  support::Stop stop = {};
};

/// Does jobs of one plan. The file of a job, then its record: whoever looks sees both whole, or the record is not there.
class JobRunner {
 public:
  /// Opens the checkpoint of the plan. Throws as CheckpointConversion and check_plan do, and Error(input) when the directory holds jobs of another
  /// plan.
  JobRunner(const JobPlan& plan, const JobOptions& options);

  /// Throws Error(usage) when the plan has no such job, Error(input) when the directory holds that job of another plan or the checkpoint changes
  /// while it is read, Error(resource) when the system refuses.
  JobOutcome run(int job);
  /// Of the last job run.
  const JobResult& result() const { return result_; }

 private:
  const JobPlan& plan_;
  const JobOptions options_;
  const CheckpointConversion conversion_;
  JobResult result_;
};

struct MergeOptions {
  std::vector<std::filesystem::path> directories;  ///< that hold the jobs, all of them together
  std::string program;                             ///< must be the plan's
  bool force = false;                              ///< files of the same names in the output directory are replaced
  support::Progress progress = {};
  support::Stop stop = {};
};

/// Puts the jobs of a plan in place, as `convert` would have written them, byte for byte, and removes the records and files that it took, with
/// what killed writers of them left. Every job must be there once, and every file must still have the digest that its record says. Throws
/// Error(input) for a job that is missing, there twice, of another plan or not as it was written; Error as JobRunner and StagedDirectory do.
/// Whatever stops it before the end leaves the jobs as they are.
ConvertReport merge_jobs(const JobPlan& plan, const MergeOptions& options);

}  // namespace mx::checkpoint
