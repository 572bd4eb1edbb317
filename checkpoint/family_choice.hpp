#pragma once
// Which families of a checkpoint a conversion takes, each with its backend and setting, and why the others are left.

#include <string>
#include <vector>

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/convert.hpp"

namespace mx::checkpoint {

/// A family that is converted.
struct FamilyConversion {
  Checkpoint checkpoint;  ///< is asked about this family
  const families::BackendLayout* backend;
  families::Setting setting;  ///< of one rank, sizes rounded as the engine rounds them
  int further = 0;          ///< as LayerTags has it

  std::string name() const { return std::string(backend->backend); }
};

struct FamilyChoice {
  std::vector<FamilyConversion> converted;  ///< in the order of the families; at least one
  std::vector<std::string>
      refusals;  ///< of each family: why the backend that is asked for all of them does not take it; empty: it does, or none is asked
};

/// Takes every family that a backend is named for, and every one whose form `options.backend` converts. The first of the latter must be taken; a
/// later one that the backend's converter refuses is left, with the reason. Throws Error(usage) when a backend does not take a family that it is
/// named for, when there is no such family, when the backend for all of them takes none, or the rank does not exist; Error(unsupported) as
/// Checkpoint::require_convertible and check_has_kernel do.
FamilyChoice choose_families(const std::filesystem::path& source, const ConvertOptions& options);

}  // namespace mx::checkpoint
