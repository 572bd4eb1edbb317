#include "checkpoint/converted.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "checkpoint/setting_json.hpp"
#include "model/error.hpp"
#include "support/json.hpp"
#include "support/quote.hpp"

namespace mx::checkpoint {
namespace {

[[noreturn]] void fail(const std::string& where, const std::string& message) { throw Error(ErrorCode::input, message, where); }

/// What all layers of a layer group have in common, as text.
std::string common_text(const LayerTags& tags) {
  families::Setting setting = tags.setting;
  families::set_largest_scale_byte(setting, 0);
  return tags.backend + setting_json(setting).dump();
}

/// What all layers of a conversion have in common.
bool are_of_one(const LayerTags& a, const LayerTags& b) {
  if (a.rank != b.rank || a.setting.tp_size != b.setting.tp_size || a.setting.engine != b.setting.engine || a.setting.arch != b.setting.arch)
    return false;
  return a.further != b.further || common_text(a) == common_text(b);
}

void add_shard(ConvertedDirectory& converted, const support::SafetensorsFile& file) {
  const std::string name = file.path().filename().string();
  converted.shards.emplace(name, ConvertedShard{read_shard_tags(file.metadata().at(std::string(kShardTagsKey)), file.path().string()), &file});
}

void add_layer(ConvertedDirectory& converted, const support::SafetensorsFile& file) {
  const std::string where = file.path().string();
  LayerTags tags = read_layer_tags(file.metadata().at(std::string(kLayerTagsKey)), where);
  for (const SourceTensor& tensor : tags.source) {
    if (!is_shard_name(tensor.shard))
      fail(where, fmt::format("the tags name the shard {}, which is not a plain file name", support::in_quotes(tensor.shard)));
  }
  const LayerKey key{tags.further, tags.layer};
  const auto of_group = std::ranges::find_if(converted.layers, [&](const auto& entry) { return entry.first.further == key.further; });
  for (const auto other : {converted.layers.begin(), of_group}) {
    if (other == converted.layers.end() || are_of_one(other->second.tags, tags)) continue;
    fail(where, fmt::format("is of another conversion than {}", other->second.file->path().filename().string()));
  }
  const auto [entry, is_new] = converted.layers.emplace(key, ConvertedLayer{std::move(tags), &file});
  if (!is_new) fail(where, fmt::format("is {}, and so is {}", key.name(), entry->second.file->path().filename().string()));
}

void add_file(ConvertedDirectory& converted, support::SafetensorsFile&& opened) {
  const support::SafetensorsFile& file = converted.files.emplace_back(std::move(opened));
  if (file.metadata().contains(std::string(kLayerTagsKey))) return add_layer(converted, file);
  if (file.metadata().contains(std::string(kShardTagsKey))) return add_shard(converted, file);
  fail(file.path().string(), "holds no layout tags: `mxact convert` did not write it");
}

/// A shard of nothing but experts has no tensors left, and the index does not list it.
void add_empty_shards(ConvertedDirectory& converted) {
  for (const auto& [layer, entry] : converted.layers) {
    for (const SourceTensor& tensor : entry.tags.source) {
      if (!converted.shards.contains(tensor.shard)) add_file(converted, support::SafetensorsFile(converted.path / tensor.shard));
      if (!converted.shards.contains(tensor.shard)) fail((converted.path / tensor.shard).string(), "is a layer, but the tags name it as a shard");
    }
  }
}

/// The layers of another rank's directory, each converted as there.
void check_layers_of(const ConvertedDirectory& rank, const ConvertedDirectory& first) {
  const std::string where = rank.path.string();
  for (const auto& [key, layer] : rank.layers) {
    const auto other = first.layers.find(key);
    if (other != first.layers.end() && common_text(layer.tags) != common_text(other->second.tags))
      fail(where, "is of another conversion than " + first.path.string());
  }
  if (!std::ranges::equal(rank.layers, first.layers, {}, &std::pair<const LayerKey, ConvertedLayer>::first,
                          &std::pair<const LayerKey, ConvertedLayer>::first))
    fail(where, "has not the layers of " + first.path.string());
}

}  // namespace

ConvertedDirectory open_converted(const std::filesystem::path& path) {
  if (!support::is_there(path)) fail(path.string(), "there is no such directory");
  if (!support::is_there(path / kIndexName)) fail(path.string(), fmt::format("has no {}: it is not what `mxact convert` writes", kIndexName));
  ConvertedDirectory converted{path, {}, {}, {}};
  for (support::SafetensorsFile& file : open_checkpoint_files(path).files) add_file(converted, std::move(file));
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
    const int rank = ranks[i].tags().rank;
    const std::string where = ranks[i].path.string();
    check_layers_of(ranks[i], ranks.front());
    if (i > 0 && rank == ranks[i - 1].tags().rank) fail(where, fmt::format("is rank {}, and so is {}", rank, ranks[i - 1].path.string()));
  }
  for (int rank = 0; rank < first.setting.tp_size; ++rank) {
    const auto at = static_cast<std::size_t>(rank);
    if (at < ranks.size() && ranks[at].tags().rank == rank) continue;
    fail(ranks.front().path.string(),
         fmt::format("is of {} ranks, and rank {} is missing: all of them together are the checkpoint", first.setting.tp_size, rank));
  }
  return ranks;
}

}  // namespace mx::checkpoint
