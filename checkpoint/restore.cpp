// The way back of sim/convert: the shards as they were, from the files of every rank.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "checkpoint/convert.hpp"
#include "checkpoint/converted.hpp"
#include "checkpoint/layer_unpacker.hpp"
#include "checkpoint/source_memory.hpp"
#include "checkpoint/staging.hpp"
#include "model/error.hpp"
#include "support/one_behind.hpp"
#include "support/quote.hpp"
#include "support/tensor_reads.hpp"

namespace mx::checkpoint {
namespace {

using layout::Role;

/// Bytes between two questions whether to go on.
constexpr std::size_t kPiece = std::size_t{4} << 20;

[[noreturn]] void fail(const std::string& where, const std::string& message) { throw Error(ErrorCode::input, message, where); }

std::string tensor_place(const support::SafetensorsFile& file, std::string_view name) {
  return fmt::format("{}: tensor {}", file.path().string(), support::in_quotes(name));
}

class Restoration {
 public:
  Restoration(const std::vector<std::filesystem::path>& directories, const std::filesystem::path& output, const RestoreOptions& options)
      : options_(options), stop_(options.stop), ranks_(open_ranks(directories)) {
    for (const auto& [key, layer] : first().layers) {
      if (report_.layer_groups.empty() || report_.layer_groups.back().further != key.further)
        report_.layer_groups.push_back({key.further, layer.tags.backend, layer.tags.setting});
    }
    check_losses();
    for (const auto& [name, shard] : first().shards) entries_.emplace(name, entries_of(name, shard));
    check_sources();
    staged_.emplace(output, directories, options.force);
    staged_->require_room(source_bytes());
  }

  RestoreReport run() {
    try {
      restore_files();
    } catch (const support::Stopped&) {
      return report_;
    }
    for (const ConvertedDirectory& rank : ranks_) {
      for (const support::SafetensorsFile& file : rank.files) file.check_unchanged();
    }
    report_.shards = static_cast<int>(first().shards.size());
    report_.left = copy_companions(first().path, staged_->path());
    if (support::is_there(first().path / kSourceIndexName)) copy_plain(first().path / kSourceIndexName, staged_->path() / kIndexName);
    staged_->commit();
    report_.finished = true;
    return report_;
  }

 private:
  const ConvertedDirectory& first() const { return ranks_.front(); }

  using Writers = std::map<std::string, support::SafetensorsWriter>;

  /// A tensor of the checkpoint and its bytes that have not come.
  struct Pending {
    const SourceTensor* source;
    SourceMemory memory;
    std::uint64_t missing;
    std::vector<std::uint8_t> held = {};  ///< of a tensor that lies otherwise in its file: what is not a whole turn yet
  };
  /// Those of a role, by their place in its memory.
  using SourceQueue = std::map<std::uint64_t, Pending>;

  /// Every shard with what was never moved.
  Writers begun_shards() const {
    Writers writers;
    for (const auto& [name, shard] : first().shards) {
      std::map<std::string, std::string> metadata = shard.file->metadata();
      metadata.erase(std::string(kShardTagsKey));
      support::SafetensorsWriter& writer = writers.try_emplace(name, staged_->path() / name, entries_.at(name), metadata, false).first->second;
      for (const auto& [tensor, view] : shard.file->tensors()) writer.copy(tensor, *shard.file, view, stop_);
    }
    return writers;
  }

  static SourceMemory memory_of(const SourceTensor& source, const LayerTags& tags) {
    return {source.entry, source.role, tags.whole_sizes(), tags.setting.form, source.input_major};
  }

  static void append(Pending& tensor, std::span<const std::uint8_t> canonical, support::SafetensorsWriter& writer) {
    const std::string& name = tensor.source->entry.name;
    if (tensor.memory.is_plain()) return writer.append(name, canonical);
    tensor.held.insert(tensor.held.end(), canonical.begin(), canonical.end());
    const std::size_t whole = tensor.held.size() / tensor.memory.turn() * tensor.memory.turn();
    writer.append(name, tensor.memory.in_file(std::span(tensor.held).first(whole)));
    tensor.held.erase(tensor.held.begin(), tensor.held.begin() + static_cast<std::ptrdiff_t>(whole));
  }

  /// A layer's tensors into their shards, each as its parts come.
  void write_layer(LayerUnpacker& layer, const LayerTags& tags, Writers& writers) const {
    std::map<Role, SourceQueue> queues;
    for (const SourceTensor& source : tags.source) {
      const SourceMemory memory = memory_of(source, tags);
      queues[source.role].emplace(part_of(source.expert, source.half, layer.sizes().experts).index, Pending{&source, memory, memory.size()});
    }
    layer.run([&](Role role, std::span<const std::uint8_t> bytes) {
      SourceQueue& queue = queues[role];
      // What is one number of an expert lies in the shards as it was.
      while (!bytes.empty() && !queue.empty()) {
        stop_.check();
        Pending& next = queue.begin()->second;
        const std::size_t count = static_cast<std::size_t>(std::min<std::uint64_t>({bytes.size(), next.missing, kPiece}));
        append(next, bytes.first(count), writers.at(next.source->shard));
        bytes = bytes.subspan(count);
        next.missing -= count;
        if (next.missing == 0) queue.erase(queue.begin());
      }
    });
  }

  /// Takes out the shards that are whole.
  static std::vector<support::SafetensorsWriter> whole_ones(Writers& writers) {
    std::vector<support::SafetensorsWriter> whole;
    for (auto writer = writers.begin(); writer != writers.end();) {
      const bool is_whole = writer->second.is_whole();
      if (is_whole) whole.push_back(std::move(writer->second));
      writer = is_whole ? writers.erase(writer) : std::next(writer);
    }
    return whole;
  }

  static void commit(std::vector<support::SafetensorsWriter> writers) {
    for (support::SafetensorsWriter& writer : writers) writer.commit();
  }

  /// While one layer is restored, shards that are whole come to the disk, and the system reads the next layer.
  void restore_files() {
    Writers writers = begun_shards();
    const std::uint64_t total = source_bytes();
    support::ReadAhead ahead;
    support::OneBehind committing;
    const auto commit_whole = [&] { committing.run([whole = whole_ones(writers)]() mutable { commit(std::move(whole)); }); };
    commit_whole();
    for (auto layer = first().layers.begin(); layer != first().layers.end(); ++layer) {
      const auto& [key, converted] = *layer;
      stop_.check();
      if (options_.progress) options_.progress(key.name(), report_.bytes, total);
      if (std::next(layer) != first().layers.end()) ahead.start(tensors_of(std::next(layer)->first));
      restore_layer(key, writers);
      commit_whole();
      for (const SourceTensor& source : converted.tags.source) report_.bytes += support::bytes_of(source.entry);
      ++std::ranges::find(report_.layer_groups, key.further, &RestoredGroup::further)->layers;
    }
    committing.wait();
    if (options_.progress) options_.progress("putting the files in place", total, total);
    if (!writers.empty()) writers.begin()->second.commit();  // names what never came
  }

  /// A layer's tensors of all ranks.
  std::vector<support::TensorPlace> tensors_of(const LayerKey& key) const {
    std::vector<support::TensorPlace> tensors;
    for (const ConvertedDirectory& rank : ranks_) {
      const support::SafetensorsFile& file = *rank.layers.at(key).file;
      for (const auto& [name, view] : file.tensors()) tensors.push_back({&file, &view});
    }
    return tensors;
  }

  std::uint64_t source_bytes() const {
    std::uint64_t total = 0;
    for (const auto& [key, layer] : first().layers) {
      for (const SourceTensor& source : layer.tags.source) total += support::bytes_of(source.entry);
    }
    return total;
  }

  /// Losses of every rank, unless they are accepted.
  void check_losses() {
    for (const ConvertedDirectory& rank : ranks_) {
      for (const auto& [key, layer] : rank.layers) {
        for (const layout::Loss& loss : layer.tags.losses) {
          if (!options_.accept_losses) {
            throw Error(ErrorCode::usage,
                        fmt::format("{} of {}: {} ({} unit{}); --accept-losses restores what is left", layout::name_of(loss.role), key.name(),
                                    loss.what, loss.units, loss.units == 1 ? "" : "s"),
                        layer.file->path().string());
          }
          if (loss.replaced)
            throw Error(
                ErrorCode::usage,
                fmt::format("{} of {}: {}: what is packed does not determine the checkpoint", layout::name_of(loss.role), key.name(), loss.what),
                layer.file->path().string());
          report_.losses.push_back({key.layer, loss, key.further});
        }
      }
    }
  }

  /// The header of a shard: what is left of it, and what went into the layers.
  std::vector<support::TensorEntry> entries_of(const std::string& shard_name, const ConvertedShard& shard) const {
    std::map<std::string, support::TensorEntry> known;
    for (const auto& [name, view] : shard.file->tensors()) known.emplace(name, support::TensorEntry{name, std::string(view.dtype->name), view.shape});
    for (const auto& [key, layer] : first().layers) {
      for (const SourceTensor& source : layer.tags.source) {
        if (source.shard != shard_name) continue;
        const auto [entry, is_new] = known.emplace(source.entry.name, source.entry);
        if (!is_new)
          fail(tensor_place(*layer.file, source.entry.name), fmt::format("came from {}, which has another tensor of this name", shard_name));
      }
    }
    std::vector<support::TensorEntry> entries;
    for (const std::string& name : shard.order) {
      const auto found = known.find(name);
      if (found == known.end()) fail(tensor_place(*shard.file, name), "is in the order of the shard, but neither there nor in a layer, or twice");
      entries.push_back(std::move(found->second));
      known.erase(found);
    }
    if (!known.empty()) fail(tensor_place(*shard.file, known.begin()->first), "is not in the order of the shard");
    return entries;
  }

  /// What the tags say of the checkpoint's tensors must be what the sizes make them.
  void check_sources() const {
    for (const auto& [key, layer] : first().layers) {
      const LayerTags& tags = layer.tags;
      for (const SourceTensor& source : tags.source) {
        const std::string where = tensor_place(*layer.file, source.entry.name);
        std::uint64_t bytes = 0;
        try {
          bytes = memory_of(source, tags).size();
        } catch (const Error& error) {
          fail(where, error.what());
        }
        const layout::Layout memory = layout::canonical(source.role, tags.whole_sizes(), tags.setting.form);
        const std::uint64_t expected =
            static_cast<std::uint64_t>(memory.bytes()) / part_of(source.expert, source.half, tags.setting.sizes.experts).count;
        if (bytes == expected) continue;
        fail(where, fmt::format("the tags call it {} {}, {} bytes, but their sizes make {} of {} bytes", source.entry.dtype,
                                support::shape_text(source.entry.shape), bytes, layout::name_of(source.role), expected));
      }
    }
  }

  void restore_layer(const LayerKey& key, Writers& writers) const {
    std::vector<const ConvertedLayer*> layers;
    for (const ConvertedDirectory& rank : ranks_) layers.push_back(&rank.layers.at(key));
    LayerUnpacker layer(layers, options_.accept_losses ? families::OnLoss::mark : families::OnLoss::refuse, options_.by, stop_);
    check_roles(layer, *layers.front());
    write_layer(layer, layers.front()->tags, writers);
  }

  /// The tags name every part of every restored tensor once; what is one number of an expert lies in the shards as it was.
  static void check_roles(const LayerUnpacker& restored, const ConvertedLayer& layer) {
    const std::string place = layer.file->path().string();
    for (const Role role : layout::kAllRoles) {
      std::set<std::uint64_t> parts;
      std::uint64_t listed = 0, wanted = !restored.gives(role) || is_one_number(role, restored.sizes(), restored.form()) ? 0 : 1;
      for (const SourceTensor& source : layer.tags.source) {
        if (source.role != role) continue;
        const MemoryPart part = part_of(source.expert, source.half, restored.sizes().experts);
        if (wanted != 0) wanted = part.count;
        parts.insert(part.index);
        ++listed;
      }
      if (listed == wanted && parts.size() == listed) continue;
      fail(place, fmt::format("the tags list {} as a tensor of the checkpoint {} times, and restoring gives {}", layout::name_of(role), listed,
                              wanted == 0   ? "none"
                              : wanted == 1 ? "one"
                                            : std::to_string(wanted)));
    }
  }

  const RestoreOptions& options_;
  const support::StopPoint stop_;
  const std::vector<ConvertedDirectory> ranks_;
  std::map<std::string, std::vector<support::TensorEntry>> entries_;
  std::optional<StagedDirectory> staged_;
  RestoreReport report_;
};

}  // namespace

RestoreReport restore_checkpoint(const std::vector<std::filesystem::path>& directories, const std::filesystem::path& output,
                                 const RestoreOptions& options) {
  return Restoration(directories, output, options).run();
}

}  // namespace mx::checkpoint
