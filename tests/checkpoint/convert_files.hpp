#pragma once
// What tests of conversions do with directories.

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "checkpoint/convert.hpp"
#include "checkpoint/layout_tags.hpp"
#include "model/families/convert.hpp"
#include "support/json.hpp"
#include "support/safetensors.hpp"
#include "tests/checkpoint/draft.hpp"
#include "tests/json_text.hpp"

namespace mx::tests {

inline const std::string kFirstLayer = "mxact-layer-00000.safetensors";

/// A conversion that takes any sizes.
inline checkpoint::ConvertOptions triton() { return {.backend = "TRITON", .setting = {}}; }

/// Names in a directory.
inline std::set<std::string> entries_of(const std::filesystem::path& directory) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) names.insert(entry.path().filename().string());
  return names;
}

/// Empty when both directories hold the same files with the same bytes; else the first that differs.
inline std::string file_differences(const std::filesystem::path& a, const std::filesystem::path& b) {
  const std::set<std::string> names = entries_of(a);
  if (names != entries_of(b)) return "other files";
  for (const std::string& name : names) {
    if (read_bytes(a / name) != read_bytes(b / name)) return name;
  }
  return names.empty() ? "no files" : "";
}

/// Restores without losses; gives `output` back.
inline const std::filesystem::path& restored_from(const std::vector<std::filesystem::path>& directories, const std::filesystem::path& output) {
  checkpoint::restore_checkpoint(directories, output, {});
  return output;
}

/// Converts for each of `tp` ranks and restores from all of them, below `directory`; empty when the source's files come back.
inline std::string rank_differences(const std::filesystem::path& source, checkpoint::ConvertOptions options, int tp,
                                    const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> ranks;
  options.setting.tp_size = tp;
  for (options.rank = 0; options.rank < tp; ++options.rank) {
    ranks.push_back(directory / std::to_string(options.rank));
    checkpoint::convert_checkpoint(source, ranks.back(), options);
  }
  return file_differences(source, restored_from(ranks, directory / "restored"));
}

/// Empty when a layer's file holds what the model's conversion makes of the canonical layer; else the role that differs.
inline std::string packed_difference(const std::filesystem::path& file, const layout::CanonicalLayer& layer, const std::string& backend,
                                     const families::Setting& setting) {
  const support::SafetensorsFile packed(file);
  const families::PackedLayer expected = families::convert(layer, families::backend_layout_named(backend, layer.form.format, setting.engine), setting);
  if (packed.tensors().size() != expected.tensors.size()) return "other tensors";
  for (const layout::PackedTensor& tensor : expected.tensors) {
    const std::string role(layout::name_of(tensor.role));
    const auto held = std::ranges::find_if(packed.tensors(), [&](const auto& entry) { return entry.first.ends_with("." + role); });
    if (held == packed.tensors().end() || !std::ranges::equal(held->second.bytes, tensor.bytes)) return role;
  }
  return expected.tensors.empty() ? "no tensors" : "";
}

/// The tags of a layer's file.
inline support::Json tags_of(const std::filesystem::path& file) {
  return parsed(support::SafetensorsFile(file).metadata().at(std::string(checkpoint::kLayerTagsKey)));
}

/// Writes a safetensors file again, its tensors and metadata changed.
inline void rewrite(const std::filesystem::path& file,
                    const std::function<void(std::vector<support::TensorData>&, std::map<std::string, std::string>&)>& change) {
  std::vector<support::TensorData> tensors;
  std::map<std::string, std::string> metadata;
  {
    const support::SafetensorsFile from(file);
    metadata = from.metadata();
    for (const std::string& name : support::names_in_order(from)) {
      const support::TensorView& view = *from.find(name);
      tensors.push_back({name, std::string(view.dtype->name), view.shape, {view.bytes.begin(), view.bytes.end()}});
    }
  }
  change(tensors, metadata);
  const std::vector<std::uint8_t> bytes = support::safetensors_bytes(tensors, metadata);
  write_bytes(file, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

/// Changes the tags of a layer's file.
inline void retag(const std::filesystem::path& file, const std::function<void(support::Json&)>& change) {
  rewrite(file, [&](std::vector<support::TensorData>&, std::map<std::string, std::string>& metadata) {
    support::Json tags = parsed(metadata.at(std::string(checkpoint::kLayerTagsKey)));
    change(tags);
    metadata[std::string(checkpoint::kLayerTagsKey)] = tags.dump();
  });
}

}  // namespace mx::tests
