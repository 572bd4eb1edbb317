#pragma once
// Answers that no law asks for, said a second time: what the engine rounds sizes up to, as the if-chains of its two versions (vllm 7e1b45a09 and
// 017e9f444, mxfp4_round_up_hidden_size_and_intermediate_size), and where a router's weight is multiplied in.

#include <span>
#include <string>
#include <string_view>

#include "model/engine/vllm/rounding.hpp"
#include "model/families/setting.hpp"

namespace mx::tests {

struct Multiples {
  std::int64_t hidden;
  std::int64_t intermediate;
};
Multiples restated_rounding(std::string_view backend, const families::Setting& setting);

/// The first of every backend, engine, device and activation for which the model's table (or what stands in for it) rounds a size otherwise than the
/// restatement; "" where none does.
std::string wrong_rounding();

/// The first router whose weight enters elsewhere than the restatement has it: Llama 4 multiplies an expert's input, all others its output. Source:
/// transformers models/llama4/modeling_llama4.py Llama4TextMoe.forward.
std::string wrong_weight_place();

/// The first row of FP8 blocks whose packed scales, in whatever order, are not those of the checkpoint, for FlashInfer's kernels raised to 1e-10.
/// Source: vllm vllm/model_executor/layers/quantization/utils/flashinfer_utils.py prepare_fp8_moe_layer_for_fi.
std::string wrong_block_scales();

/// The first for which these rows round otherwise than the table's own; "" where none does.
std::string different_rounding(std::span<const engine::RoundingRow> rows);

}  // namespace mx::tests
