#pragma once
// The per-class check of the engine: does this expert class take this layer here, and if not, what fails first.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/deployment/deployment.hpp"
#include "model/engine/vllm/select.hpp"
#include "model/engine/vllm/tables.hpp"

namespace mx::engine {

/// A deployment with its names resolved and its parallelism derived. Refers to the deployment, which must outlive it.
struct Query {
  deployment::Engine engine;
  const deployment::Deployment& deployment;
  deployment::Parallel parallel;
  deployment::Activation activation;
  deployment::Routing routing;
  deployment::QuantKey caller_weight_key;
  deployment::QuantKey caller_key;  ///< of activations
  std::optional<deployment::QuantKey> override_key;
  deployment::ActivationConstants constants;
  bool asks_batched = false;  ///< moe_backend asks for BatchedExperts, whatever the exchange

  ActivationFormat format() const;
  bool gated() const;                      ///< since 2026-08 the activation says so
  std::string_view router_logits() const;  ///< their dtype
};

/// Throws Error(usage) for a deployment that cannot exist: an unknown name, a size or a group that is not positive or absurdly large.
/// Error(unsupported) for a word that the version does not have.
Query query_of(const deployment::Deployment& deployment, deployment::Engine engine);

/// What the layer's configuration refuses before any oracle is asked: since 2026-08.
std::optional<Refusal> config_refusal(const Query& query);

/// One class, and the keys that it is asked about.
struct Subject {
  std::span<const KernelClass> classes;  ///< holds the class and its halves
  std::string_view kernel_class;
  const Query& query;
  deployment::QuantKey weight_key;
  deployment::QuantKey activation_key;
};

/// First failing check. Source: vllm modular_kernel.py FusedMoEExperts.is_supported_config, and the classes that replace or extend it.
Verdict check_class(const Subject& subject, Detail detail);

/// How near the class is to taking the layer, for reasons: on another platform 0; else more with the activation format that is asked for, and more
/// with each check that it passes.
int nearness(const Subject& subject);

/// Keys of weights and activations that are asked for.
struct AskedKeys {
  deployment::QuantKey weights;
  deployment::QuantKey activations;
};
/// The class's key check alone, on a device. Throws Error(usage) for a class that the table lacks.
bool takes_keys(std::span<const KernelClass> classes, std::string_view kernel_class, const deployment::Hardware& hardware, const AskedKeys& keys);

/// The oracle's list before any step. Throws as priority_order does.
std::vector<std::string_view> first_list(const OracleTables& tables, const Query& query);

/// The exception's type when the check raised instead of answering, else empty.
std::string_view raised_type(const Verdict& verdict);

}  // namespace mx::engine
