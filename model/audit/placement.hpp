#pragma once
// What becomes of a choice before the kernel runs: the checkpoint's method may replace the class, the exchange and the method round the sizes, and
// the backend's converter pads them once more.

#include <optional>

#include "model/deployment/deployment.hpp"
#include "model/engine/vllm/answer.hpp"
#include "model/engine/vllm/method.hpp"
#include "model/engine/vllm/select.hpp"
#include "model/engine/vllm/tables.hpp"
#include "model/families/needs.hpp"

namespace mx::audit {

/// Sizes of the weights that the backend's converter makes of those that were allocated, or the engine's exception where it makes none; the same
/// where no converter is modelled.
engine::Answer<engine::RoundedSizes> prepared_sizes(const engine::OracleTables& tables, const deployment::Deployment& deployment,
                                                    std::string_view backend, const engine::RoundedSizes& sizes);

/// Where a decision puts the layer, or nothing when it is a refusal or the backend NONE. Refers to the deployment, which must outlive it.
/// Source: vllm 7e1b45a09 fused_moe/layer.py, quantization/{mxfp4,modelopt,fp8}.py, quark/quark_moe.py, compressed_tensors_moe_w4a4_mxfp4.py.
std::optional<families::Placement> place(const engine::OracleTables& tables, const deployment::Deployment& deployment,
                                         const engine::Decision& decision);

/// The same for one (backend, class) of the tables, chosen or not. Throws Error(usage) for an unknown backend.
families::Placement place(const engine::OracleTables& tables, const deployment::Deployment& deployment, std::string_view backend,
                          std::string_view kernel_class);

}  // namespace mx::audit
