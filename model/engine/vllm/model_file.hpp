#pragma once
// What a model's own file does with moe_backend: DeepSeek-V4 builds experts of its own for the names of mega MoE kernels, and no oracle is asked.

#include <optional>
#include <string_view>

#include "model/engine/vllm/select.hpp"
#include "model/engine/vllm/tables.hpp"

namespace mx::engine {

/// The module that the model's file builds for this moe_backend on this platform; empty where it builds none and the oracle is asked.
std::string_view own_experts(const OracleTables& tables, const deployment::Deployment& deployment);

/// What the model's file, or its module, raises for the deployment; none where own_experts is empty.
std::optional<Refusal> own_experts_refusal(const OracleTables& tables, const deployment::Deployment& deployment);

}  // namespace mx::engine
