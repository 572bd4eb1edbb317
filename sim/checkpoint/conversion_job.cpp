#include "sim/checkpoint/conversion_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <utility>

#include "model/error.hpp"
#include "sim/checkpoint/kernel_platforms.hpp"
#include "sim/checkpoint/layer_packer.hpp"
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

/// What is digested and written before the next piece is looked at: it fits into a core's cache, and the disk begins with it at once.
constexpr std::size_t kPiece = std::size_t{1} << 20;

std::string layer_file(int layer) { return fmt::format("mxact-layer-{:05}.safetensors", layer); }

std::string shard_name(const SafetensorsFile& file) { return file.path().filename().string(); }

Metadata with_tags(Metadata metadata, std::string_view key, std::string tags, const std::string& where) {
  if (tags.size() > kLongestTags) {
    throw Error(ErrorCode::unsupported, fmt::format("its tags take {} bytes, more than the {} that readers allow", tags.size(), kLongestTags), where);
  }
  metadata[std::string(key)] = std::move(tags);
  return metadata;
}

/// The family that is asked for, else the first that the backend converts.
Checkpoint opened(const std::filesystem::path& source, const ConvertOptions& options) {
  Checkpoint checkpoint(source, options.family.value_or(0));
  checkpoint.require_convertible();
  if (options.family) return checkpoint;
  const auto converts = [&](const Checkpoint& one) {
    const layout::Form form = one.layout_form();
    const layout::BackendLayout* const row = layout::find_backend_layout(options.backend, form.format, options.setting.engine);
    return row != nullptr && row->converts(form, options.setting.engine);
  };
  if (converts(checkpoint)) return checkpoint;
  for (int family = 1; family < static_cast<int>(checkpoint.families().size()); ++family) {
    if (!checkpoint.families()[static_cast<std::size_t>(family)].converts) continue;
    Checkpoint other(source, family);
    if (converts(other)) return other;
  }
  return checkpoint;
}

/// The setting of one rank, sizes rounded as the engine rounds them.
Setting setting_of(const Checkpoint& checkpoint, const layout::BackendLayout& backend, const ConvertOptions& options) {
  Setting setting = options.setting;
  if (options.rank < 0 || options.rank >= setting.tp_size) {
    throw Error(ErrorCode::usage, fmt::format("rank {} is not in 0..{}: tp is {}", options.rank, setting.tp_size - 1, setting.tp_size));
  }
  const SourceForm& form = checkpoint.source_form();
  setting.sizes = checkpoint.sizes(0);
  setting.form = checkpoint.layout_form();
  check_cut(setting.sizes, setting.form.format, setting.tp_size);
  setting.sizes.intermediate /= setting.tp_size;
  if (!options.asks_activation)
    setting.activation = form.use.activation == "SWIGLUOAI" ? layout::ConverterActivation::swigluoai : layout::ConverterActivation::silu;
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
      checkpoint_(opened(source, options)),
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

WrittenUnit ConversionJob::write(int unit, const std::filesystem::path& directory, bool force) const {
  stop_.check();
  const Unit& of = units_.at(static_cast<std::size_t>(unit));
  const std::filesystem::path path = directory / file_of(unit);
  WrittenUnit written = of.file == nullptr ? write_layer(of.layer, path, force) : write_shard(*of.file, path, force);
  stop_.check();
  return written;
}

WrittenUnit ConversionJob::write_layer(int layer, const std::filesystem::path& path, bool force) const {
  std::vector<ScannedFault> faults = checkpoint_.scan(layer);
  stop_.check();
  LayerPacker packer(checkpoint_, layer, {options_.rank, setting_.tp_size}, *backend_, setting_, options_.by, stop_);
  const PackedLayer& packed = packer.packed();
  LayerTags tags{backend(), checkpoint_.layer_prefix(layer), checkpoint_.layer_index(layer), options_.rank, packed.setting, {}, {}, packed.losses};
  UnitResult result;
  for (ScannedFault& fault : faults) result.values.push_back({checkpoint_.layer_index(layer), std::move(fault)});
  result.file = path.filename().string();
  result.layers = 1;
  result.up_scales_dropped = packer.up_scales_dropped();
  result.largest_scale_byte = packed.setting.marlin.largest_scale_byte;
  for (const ExpertTensor& tensor : checkpoint_.expert_tensors(layer)) {
    const TensorView& view = *tensor.at.view;
    result.bytes_in += view.bytes.size();
    if (tensor.stays) continue;
    tags.source.push_back({tensor.role,
                           tensor.expert,
                           tensor.half,
                           {std::string(tensor.name), std::string(view.dtype->name), view.shape},
                           shard_name(*tensor.at.file),
                           tensor.input_major});
  }
  std::vector<TensorEntry> entries;
  std::vector<DigestStream> digests(packed.tensors.size());
  for (const PackedTensor& tensor : packed.tensors) {
    entries.push_back(packed_entry(tags.prefix, tensor));
    const std::uint64_t bytes = sim::bytes_of(entries.back());
    result.tensors.emplace(entries.back().name, bytes);
    result.bytes_out += bytes;
    // A digest of nothing keeps the place of the tensor's, which is as long.
    tags.tensors.push_back({tensor.role, entries.back().name, tensor.layout.logical(), program_digest(tensor.layout), std::string(tensor.cast->name),
                            digests.front().text()});
  }
  for (const layout::Loss& loss : packed.losses) result.losses.push_back({tags.layer, loss});
  const auto metadata = [&] { return with_tags({{"format", "pt"}}, kLayerTagsKey, text_of(tags), result.file); };
  SafetensorsWriter writer(path, entries, metadata(), force);
  packer.run([&](std::size_t tensor, std::span<const std::uint8_t> bytes) {
    for (std::size_t begin = 0; begin < bytes.size(); begin += kPiece) {
      stop_.check();
      const std::span<const std::uint8_t> piece = bytes.subspan(begin, std::min(kPiece, bytes.size() - begin));
      digests[tensor].add(piece);
      writer.append(entries[tensor].name, piece);
    }
  });
  for (std::size_t i = 0; i < digests.size(); ++i) tags.tensors[i].content = digests[i].text();
  writer.set_metadata(entries, metadata());
  result.size = writer.size();
  return {std::move(result), std::move(writer)};
}

/// Everything of a shard but the experts, in its order.
WrittenUnit ConversionJob::write_shard(const SafetensorsFile& file, const std::filesystem::path& path, bool force) const {
  std::vector<TensorEntry> entries;
  const std::vector<std::string> order = names_in_order(file);
  for (const std::string& name : order) {
    const TensorView& view = *file.find(name);
    if (!moved_.contains(name)) entries.push_back({name, std::string(view.dtype->name), view.shape});
  }
  UnitResult result;
  result.file = path.filename().string();
  result.other_tensors = static_cast<std::int64_t>(entries.size());
  SafetensorsWriter writer(path, entries, with_tags(file.metadata(), kShardTagsKey, shard_tags_text(order), file.path().string()), force);
  for (const TensorEntry& entry : entries) {
    const TensorView& view = *file.find(entry.name);
    writer.copy(entry.name, file, view, stop_);
    result.tensors.emplace(entry.name, view.bytes.size());
  }
  result.size = writer.size();
  return {std::move(result), std::move(writer)};
}

UnitResult ConversionJob::commit(WrittenUnit written) const {
  // The disk has its own time: the digest is computed meanwhile.
  auto synced = std::async(std::launch::async, [&] { written.writer.sync(); });
  written.result.digest = written.writer.digest(stop_);
  synced.get();
  written.writer.commit();
  return std::move(written.result);
}

std::vector<LeftOut> ConversionJob::finish(const std::filesystem::path& directory, std::span<const UnitResult> results) const {
  std::vector<LeftOut> left;
  const CheckpointFiles& contents = checkpoint_.contents();
  if (contents.whole) {
    const std::filesystem::path index = contents.directory / kIndexName;
    if (is_there(index)) copy_plain(index, directory / kSourceIndexName);
    left = copy_companions(contents.directory, directory, options_.copy_all);
  }
  checkpoint_.check_unchanged();
  write_index(directory, results);
  return left;
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
  report.families = checkpoint_.families();
  report.family = checkpoint_.family();
  std::map<std::string, std::string> digests;
  for (const UnitResult& result : results) {
    report.layers += static_cast<int>(result.layers);
    report.other_tensors += result.other_tensors;
    report.bytes_in += result.bytes_in;
    report.bytes_out += result.bytes_out;
    report.up_scales_dropped += result.up_scales_dropped;
    report.losses.insert(report.losses.end(), result.losses.begin(), result.losses.end());
    report.values.insert(report.values.end(), result.values.begin(), result.values.end());
    if (result.layers > 0) report.setting.marlin.largest_scale_byte = result.largest_scale_byte;
    digests.emplace(result.file, result.digest);
  }
  std::string text;
  for (const auto& [file, digest] : digests) text += digest + "  " + file + "\n";
  report.digest = digest_of(text);
  return report;
}

}  // namespace mx::sim
