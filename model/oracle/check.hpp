#pragma once
// The per-class check of the engine: does this expert class take this layer here, and if not, what fails first.

#include <string>

#include "model/oracle/deployment.hpp"
#include "model/oracle/select.hpp"
#include "model/oracle/tables.hpp"

namespace mx::oracle {

/// A deployment with its names resolved and its parallelism derived. Refers to the deployment, which must outlive it.
struct Query {
  const Deployment& deployment;
  Parallel parallel;
  Activation activation;
  Routing routing;
  QuantKey caller_key;
  std::optional<QuantKey> override_key;

  ActivationFormat format() const;
};

/// Throws Error(usage) for a deployment that cannot exist: an unknown name, a size or a group that is not positive or absurdly large.
Query resolve(const Deployment& deployment);

/// First failing check of a class. Source: vllm modular_kernel.py FusedMoEExperts.is_supported_config, and the classes that replace it.
Verdict check_class(const KernelClass& kernel_class, const Query& query, QuantKey weight_key, QuantKey activation_key);

/// The exception's type when the check raised instead of answering, else empty.
std::string_view raised_type(const Verdict& verdict);

}  // namespace mx::oracle
