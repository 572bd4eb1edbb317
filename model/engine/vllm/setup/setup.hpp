#pragma once
// What follows from a choice: the sizes that the engine allocates, the quantization that kernels are told of, the kernel put together.

#include <optional>

#include "model/engine/vllm/select.hpp"
#include "model/engine/vllm/setup/assembly.hpp"
#include "model/engine/vllm/setup/quant_config.hpp"

namespace mx::engine {

/// Every part may be the engine's exception instead; a part that needs an earlier one is absent after its exception.
struct Setup {
  Answer<RoundedSizes> allocated;
  std::optional<Answer<QuantConfig>> quant;  ///< absent for HUMMING, whose config comes from the layer's own schemas
  std::optional<Answer<Assembly>> assembly;  ///< absent without a kernel class, too
};

/// What the caller hands to the function that makes the configuration, as far as the deployment says.
QuantArguments quant_arguments(const OracleTables& tables, const deployment::Deployment& deployment, std::string_view backend);

/// The setup of a chosen backend. What a deployment does not say is taken as common checkpoints have it: input scales where the activation key is
/// static, a clamp of 7 with alpha 1.702 and beta 1 for SWIGLUOAI unless the layer says that its own differ; and nothing is done in place, as in
/// every engine with torch 2.9 or later. The scheduler's token limit is not known: Assembly::max_num_tokens is 0 where there is one. Throws
/// Error(usage) for a choice that the oracle does not know.
Setup set_up(const OracleTables& tables, const deployment::Deployment& deployment, const Choice& choice);

}  // namespace mx::engine
