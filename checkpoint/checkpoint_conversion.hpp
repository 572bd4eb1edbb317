#pragma once
// A conversion as independent jobs: each layer's experts, each shard without them. `convert` does all of them in one go, `run` one of them.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/convert.hpp"
#include "checkpoint/layer_group_choice.hpp"
#include "checkpoint/layer_packer.hpp"
#include "checkpoint/layout_tags.hpp"
#include "support/tensor_reads.hpp"

namespace mx::checkpoint {

/// What one job wrote.
struct JobResult {
  std::string file;                              ///< name in the output directory
  std::uint64_t size = 0;                        ///< of the file
  std::string digest;                            ///< of the file
  std::map<std::string, std::uint64_t> tensors;  ///< in the file, with their bytes
  std::int64_t layers = 0;                       ///< 1 or 0
  std::int64_t other_tensors = 0;                ///< copied as they are
  std::uint64_t bytes_in = 0;                    ///< of expert tensors
  std::uint64_t bytes_out = 0;
  std::int64_t up_scales_dropped = 0;
  int largest_scale_byte = 0;  ///< of the layer, where the converter looks at it
  std::vector<LayerLoss> losses;
  std::vector<LayerValues> values;
  std::vector<LayerInputs> inputs;  ///< of the layer, where it has any
};

/// A job that is written and has not its name yet.
struct WrittenJob {
  JobResult result;                   ///< without digest
  support::SafetensorsWriter writer;  ///< to be committed
};

class CheckpointConversion {
 public:
  /// Throws as convert_checkpoint does before it writes anything.
  CheckpointConversion(const std::filesystem::path& source, const ConvertOptions& options);

  /// At least one.
  const std::vector<GroupConversion>& layer_groups() const { return choice_.converted; }
  /// Of the first layer group.
  const Checkpoint& checkpoint() const { return layer_groups().front().checkpoint; }
  const families::Setting& setting() const { return layer_groups().front().setting; }
  std::string backend() const { return layer_groups().front().name(); }

  int jobs() const;
  std::string name_of(int job) const;                           ///< "layer 3", "layer 0 of layer group 2", "shard model-00001-of-00002.safetensors"
  std::string file_of(int job) const;                           ///< name of the file that it writes
  std::uint64_t bytes_of(int job) const;                        ///< that it reads
  std::uint64_t total_bytes() const;                            ///< likewise, of all jobs
  std::uint64_t written_bytes() const;                          ///< of the tensors that all jobs write
  std::vector<support::TensorPlace> tensors_of(int job) const;  ///< that it reads, in that order

  /// Of the bytes of those tensors. Throws as write() does.
  std::string source_digest(int job) const;

  /// What write() takes a layer's bytes from. Valid as long as this.
  LayerPacker packer_of(const GroupConversion& group, int layer) const;

  /// Reads, converts and writes a job's file into the directory, part by part; the same bytes every time. Unless it is committed nothing is left.
  /// Throws Error(input) when the checkpoint changed since it was opened, Error(resource) as SafetensorsWriter does, Stopped when `options.stop` says
  /// so on the way.
  WrittenJob write(int job, const std::filesystem::path& directory, bool force) const;
  /// Waits until the file is on the disk, gives it its name, and adds its digest to the result. May run beside another job.
  JobResult commit(WrittenJob written) const;

  /// Writes what belongs to no job, the index last: all jobs' files must be there. Throws Error(input) when the checkpoint changed.
  std::vector<LeftOut> finish(const std::filesystem::path& directory, std::span<const JobResult> results) const;

  /// The sum of all jobs.
  ConvertReport report(std::span<const JobResult> results) const;

 private:
  struct Job {
    std::size_t layer_group;               ///< place among those that are converted
    int layer;                             ///< place among its layers
    const support::SafetensorsFile* file;  ///< of a shard; null: a layer
  };
  const Job& job_of(int job) const { return jobs_.at(static_cast<std::size_t>(job)); }
  void check_names() const;
  WrittenJob write_layer(const GroupConversion& group, int layer, const std::filesystem::path& path, bool force) const;
  WrittenJob write_shard(const support::SafetensorsFile& file, const std::filesystem::path& path, bool force) const;
  void write_index(const std::filesystem::path& directory, std::span<const JobResult> results) const;

  ConvertOptions options_;
  support::StopPoint stop_;
  LayerGroupChoice choice_;
  std::vector<Job> jobs_;
  std::set<std::string_view> moved_;  ///< tensors that go into the layers' files
};

}  // namespace mx::checkpoint
