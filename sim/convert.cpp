#include "sim/convert.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "model/error.hpp"
#include "model/layout/rounding.hpp"
#include "sim/checkpoint.hpp"
#include "sim/io/quote.hpp"
#include "sim/layout_tags.hpp"
#include "sim/staging.hpp"
#include "sim/verify.hpp"

namespace mx::sim {
namespace {

using layout::PackedLayer;
using layout::PackedTensor;
using layout::Setting;
using Metadata = std::map<std::string, std::string>;

/// What a reader takes as one metadata string.
constexpr std::size_t kLongestTags = std::size_t{1} << 19;

std::string layer_file(int layer) { return fmt::format("mxact-layer-{:05}.safetensors", layer); }

std::string shard_name(const SafetensorsFile& file) { return file.path().filename().string(); }

Metadata with_tags(Metadata metadata, std::string_view key, std::string tags, const std::string& where) {
  if (tags.size() > kLongestTags) {
    throw Error(ErrorCode::unsupported, fmt::format("its tags take {} bytes, more than the {} that readers allow", tags.size(), kLongestTags), where);
  }
  metadata[std::string(key)] = std::move(tags);
  return metadata;
}

class Conversion {
 public:
  Conversion(const std::filesystem::path& source, const std::filesystem::path& output, const ConvertOptions& options)
      : options_(options), checkpoint_(source), backend_(backend_of(options)), setting_(setting_of(checkpoint_, options)) {
    check_names();
    layout::check_needs(backend_, setting_);
    staged_.emplace(output, std::span(&source, 1), options.force);
    report_.backend = std::string(backend_.backend);
  }

  ConvertReport run() {
    report_.setting = setting_;
    for (int layer = 0; layer < checkpoint_.layer_count(); ++layer) {
      if (!proceed(fmt::format("layer {}", checkpoint_.layer_index(layer)), layer)) return report_;
      convert_layer(layer);
    }
    for (const SafetensorsFile& file : checkpoint_.contents().files) {
      if (!proceed(shard_name(file), checkpoint_.layer_count())) return report_;
      copy_shard(file);
    }
    const CheckpointFiles& contents = checkpoint_.contents();
    if (contents.whole) {
      const std::filesystem::path index = contents.directory / kIndexName;
      if (is_there(index)) copy_plain(index, staged_->path() / kSourceIndexName);
      copy_companions(contents.directory, staged_->path());
    }
    write_index();
    staged_->commit();
    report_.finished = true;
    return report_;
  }

 private:
  static const layout::BackendLayout& backend_of(const ConvertOptions& options) {
    return layout::backend_layout_named(options.backend, layout::WeightFormat::mxfp4, options.setting.engine);
  }

  /// The setting of one rank, sizes rounded as the engine rounds them.
  static Setting setting_of(const Checkpoint& checkpoint, const ConvertOptions& options) {
    Setting setting = options.setting;
    if (options.rank < 0 || options.rank >= setting.tp_size) {
      throw Error(ErrorCode::usage, fmt::format("rank {} is not in 0..{}: tp is {}", options.rank, setting.tp_size - 1, setting.tp_size));
    }
    setting.sizes = checkpoint.sizes(0);
    check_cut(setting.sizes, setting.tp_size);
    setting.sizes.intermediate /= setting.tp_size;
    setting.form = layout::SourceOrder::gpt_oss;
    setting.has_bias = checkpoint.has_bias();
    setting.padded = layout::rounded_up(backend_of(options).backend, setting);
    return setting;
  }

  /// Shards keep their names, which must not be those of the layers' files.
  void check_names() const {
    std::set<std::string> layers;
    for (int layer = 0; layer < checkpoint_.layer_count(); ++layer) layers.insert(layer_file(checkpoint_.layer_index(layer)));
    for (const SafetensorsFile& file : checkpoint_.contents().files) {
      const std::string name = shard_name(file);
      if (!is_shard_name(name)) throw Error(ErrorCode::usage, "a weight file must be named *.safetensors", file.path().string());
      if (layers.contains(name)) throw Error(ErrorCode::usage, "this name is kept for a converted layer", file.path().string());
    }
  }

  bool proceed(const std::string& what, int layers_done) const {
    if (options_.stop && options_.stop()) return false;
    if (options_.progress) options_.progress(what, static_cast<double>(layers_done) / (checkpoint_.layer_count() + 1));
    return true;
  }

  void convert_layer(int layer) {
    MoeLayer canonical = checkpoint_.layer(layer);
    LayerTags tags{report_.backend, canonical.prefix, canonical.index, options_.rank, {}, {}, {}, {}};
    for (const ExpertTensor& tensor : checkpoint_.expert_tensors(layer)) {
      const TensorView& view = *tensor.at.view;
      tags.source.push_back({tensor.role, {std::string(tensor.name), std::string(view.dtype->name), view.shape}, shard_name(*tensor.at.file)});
      report_.bytes_in += view.bytes.size();
    }
    if (setting_.tp_size > 1) canonical.experts = shard(canonical.experts, options_.rank, setting_.tp_size, mover_of(options_.by));
    write_layer(std::move(tags), layout::convert(std::move(canonical.experts), backend_, setting_, mover_of(options_.by)));
    ++report_.layers;
  }

  void write_layer(LayerTags tags, PackedLayer packed) {
    tags.setting = packed.setting;
    tags.losses = packed.losses;
    report_.setting = packed.setting;
    std::vector<TensorEntry> entries;
    for (const PackedTensor& tensor : packed.tensors) {
      entries.push_back(packed_entry(tags.prefix, tensor));
      tags.tensors.push_back(
          {tensor.role, entries.back().name, tensor.layout.logical(), program_digest(tensor.layout), std::string(tensor.cast->name)});
    }
    const std::string file = layer_file(tags.layer);
    SafetensorsWriter writer(staged_->path() / file, entries, with_tags({{"format", "pt"}}, kLayerTagsKey, text_of(tags), file), false);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      writer.put(entries[i].name, packed.tensors[i].bytes);
      list(entries[i].name, file, packed.tensors[i].bytes.size());
      report_.bytes_out += packed.tensors[i].bytes.size();
    }
    writer.commit();
    for (layout::Loss& loss : packed.losses) report_.losses.push_back({tags.layer, std::move(loss)});
  }

  /// Everything of a shard but the experts, in its order.
  void copy_shard(const SafetensorsFile& file) {
    std::set<std::string_view> experts;
    for (int layer = 0; layer < checkpoint_.layer_count(); ++layer) {
      for (const ExpertTensor& tensor : checkpoint_.expert_tensors(layer)) experts.insert(tensor.name);
    }
    std::vector<TensorEntry> entries;
    std::vector<std::string> order;
    for (const std::string& name : names_in_order(file)) {
      const TensorView& view = *file.find(name);
      order.push_back(name);
      if (!experts.contains(name)) entries.push_back({name, std::string(view.dtype->name), view.shape});
    }
    const std::string shard = shard_name(file);
    const Metadata metadata = with_tags(file.metadata(), kShardTagsKey, shard_tags_text(order), file.path().string());
    SafetensorsWriter writer(staged_->path() / shard, entries, metadata, false);
    for (const TensorEntry& entry : entries) {
      const TensorView& view = *file.find(entry.name);
      writer.put(entry.name, view.bytes);
      file.release(view);
      list(entry.name, shard, view.bytes.size());
      ++report_.other_tensors;
    }
    writer.commit();
  }

  void list(const std::string& name, const std::string& file, std::uint64_t bytes) {
    weight_map_.emplace(name, file);
    total_size_ += bytes;
  }

  void write_index() const {
    const nlohmann::ordered_json index{{"metadata", {{"total_size", total_size_}}}, {"weight_map", weight_map_}};
    const std::string text = index.dump(2) + "\n";
    write_file(staged_->path() / kIndexName, std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()), false);
  }

  const ConvertOptions& options_;
  const Checkpoint checkpoint_;
  const layout::BackendLayout& backend_;
  const Setting setting_;
  std::optional<StagedDirectory> staged_;
  std::map<std::string, std::string> weight_map_;
  std::uint64_t total_size_ = 0;
  ConvertReport report_;
};

}  // namespace

ConvertReport convert_checkpoint(const std::filesystem::path& source, const std::filesystem::path& output, const ConvertOptions& options) {
  return Conversion(source, output, options).run();
}

}  // namespace mx::sim
