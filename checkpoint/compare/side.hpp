#pragma once
// One of two checkpoints that are held against each other: its experts by layers that have the same names in both.

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checkpoint/checkpoint_files.hpp"
#include "checkpoint/expert_tensors.hpp"

namespace mx::checkpoint {

/// Layers by what stands before their number; the first layer group's prefix is the model's, whatever it is called.
using NumberedLayer = std::pair<std::string, int>;

struct Side {
  CheckpointFiles files;
  CheckpointConfig config;
  std::vector<FoundGroup> layer_groups;
  std::map<NumberedLayer, std::pair<const FoundGroup*, const FoundLayer*>> layers;
  std::set<std::string_view> experts;  ///< names of all their tensors

  /// Throws Error(input) where the checkpoint cannot be read, contradicts its configuration or was converted.
  explicit Side(const std::filesystem::path& path);

  /// Titles of its forms, with commas.
  std::string forms() const;
};

/// Bytes of a layer's experts.
std::uint64_t bytes_of(const FoundLayer& layer);

/// Why the experts of two layers have no counterparts: another number of them, a gate in one alone; empty: they have.
std::string unlike(const std::pair<const FoundGroup*, const FoundLayer*>& a, const std::pair<const FoundGroup*, const FoundLayer*>& b);

}  // namespace mx::checkpoint
