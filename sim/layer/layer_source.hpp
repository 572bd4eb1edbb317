#pragma once
// A layer from the disk, ready to run: of a checkpoint, packed on the way as `mxact convert` packs it, or of what that wrote.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "checkpoint/convert.hpp"
#include "sim/execute/run_layer.hpp"
#include "sim/layer/contract_layer.hpp"

namespace mx::sim {

/// Which layer, and what no file says.
struct LayerChoice {
  int layer = 0;                            ///< the number in the names of its tensors
  std::optional<StaticScales> scales = {};  ///< of the activations, calibrated; fp32 bits
  bool routes = false;                      ///< the layer's own router is read, too
  SumsBy sums = SumsBy::twins;
  families::LaunchChoice launch = {};                   ///< of the backend's kernels
  std::function<void(std::uint64_t bytes)> takes = {};  ///< told how much memory the experts take at most, before any is taken; may throw
};

/// The router of a layer.
struct OpenedRouter {
  checkpoint::Router gpt_oss;
  std::optional<checkpoint::LayerRouter> own;
  std::int64_t top_k;

  /// Slots of every token; none where it is not known. x are bf16 codes [tokens, hidden].
  std::optional<std::vector<std::vector<moe::Slot>>> route(std::span<const std::uint32_t> x, std::int64_t hidden, Contract contract) const;
};

struct OpenedLayer {
  LayerExperts experts;
  std::string backend;
  families::Setting setting;  ///< of one rank
  std::string prefix;         ///< "model.layers.0.mlp"
  int layer;
  int rank;
  std::vector<layout::Loss> losses;         ///< what packing it lost: the run is of what is left
  std::optional<OpenedRouter> router = {};  ///< where it was asked for
};

/// A layer under a contract and on no device.
struct OpenedContractLayer {
  ContractExperts experts;
  deployment::Engine engine;
  std::string prefix;
  int layer;
  int rank;
  int ranks;
  std::vector<layout::Loss> losses = {};    ///< of packed tensors: the run is of what is left
  std::optional<OpenedRouter> router = {};  ///< where it was asked for
};

/// Gives the tokens the slots that the layer's router chooses by their x. Throws as LayerRouter::route does.
void take_router(const OpenedLayer& layer, LayerTokens& tokens);
void take_router(const OpenedContractLayer& layer, LayerTokens& tokens);

/// Whether `mxact convert` wrote it: a layer's file, or a directory of them. Throws Error(input) as open_checkpoint_files does.
bool is_packed(const std::filesystem::path& path);

/// A checkpoint's layer; `options` as convert_checkpoint takes them. Throws as CheckpointConversion, LayerPacker and packed_experts do, Error(usage)
/// for a layer that is not there or not converted, a quantizer whose scale was not given and a router that the checkpoint has not, Error(unsupported)
/// where the router's weight belongs on the input.
OpenedLayer open_layer(const std::filesystem::path& path, const checkpoint::ConvertOptions& options, const LayerChoice& choice);
/// The same of a packed layer; a file of one layer needs no other. Throws Error(input) where a tensor is not as it was written, Error(usage) where
/// the files do not say how the layer computes: its activation without config.json, what its activations are quantized to where the method decides
/// that.
OpenedLayer open_packed_layer(const std::filesystem::path& path, const LayerChoice& choice, const support::StopPoint& stop = support::StopPoint());

/// The same under a contract, whole: of a checkpoint in its own form, of packed tensors as they are restored. `options` as far as they say how a
/// checkpoint is read: layer group, engine and stop. Throws as Checkpoint::layer, read_packed_layer, restore and contract_experts do.
OpenedContractLayer open_contract_layer(const std::filesystem::path& path, const checkpoint::ConvertOptions& options, Contract contract,
                                        const LayerChoice& choice);

}  // namespace mx::sim
