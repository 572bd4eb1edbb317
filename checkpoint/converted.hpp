#pragma once
// A directory that `mxact convert` wrote, opened and held together: layers, what is left of the shards, ranks.

#include <compare>
#include <filesystem>
#include <list>
#include <map>
#include <string>
#include <vector>

#include "checkpoint/checkpoint_files.hpp"
#include "checkpoint/layout_tags.hpp"

namespace mx::checkpoint {

/// One layer's file.
struct ConvertedLayer {
  LayerTags tags;
  const support::SafetensorsFile* file;
};

/// What a shard holds beside the experts, and the order of all its tensors.
struct ConvertedShard {
  std::vector<std::string> order;
  const support::SafetensorsFile* file;
};

/// A layer's place: the layer groups in the order of their numbers, the first one before them.
struct LayerKey {
  int further;  ///< as LayerTags has it
  int layer;    ///< number in the names

  std::string name() const { return layer_name(layer, further); }
  friend auto operator<=>(const LayerKey&, const LayerKey&) = default;
};

struct ConvertedDirectory {
  std::filesystem::path path;
  std::list<support::SafetensorsFile> files;
  std::map<LayerKey, ConvertedLayer> layers;
  std::map<std::string, ConvertedShard> shards;  ///< by name

  /// Of the first layer. All layers agree in their rank, those of a layer group in backend and setting too.
  const LayerTags& tags() const { return layers.begin()->second.tags; }
};

/// Opens a directory. Throws Error(input): no index (the conversion did not end), a file without tags, layers of several conversions, a shard that is
/// named by the tags and not there, whatever read_layer_tags and SafetensorsFile refuse.
ConvertedDirectory open_converted(const std::filesystem::path& path);

/// Opens every rank of one conversion, given in any order; the result is in the order of the ranks. Throws as open_converted does, and Error(input)
/// when a rank is missing, is there twice or is of another conversion.
std::vector<ConvertedDirectory> open_ranks(const std::vector<std::filesystem::path>& paths);

}  // namespace mx::checkpoint
