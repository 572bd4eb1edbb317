#pragma once
// What the operations on single stages of a layer share: words of tensors, results, the layer's sizes.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "golden/witness/ops.hpp"
#include "model/deployment/version.hpp"
#include "model/families/triton_kernels_product.hpp"
#include "model/moe/activation.hpp"
#include "model/numerics/dot.hpp"

namespace mx::golden {

struct LayerShape {
  std::int64_t tokens, experts, hidden, intermediate, top_k;

  std::int64_t slots() const { return tokens * top_k; }
};
/// Reads T, E, H, I and top_k.
LayerShape read_layer_shape(Fields& params);

std::uint32_t word_at(const Tensor& tensor, std::int64_t i);
/// fp32 bits of an element of a floating type.
std::uint32_t f32_at(const Tensor& tensor, std::int64_t i);

ModelOutput output_of(std::string_view dtype, std::vector<std::int64_t> shape, const std::vector<std::uint32_t>& words);

/// bf16 codes of fp32 bits, nearest even; NaN as tensor cores have it.
std::uint32_t narrowed_bf16(std::uint32_t f32);
std::vector<std::uint32_t> narrowed_all(const std::vector<std::uint32_t>& f32);
/// The same as fp32 bits again.
std::uint32_t in_bf16(std::uint32_t f32);

/// Values of a row of a tensor of 16-bit or 8-bit codes, zeros up to `padded`.
std::vector<Value> row_values(const Tensor& tensor, const Format& format, std::int64_t row, std::int64_t k, std::int64_t padded);

/// MXFP4 weights of one matrix of all experts, [experts][rows][k], and the biases of its rows.
struct MxWeights {
  Tensor codes, scales, bias;
  std::int64_t rows, k;
  std::function<std::int64_t(std::int64_t)> k_read;  ///< of a row of an expert's matrix: what lies behind is not read

  /// Row `index` of all experts' rows; the contract folds the scales into the codes.
  PreparedOperand row(const ContractRow& contract, std::int64_t index) const;
};
/// Inputs w13_codes, w13_scales and w13_bias, and those of w2.
MxWeights read_w13(const OpContext& context, const LayerShape& shape);
MxWeights read_w2(const OpContext& context, const LayerShape& shape);
/// The engine's version, by its month.
deployment::Engine engine_of(Fields& params);

/// triton_kernels as the entry's versions name it.
families::triton::Release release_of(const OpContext& context);

/// A row of a bf16 tensor, the first operand of a product.
PreparedOperand prepared_row(const ContractRow& contract, const Tensor& x, std::int64_t row, std::int64_t k);

/// The fused activation of triton_kernels with its constants.
struct Swiglu {
  const moe::Activation* row;
  moe::ActivationConstants constants;

  std::uint32_t operator()(std::uint32_t gate, std::uint32_t up) const { return moe::activate(*row, kF32, gate, up, constants); }
};
/// Reads activation, alpha, beta and limit.
Swiglu read_swiglu(const OpContext& context, Fields& params);

// Stages of `moe_stage`, in moe_stage_marlin.cpp and moe_stage_humming.cpp.
ModelOutputs marlin_first(const OpContext& context, Fields& params);
ModelOutputs marlin_second(const OpContext& context, Fields& params);
ModelOutputs humming_product(const OpContext& context, Fields& params);
ModelOutputs humming_activation(const OpContext& context, Fields& params);

}  // namespace mx::golden
