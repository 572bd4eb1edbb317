#pragma once
// MoE layers of a checkpoint: which files, which names, which shapes. Tensors stay mapped until a layer is asked for.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/checkpoint_files.hpp"
#include "checkpoint/layer_activation.hpp"
#include "checkpoint/layer_router.hpp"
#include "checkpoint/requantize.hpp"
#include "checkpoint/scan.hpp"
#include "checkpoint/source_forms.hpp"
#include "checkpoint/source_memory.hpp"
#include "model/layout/packed.hpp"
#include "support/stop.hpp"

namespace mx::checkpoint {

/// Router of a layer: weight [E, H] and bias [E], as bf16 codes. Absent when the checkpoint holds experts only.
struct Router {
  std::vector<std::uint32_t> weight;
  std::vector<std::uint32_t> bias;
  bool present() const { return !weight.empty(); }
};

/// One MoE layer, read into memory.
struct MoeLayer {
  std::string prefix;  ///< "model.layers.0.mlp" or "block.0.mlp"
  int index;
  layout::CanonicalLayer experts;
  Router router;
  std::optional<LayerRouter> own_router = {};  ///< of every form but gpt-oss
  std::int64_t up_scales_dropped = 0;          ///< experts whose up has another global scale than gate: the engine takes gate's for both
  std::vector<Requantized> requantized = {};   ///< halves of experts whose FP8 codes the engine quantizes again; `experts` has the new ones
};

/// What quantizes its w13 again, its sizes and halves given.
Requantizer requantizer_of(const MoeLayer& layer, Fp8Codes as);

/// An expert tensor where it lies in the files, and which part of its role's canonical memory it is.
struct ExpertTensor {
  layout::Role role;
  int expert;  ///< -1: all of them
  int half;    ///< of w13: 0 gate, 1 up; -1: both, or no halves
  std::string_view name;
  LocatedTensor at;
  std::uint64_t offset;  ///< of its first byte
  SourceMemory memory;   ///< how it lies in its file
  bool input_major;      ///< its matrices are transposed there
  bool stays;            ///< one number of an expert: what is converted is computed from it, and the tensor itself is copied with the others
};

/// Layers of a checkpoint that have one form, one place in the names and one size.
struct LayerGroup {
  std::string form;         ///< "ModelOpt NVFP4"
  std::string place;        ///< "model.layers.N.mlp"
  std::vector<int> layers;  ///< numbers in the names
  std::int64_t experts;
  std::uint64_t bytes;  ///< of the expert tensors
  bool converts;
  bool further;         ///< behind the hidden layers: for predicting further tokens
  std::string left;     ///< where the configuration says that they are not quantized; empty: nowhere
  std::string garbage;  ///< why the engine loads its tensors as what they are not; empty: it does not
  std::string missing;  ///< what mxact lacks to convert it; empty: nothing
  /// "2 experts in 1 layer (model.layers.N.mlp): not quantized, as quantization_config.ignore says: 'model.layers.1*'"
  std::string text() const;
};

/// A checkpoint: a .safetensors file; or a directory, where model.safetensors.index.json names the shards if there is one, else
/// model.safetensors, else model-*-of-*.safetensors. Other files beside them are not weights. A directory holds every layer; a file may be one shard.
/// config.json and hf_quant_config.json beside the weights, if they are there, must agree with them.
/// Forms: the rows of source_forms(); which one a layer has follows from names, dtypes, shapes and configuration. Layers of one form are a layer
/// group; what is asked below is asked of one of them.
class Checkpoint {
 public:
  /// Throws Error(input): no weights, a missing shard, a shard that lacks a tensor the index promises, a name in two shards, layers that `mxact
  /// convert` has converted, whatever find_layer_groups refuses.
  /// Error(usage) when there is no such layer group; the first is that of the model. `engine` is whose reading of the configuration counts. With
  /// Garbage::asked the layer group may be one that the engine loads as what it is not.
  enum class Garbage : std::uint8_t { refused, asked };
  explicit Checkpoint(const std::filesystem::path& path, int layer_group = 0, deployment::Engine engine = deployment::kDefaultEngine,
                      Garbage garbage = Garbage::refused);
  /// The same weights, not opened again; what is asked is asked of another layer group. Throws Error(usage) when there is no such layer group.
  Checkpoint of_group(int layer_group) const;
  ~Checkpoint();
  Checkpoint(Checkpoint&&) noexcept;

  const std::filesystem::path& path() const;
  std::string form() const;  ///< "gpt-oss (Hugging Face names)"
  const SourceForm& source_form() const;
  /// What the canonical memory of its layers is.
  layout::Form layout_form() const;
  const std::vector<LayerGroup>& layer_groups() const;
  int layer_group() const;
  /// Throws Error(unsupported), a line with every kind of experts, where no layout of the layer group is known.
  void require_convertible() const;
  /// The experts' activation. Throws as activation_of does, and as layer_index().
  LayerActivation activation(int layer) const;
  /// The engine's name of the first layer's, as conversions see it. Throws as mx::checkpoint::converted_activation does.
  std::string_view converted_activation() const;
  /// How the first layer's router goes, by its tensors or by the configuration alone; none where nothing is said, and of gpt-oss, whose form says it.
  /// Throws as read_router does.
  std::optional<RouterFacts> router() const;
  int layer_count() const;
  int top_k() const;            ///< num_experts_per_tok of config.json, else 4 as gpt-oss has, at most the number of experts
  std::uint64_t bytes() const;  ///< of the expert tensors
  std::vector<std::filesystem::path> files() const;
  /// The number in the layer's tensor names. Layers are counted from 0; a single shard may begin with a later one.
  /// This and the next three throw Error(usage) when `layer` is not below layer_count().
  int layer_index(int layer) const;
  std::string layer_prefix(int layer) const;
  /// Whether the layers carry expert biases.
  bool has_bias() const;
  /// Sizes of a layer without reading it; `group` is the format's.
  layout::Sizes sizes(int layer) const;
  /// Codes that the engine quantizes again are of `as`. Throws Error(input) when a file changed since it was opened; Stopped when that is asked for.
  MoeLayer layer(int layer, const support::StopPoint& stop = support::StopPoint(), Fp8Codes as = Fp8Codes::e4m3fn) const;
  /// Of a layer of FP8 with one scale a tensor whose activations are static; none of others. Same errors.
  std::optional<InputScales> input_scales(int layer) const;
  /// The layer without its tensors: of `experts` what is one number of each expert, no router. Same errors.
  MoeLayer numbers(int layer) const;
  /// The expert tensors that layer() reads, in the order of the roles; same errors.
  std::vector<ExpertTensor> expert_tensors(int layer) const;
  /// What is wrong with the numbers of a layer's experts and its router, each alone and many together: as scan_layer() finds it, then as
  /// odd_statistics() does. Reads all weights of the layer.
  std::vector<ScannedFault> scan(int layer) const;
  /// The weight files with all their tensors.
  const CheckpointFiles& contents() const;
  /// Throws Error(input) when a weight file is no longer what was opened.
  void check_unchanged() const;

 private:
  struct Contents;
  struct Impl;
  explicit Checkpoint(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Recorded inputs and outputs beside a checkpoint (expected.safetensors): layers.L.mlp.x and layers.L.mlp.out.f64.
struct Expected {
  std::vector<std::uint32_t> x;        ///< bf16 codes [tokens, hidden]
  std::vector<std::uint64_t> out_f64;  ///< fp64 bits [tokens, hidden]
  std::int64_t tokens;
};
/// Of one layer; none when the directory has no such file. Throws Error(input) when it has one that does not fit the checkpoint.
std::optional<Expected> load_expected(const Checkpoint& checkpoint, int layer);

/// What the default checkpoint looks like.
struct SyntheticShape {
  int layers = 2;
  int experts = 8;
  int hidden = 256;
  int intermediate = 256;
  int top_k = 4;
  std::uint64_t seed = 1;
};
/// Writes a gpt-oss-shaped checkpoint (config.json, two shards, index) generated from the seed: every tensor's bytes follow from
/// the seed and its name (splitmix64), scale bytes 117..123, bf16 magnitudes 2^-9..2^-3. The directory must be empty or absent.
/// Throws Error(usage) for an impossible shape or more than 2^33 weights, Error(input) when the directory is not empty.
void write_synthetic_checkpoint(const std::filesystem::path& directory, const SyntheticShape& shape);

}  // namespace mx::checkpoint
