#pragma once
// Which of FlashInfer's kernels the engine takes when only "FlashInfer" is asked for.

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/engine/vllm/answer.hpp"
#include "model/engine/vllm/env.hpp"

namespace mx::engine {

enum class FlashinferVariant : std::uint8_t { cutlass, tensorrt_llm, cutedsl };
/// CUTLASS, TENSORRT_LLM, CUTEDSL.
std::string_view name_of(FlashinferVariant variant);

/// Chosen by VLLM_FLASHINFER_MOE_BACKEND, `latency` when it is not set; ValueError for a word that is none of its choices (case matters).
/// Source: vllm 7e1b45a09 quantization/utils/flashinfer_utils.py get_flashinfer_moe_backend; envs.py env_with_choices.
Answer<FlashinferVariant> flashinfer_variant(const std::optional<int>& capability, const Environment& environment);

}  // namespace mx::engine
