#include "checkpoint/inspect/inspect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <set>
#include <utility>

#include "checkpoint/checkpoint_files.hpp"
#include "checkpoint/inspect/inspect_layer.hpp"
#include "model/engine/vllm/module_methods.hpp"

namespace mx::checkpoint {
namespace {

using Text = std::string_view;

/// Parts of names of tensors that scale a cache of keys and values. Source: vllm model_executor/layers/quantization/kv_cache.py, model_loader/
/// weight_utils.py maybe_remap_kv_scale_name.
constexpr std::array<Text, 8> kKvScales{
    ".k_scale", ".v_scale", ".kv_scale", "k_proj.output_scale", "v_proj.output_scale", "kv_proj.output_scale", ".k_zero_point", ".v_zero_point"};
/// Of experts that every token goes to: "mlp.shared_experts.gate_proj", "shared_expert_gate", "shared_mlp".
constexpr std::array<Text, 2> kShared{".shared_expert", ".shared_mlp"};

bool has_any(Text name, std::span<const Text> parts) {
  return std::ranges::any_of(parts, [&](Text part) { return name.find(part) != Text::npos; });
}

/// "model.layers." of "model.layers.N.mlp".
std::string before_of(const FoundGroup& layer_group) { return layer_group.place.substr(0, layer_group.place.find('N')); }

std::optional<int> layer_of(Text name, Text before) {
  if (!name.starts_with(before)) return std::nullopt;
  int number = 0;
  const char* const end = name.data() + name.size();
  const auto [at, error] = std::from_chars(name.data() + before.size(), end, number);
  if (error != std::errc{} || at == end || *at != '.' || number < 0) return std::nullopt;
  return number;
}

class Inspector {
 public:
  Inspector(const std::filesystem::path& path, const InspectOptions& options)
      : options_(options), files_(open_checkpoint_files(path)), config_(read_checkpoint_config(files_.directory, options.engine)) {
    refuse_converted(files_);
    groups_ = find_layer_groups(files_, config_, path.string());
    result_.path = path.string();
    result_.deep = options.depth == Depth::weights;
    for (const FoundGroup& group : groups_) {
      for (const auto& [number, layer] : group.layers) total_ += bytes_of(layer);
    }
  }

  Inspection run() {
    describe();
    try {
      std::vector<Place> places;
      for (std::size_t i = 0; i < groups_.size(); ++i) {
        for (const auto& [number, layer] : groups_[i].layers) places.push_back({i, number, &layer});
      }
      for (std::size_t at = 0; at < places.size(); ++at) {
        if (at == 0) expect(*places.front().layer);
        if (at + 1 < places.size()) expect(*places[at + 1].layer);
        inspect(places[at].group, places[at].number, *places[at].layer);
      }
      result_.finished = true;
    } catch (const support::Stopped&) {
    }
    if (options_.progress) options_.progress("every layer", total_, total_);
    result_.read = done_;
    return std::move(result_);
  }

 private:
  struct Place {
    std::size_t group;
    int number;
    const FoundLayer* layer;
  };
  /// Scales lie scattered between the weights: the disk is told of those of a layer while the one before it is looked at. Weights are read one behind
  /// the other as it is.
  void expect(const FoundLayer& layer) const {
    if (options_.depth == Depth::weights) return;
    std::vector<const LocatedTensor*> wanted;
    for (const std::vector<FoundTensor>* const tensors : {&layer.experts, &layer.aside}) {
      for (const FoundTensor& tensor : *tensors) {
        if (tensor.row->piece != Piece::weight) wanted.push_back(tensor.at);
      }
    }
    std::ranges::sort(wanted, {}, [](const LocatedTensor* one) { return std::pair(one->file, one->view->file_offset); });
    for (const LocatedTensor* const one : wanted) one->file->expect(*one->view, 0, one->view->bytes.size());
  }

  std::uint64_t bytes_of(const FoundLayer& layer) const {
    std::uint64_t bytes = 0;
    for (const FoundTensor& tensor : layer.experts) {
      if (options_.depth == Depth::weights || tensor.row->piece == Piece::scale) bytes += tensor.at->view->bytes.size();
    }
    return bytes;
  }

  /// What is known of the producer's release and has not shown.
  void note_known() {
    for (const FoundGroup& group : groups_) {
      for (const ProducerFault* const row : faults_of(result_.producer, group.form->form.format)) {
        const bool told = row->always || std::ranges::find(result_.known, row->id, &KnownOfProducer::id) != result_.known.end();
        if (!told && group.form->converts()) result_.known.push_back({row->id, row->mended, row->what, row->source});
      }
    }
  }

  void describe() {
    result_.files = static_cast<std::int64_t>(files_.files.size());
    for (const support::SafetensorsFile& file : files_.files) result_.bytes += file.size();
    result_.method = config_.quantization.method();
    result_.producer = producer_of(config_.quantization);
    for (const auto& word : config_.quantization.words()) {
      const std::string& path = word.first;
      const std::string& value = word.second;
      const auto is_list = [&](const engine::LeftRow& row) {
        return row.method == result_.method && std::ranges::find(row.keys, Text(path)) != row.keys.end();
      };
      if (std::ranges::any_of(engine::left_rows(), is_list) && value != "[]" && value != "null") result_.ignored.push_back(path + ": " + value);
    }
    for (const FoundGroup& group : groups_) result_.groups.push_back(described(group));
    describe_others();
    note_known();
  }

  static InspectedGroup described(const FoundGroup& found) {
    const layout::Sizes& sizes = found.layers.begin()->second.sizes;
    InspectedGroup group{.form = std::string(found.form->title),
                         .meaning = std::string(found.form->scales),
                         .place = found.place,
                         .layers = {},
                         .experts = sizes.experts,
                         .hidden = sizes.hidden,
                         .intermediate = sizes.intermediate,
                         .gated = found.gated,
                         .converts = found.form->converts(),
                         .further = found.further,
                         .left = found.left,
                         .disagreement = found.disagreement.text,
                         .tensors = {},
                         .scales = {}};
    for (const auto& [number, layer] : found.layers) {
      group.layers.push_back(number);
      for (const std::vector<FoundTensor>* const tensors : {&layer.experts, &layer.aside}) {
        for (const FoundTensor& tensor : *tensors) add_kind(group, tensor);
      }
    }
    return group;
  }

  static void add_kind(InspectedGroup& group, const FoundTensor& tensor) {
    const support::TensorView& view = *tensor.at->view;
    group.bytes += view.bytes.size();
    const std::string name = name_behind(tensor);
    auto kind = std::ranges::find(group.tensors, name, &TensorKind::name);
    if (kind == group.tensors.end()) kind = group.tensors.insert(kind, {name, std::string(view.dtype->name), view.shape});
    ++kind->tensors;
    kind->bytes += view.bytes.size();
  }

  /// What the tensor's own name has from the projection on.
  static std::string name_behind(const FoundTensor& tensor) {
    const std::size_t at = tensor.name.rfind(tensor.projection->name);
    return std::string(at == Text::npos ? tensor.name : tensor.name.substr(at));
  }

  void describe_others() {
    std::set<Text> experts;
    std::set<int> with_experts, all, shared;
    const std::string before = before_of(groups_.front());
    for (const FoundGroup& group : groups_) {
      for (const auto& [number, layer] : group.layers) {
        if (before_of(group) == before) with_experts.insert(number);
        for (const FoundTensor& tensor : layer.experts) experts.insert(tensor.name);
        for (const FoundTensor& tensor : layer.aside) experts.insert(tensor.name);
      }
    }
    for (const auto& [name, tensor] : files_.tensors) {
      const std::optional<int> layer = layer_of(name, before);
      if (layer) all.insert(*layer);
      if (experts.contains(name)) continue;
      ++result_.others;
      result_.other_bytes += tensor.view->bytes.size();
      if (has_any(name, kKvScales)) ++result_.kv_scales;
      if (layer && has_any(name, kShared)) shared.insert(*layer);
    }
    std::ranges::set_difference(all, with_experts, std::back_inserter(result_.dense));
    result_.shared_experts = static_cast<std::int64_t>(shared.size());
  }

  void inspect(std::size_t group, int number, const FoundLayer& layer) {
    LayerLook look{.depth = options_.depth, .stop = options_.stop};
    look.producer = &result_.producer;
    look.is_first = number == groups_[group].layers.begin()->first;
    look.read = [&](std::uint64_t bytes) {
      done_ += bytes;
      if (options_.progress) options_.progress(layer.prefix, done_, total_);
    };
    LayerInspection seen = inspect_layer(files_, groups_[group], layer, look);
    for (ScannedFault& fault : seen.faults) result_.faults.push_back({static_cast<int>(group), number, std::move(fault)});
    for (OpenQuestion& one : seen.open) result_.open.push_back({number, std::move(one.tensor), one.count, std::move(one.text)});
    for (const PartFacts& part : seen.parts) {
      if (part.scales) add_range(result_.groups[group], *part.part.scale, *part.scales);
    }
    for (const std::vector<FoundTensor>* const tensors : {&layer.experts, &layer.aside}) {
      for (const FoundTensor& tensor : *tensors) {
        const bool is_number = tensor.row->shapes.empty() && tensor.row->piece != Piece::weight && tensor.row->piece != Piece::bias;
        if (is_number) add_range(result_.groups[group], tensor, scale_facts(tensor, 0, 1));
      }
    }
  }

  static void add_range(InspectedGroup& group, const FoundTensor& tensor, const ScaleFacts& facts) {
    const std::string name = name_behind(tensor);
    auto range = std::ranges::find(group.scales, name, &ScaleRange::name);
    if (range == group.scales.end())
      range = group.scales.insert(range, {.name = name, .dtype = std::string(tensor.at->view->dtype->name), .binades = {}});
    range->count += facts.count;
    range->zeros += facts.zeros;
    range->subnormals += facts.subnormals;
    range->largest += facts.largest;
    if (facts.least > 0) range->least = range->least == 0 ? facts.least : std::min(range->least, facts.least);
    range->most = std::max(range->most, facts.most);
    for (const auto& [exponent, count] : facts.binades) range->binades[exponent] += count;
  }

  const InspectOptions& options_;
  CheckpointFiles files_;
  CheckpointConfig config_;
  std::vector<FoundGroup> groups_;
  std::uint64_t total_ = 0;
  std::atomic<std::uint64_t> done_ = 0;
  Inspection result_;
};

}  // namespace

bool Inspection::sound() const {
  return faults.empty() && std::ranges::all_of(groups, [](const InspectedGroup& group) { return group.disagreement.empty(); });
}

Inspection inspect_checkpoint(const std::filesystem::path& path, const InspectOptions& options) { return Inspector(path, options).run(); }

}  // namespace mx::checkpoint
