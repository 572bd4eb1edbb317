#include "checkpoint/checkpoint_conversion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <utility>

#include "checkpoint/staging.hpp"
#include "model/error.hpp"
#include "model/families/fnuz.hpp"
#include "support/json.hpp"
#include "support/quote.hpp"

namespace mx::checkpoint {
namespace {

using families::PackedLayer;
using layout::PackedTensor;
using Metadata = std::map<std::string, std::string>;

/// The tensors of one converted layer.
std::uint64_t packed_bytes(const GroupConversion& group) {
  std::uint64_t bytes = 0;
  for (const layout::Role role : families::tensors_of(*group.backend, group.setting.has_bias)) {
    layout::TensorPlan plan = group.backend->build(role, group.setting);
    bytes += support::bytes_of(packed_entry({}, {role, std::move(plan.layout), plan.cast, {}}));
  }
  return bytes;
}

/// What a reader takes as one metadata string.
constexpr std::size_t kLongestTags = std::size_t{1} << 19;

/// What is digested and written before the next piece is looked at: it fits into a core's cache, and the disk begins with it at once.
constexpr std::size_t kPiece = std::size_t{1} << 20;

/// Of the first layer group as if there were no other.
std::string layer_file(const GroupConversion& group, int layer) {
  const int index = group.checkpoint.layer_index(layer);
  return group.further == 0 ? fmt::format("mxact-layer-{:05}.safetensors", index)
                            : fmt::format("mxact-family-{}-layer-{:05}.safetensors", group.further, index);
}

std::string shard_name(const support::SafetensorsFile& file) { return file.path().filename().string(); }

Metadata with_tags(Metadata metadata, std::string_view key, std::string tags, const std::string& where) {
  if (tags.size() > kLongestTags) {
    throw Error(ErrorCode::unsupported, fmt::format("its tags take {} bytes, more than the {} that readers allow", tags.size(), kLongestTags), where);
  }
  metadata[std::string(key)] = std::move(tags);
  return metadata;
}

}  // namespace

CheckpointConversion::CheckpointConversion(const std::filesystem::path& source, const ConvertOptions& options)
    : options_(options), stop_(options.stop), choice_(choose_layer_groups(source, options)) {
  check_names();
  for (std::size_t i = 0; i < layer_groups().size(); ++i) {
    const Checkpoint& of = layer_groups()[i].checkpoint;
    for (int layer = 0; layer < of.layer_count(); ++layer) {
      jobs_.push_back({i, layer, nullptr});
      for (const ExpertTensor& tensor : of.expert_tensors(layer)) {
        if (!tensor.stays) moved_.insert(tensor.name);
      }
    }
  }
  for (const support::SafetensorsFile& file : checkpoint().contents().files) jobs_.push_back({0, 0, &file});
  for (const auto& [name, file] : checkpoint().contents().overlaid) {
    if (!moved_.contains(name)) continue;
    throw Error(ErrorCode::unsupported,
                fmt::format("tensor {} has another laid over it, and restoring would not give it back", support::in_quotes(name)),
                file->path().string());
  }
}

/// Shards keep their names, which must not be those of the layers' files.
void CheckpointConversion::check_names() const {
  std::set<std::string> layers;
  for (const GroupConversion& group : layer_groups()) {
    for (int layer = 0; layer < group.checkpoint.layer_count(); ++layer) layers.insert(layer_file(group, layer));
  }
  for (const support::SafetensorsFile& file : checkpoint().contents().files) {
    const std::string name = shard_name(file);
    if (!is_shard_name(name)) throw Error(ErrorCode::usage, "a weight file must be named *.safetensors", file.path().string());
    if (layers.contains(name)) throw Error(ErrorCode::usage, "this name is kept for a converted layer", file.path().string());
  }
}

int CheckpointConversion::jobs() const { return static_cast<int>(jobs_.size()); }

std::string CheckpointConversion::name_of(int job) const {
  const Job& of = job_of(job);
  if (of.file != nullptr) return "shard " + shard_name(*of.file);
  const GroupConversion& group = layer_groups()[of.layer_group];
  return layer_name(group.checkpoint.layer_index(of.layer), group.further);
}

std::string CheckpointConversion::file_of(int job) const {
  const Job& of = job_of(job);
  return of.file == nullptr ? layer_file(layer_groups()[of.layer_group], of.layer) : shard_name(*of.file);
}

std::vector<support::TensorPlace> CheckpointConversion::tensors_of(int job) const {
  const Job& of = job_of(job);
  std::vector<support::TensorPlace> tensors;
  if (of.file == nullptr) {
    for (const ExpertTensor& tensor : layer_groups()[of.layer_group].checkpoint.expert_tensors(of.layer))
      tensors.push_back({tensor.at.file, tensor.at.view});
    return tensors;
  }
  for (const std::string& name : support::names_in_order(*of.file)) {
    if (!moved_.contains(name)) tensors.push_back({of.file, of.file->find(name)});
  }
  return tensors;
}

std::uint64_t CheckpointConversion::bytes_of(int job) const {
  std::uint64_t bytes = 0;
  for (const support::TensorPlace& tensor : tensors_of(job)) bytes += tensor.view->bytes.size();
  return bytes;
}

std::uint64_t CheckpointConversion::total_bytes() const {
  std::uint64_t total = 0;
  for (int job = 0; job < jobs(); ++job) total += bytes_of(job);
  return total;
}

std::uint64_t CheckpointConversion::written_bytes() const {
  std::uint64_t total = 0;
  for (int job = 0; job < jobs(); ++job) {
    const Job& of = job_of(job);
    total += of.file == nullptr ? packed_bytes(layer_groups()[of.layer_group]) : bytes_of(job);
  }
  return total;
}

WrittenJob CheckpointConversion::write(int job, const std::filesystem::path& directory, bool force) const {
  stop_.check();
  const Job& of = job_of(job);
  const std::filesystem::path path = directory / file_of(job);
  WrittenJob written = of.file == nullptr ? write_layer(layer_groups()[of.layer_group], of.layer, path, force) : write_shard(*of.file, path, force);
  stop_.check();
  return written;
}

std::string CheckpointConversion::source_digest(int job) const {
  support::DigestStream digest;
  std::vector<std::uint8_t> piece;
  for (const support::TensorPlace& tensor : tensors_of(job)) {
    const std::size_t size = tensor.view->bytes.size();
    for (std::size_t begin = 0; begin < size; begin += piece.size()) {
      stop_.check();
      piece.resize(std::min(kPiece, size - begin));
      tensor.file->read(*tensor.view, begin, piece);
      digest.add(piece);
    }
  }
  return digest.text();
}

LayerPacker CheckpointConversion::packer_of(const GroupConversion& group, int layer) const {
  return {group.checkpoint,
          layer,
          {options_.rank, group.setting.tp_size, group.setting.sizes.intermediate, group.setting.sizes.group},
          *group.backend,
          group.setting,
          options_.by,
          stop_};
}

WrittenJob CheckpointConversion::write_layer(const GroupConversion& group, int layer, const std::filesystem::path& path, bool force) const {
  const Checkpoint& checkpoint = group.checkpoint;
  const int index = checkpoint.layer_index(layer);
  std::vector<ScannedFault> faults = checkpoint.scan(layer);
  stop_.check();
  LayerPacker packer = packer_of(group, layer);
  const PackedLayer& packed = packer.packed();
  std::vector<layout::Loss> losses = packer.lost_before();
  losses.insert(losses.end(), packed.losses.begin(), packed.losses.end());
  LayerTags tags{group.name(), checkpoint.layer_prefix(layer), index, options_.rank, packed.setting, {}, {}, losses, group.further};
  const std::int64_t intermediate = checkpoint.sizes(layer).intermediate;
  if (tags.whole_sizes().intermediate != intermediate) tags.intermediate = intermediate;
  JobResult result;
  if (const std::optional<InputScales> scales = checkpoint.input_scales(layer)) {
    tags.inputs = joined_for(*scales, families::has_fnuz(packed.setting) ? Fp8Codes::e4m3fnuz : Fp8Codes::e4m3fn);
    result.inputs.push_back({index, *tags.inputs, group.further});
  }
  for (ScannedFault& fault : faults) result.values.push_back({index, std::move(fault)});
  result.file = path.filename().string();
  result.layers = 1;
  result.up_scales_dropped = packer.up_scales_dropped();
  result.largest_scale_byte = families::largest_scale_byte_of(packed.setting);
  for (const ExpertTensor& tensor : checkpoint.expert_tensors(layer)) {
    const support::TensorView& view = *tensor.at.view;
    result.bytes_in += view.bytes.size();
    if (tensor.stays) continue;
    tags.source.push_back({tensor.role,
                           tensor.expert,
                           tensor.half,
                           {std::string(tensor.name), std::string(view.dtype->name), view.shape},
                           shard_name(*tensor.at.file),
                           tensor.input_major});
  }
  std::vector<support::TensorEntry> entries;
  std::vector<support::DigestStream> digests(packed.tensors.size());
  for (const PackedTensor& tensor : packed.tensors) {
    entries.push_back(packed_entry(tags.prefix, tensor));
    const std::uint64_t bytes = support::bytes_of(entries.back());
    result.tensors.emplace(entries.back().name, bytes);
    result.bytes_out += bytes;
    // A digest of nothing keeps the place of the tensor's, which is as long.
    tags.tensors.push_back({tensor.role, entries.back().name, tensor.layout.logical(), program_digest(tensor.layout), std::string(tensor.cast->name),
                            digests.front().text(), kernel_tag(*group.backend, tensor.role, tags.setting)});
  }
  for (const layout::Loss& loss : losses) result.losses.push_back({index, loss, group.further});
  const auto metadata = [&] { return with_tags({{"format", "pt"}}, kLayerTagsKey, text_of(tags), result.file); };
  support::SafetensorsWriter writer(path, entries, metadata(), force);
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
WrittenJob CheckpointConversion::write_shard(const support::SafetensorsFile& file, const std::filesystem::path& path, bool force) const {
  std::vector<support::TensorEntry> entries;
  const std::vector<std::string> order = support::names_in_order(file);
  for (const std::string& name : order) {
    const support::TensorView& view = *file.find(name);
    if (!moved_.contains(name)) entries.push_back({name, std::string(view.dtype->name), view.shape});
  }
  JobResult result;
  result.file = path.filename().string();
  result.other_tensors = static_cast<std::int64_t>(entries.size());
  support::SafetensorsWriter writer(path, entries, with_tags(file.metadata(), kShardTagsKey, shard_tags_text(order), file.path().string()), force);
  for (const support::TensorEntry& entry : entries) {
    const support::TensorView& view = *file.find(entry.name);
    writer.copy(entry.name, file, view, stop_);
    result.tensors.emplace(entry.name, view.bytes.size());
  }
  result.size = writer.size();
  return {std::move(result), std::move(writer)};
}

JobResult CheckpointConversion::commit(WrittenJob written) const {
  // The disk has its own time: the digest is computed meanwhile.
  auto synced = std::async(std::launch::async, [&] { written.writer.sync(); });
  written.result.digest = written.writer.digest(stop_);
  synced.get();
  written.writer.commit();
  return std::move(written.result);
}

std::vector<LeftOut> CheckpointConversion::finish(const std::filesystem::path& directory, std::span<const JobResult> results) const {
  std::vector<LeftOut> left;
  const CheckpointFiles& contents = checkpoint().contents();
  if (contents.whole) {
    const std::filesystem::path index = contents.directory / kIndexName;
    if (support::is_there(index)) copy_plain(index, directory / kSourceIndexName);
    left = copy_companions(contents.directory, directory, options_.copy_all);
  }
  checkpoint().check_unchanged();
  write_index(directory, results);
  return left;
}

void CheckpointConversion::write_index(const std::filesystem::path& directory, std::span<const JobResult> results) const {
  std::uint64_t total = 0;
  std::map<std::string, std::string> weight_map, digests;
  for (const JobResult& result : results) {
    digests.emplace(result.file, result.digest);
    for (const auto& [name, bytes] : result.tensors) {
      weight_map.emplace(name, result.file);
      total += bytes;
    }
  }
  support::Json made{{"program", options_.program},
                     {"form", checkpoint().form()},
                     {"backend", backend()},
                     {"engine", mx::deployment::name_of(setting().engine)},
                     {"platform", families::name_of(setting().arch)},
                     {"rank", options_.rank},
                     {"tp", setting().tp_size},
                     {"digests", digests}};
  // Readers of an index take objects within objects so deep and no deeper.
  for (const GroupConversion& group : std::span(layer_groups()).subspan(1))
    made["further"][std::to_string(group.further)] = fmt::format("{} by {}", group.checkpoint.form(), group.name());
  const support::Json index{{"metadata", {{"total_size", total}, {"mxact", made}}}, {"weight_map", weight_map}};
  const std::string text = index.dump(2) + "\n";
  support::write_file(directory / kIndexName, std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()), false);
}

ConvertReport CheckpointConversion::report(std::span<const JobResult> results) const {
  ConvertReport report;
  report.layer_groups = checkpoint().layer_groups();
  report.refusals = choice_.refusals;
  for (const GroupConversion& group : layer_groups()) report.converted.push_back({group.checkpoint.layer_group(), group.name(), group.setting});
  std::map<std::string, std::string> digests;
  for (std::size_t job = 0; job < results.size(); ++job) {
    const JobResult& result = results[job];
    ConvertedGroup& group = report.converted[jobs_[job].layer_group];
    group.layers += static_cast<int>(result.layers);
    group.bytes_in += result.bytes_in;
    group.bytes_out += result.bytes_out;
    if (result.layers > 0) families::set_largest_scale_byte(group.setting, result.largest_scale_byte);
    report.layers += static_cast<int>(result.layers);
    report.other_tensors += result.other_tensors;
    report.bytes_in += result.bytes_in;
    report.bytes_out += result.bytes_out;
    report.up_scales_dropped += result.up_scales_dropped;
    report.losses.insert(report.losses.end(), result.losses.begin(), result.losses.end());
    report.inputs.insert(report.inputs.end(), result.inputs.begin(), result.inputs.end());
    report.values.insert(report.values.end(), result.values.begin(), result.values.end());
    digests.emplace(result.file, result.digest);
  }
  std::string text;
  for (const auto& [file, digest] : digests) text += digest + "  " + file + "\n";
  report.digest = support::digest_of(text);
  return report;
}

}  // namespace mx::checkpoint
