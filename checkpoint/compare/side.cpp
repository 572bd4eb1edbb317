#include "checkpoint/compare/side.hpp"

#include <fmt/format.h>

namespace mx::checkpoint {
namespace {

/// "model.layers." of "model.layers.N.mlp".
std::string before_number(const FoundGroup& layer_group) {
  const std::string number = std::to_string(layer_group.layers.begin()->first), &prefix = layer_group.layers.begin()->second.prefix;
  for (std::size_t at = layer_group.place.find('N'); at != std::string::npos; at = layer_group.place.find('N', at + 1)) {
    if (layer_group.place.substr(0, at) + number + layer_group.place.substr(at + 1) == prefix) return layer_group.place.substr(0, at);
  }
  return layer_group.place;
}

}  // namespace

Side::Side(const std::filesystem::path& path) : files(open_checkpoint_files(path)), config(read_checkpoint_config(files.directory)) {
  refuse_converted(files);
  layer_groups = find_layer_groups(files, config, path.string());
  require_agreement(layer_groups);
  const std::string main = before_number(layer_groups.front());
  for (const FoundGroup& layer_group : layer_groups) {
    const std::string before = before_number(layer_group);
    for (const auto& [number, layer] : layer_group.layers) {
      layers.try_emplace({before == main ? "" : before, number}, &layer_group, &layer);
      for (const FoundTensor& tensor : layer.experts) experts.insert(tensor.name);
      for (const FoundTensor& tensor : layer.aside) experts.insert(tensor.name);
    }
  }
}

std::string Side::forms() const {
  std::string text;
  std::set<std::string_view> seen;
  for (const FoundGroup& layer_group : layer_groups) {
    if (seen.insert(layer_group.form->title).second) text += fmt::format("{}{}", text.empty() ? "" : ", ", layer_group.form->title);
  }
  return text;
}

std::uint64_t bytes_of(const FoundLayer& layer) {
  std::uint64_t bytes = 0;
  for (const FoundTensor& tensor : layer.experts) bytes += tensor.at->view->bytes.size();
  return bytes;
}

std::string unlike(const std::pair<const FoundGroup*, const FoundLayer*>& a, const std::pair<const FoundGroup*, const FoundLayer*>& b) {
  if (a.first->gated != b.first->gated) return "only one of the two has a gate";
  if (a.second->sizes.experts == b.second->sizes.experts) return {};
  return fmt::format("{} experts and {}", a.second->sizes.experts, b.second->sizes.experts);
}

}  // namespace mx::checkpoint
