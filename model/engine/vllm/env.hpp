#pragma once
// The engine's environment variables that backend selection reads, as one table: name, default, how the text is understood.

#include <map>
#include <span>
#include <string>
#include <string_view>

namespace mx::engine {

/// In the order of the table in env.cpp.
enum class EnvVariable {
  batch_invariant,
  flashinfer_mxfp4_bf16,
  flashinfer_mxfp4_mxfp8,
  flashinfer_mxfp4_mxfp8_cutlass,
  mxfp4_use_marlin,
  flashinfer_fp4,
  flashinfer_fp8,
  flashinfer_moe_backend,
  use_deep_gemm,
  moe_use_deep_gemm,
  test_force_fp8_marlin,
  rocm_use_aiter,
  rocm_use_aiter_moe,
  humming_moe_gemm_type,
  humming_input_quant_config,
  use_deep_gemm_e8m0,
  // Since 2026-08.
  rocm_use_aiter_fusion_shared_experts,
  b12x_moe_fp4_force_a16,
  use_flashinfer_moe_int4,
  // Since 2026-11.
  rocm_use_aiter_moe_a4w4_dsv4,
  cpu_int4_w4a8,
};

/// A switch as the engine reads it. `unreadable` is text on which its parser raises ValueError, at the moment of reading.
enum class Switch { off, on, unreadable };

using Environment = std::map<std::string, std::string>;

/// On when all of them are; else what the first that is not on is. Those behind it are not read, as in the engine's `and` chains.
Switch read_switches(const Environment& environment, std::span<const EnvVariable> variables);
/// "VLLM_BATCH_INVARIANT"
std::string_view name_of(EnvVariable variable);
/// Present, whatever its value.
bool is_set(const Environment& environment, EnvVariable variable);
/// The value with its default applied; a variable without a default is off when it is not set.
Switch read_switch(const Environment& environment, EnvVariable variable);
/// "VLLM_BATCH_INVARIANT='yes' is no integer", for the first of the variables that is unreadable; empty when none is.
std::string unreadable_text(const Environment& environment, std::span<const EnvVariable> variables);
/// Lower-cased text, empty when not set.
std::string read_text(const Environment& environment, EnvVariable variable);

/// Every variable that some oracle reads, for checks and suggestions.
std::span<const std::string_view> env_names();

}  // namespace mx::engine
