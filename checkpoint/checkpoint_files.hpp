#pragma once
// Which files a checkpoint consists of, where each tensor lies, and what config.json says about them.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checkpoint/configuration.hpp"
#include "model/engine/vllm/architecture/read.hpp"
#include "support/safetensors.hpp"

namespace mx::checkpoint {

/// The file of a checkpoint's directory that says which shard holds which tensor.
inline constexpr std::string_view kIndexName = "model.safetensors.index.json";
/// The same of a checkpoint that was converted: the converted directory has an index of its own.
inline constexpr std::string_view kSourceIndexName = "mxact-source.index.json";

/// The file that says what the checkpoint is.
inline constexpr std::string_view kConfigName = "config.json";

/// Whether a name that a file gives is one of a weight file beside it: no path, "*.safetensors".
bool is_shard_name(std::string_view name);

/// A tensor of a checkpoint.
struct LocatedTensor {
  const support::SafetensorsFile* file;
  const support::TensorView* view;
  bool indexed;  ///< false when there is an index that does not list it
};

/// The weight files of a checkpoint, all names together. The views live as long as `files`.
struct CheckpointFiles {
  std::filesystem::path directory;  ///< where config.json and expected.safetensors would lie
  bool whole;                       ///< a directory: every layer must be there; a single file may be one shard
  std::vector<support::SafetensorsFile> files;
  std::map<std::string_view, LocatedTensor> tensors;
  std::vector<std::pair<std::string_view, const support::SafetensorsFile*>> overlaid = {};  ///< tensors that another file's are laid over
};

/// Throws Error(unsupported) where a name is that of an ONNX model: who reads those instead.
void refuse_onnx(const std::filesystem::path& where);

/// Finds and opens the files. Of two shards with one name the one counts that the index names. Throws Error(input): nothing there, a missing shard,
/// an index that names a file elsewhere or one that lacks a promised tensor, a name in two shards that the engine reads in another order, whatever
/// SafetensorsFile refuses.
CheckpointFiles open_checkpoint_files(const std::filesystem::path& path);

/// Throws Error(input) for what `mxact convert` has written: its tensors lie where a kernel reads them.
void refuse_converted(const CheckpointFiles& files);

/// A size in config.json, and the key that gave it.
struct ConfigSize {
  std::string key;
  std::int64_t value;
};

/// What config.json says, as far as it is there: sizes under Hugging Face's and the original key names, at the top or under text_config, and what
/// it declares.
struct CheckpointConfig {
  std::filesystem::path path;
  std::optional<ConfigSize> layers;
  std::optional<ConfigSize> experts;
  std::optional<ConfigSize> top_k;
  std::optional<ConfigSize> hidden;
  std::optional<ConfigSize> expert_hidden;  ///< where experts work on projections of the hidden states
  std::optional<ConfigSize> intermediate;
  std::optional<ConfigSize> expert_intermediate;  ///< where dense layers have another
  std::optional<ConfigSize> more_layers;          ///< behind the hidden layers: for predicting further tokens
  std::map<std::string, std::string> words;       ///< of config.json, without what it says of quantization
  std::set<std::string, std::less<>> texts;       ///< of them, whose value is a text
  Configuration quantization;                     ///< of both files
  std::optional<engine::RouterReading> router;    ///< as the engine's class reads it; none without a row of that class, or where it refuses the file
  /// A word at the top, else in the part of a model of several kinds that speaks of its text; empty where there is none.
  std::string_view word(std::string_view key) const;
  /// Such a word as a number; none where nothing is said. Throws Error(input) where it is none, or a text, for which the engine raises TypeError.
  std::optional<double> number(std::string_view key) const;
  /// The number of a layer: of a list that of its place, null and behind its end none, else the number of all layers. Throws as number() does.
  std::optional<double> number_of_layer(std::string_view key, int layer) const;
};

/// Reads config.json and hf_quant_config.json of a directory; empty when there is none. `engine` is whose reading of them counts. Throws Error(input)
/// when one is not an object or a size is not a positive integer, and as Configuration does.
CheckpointConfig read_checkpoint_config(const std::filesystem::path& directory, deployment::Engine engine = deployment::kDefaultEngine);

}  // namespace mx::checkpoint
