#pragma once
// How the engine puts a kernel together from the chosen experts: the step before and after them, the format between, what is written in place.

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/deployment/deployment.hpp"
#include "model/engine/vllm/answer.hpp"
#include "model/engine/vllm/setup/quant_config.hpp"
#include "model/engine/vllm/tables.hpp"

namespace mx::engine {

/// What is put together.
struct AssemblyRequest {
  std::string_view oracle;        ///< whose make_*_moe_kernel runs
  std::string_view backend;       ///< chosen by it
  std::string_view kernel_class;  ///< the same
  deployment::Parallel parallel;
  QuantConfig quant;
  deployment::Hardware hardware;
  std::int64_t hidden;          ///< after rounding
  std::int64_t max_num_tokens;  ///< of a rank, from the scheduler
  bool disable_inplace;         ///< true in every engine with torch 2.9 or later
};

struct Assembly {
  std::string_view prepare_class;
  ActivationFormat format;
  bool fp8_dispatch;
  std::int64_t exchanged_hidden;               ///< columns that the exchange's scales cover
  std::optional<std::int64_t> max_num_tokens;  ///< handed to batched experts only
  std::optional<std::int64_t> num_dispatchers;
  bool inplace;      ///< the result overwrites the input
  bool takes_layer;  ///< the experts are also given the layer itself
};

/// The assembled kernel, or what the engine raises: AssertionError without a prepare step, for experts of the other format, and for a monolithic
/// kernel in place; NotImplementedError for activations that the one-sided exchange cannot move; ValueError for monolithic experts behind a step that
/// has no such variant. Throws Error(usage) for an unknown oracle or kernel class.
/// Source: vllm 7e1b45a09 fused_moe/oracle/*.py make_*_moe_kernel, modular_kernel.py FusedMoEKernel.
Answer<Assembly> assemble(const AssemblyRequest& request);

}  // namespace mx::engine
