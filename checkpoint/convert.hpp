#pragma once
// A checkpoint into a backend's layouts and back: safetensors in and out, layer by layer, each part by part: memory holds a few experts of one
// tensor, however large the checkpoint is. Where a backend's values are coupled it holds a layer.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/scan.hpp"
#include "checkpoint/staging.hpp"
#include "kernels/relayout/mover.hpp"
#include "model/families/convert.hpp"
#include "model/layout/packed.hpp"
#include "support/progress.hpp"
#include "support/stop.hpp"

namespace mx::checkpoint {

/// What a layer lost.
struct LayerLoss {
  int layer;
  layout::Loss loss;
  int further = 0;  ///< its layer group, as LayerTags has it
};

/// What the kernels of a layer with static activations are called with.
struct LayerInputs {
  int layer;
  InputScales scales;
  int further = 0;  ///< its layer group, as LayerTags has it
};

/// A backend for some of a checkpoint's layer groups.
struct NamedBackend {
  std::string backend;
  std::optional<int> layer_group = {};                              ///< its number, from 0; none: those of the format
  std::optional<layout::WeightFormat> format = {};             ///< one of the two is given
  std::optional<families::ConverterActivation> activation = {};  ///< in the place of the options'
};

struct ConvertOptions {
  std::string backend;      ///< for every layer group that it converts, beside the named ones; empty: there is none
  families::Setting setting;  ///< engine, device, versions, options and tp_size; what the checkpoint decides is filled in
  int rank = 0;             ///< of tp_size
  kernels::relayout::MoveBy by = kernels::relayout::MoveBy::plans;
  std::optional<families::ConverterActivation> activation = {};  ///< none: the checkpoint's own
  bool copy_all = false;           ///< weights of other forms beside the checkpoint, too
  bool asks_for_kernel = false;    ///< a platform on which the engine has no kernel of the MXFP4 backend is refused
  std::optional<int> layer_group = {};  ///< of the checkpoint: it alone, by `backend`
  std::vector<NamedBackend> named = {};
  bool force = false;        ///< files of the same names in the output directory are replaced
  std::string program = {};  ///< name and version of who converts, for the output; empty: not recorded
  support::Progress progress = {};
  support::Stop stop = {};
};

/// What became of one layer group.
struct ConvertedGroup {
  int layer_group;  ///< of the checkpoint, from 0
  std::string backend;
  families::Setting setting;  ///< as it was for the last layer
  int layers = 0;
  std::uint64_t bytes_in = 0;  ///< of the expert tensors
  std::uint64_t bytes_out = 0;
};

struct ConvertReport {
  bool finished = false;                   ///< false when it was stopped; then nothing was written
  std::vector<LayerGroup> layer_groups = {};       ///< of the checkpoint
  std::vector<ConvertedGroup> converted;  ///< at least one; the others are left as they are
  std::vector<std::string> refusals = {};  ///< as LayerGroupChoice has them
  int layers = 0;                          ///< converted, of all layer groups
  std::int64_t other_tensors = 0;          ///< copied as they are
  std::uint64_t bytes_in = 0;              ///< of the expert tensors
  std::uint64_t bytes_out = 0;
  std::vector<LayerLoss> losses;
  std::vector<LeftOut> left;           ///< beside the weights, not copied
  std::vector<LayerValues> values;     ///< numbers that are none, and warnings
  std::vector<LayerInputs> inputs;     ///< layer by layer
  std::int64_t up_scales_dropped = 0;  ///< experts, over all layers, whose up has another global scale than gate, which counts for both
  std::string digest;                  ///< of the names and digests of all files that the conversion wrote
};

/// Writes the directory `output`: each layer's experts in a file of their own, with tags; every shard without them under its own name; the files
/// beside the weights; an index. Throws Error(usage) when the backend does not take the checkpoint (rule, value and what would do), the rank does not
/// exist or the output is the source; Error(input) as Checkpoint and StagedDirectory do, and when the checkpoint changes while it is read.
ConvertReport convert_checkpoint(const std::filesystem::path& source, const std::filesystem::path& output, const ConvertOptions& options);

struct RestoreOptions {
  bool accept_losses = false;  ///< restore what is left where a conversion lost something
  kernels::relayout::MoveBy by = kernels::relayout::MoveBy::plans;
  bool force = false;
  support::Progress progress = {};
  support::Stop stop = {};
};

/// What a layer group was converted by.
struct RestoredGroup {
  int further;  ///< as LayerTags has it
  std::string backend;
  families::Setting setting;
  int layers = 0;
};

struct RestoreReport {
  std::vector<RestoredGroup> layer_groups;  ///< at least one
  bool finished = false;
  int layers = 0;
  int shards = 0;                 ///< files written
  std::uint64_t bytes = 0;        ///< of the restored expert tensors
  std::vector<LayerLoss> losses;  ///< that were accepted
  std::vector<LeftOut> left;      ///< beside the weights, not copied
};

/// Writes the checkpoint that a conversion was made from, given the directories of all its ranks: the same shards, tensors and order. Throws
/// Error(usage) when the conversion lost something and that is not accepted, or when what is packed does not determine the checkpoint at all;
/// Error(input) as open_ranks and read_packed_layer do.
RestoreReport restore_checkpoint(const std::vector<std::filesystem::path>& directories, const std::filesystem::path& output,
                                 const RestoreOptions& options);

}  // namespace mx::checkpoint
