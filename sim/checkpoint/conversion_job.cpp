#include "sim/checkpoint/conversion_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "kernels/relayout/mover.hpp"
#include "model/error.hpp"
#include "sim/checkpoint/kernel_platforms.hpp"
#include "sim/checkpoint/shard.hpp"
#include "sim/checkpoint/staging.hpp"
#include "sim/rounding.hpp"
#include "support/json.hpp"
#include "support/quote.hpp"

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

/// The setting of one rank, sizes rounded as the engine rounds them.
Setting setting_of(const Checkpoint& checkpoint, const layout::BackendLayout& backend, const ConvertOptions& options) {
  Setting setting = options.setting;
  if (options.rank < 0 || options.rank >= setting.tp_size) {
    throw Error(ErrorCode::usage, fmt::format("rank {} is not in 0..{}: tp is {}", options.rank, setting.tp_size - 1, setting.tp_size));
  }
  const SourceForm& form = checkpoint.source_form();
  setting.sizes = checkpoint.sizes(0);
  check_cut(setting.sizes, form.form.format, setting.tp_size);
  setting.sizes.intermediate /= setting.tp_size;
  setting.form = form.form;
  setting.has_bias = checkpoint.has_bias();
  setting.padded = form.use.rounds ? sim::rounded_up(backend.backend, setting) : setting.sizes;
  return setting;
}

void check_form(const layout::BackendLayout& backend, const Setting& setting) {
  if (backend.converts(setting.form, setting.engine)) return;
  const auto other = std::ranges::find_if(layout::kConversionEngines, [&](Engine engine) {
    const layout::BackendLayout* const row = layout::find_backend_layout(backend.backend, setting.form.format, engine);
    return row != nullptr && row->converts(setting.form, engine);
  });
  throw Error(ErrorCode::usage,
              fmt::format("engine {} does not convert checkpoints of {} in {} order for it{}", name_of(setting.engine),
                          layout::name_of(setting.form.format), layout::name_of(setting.form.order),
                          other == layout::kConversionEngines.end() ? "" : fmt::format("; engine {} does", mx::name_of(*other))),
              std::string(backend.backend));
}

}  // namespace

ConversionJob::ConversionJob(const std::filesystem::path& source, const ConvertOptions& options)
    : options_(options),
      stop_(options.stop),
      checkpoint_(source),
      backend_(&layout::backend_layout_named(options.backend, checkpoint_.source_form().form.format, options.setting.engine)),
      setting_(setting_of(checkpoint_, *backend_, options)) {
  check_names();
  check_form(*backend_, setting_);
  if (options_.asks_for_kernel && setting_.form.format == layout::WeightFormat::mxfp4) check_has_kernel(options_.backend, setting_);
  layout::check_needs(*backend_, setting_);
  for (int layer = 0; layer < checkpoint_.layer_count(); ++layer) {
    units_.push_back({layer, nullptr});
    for (const ExpertTensor& tensor : checkpoint_.expert_tensors(layer)) {
      if (!tensor.stays) moved_.insert(tensor.name);
    }
  }
  for (const SafetensorsFile& file : checkpoint_.contents().files) units_.push_back({-1, &file});
}

/// Shards keep their names, which must not be those of the layers' files.
void ConversionJob::check_names() const {
  std::set<std::string> layers;
  for (int layer = 0; layer < checkpoint_.layer_count(); ++layer) layers.insert(layer_file(checkpoint_.layer_index(layer)));
  for (const SafetensorsFile& file : checkpoint_.contents().files) {
    const std::string name = shard_name(file);
    if (!is_shard_name(name)) throw Error(ErrorCode::usage, "a weight file must be named *.safetensors", file.path().string());
    if (layers.contains(name)) throw Error(ErrorCode::usage, "this name is kept for a converted layer", file.path().string());
  }
}

int ConversionJob::units() const { return static_cast<int>(units_.size()); }

std::string ConversionJob::name_of(int unit) const {
  const Unit& of = units_.at(static_cast<std::size_t>(unit));
  return of.file == nullptr ? fmt::format("layer {}", checkpoint_.layer_index(of.layer)) : "shard " + shard_name(*of.file);
}

std::string ConversionJob::file_of(int unit) const {
  const Unit& of = units_.at(static_cast<std::size_t>(unit));
  return of.file == nullptr ? layer_file(checkpoint_.layer_index(of.layer)) : shard_name(*of.file);
}

std::vector<TensorPlace> ConversionJob::tensors_of(int unit) const {
  const Unit& of = units_.at(static_cast<std::size_t>(unit));
  std::vector<TensorPlace> tensors;
  if (of.file == nullptr) {
    for (const ExpertTensor& tensor : checkpoint_.expert_tensors(of.layer)) tensors.push_back({tensor.at.file, tensor.at.view});
    return tensors;
  }
  for (const std::string& name : names_in_order(*of.file)) {
    if (!moved_.contains(name)) tensors.push_back({of.file, of.file->find(name)});
  }
  return tensors;
}

std::uint64_t ConversionJob::bytes_of(int unit) const {
  std::uint64_t bytes = 0;
  for (const TensorPlace& tensor : tensors_of(unit)) bytes += tensor.view->bytes.size();
  return bytes;
}

std::uint64_t ConversionJob::total_bytes() const {
  std::uint64_t total = 0;
  for (int unit = 0; unit < units(); ++unit) total += bytes_of(unit);
  return total;
}

PreparedUnit ConversionJob::prepare(int unit) const {
  stop_.check();
  const Unit& of = units_.at(static_cast<std::size_t>(unit));
  PreparedUnit prepared{unit, {}, {}, {}, {}};
  prepared.result.file = file_of(unit);
  of.file == nullptr ? prepare_layer(of.layer, prepared) : prepare_shard(*of.file, prepared);
  stop_.check();
  return prepared;
}

void ConversionJob::prepare_layer(int layer, PreparedUnit& prepared) const {
  MoeLayer canonical = checkpoint_.layer(layer, stop_);
  stop_.check();
  LayerTags tags{backend(), canonical.prefix, canonical.index, options_.rank, {}, {}, {}, {}};
  UnitResult& result = prepared.result;
  result.layers = 1;
  result.up_scales_dropped = canonical.up_scales_dropped;
  for (const ExpertTensor& tensor : checkpoint_.expert_tensors(layer)) {
    const TensorView& view = *tensor.at.view;
    result.bytes_in += view.bytes.size();
    if (tensor.stays) continue;
    tags.source.push_back({tensor.role,
                           tensor.expert,
                           tensor.half,
                           {std::string(tensor.name), std::string(view.dtype->name), view.shape},
                           shard_name(*tensor.at.file)});
  }
  if (setting_.tp_size > 1) canonical.experts = shard(canonical.experts, options_.rank, setting_.tp_size, mover_of(options_.by));
  PackedLayer packed = layout::convert(std::move(canonical.experts), *backend_, setting_, mover_of(options_.by));
  tags.setting = packed.setting;
  tags.losses = packed.losses;
  result.largest_scale_byte = packed.setting.marlin.largest_scale_byte;
  for (const PackedTensor& tensor : packed.tensors) {
    stop_.check();
    prepared.entries.push_back(packed_entry(tags.prefix, tensor));
    tags.tensors.push_back({tensor.role, prepared.entries.back().name, tensor.layout.logical(), program_digest(tensor.layout),
                            std::string(tensor.cast->name), digest_of(tensor.bytes)});
  }
  for (layout::Loss& loss : packed.losses) result.losses.push_back({tags.layer, std::move(loss)});
  prepared.metadata = with_tags({{"format", "pt"}}, kLayerTagsKey, text_of(tags), result.file);
  prepared.tensors = std::move(packed.tensors);
}

/// Everything of a shard but the experts, in its order.
void ConversionJob::prepare_shard(const SafetensorsFile& file, PreparedUnit& prepared) const {
  std::vector<std::string> order;
  for (const std::string& name : names_in_order(file)) {
    const TensorView& view = *file.find(name);
    order.push_back(name);
    if (!moved_.contains(name)) prepared.entries.push_back({name, std::string(view.dtype->name), view.shape});
  }
  prepared.metadata = with_tags(file.metadata(), kShardTagsKey, shard_tags_text(order), file.path().string());
}

WrittenUnit ConversionJob::write(PreparedUnit prepared, const std::filesystem::path& directory, bool force) const {
  const SafetensorsFile* const shard = units_.at(static_cast<std::size_t>(prepared.unit)).file;
  UnitResult& result = prepared.result;
  SafetensorsWriter writer(directory / result.file, prepared.entries, prepared.metadata, force);
  for (std::size_t i = 0; i < prepared.entries.size(); ++i) {
    const std::string& name = prepared.entries[i].name;
    if (shard != nullptr) {
      const TensorView& view = *shard->find(name);
      writer.copy(name, *shard, view, stop_);
      result.tensors.emplace(name, view.bytes.size());
      ++result.other_tensors;
      continue;
    }
    // What is written is no longer held.
    const std::vector<std::uint8_t> bytes = std::move(prepared.tensors[i].bytes);
    writer.put(name, bytes, stop_);
    result.tensors.emplace(name, bytes.size());
    result.bytes_out += bytes.size();
  }
  stop_.check();
  result.size = writer.size();
  result.digest = writer.digest();
  return {std::move(result), std::move(writer)};
}

void ConversionJob::finish(const std::filesystem::path& directory, std::span<const UnitResult> results) const {
  const CheckpointFiles& contents = checkpoint_.contents();
  if (contents.whole) {
    const std::filesystem::path index = contents.directory / kIndexName;
    if (is_there(index)) copy_plain(index, directory / kSourceIndexName);
    copy_companions(contents.directory, directory);
  }
  checkpoint_.check_unchanged();
  write_index(directory, results);
}

void ConversionJob::write_index(const std::filesystem::path& directory, std::span<const UnitResult> results) const {
  std::uint64_t total = 0;
  std::map<std::string, std::string> weight_map, digests;
  for (const UnitResult& result : results) {
    digests.emplace(result.file, result.digest);
    for (const auto& [name, bytes] : result.tensors) {
      weight_map.emplace(name, result.file);
      total += bytes;
    }
  }
  const Json made{{"program", options_.program},
                  {"form", checkpoint_.form()},
                  {"backend", backend()},
                  {"engine", mx::name_of(setting_.engine)},
                  {"platform", layout::name_of(setting_.arch)},
                  {"rank", options_.rank},
                  {"tp", setting_.tp_size},
                  {"digests", digests}};
  const Json index{{"metadata", {{"total_size", total}, {"mxact", made}}}, {"weight_map", weight_map}};
  const std::string text = index.dump(2) + "\n";
  write_file(directory / kIndexName, std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()), false);
}

ConvertReport ConversionJob::report(std::span<const UnitResult> results) const {
  ConvertReport report;
  report.backend = backend();
  report.setting = setting_;
  std::map<std::string, std::string> digests;
  for (const UnitResult& result : results) {
    report.layers += static_cast<int>(result.layers);
    report.other_tensors += result.other_tensors;
    report.bytes_in += result.bytes_in;
    report.bytes_out += result.bytes_out;
    report.up_scales_dropped += result.up_scales_dropped;
    report.losses.insert(report.losses.end(), result.losses.begin(), result.losses.end());
    if (result.layers > 0) report.setting.marlin.largest_scale_byte = result.largest_scale_byte;
    digests.emplace(result.file, result.digest);
  }
  std::string text;
  for (const auto& [file, digest] : digests) text += digest + "  " + file + "\n";
  report.digest = digest_of(text);
  return report;
}

}  // namespace mx::sim
