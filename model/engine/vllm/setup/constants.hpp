#pragma once
// Which of a model's constants and biases reach the kernel: some are dropped where the quantization configuration is made, some by the class around
// the kernel, and some raise. One table for all versions; needs and simulations derive from it.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "model/engine/vllm/tables.hpp"

namespace mx::engine {

/// What a model has beside its weights. limit, alpha and beta are those of its activation.
enum class Constant : std::uint8_t { limit, alpha, beta, bias };
std::string_view name_of(Constant constant);  ///< "limit", "alpha", "beta", "biases"

enum class Reach : std::uint8_t {
  reaches,
  does_not,  ///< in silence: the kernel computes with what it has built in, or without
  raises,
};
std::string_view name_of(Reach reach);  ///< "reaches", "does not", "raises"

/// Where a class takes a constant from.
enum class From : std::uint8_t {
  config,           ///< the quantization configuration
  config_or_layer,  ///< that, and where it says none the layer's configuration
  layer,            ///< the layer's configuration alone
  nowhere,
  raises,  ///< given one, the class or its library raises
};

/// A layer in a class, as the conditions of rows see it.
struct ConstantCase {
  const deployment::Deployment& deployment;
  std::string_view oracle;
  deployment::QuantKey weights;
};

/// First match wins.
struct ConstantRow {
  std::span<const std::string_view> classes;
  deployment::Mask constants;
  deployment::Mask activations;  ///< kEverything for biases
  From from;
  std::string_view source;  ///< E/ is vllm fused_moe/experts/ of the version
  deployment::Versions versions = kAlways;
  bool (*where)(const ConstantCase& of) = nullptr;  ///< null: everywhere
  std::span<const std::string_view> backends = {};  ///< empty: every backend with such a class
};

/// What a row and the configuration come to.
struct Reached {
  Reach reach;
  const ConstantRow* row;
};

/// Sources: vllm 7e1b45a09 (2026-05), 7ca49fbe4 (2026-08), 0.33.0 (2026-11) fused_moe/experts/*.py, activation.py, b12x.py, hpc_moe.py, read; their
/// configurations were run (quant_config.hpp).
std::span<const ConstantRow> constant_rows();

/// Whether the deployment's constant reaches the kernel of a class; nothing for a class or an activation without a row. Throws Error(usage) for an
/// unknown backend, unless it is of a choice of the deployment's own (own_choice.hpp).
std::optional<Reached> reach(const OracleTables& tables, const deployment::Deployment& deployment, std::string_view backend,
                             std::string_view kernel_class, Constant constant);

/// Some layer's constant of one of these activations does not reach the class, or raises.
bool may_not_reach(const OracleTables& tables, std::string_view backend, std::string_view kernel_class, deployment::Mask activations,
                   Constant constant);

/// The layer has it, and it is not what kernels have built in: a limit of SILU; another limit than 7, alpha than 1.702, beta than 1 of SWIGLUOAI;
/// a limit of SWIGLUSTEP that is given and not 7; any of SWIGLUOAI_UNINTERLEAVE.
bool gives(const deployment::LayerConfig& layer, Constant constant);

}  // namespace mx::engine
