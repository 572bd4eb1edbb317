#pragma once
// The per-class check of the engine: does this expert class take this layer here, and if not, what fails first.

#include <optional>
#include <string>
#include <string_view>

#include "model/deployment/deployment.hpp"
#include "model/engine/vllm/select.hpp"
#include "model/engine/vllm/tables.hpp"

namespace mx::oracle {

/// A deployment with its names resolved and its parallelism derived. Refers to the deployment, which must outlive it.
struct Query {
  const Deployment& deployment;
  Parallel parallel;
  Activation activation;
  Routing routing;
  QuantKey caller_weight_key;
  QuantKey caller_key;  ///< of activations
  std::optional<QuantKey> override_key;

  ActivationFormat format() const;
};

/// Throws Error(usage) for a deployment that cannot exist: an unknown name, a size or a group that is not positive or absurdly large.
Query query_of(const Deployment& deployment);

/// One class, and the keys that it is asked about.
struct Subject {
  std::span<const KernelClass> classes;  ///< holds the class and its halves
  std::string_view kernel_class;
  const Query& query;
  QuantKey weight_key;
  QuantKey activation_key;
};

/// First failing check. Source: vllm modular_kernel.py FusedMoEExperts.is_supported_config, and the classes that replace or extend it.
Verdict check_class(const Subject& subject, Detail detail);

/// How near the class is to taking the layer, for reasons: on another platform 0; else more with the activation format that is asked for, and more
/// with each check that it passes.
int nearness(const Subject& subject);

/// The exception's type when the check raised instead of answering, else empty.
std::string_view raised_type(const Verdict& verdict);

}  // namespace mx::oracle
