#pragma once
// What a checkpoint's quantization method does with an oracle's answer: it may take what own_choice.hpp says, the backend's first class, or sizes
// that are not rounded, and it refuses sizes before weights are made.

#include <optional>
#include <string_view>

#include "model/engine/vllm/own_choice.hpp"
#include "model/engine/vllm/select.hpp"
#include "model/engine/vllm/tables.hpp"

namespace mx::engine {

/// The deployment as the method asks the oracle about it: blocks of an FP8 checkpoint that the ranks' shares cut become finer ones, whose key it is
/// asked with, or the shares are padded to whole ones (setup/fp8_block_shape.hpp). As given where nothing is cut, and before 2026-08, which raises.
deployment::Deployment as_asked(const OracleTables& tables, const deployment::Deployment& deployment);

/// What the engine runs when the oracle answers so: the method's class and sizes in the place of the oracle's. The trace stays.
Decision after_method(const OracleTables& tables, const deployment::Deployment& deployment, Decision decision);

/// The oracle's answer to as_asked(), and what the method makes of it. Throws as select does.
Decision decide(const OracleTables& tables, const deployment::Deployment& deployment, Detail detail = Detail::codes);

/// Sizes that the method allocates for a backend when the exchange left these. Throws Error(usage) for an unknown backend, as round_up does.
RoundedSizes method_sizes(const OracleTables& tables, std::string_view backend, const deployment::Deployment& deployment,
                          const RoundedSizes& exchanged);

/// What the method raises before it makes weights, whatever the backend.
std::optional<Refusal> method_refusal(const OracleTables& tables, const deployment::Deployment& deployment);

/// Whether a checkpoint's method, by Deployment::quant_method, re-reads its experts' FP8 codes as e4m3fnuz where the device's FP8 is:
/// codes of -0 become 0, scales of weights and inputs double, before gate and up get one scale and before any backend's conversion, whatever a scale
/// covers. ModelOpt's does not.
bool makes_fnuz(std::string_view method);

/// The class that the method takes where the oracle chose `kernel_class` of the backend; empty where the backend has no such class.
std::string_view method_class(const OracleTables& tables, const deployment::Deployment& deployment, std::string_view backend,
                              std::string_view kernel_class);

}  // namespace mx::engine
