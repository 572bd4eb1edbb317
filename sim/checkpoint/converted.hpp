#pragma once
// A directory that `mxact convert` wrote, opened and held together: layers, what is left of the shards, ranks.

#include <filesystem>
#include <list>
#include <map>
#include <string>
#include <vector>

#include "sim/checkpoint/checkpoint_files.hpp"
#include "sim/checkpoint/layout_tags.hpp"

namespace mx::sim {

/// One layer's file.
struct ConvertedLayer {
  LayerTags tags;
  const SafetensorsFile* file;
};

/// What a shard holds beside the experts, and the order of all its tensors.
struct ConvertedShard {
  std::vector<std::string> order;
  const SafetensorsFile* file;
};

struct ConvertedDirectory {
  std::filesystem::path path;
  std::list<SafetensorsFile> files;
  std::map<int, ConvertedLayer> layers;          ///< by the layers' numbers
  std::map<std::string, ConvertedShard> shards;  ///< by name

  /// Of the first layer; all layers agree in them.
  const LayerTags& tags() const { return layers.begin()->second.tags; }
};

/// Opens a directory. Throws Error(input): no index (the conversion did not end), a file without tags, layers of several conversions, a shard that is
/// named by the tags and not there, whatever read_layer_tags and SafetensorsFile refuse.
ConvertedDirectory open_converted(const std::filesystem::path& path);

/// Opens every rank of one conversion, given in any order; the result is in the order of the ranks. Throws as open_converted does, and Error(input)
/// when a rank is missing, is there twice or is of another conversion.
std::vector<ConvertedDirectory> open_ranks(const std::vector<std::filesystem::path>& paths);

}  // namespace mx::sim
