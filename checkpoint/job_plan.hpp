#pragma once
// A conversion written down, so that many processes on many machines do its jobs, and what each job leaves behind.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/checkpoint_conversion.hpp"

namespace mx::checkpoint {

/// A weight file, or the configuration, as it was when the plan was made.
struct PlannedFile {
  std::string name;
  std::uint64_t size;
  std::string header;  ///< digest of names, dtypes, shapes and places; of the configuration, of all of it
  friend bool operator==(const PlannedFile&, const PlannedFile&) = default;
};

/// The weight files of a checkpoint and its configuration as they are now.
std::vector<PlannedFile> files_of(const Checkpoint& checkpoint);

struct PlannedJob {
  int job;
  std::string what;     ///< "layer 3"
  std::string file;     ///< that it writes
  std::uint64_t bytes;  ///< that it reads
  std::string digest;   ///< of them when the plan was made; empty: a plan of an older program, which has none
};

/// A layer group that is converted.
struct PlannedGroup {
  int layer_group;  ///< of the checkpoint, from 0
  std::string backend;
  families::Setting setting;  ///< sizes and form of the checkpoint included
};

struct JobPlan {
  std::string id;  ///< digest of all the rest
  std::string program;
  std::filesystem::path checkpoint;
  std::filesystem::path output;
  std::optional<std::filesystem::path> base;  ///< directory of the plan, from which it writes both paths; none: it writes them whole
  int rank;
  std::vector<PlannedGroup> layer_groups;  ///< at least one
  std::vector<PlannedFile> files;
  std::vector<PlannedJob> jobs;
};

/// The options that the plan stands for.
ConvertOptions options_of(const JobPlan& plan);

/// Plans the jobs of a conversion; paths become absolute, or are written as seen from `base`. Reads all that jobs will read, once, for its digests.
/// Throws as CheckpointConversion and require_apart do, and Stopped.
JobPlan make_plan(const std::filesystem::path& checkpoint, const std::filesystem::path& output, const ConvertOptions& options,
                  const std::optional<std::filesystem::path>& base = {});

/// As JSON text, and back. Reading throws Error(input): no plan, another version, a value that cannot be, or a plan that was changed by hand (its id
/// is no longer that of its contents).
std::string text_of(const JobPlan& plan);
JobPlan read_plan(const std::filesystem::path& path);

/// Throws Error(input) naming a file of the plan that is gone: without its configuration a checkpoint would be read as another.
void require_files(const JobPlan& plan);
/// Throws Error(input) naming the file when the weights are not those of the plan, Error(usage) when another program made it.
/// A plan of the Python package is of every program of the same version.
void check_plan(const JobPlan& plan, const CheckpointConversion& conversion, const std::string& program);

/// Throws Error(input) naming the job where the bytes that it reads are not those of the plan.
void check_source(const PlannedJob& job, const CheckpointConversion& conversion);

/// What a finished job says of itself, beside its file.
struct JobRecord {
  std::string plan;  ///< id
  int job;
  JobResult result;
};
std::string record_name(int job);  ///< "unit-00003.json"
bool is_record_name(const std::string& name);
std::string text_of(const JobRecord& record);
/// Throws Error(input) as read_plan does.
JobRecord read_record(const std::filesystem::path& path);

}  // namespace mx::checkpoint
