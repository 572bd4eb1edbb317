#pragma once
// Which layer groups of a checkpoint a conversion takes, each with its backend and setting, and why the others are left.

#include <string>
#include <vector>

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/convert.hpp"

namespace mx::checkpoint {

/// A layer group that is converted.
struct GroupConversion {
  Checkpoint checkpoint;  ///< is asked about this layer group
  const families::BackendLayout* backend;
  families::Setting setting;  ///< of one rank, sizes rounded as the engine rounds them
  int further = 0;            ///< as LayerTags has it

  std::string name() const { return std::string(backend->backend); }
};

struct LayerGroupChoice {
  std::vector<GroupConversion> converted;  ///< in the order of the layer groups; at least one
  std::vector<std::string>
      refusals;  ///< of each layer group: why the backend that is asked for all of them does not take it; empty: it does, or none is asked
};

/// Takes every layer group that a backend is named for, and every one whose form `options.backend` converts. The first of the latter must be taken; a
/// later one that the backend's converter refuses is left, with the reason. Throws Error(usage) when a backend does not take a layer group that it is
/// named for, when there is no such layer group, when the backend for all of them takes none, or the rank does not exist; Error(unsupported) as
/// Checkpoint::require_convertible and check_has_kernel do.
LayerGroupChoice choose_layer_groups(const std::filesystem::path& source, const ConvertOptions& options);

}  // namespace mx::checkpoint
