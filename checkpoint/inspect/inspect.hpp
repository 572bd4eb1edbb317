#pragma once
// What a checkpoint is and whether it is sound: its forms, layers and blocks, who wrote it, the ranges of its scales, and what no sound file has.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/inspect/producers.hpp"
#include "checkpoint/inspect/scale_facts.hpp"
#include "checkpoint/scan.hpp"
#include "model/deployment/version.hpp"
#include "support/progress.hpp"
#include "support/stop.hpp"

namespace mx::checkpoint {

/// Tensors of one kind in a layer group.
struct TensorKind {
  std::string name;  ///< behind the expert: "gate_proj.weight_scale"
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::int64_t tensors = 0;
  std::uint64_t bytes = 0;
};

/// Scales of one kind.
struct ScaleRange {
  std::string name;  ///< "gate_proj.weight_scale"
  std::string dtype;
  std::int64_t count = 0;
  std::int64_t zeros = 0;
  std::int64_t subnormals = 0;
  std::int64_t largest = 0;  ///< the largest number of the dtype
  double least = 0;          ///< above 0
  double most = 0;           ///< finite
  Binades binades;
};

/// Layers of one form, one place in the names and one size.
struct InspectedGroup {
  std::string form;
  std::string meaning;  ///< "value = e2m1 * 2^(byte - 127)"
  std::string place;    ///< "model.layers.N.mlp"
  std::vector<int> layers;
  std::int64_t experts = 0;
  std::int64_t hidden = 0;
  std::int64_t intermediate = 0;
  bool gated = true;
  bool converts = false;
  bool further = false;      ///< for predicting further tokens
  std::string left;          ///< where the configuration says that they are not quantized
  std::string disagreement;  ///< of the configuration and the tensors; empty: none
  std::uint64_t bytes = 0;
  std::vector<TensorKind> tensors;
  std::vector<ScaleRange> scales;
};

/// What is known of the producer's release, of some of its files.
struct KnownOfProducer {
  std::string id;
  std::string mended;
  std::string what;
  std::string source;
};

/// A fault, with the layer and the group it is in.
struct InspectedFault {
  int group;  ///< from 0
  int layer;  ///< number in the names
  ScannedFault fault;
};

/// What scales alone leave open.
struct InspectedQuestion {
  int layer;
  std::string tensor;
  std::int64_t count;
  std::string text;
};

struct Inspection {
  std::string path;
  std::int64_t files = 0;
  std::uint64_t bytes = 0;  ///< of all weight files
  std::string method;       ///< of the configuration; empty: none
  Producer producer;
  std::vector<KnownOfProducer> known;
  std::vector<std::string> ignored;  ///< what the configuration leaves alone
  std::vector<InspectedGroup> groups;
  std::vector<int> dense;           ///< layers beside those with experts
  std::int64_t shared_experts = 0;  ///< layers with tensors of shared experts
  std::int64_t kv_scales = 0;       ///< tensors
  std::int64_t others = 0;          ///< tensors that are no experts'
  std::uint64_t other_bytes = 0;
  std::vector<InspectedFault> faults;
  std::vector<InspectedQuestion> open;
  bool deep = false;
  std::uint64_t read = 0;  ///< bytes of tensors
  bool finished = false;

  /// Nothing is wrong with it that is known here.
  bool sound() const;
};

struct InspectOptions {
  Depth depth = Depth::scales;
  deployment::Engine engine = deployment::kDefaultEngine;
  support::Progress progress = {};
  support::Stop stop = {};
};

/// Throws Error(input) where the checkpoint cannot be read, was converted, or no form is known of its experts.
Inspection inspect_checkpoint(const std::filesystem::path& path, const InspectOptions& options);

}  // namespace mx::checkpoint
