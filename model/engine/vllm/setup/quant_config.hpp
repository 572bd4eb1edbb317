#pragma once
// The quantization that a backend's kernels are told of: which tensors are quantized how, and which scale goes where. Tensors stay symbols, as the
// engine names its arguments ("w1_scale"), and so does the arithmetic on them ("(1.0/a1_scale)").

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/deployment/deployment.hpp"
#include "model/deployment/version.hpp"
#include "model/engine/vllm/answer.hpp"

namespace mx::engine {

/// Elements that share a scale: rows x columns, -1 is all of them.
struct GroupShape {
  std::int64_t row;
  std::int64_t col;
  bool operator==(const GroupShape&) const = default;
};
inline constexpr GroupShape kPerTensor{-1, -1};
inline constexpr GroupShape kPerToken{1, -1};

/// One of a1, a2 (activations before the first and the second product), w1, w2. An empty word is the engine's None.
struct QuantDescriptor {
  std::string dtype;
  std::optional<GroupShape> shape;
  std::string scale;
  std::string alpha_or_gscale;
  std::string bias;
  std::string zero_points = {};
};

struct QuantConfig {
  QuantDescriptor a1;
  QuantDescriptor a2;
  QuantDescriptor w1;
  QuantDescriptor w2;
  bool is_scale_swizzled;
  std::optional<double> gemm1_alpha;
  std::optional<double> gemm1_beta;
  std::optional<double> gemm1_clamp_limit;
  int mx_alignment;  ///< activations are padded to this many columns before they are quantized; 0: not

  const std::string& quant_dtype() const { return a1.dtype; }
  bool per_act_token_quant() const { return a1.shape == kPerToken; }
  bool per_out_ch_quant() const;
  /// The activations' group when it is neither a tensor nor a token.
  std::optional<GroupShape> block_shape() const;
};

/// What the caller hands over. An oracle reads its own part of it: mxfp4 the constants, biases and input scales; fp8 all but alpha, beta and biases,
/// since 2026-08 these too; nvfp4 the constants since 2026-08; w4a8 nothing; int8 biases, the flag per token and whether there are input scales.
struct QuantArguments {
  deployment::Hardware hardware;  ///< decides what the platform's fp8 is
  std::optional<GroupShape> block_shape = {};
  bool per_act_token_quant = false;
  bool per_out_ch_quant = false;
  bool has_input_scales = false;
  bool has_bias = false;
  std::optional<double> gemm1_alpha = {};
  std::optional<double> gemm1_beta = {};
  std::optional<double> swiglu_limit = {};
  bool sixteen_bit = false;  ///< nvfp4 of B12X: activations stay as they are
  int weight_bits = 4;       ///< int_wna16: 4 or 8
  bool has_zero_points = false;
};

/// float8_e4m3fnuz on gfx94x, float8_e4m3fn elsewhere. Source: vllm 7e1b45a09 platforms/rocm.py fp8_dtype.
std::string_view platform_fp8_dtype(const deployment::Hardware& hardware);

/// How a row finds a group shape.
enum class ShapeRule : std::uint8_t {
  none,
  per_tensor,
  per_token,
  block_128,        ///< (128, 128), whatever the checkpoint's
  given,            ///< the checkpoint's block, none without one
  from_flags,       ///< the checkpoint's block; without one what the two flags say
  block_or_tensor,  ///< the checkpoint's block, else one for the tensor: the flags are not looked at
  flag              ///< one a token or one for the tensor, as the flag says; a block is not looked at
};

/// Which checkpoint blocks a row is for.
enum class BlockRule : std::uint8_t { any, absent, mx };

/// Which activations a row is for.
enum class SchemeRule : std::uint8_t {
  any,
  input_scales,     ///< scales of the checkpoint, or one a token
  no_input_scales,  ///< neither
  sixteen_bit,      ///< QuantArguments::sixteen_bit
};

/// Names of the tensors of a1, a2, w1, w2; an empty one is None.
struct Symbols {
  std::string_view a1;
  std::string_view a2;
  std::string_view w1;
  std::string_view w2;
};

/// The config of some backends of one oracle.
struct QuantConfigRow {
  std::span<const std::string_view> backends;
  BlockRule block = BlockRule::any;
  std::string_view activation_dtype = {};  ///< kPlatformFp8: that of the platform
  std::string_view weight_dtype = {};
  ShapeRule activation_shape = ShapeRule::none;
  ShapeRule weight_shape = ShapeRule::none;
  Symbols scales = {};  ///< a1 and a2 are None where no input scales are given
  Symbols gscales = {};
  bool needs_input_scales = false;  ///< an assertion of the engine
  bool swizzled = true;
  int mx_alignment = 0;
  bool takes_alpha_beta = false;
  bool takes_limit = false;
  bool takes_bias = false;
  deployment::Versions versions = deployment::since(deployment::kVllm2026_05);
  SchemeRule scheme = SchemeRule::any;
};
inline constexpr std::string_view kPlatformFp8 = "platform fp8";
inline constexpr std::string_view kIntegerOfWeights = "int of the weights' bits";

/// Rows of an oracle in a version, first match wins. Throws Error(usage) with the nearest known name.
/// mxfp4 and mxfp4_deepseek_v4, fp8 and mxfp8 share theirs. Source: vllm fused_moe/oracle/*.py make_*_moe_quant_config, fused_moe/config.py,
/// unquantized_fused_moe_method.py at 7e1b45a09 (w4a8: 4438b6e7d), 7ca49fbe4 and 0.33.0.
std::vector<QuantConfigRow> quant_config_rows(deployment::Engine engine, std::string_view oracle);

/// The config of a backend, or the engine's AssertionError: input scales missing where they are needed, a block together with a flag where both are
/// looked at. Throws Error(usage) for an oracle or a backend without a row; HUMMING has none: its config comes from the layer's own schemas.
Answer<QuantConfig> quant_config(deployment::Engine engine, std::string_view oracle, std::string_view backend, const QuantArguments& arguments);
Answer<QuantConfig> quant_config(std::span<const QuantConfigRow> rows, std::string_view backend, const QuantArguments& arguments);
/// The row that makes it; null: none.
const QuantConfigRow* find_quant_config_row(std::span<const QuantConfigRow> rows, std::string_view backend, const QuantArguments& arguments);

}  // namespace mx::engine
