#pragma once
// What a converted layer's file says of itself, in the metadata of the container: everything that the way back needs.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/kernel_tag.hpp"
#include "checkpoint/requantize.hpp"
#include "model/families/convert.hpp"
#include "model/layout/packed.hpp"
#include "support/json.hpp"
#include "support/safetensors.hpp"

namespace mx::checkpoint {

/// Metadata keys: of a file with one converted layer, and of the file that keeps what is left of a shard.
inline constexpr std::string_view kLayerTagsKey = "mxact.layer";
inline constexpr std::string_view kShardTagsKey = "mxact.shard";
/// Version of both texts; others are refused. 2: tensors have the digest of their bytes.
inline constexpr int kTagsVersion = 2;

/// A tensor as the checkpoint had it.
struct SourceTensor {
  layout::Role role;
  int expert;  ///< -1: all of them
  int half;    ///< of w13: 0 gate, 1 up; -1: both, or no halves
  support::TensorEntry entry;
  std::string shard;         ///< name of its file
  bool input_major = false;  ///< its matrices are transposed there
};

/// Which part of its role's canonical memory a tensor is: number `index` of `count` equal ones.
struct MemoryPart {
  std::uint64_t index;
  std::uint64_t count;
};
MemoryPart part_of(int expert, int half, std::int64_t experts);

/// Whether a role is one number of each expert: the checkpoint's own tensors are then kept beside what is packed.
bool is_one_number(layout::Role role, const layout::Sizes& sizes, const layout::Form& form);

/// A tensor as it was packed.
struct PackedTag {
  layout::Role role;
  std::string name;
  std::vector<layout::Axis> logical;  ///< [E, half, I, K], ...
  std::string program;                ///< digest of the view program: program_digest()
  std::string cast;
  std::string content;  ///< digest of the bytes: digest_of()
  std::optional<KernelTag> kernel = {};  ///< none: no source says it, or an mxact wrote the tags that did not either
};

/// One converted layer.
struct LayerTags {
  std::string backend;
  std::string prefix;  ///< "model.layers.0.mlp"
  int layer;           ///< the number in the names of its tensors
  int rank;            ///< of setting.tp_size
  families::Setting setting;
  std::vector<SourceTensor> source;
  std::vector<PackedTag> tensors;
  std::vector<layout::Loss> losses;
  int further = 0;  ///< 0: of the first layer group that its conversion took; else the layer group's number in the checkpoint, from 1
  std::optional<InputScales> inputs = {};  ///< that the kernels are called with
  std::int64_t intermediate = 0;           ///< of the whole layer where the ranks' parts hold more; 0: what they hold

  /// Sizes of the layer that the ranks were cut from.
  layout::Sizes whole_sizes() const;
};

/// "layer 3", "layer 0 of layer group 2".
std::string layer_name(int layer, int further);

/// "fnv1a64:0123456789abcdef" of a program: its logical extents, unit and steps with all their numbers. Names of axes do not count.
std::string program_digest(const layout::Layout& layout);

/// Name of a packed tensor: "model.layers.0.mlp.experts.w13_weight".
std::string packed_name(std::string_view prefix, layout::Role role);

/// Header of a packed tensor: the axes of its memory in units of whole bytes; U8, BF16, F16 or F32.
support::TensorEntry packed_entry(std::string_view prefix, const layout::PackedTensor& tensor);

/// The tags as JSON text, and back. Reading throws Error(input) naming `where` and the key: another version, a key that is missing, unknown or of
/// another type, a word that is not known, sizes that cannot be.
std::string text_of(const LayerTags& tags);
LayerTags read_layer_tags(const std::string& text, const std::string& where);

/// Names of a shard's tensors in the order of their bytes, those of the experts too: as JSON text, and back, as above.
std::string shard_tags_text(const std::vector<std::string>& order);
std::vector<std::string> read_shard_tags(const std::string& text, const std::string& where);

/// Whether `mxact convert` wrote the file.
bool is_converted(const support::SafetensorsFile& file);

/// The layer as its file holds it, layouts rebuilt from the tags, its tensors without bytes. Throws Error(input) when they contradict the tensors or
/// themselves: another dtype, shape, digest or cast than the backend's program for these sizes has, a tensor too much or too few.
families::PackedLayer packed_outline(const LayerTags& tags, const support::SafetensorsFile& file);
/// The same with their bytes. Throws as SafetensorsFile::read does too, and Stopped.
families::PackedLayer read_packed_layer(const LayerTags& tags, const support::SafetensorsFile& file, const support::StopPoint& stop = support::StopPoint());

/// A loss as text, and back. Reading throws Error(input).
support::Json loss_json(const layout::Loss& loss);
layout::Loss read_loss(const support::Json& json, const std::string& where);

/// What is wrong with a tensor whose bytes have another digest than its tag says; empty: nothing.
std::string changed_content(const PackedTag& tag, const std::string& digest);

}  // namespace mx::checkpoint
