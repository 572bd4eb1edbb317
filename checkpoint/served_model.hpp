#pragma once
// A model as an engine serves it on some devices, from its configuration alone: its kinds of layers, each with what an oracle is asked. No weights
// are read.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "model/deployment/deployment.hpp"
#include "model/deployment/version.hpp"
#include "model/engine/vllm/architecture/read.hpp"

namespace mx::checkpoint {

/// On what a model is to run.
struct ServingRequest {
  std::string platform;  ///< a preset's name, or a card's
  deployment::ParallelRequest parallel = {};
  std::map<std::string, std::string> env = {};
  std::string moe_backend = "auto";
  deployment::Engine engine = deployment::kDefaultEngine;
};

/// Layers that are answered alike.
struct ServedKind {
  std::vector<int> layers;
  std::string oracle;
  deployment::Deployment deployment;
};

struct ServedModel {
  std::filesystem::path file;  ///< config.json or params.json
  engine::ModelReading reading;
  std::vector<ServedKind> kinds;  ///< by their first layer
  std::vector<std::string> remarks;
};

/// Whether a path is taken for a model: a directory that has a config.json or params.json, or a file whose name ends in .json.
bool is_model(const std::filesystem::path& path);

/// Reads the configuration that the engine reads: params.json in a directory with consolidated weights, or without a config.json; else config.json,
/// and hf_quant_config.json beside it. Throws Error(input) and Error(unsupported) as read_model, on_ranks and expert_scheme do, Error(usage) for an
/// unknown platform. Source: vllm transformers_utils/config.py get_config.
ServedModel served_model(const std::filesystem::path& path, const ServingRequest& request);

}  // namespace mx::checkpoint
