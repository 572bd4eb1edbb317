#include "sim/layer/layer_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "checkpoint/checkpoint_conversion.hpp"
#include "checkpoint/layout_tags.hpp"
#include "kernels/relayout/mover.hpp"
#include "model/deployment/models.hpp"
#include "model/error.hpp"
#include "model/moe/layer.hpp"
#include "model/numerics/convert.hpp"

namespace mx::sim {
namespace {

using checkpoint::Checkpoint;
using checkpoint::GroupConversion;

[[noreturn]] void refuse(const std::string& text, const std::filesystem::path& where) { throw Error(ErrorCode::usage, text, where.string()); }

std::string numbers_text(const std::vector<int>& numbers) {
  std::vector<int> sorted = numbers;
  std::ranges::sort(sorted);
  sorted.erase(std::ranges::unique(sorted).begin(), sorted.end());
  return sorted.size() > 8 ? fmt::format("{}..{}, {} in all", sorted.front(), sorted.back(), sorted.size())
                           : fmt::format("{}", fmt::join(sorted, ", "));
}

/// The bias of w2 enters the sum over ranks once: the engine loads zeros on every rank but the first, convert keeps it for the way back.
/// Source: vllm at 7e1b45a09 models/gpt_oss.py, w2_bias of tp_rank other than 0.
void drop_bias(families::PackedLayer& packed, int rank) {
  for (layout::PackedTensor& tensor : packed.tensors) {
    if (rank > 0 && tensor.role == layout::Role::w2_bias) std::ranges::fill(tensor.bytes, std::uint8_t{0});
  }
}

ModelActivation model_activation(const checkpoint::LayerActivation& activation) { return {std::string(activation.name), activation.bits()}; }

LayerExperts ready(const families::PackedLayer& packed, const checkpoint::LayerActivation& activation, std::string_view activation_key,
                   const LayerChoice& choice, const std::filesystem::path& where) {
  LayerExperts experts =
      packed_experts(packed, model_activation(activation), activation_key, choice.scales.value_or(StaticScales{}), choice.sums, choice.launch);
  require_scales(experts.execution, choice.scales.has_value(), where.string());
  return experts;
}

/// What is packed, what is read of it in logical order, and the largest tensor on its way from one to the other; products take no more later.
void announce(const LayerChoice& choice, std::uint64_t bytes) {
  constexpr std::uint64_t kCopies = 3;
  if (choice.takes) choice.takes(kCopies * bytes);
}

std::uint64_t packed_bytes(const GroupConversion& group) {
  std::uint64_t bytes = 0;
  for (const layout::Role role : families::tensors_of(*group.backend, group.setting.has_bias))
    bytes += static_cast<std::uint64_t>(group.backend->build(role, group.setting).layout.bytes());
  return bytes;
}

/// The layer's place in its layer group, of those that are converted.
std::pair<const GroupConversion*, int> find_layer(const checkpoint::CheckpointConversion& conversion, int layer, const std::filesystem::path& where) {
  std::vector<int> known;
  for (const GroupConversion& group : conversion.layer_groups()) {
    for (int place = 0; place < group.checkpoint.layer_count(); ++place) {
      if (group.checkpoint.layer_index(place) == layer) return {&group, place};
      known.push_back(group.checkpoint.layer_index(place));
    }
  }
  refuse(fmt::format("layer {} is none of those that are converted: {}", layer, numbers_text(known)), where);
}

OpenedRouter router_of(const Checkpoint& checkpoint, int place, const support::StopPoint& stop) {
  const checkpoint::MoeLayer layer = checkpoint.layer(place, stop);
  OpenedRouter router{layer.router, layer.own_router, checkpoint.top_k()};
  if (!router.gpt_oss.present() && !router.own) refuse(layer.prefix + " has no router: give --ids and --weights", checkpoint.path());
  if (router.own && !router.own->is_known())
    refuse(layer.prefix + ": its router is " + router.own->text() + "; give --ids and --weights", checkpoint.path());
  return router;
}

/// A weight on the input is multiplied into x before anything is quantized: no row of the arithmetic says where it rounds.
void refuse_weight_on_input(const Checkpoint& checkpoint) {
  const std::optional<checkpoint::RouterFacts> facts = checkpoint.router();
  if (!facts || facts->recipe == nullptr || facts->recipe->weight_on != moe::WeightPlace::input) return;
  throw Error(ErrorCode::unsupported,
              fmt::format("{} multiplies the weight into the experts' input, which no backend's arithmetic here does", facts->recipe->name),
              checkpoint.path().string());
}

/// The file of a packed layer.
const support::SafetensorsFile* find_file(const checkpoint::CheckpointFiles& files, int layer, const std::filesystem::path& path) {
  std::vector<int> known;
  for (const support::SafetensorsFile& file : files.files) {
    const auto tags = file.metadata().find(std::string(checkpoint::kLayerTagsKey));
    if (tags == file.metadata().end()) continue;
    known.push_back(checkpoint::read_layer_tags(tags->second, file.path().string()).layer);
    if (known.back() == layer) return &file;
  }
  refuse(fmt::format("layer {} is none of its packed layers: {}", layer, numbers_text(known)), path);
}

/// What the file holds, each tensor as it was written.
families::PackedLayer checked_layer(const checkpoint::LayerTags& tags, const support::SafetensorsFile& file, const support::StopPoint& stop) {
  families::PackedLayer packed = checkpoint::read_packed_layer(tags, file, stop);
  for (const checkpoint::PackedTag& tag : tags.tensors) {
    const std::string changed = checkpoint::changed_content(tag, support::digest_of(packed.find(tag.role)->bytes));
    if (!changed.empty()) throw Error(ErrorCode::input, changed, file.path().string());
  }
  return packed;
}

/// The activation of a packed layer, by config.json beside it.
checkpoint::LayerActivation activation_of(const checkpoint::LayerTags& tags, const std::filesystem::path& directory,
                                          const std::filesystem::path& file) {
  const families::Setting& setting = tags.setting;
  const bool alternates = setting.form.order == layout::SourceOrder::gpt_oss;
  const checkpoint::CheckpointConfig config = checkpoint::read_checkpoint_config(directory, setting.engine);
  if (config.words.empty() && !alternates) refuse("its activation stands in config.json, and none is beside it", file);
  return checkpoint::activation_of(config, tags.layer, setting.form.gated, alternates, alternates ? "SWIGLUOAI" : "SILU");
}

/// The layer among a checkpoint's, of one layer group where one is asked for: the group, and the place in it.
std::pair<Checkpoint, int> find_layer(const Checkpoint& checkpoint, const std::optional<int>& layer_group, int layer) {
  std::vector<int> known;
  for (int group = layer_group.value_or(0); group < static_cast<int>(checkpoint.layer_groups().size()); ++group) {
    Checkpoint of = checkpoint.of_group(group);
    for (int place = 0; place < of.layer_count(); ++place) {
      if (of.layer_index(place) == layer) return {std::move(of), place};
      known.push_back(of.layer_index(place));
    }
    if (layer_group) break;
  }
  refuse(fmt::format("layer {} is none of its layers: {}", layer, numbers_text(known)), checkpoint.path());
}

/// A layer in its checkpoint's form.
std::uint64_t canonical_bytes(const layout::Sizes& sizes, const layout::Form& form) {
  std::uint64_t bytes = 0;
  for (const layout::Role role : layout::kAllRoles) {
    if (layout::has_role(form.format, role) && !layout::is_bias(role))
      bytes += static_cast<std::uint64_t>(layout::canonical(role, sizes, form).bytes());
  }
  return bytes;
}

/// Under the contract `exact`, as the router is.
void take_router(const OpenedRouter& router, std::int64_t hidden, LayerTokens& tokens) {
  require_columns(tokens, hidden);
  const std::optional<std::vector<std::vector<moe::Slot>>> routed = router.route(tokens.x, hidden, Contract::exact);
  tokens.top_k = router.top_k;
  for (const std::vector<moe::Slot>& slots : *routed) {
    for (const moe::Slot& slot : slots) {
      tokens.ids.push_back(static_cast<std::int32_t>(slot.expert));
      tokens.weights.push_back(slot.weight);
    }
  }
}

OpenedContractLayer open_restored(const std::filesystem::path& path, Contract contract, const LayerChoice& choice, const support::StopPoint& stop) {
  const checkpoint::CheckpointFiles files = checkpoint::open_checkpoint_files(path);
  const support::SafetensorsFile& file = *find_file(files, choice.layer, path);
  const checkpoint::LayerTags tags = checkpoint::read_layer_tags(file.metadata().at(std::string(checkpoint::kLayerTagsKey)), file.path().string());
  if (choice.routes) refuse("a router is the checkpoint's: give --ids and --weights", path);
  announce(choice, file.size());
  families::PackedLayer packed = checked_layer(tags, file, stop);
  const ModelActivation activation = model_activation(activation_of(tags, files.directory, file.path()));
  const layout::CanonicalLayer layer =
      families::restore(std::move(packed), families::OnLoss::mark, kernels::relayout::mover_of(kernels::relayout::MoveBy::plans));
  return {contract_experts(layer, activation, contract, choice.sums, tags.rank == 0),
          tags.setting.engine,
          tags.prefix,
          tags.layer,
          tags.rank,
          tags.setting.tp_size,
          tags.losses};
}

}  // namespace

std::optional<std::vector<std::vector<moe::Slot>>> OpenedRouter::route(std::span<const std::uint32_t> x, std::int64_t hidden,
                                                                       Contract contract) const {
  if (!gpt_oss.present()) {
    if (!own || !own->is_known()) return std::nullopt;
    return own->route(x, hidden, top_k);
  }
  moe::Router values{static_cast<std::int64_t>(gpt_oss.weight.size()) / hidden, hidden, {}, {}};
  for (const std::uint32_t code : gpt_oss.weight) values.weight.push_back(decode(kBf16, code));
  for (const std::uint32_t code : gpt_oss.bias) values.bias.push_back(to_f32(code, kBf16));
  return moe::route(contract, values, top_k, x);
}

void take_router(const OpenedLayer& layer, LayerTokens& tokens) { take_router(*layer.router, layer.experts.hidden, tokens); }

void take_router(const OpenedContractLayer& layer, LayerTokens& tokens) { take_router(*layer.router, layer.experts.sizes.hidden, tokens); }

bool is_packed(const std::filesystem::path& path) {
  const checkpoint::CheckpointFiles files = checkpoint::open_checkpoint_files(path);
  return std::ranges::any_of(files.files, checkpoint::is_converted);
}

OpenedLayer open_layer(const std::filesystem::path& path, const checkpoint::ConvertOptions& options, const LayerChoice& choice) {
  const support::StopPoint stop(options.stop);
  const checkpoint::CheckpointConversion conversion(path, options);
  const auto [group, place] = find_layer(conversion, choice.layer, path);
  const Checkpoint& checkpoint = group->checkpoint;
  refuse_weight_on_input(checkpoint);
  const std::string_view key = deployment::scheme_named(checkpoint.source_form().use.scheme).activation_key;
  announce(choice, packed_bytes(*group));
  families::PackedLayer packed = conversion.packer_of(*group, place).collect();
  drop_bias(packed, options.rank);
  OpenedLayer opened{ready(packed, checkpoint.activation(place), key, choice, path),
                     group->name(),
                     packed.setting,
                     checkpoint.layer_prefix(place),
                     choice.layer,
                     options.rank,
                     std::move(packed.losses)};
  packed.tensors.clear();
  if (choice.routes) opened.router = router_of(checkpoint, place, stop);
  return opened;
}

OpenedLayer open_packed_layer(const std::filesystem::path& path, const LayerChoice& choice, const support::StopPoint& stop) {
  const checkpoint::CheckpointFiles files = checkpoint::open_checkpoint_files(path);
  const support::SafetensorsFile& file = *find_file(files, choice.layer, path);
  const checkpoint::LayerTags tags = checkpoint::read_layer_tags(file.metadata().at(std::string(checkpoint::kLayerTagsKey)), file.path().string());
  if (choice.routes) refuse("a router is the checkpoint's: give --ids and --weights", path);
  const families::ExecutionRow* const row = families::find_execution(tags.setting.form.format, tags.backend);
  if (row != nullptr && row->keyed) {
    throw Error(ErrorCode::unsupported,
                fmt::format("what {} quantizes the activations of {} to stands in the checkpoint, not in a packed layer", tags.backend,
                            layout::name_of(tags.setting.form.format)),
                file.path().string());
  }
  announce(choice, file.size());
  families::PackedLayer packed = checked_layer(tags, file, stop);
  drop_bias(packed, tags.rank);
  return {ready(packed, activation_of(tags, files.directory, file.path()), "None", choice, path),
          tags.backend,
          tags.setting,
          tags.prefix,
          tags.layer,
          tags.rank,
          tags.losses};
}

OpenedContractLayer open_contract_layer(const std::filesystem::path& path, const checkpoint::ConvertOptions& options, Contract contract,
                                        const LayerChoice& choice) {
  const support::StopPoint stop(options.stop);
  if (is_packed(path)) return open_restored(path, contract, choice, stop);
  const auto [checkpoint, place] = find_layer(Checkpoint(path, 0, options.setting.engine), options.layer_group, choice.layer);
  checkpoint.require_convertible();
  refuse_weight_on_input(checkpoint);
  announce(choice, canonical_bytes(checkpoint.sizes(place), checkpoint.layout_form()));
  const checkpoint::MoeLayer layer = checkpoint.layer(place, stop);
  OpenedContractLayer opened{contract_experts(layer.experts, model_activation(checkpoint.activation(place)), contract, choice.sums),
                             options.setting.engine,
                             layer.prefix,
                             choice.layer,
                             0,
                             1};
  if (choice.routes) opened.router = router_of(checkpoint, place, stop);
  return opened;
}

}  // namespace mx::sim
