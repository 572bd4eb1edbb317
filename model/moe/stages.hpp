#pragma once
// What a run of a layer rounds, quantizes and leaves out between its products: data, one member per choice.

#include <cstdint>
#include <vector>

#include "model/moe/routing.hpp"
#include "model/numerics/value.hpp"

namespace mx::moe {

/// Nearest even to that format after a stage, overflow to Inf.
enum class StageRounding { none, bf16, f32 };

/// Quantized and dequantized again, in blocks of 32 along the row. mxfp8_rceil: e4m3fn elements, scale 2^ceil(log2(amax / 448)) of the exact amax,
/// within E8M0's range; 2^-127 for a zero block; a NaN or Inf in a block makes all of it NaN.
enum class Quantization { none, mxfp8_rceil };

/// The part of an expert-parallel group that one rank holds: experts rank * experts / size and on.
struct ExpertParallel {
  std::int64_t size = 1;
  std::int64_t rank = 0;
};

/// Everything off: each stage keeps what the arithmetic gives.
struct Stages {
  Quantization quant_x = Quantization::none;  ///< of what enters the first product
  StageRounding round_h13 = StageRounding::none;
  StageRounding round_act = StageRounding::none;
  Quantization quant_act = Quantization::none;  ///< after round_act
  StageRounding round_expert_out = StageRounding::none;
  StageRounding round_weight = StageRounding::none;
  WeightPlace weight_on = WeightPlace::output;
  bool add_w2_bias = true;  ///< false on every tensor-parallel rank but the first: the bias enters the sum once
  ExpertParallel expert_parallel;
};

Value rounded(const Value& value, StageRounding rounding);  ///< to the type that the rounding names, nearest even; none: as it is

/// Replaces a row by what its quantization keeps of it. Throws Error(usage) unless the row is whole blocks.
void quantize_row(std::vector<Value>& row, Quantization quantization);

}  // namespace mx::moe
