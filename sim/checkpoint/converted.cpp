#include "sim/checkpoint/converted.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "model/error.hpp"
#include "sim/checkpoint/tag_fields.hpp"
#include "support/json.hpp"
#include "support/quote.hpp"

namespace mx::sim {
namespace {

[[noreturn]] void fail(const std::string& where, const std::string& message) { throw Error(ErrorCode::input, message, where); }

/// What all files of one conversion have in common, as text.
std::string common_text(const LayerTags& tags) {
  layout::Setting setting = tags.setting;
  setting.marlin.largest_scale_byte = 0;
  return tags.backend + setting_json(setting).dump();
}

void add_shard(ConvertedDirectory& converted, const SafetensorsFile& file) {
  const std::string name = file.path().filename().string();
  converted.shards.emplace(name, ConvertedShard{read_shard_tags(file.metadata().at(std::string(kShardTagsKey)), file.path().string()), &file});
}

void add_layer(ConvertedDirectory& converted, const SafetensorsFile& file) {
  const std::string where = file.path().string();
  LayerTags tags = read_layer_tags(file.metadata().at(std::string(kLayerTagsKey)), where);
  for (const SourceTensor& tensor : tags.source) {
    if (!is_shard_name(tensor.shard)) fail(where, fmt::format("the tags name the shard {}, which is not a plain file name", in_quotes(tensor.shard)));
  }
  if (!converted.layers.empty()) {
    const ConvertedLayer& first = converted.layers.begin()->second;
    const bool same = common_text(first.tags) == common_text(tags) && first.tags.rank == tags.rank;
    if (!same) fail(where, fmt::format("is of another conversion than {}", first.file->path().filename().string()));
  }
  const int layer = tags.layer;
  const auto [entry, is_new] = converted.layers.emplace(layer, ConvertedLayer{std::move(tags), &file});
  if (!is_new) fail(where, fmt::format("is layer {}, and so is {}", layer, entry->second.file->path().filename().string()));
}

void add_file(ConvertedDirectory& converted, SafetensorsFile&& opened) {
  const SafetensorsFile& file = converted.files.emplace_back(std::move(opened));
  if (file.metadata().contains(std::string(kLayerTagsKey))) return add_layer(converted, file);
  if (file.metadata().contains(std::string(kShardTagsKey))) return add_shard(converted, file);
  fail(file.path().string(), "holds no layout tags: `mxact convert` did not write it");
}

/// A shard of nothing but experts has no tensors left, and the index does not list it.
void add_empty_shards(ConvertedDirectory& converted) {
  for (const auto& [layer, entry] : converted.layers) {
    for (const SourceTensor& tensor : entry.tags.source) {
      if (!converted.shards.contains(tensor.shard)) add_file(converted, SafetensorsFile(converted.path / tensor.shard));
      if (!converted.shards.contains(tensor.shard)) fail((converted.path / tensor.shard).string(), "is a layer, but the tags name it as a shard");
    }
  }
}

}  // namespace

ConvertedDirectory open_converted(const std::filesystem::path& path) {
  if (!is_there(path)) fail(path.string(), "there is no such directory");
  if (!is_there(path / kIndexName)) fail(path.string(), fmt::format("has no {}: it is not what `mxact convert` writes", kIndexName));
  ConvertedDirectory converted{path, {}, {}, {}};
  for (SafetensorsFile& file : open_checkpoint_files(path).files) add_file(converted, std::move(file));
  if (converted.layers.empty()) fail(path.string(), "holds no converted layer");
  add_empty_shards(converted);
  return converted;
}

std::vector<ConvertedDirectory> open_ranks(const std::vector<std::filesystem::path>& paths) {
  std::vector<ConvertedDirectory> ranks;
  for (const std::filesystem::path& path : paths) ranks.push_back(open_converted(path));
  std::ranges::sort(ranks, {}, [](const ConvertedDirectory& directory) { return directory.tags().rank; });
  const LayerTags& first = ranks.front().tags();
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const LayerTags& tags = ranks[i].tags();
    const std::string where = ranks[i].path.string();
    if (common_text(tags) != common_text(first)) fail(where, "is of another conversion than " + ranks.front().path.string());
    if (i > 0 && tags.rank == ranks[i - 1].tags().rank) fail(where, fmt::format("is rank {}, and so is {}", tags.rank, ranks[i - 1].path.string()));
    if (!std::ranges::equal(ranks[i].layers, ranks.front().layers, {}, &std::pair<const int, ConvertedLayer>::first,
                            &std::pair<const int, ConvertedLayer>::first)) {
      fail(where, "has not the layers of " + ranks.front().path.string());
    }
  }
  for (int rank = 0; rank < first.setting.tp_size; ++rank) {
    const auto at = static_cast<std::size_t>(rank);
    if (at < ranks.size() && ranks[at].tags().rank == rank) continue;
    fail(ranks.front().path.string(),
         fmt::format("is of {} ranks, and rank {} is missing: all of them together are the checkpoint", first.setting.tp_size, rank));
  }
  return ranks;
}

}  // namespace mx::sim
