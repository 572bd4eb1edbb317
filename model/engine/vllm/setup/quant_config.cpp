#include "model/engine/vllm/setup/quant_config.hpp"

#include <algorithm>
#include <vector>

#include "model/error.hpp"
#include "model/fault.hpp"
#include "model/names.hpp"

namespace mx::engine {
namespace {

constexpr GroupShape kMxBlock{1, 32};
constexpr GroupShape kDeepGemmBlock{128, 128};

bool is_for(const QuantConfigRow& row, std::string_view backend) {
  return std::find(row.backends.begin(), row.backends.end(), backend) != row.backends.end();
}

bool admits(BlockRule rule, const std::optional<GroupShape>& block) {
  switch (rule) {
    case BlockRule::any: return true;
    case BlockRule::absent: return !block;
    case BlockRule::mx: break;
  }
  return block == kMxBlock;
}

bool admits(SchemeRule rule, const QuantArguments& arguments) {
  const bool scaled = arguments.has_input_scales || arguments.per_act_token_quant;
  switch (rule) {
    case SchemeRule::any: return true;
    case SchemeRule::input_scales: return scaled;
    case SchemeRule::no_input_scales: return !scaled;
    case SchemeRule::sixteen_bit: break;
  }
  return arguments.sixteen_bit;
}

const QuantConfigRow& row_for(std::span<const QuantConfigRow> rows, std::string_view backend, const QuantArguments& arguments) {
  if (const QuantConfigRow* row = find_quant_config_row(rows, backend, arguments)) return *row;
  std::vector<std::string_view> known;
  for (const QuantConfigRow& row : rows) known.insert(known.end(), row.backends.begin(), row.backends.end());
  throw Error(ErrorCode::usage, unknown_name("backend with a quantization config", backend, known));
}

/// `without_block` is what the flag says.
std::optional<GroupShape> shape_of(ShapeRule rule, const std::optional<GroupShape>& block, const std::optional<GroupShape>& without_block) {
  switch (rule) {
    case ShapeRule::none: return std::nullopt;
    case ShapeRule::per_tensor: return kPerTensor;
    case ShapeRule::per_token: return kPerToken;
    case ShapeRule::block_128: return kDeepGemmBlock;
    case ShapeRule::given: return block;
    case ShapeRule::block_or_tensor: return block ? block : kPerTensor;
    case ShapeRule::flag: return without_block;
    case ShapeRule::from_flags: break;
  }
  return block ? block : without_block;
}

std::string dtype_of(std::string_view word, const QuantArguments& arguments) {
  if (word == kIntegerOfWeights) return "int" + std::to_string(arguments.weight_bits);
  return std::string(word == kPlatformFp8 ? platform_fp8_dtype(arguments.hardware) : word);
}

std::optional<Refusal> refusal_of(const QuantConfigRow& row, const QuantArguments& arguments) {
  if (row.needs_input_scales && !arguments.has_input_scales) return Refusal{"AssertionError", "input scales are needed"};
  const bool looks_at_flags = row.activation_shape == ShapeRule::from_flags;
  if (looks_at_flags && arguments.block_shape && (arguments.per_act_token_quant || arguments.per_out_ch_quant)) {
    return Refusal{"AssertionError", "a block excludes scales per token and per channel"};
  }
  return std::nullopt;
}

QuantConfig config_of(const QuantConfigRow& row, const QuantArguments& arguments) {
  const auto activation_shape = shape_of(row.activation_shape, arguments.block_shape, arguments.per_act_token_quant ? kPerToken : kPerTensor);
  const auto weight_shape = shape_of(row.weight_shape, arguments.block_shape, arguments.per_out_ch_quant ? std::optional(kPerToken) : std::nullopt);
  const auto input_scale = [&](std::string_view name) { return std::string(arguments.has_input_scales ? name : std::string_view()); };
  const auto bias = [&](const char* name) { return std::string(row.takes_bias && arguments.has_bias ? name : ""); };
  const auto zeros = [&](const char* name) { return std::string(arguments.has_zero_points ? name : ""); };
  const bool kept = fault::planted(fault::Fault::added_activations_kept) && row.versions.since != deployment::kVllm2026_05;
  const std::string activation_dtype = kept ? "" : dtype_of(row.activation_dtype, arguments);
  const std::string weight_dtype = dtype_of(row.weight_dtype, arguments);
  return {
      .a1 = {activation_dtype, activation_shape, input_scale(row.scales.a1), std::string(row.gscales.a1), ""},
      .a2 = {activation_dtype, activation_shape, input_scale(row.scales.a2), std::string(row.gscales.a2), ""},
      .w1 = {weight_dtype, weight_shape, std::string(row.scales.w1), std::string(row.gscales.w1), bias("w1_bias"), zeros("w1_zp")},
      .w2 = {weight_dtype, weight_shape, std::string(row.scales.w2), std::string(row.gscales.w2), bias("w2_bias"), zeros("w2_zp")},
      .is_scale_swizzled = row.swizzled,
      .gemm1_alpha = row.takes_alpha_beta ? arguments.gemm1_alpha : std::nullopt,
      .gemm1_beta = row.takes_alpha_beta ? arguments.gemm1_beta : std::nullopt,
      .gemm1_clamp_limit = row.takes_limit ? arguments.swiglu_limit : std::nullopt,
      .mx_alignment = row.mx_alignment,
  };
}

}  // namespace

bool QuantConfig::per_out_ch_quant() const { return w1.shape == kPerToken; }

std::optional<GroupShape> QuantConfig::block_shape() const { return a1.shape == kPerTensor || a1.shape == kPerToken ? std::nullopt : a1.shape; }

std::string_view platform_fp8_dtype(const deployment::Hardware& hardware) {
  const bool fnuz = hardware.platform == deployment::PlatformKind::rocm && hardware.gcn_arch.find("gfx94") != std::string::npos;
  return fnuz ? "float8_e4m3fnuz" : "float8_e4m3fn";
}

Answer<QuantConfig> quant_config(std::span<const QuantConfigRow> rows, std::string_view backend, const QuantArguments& arguments) {
  const QuantConfigRow& row = row_for(rows, backend, arguments);
  if (const auto refusal = refusal_of(row, arguments)) return *refusal;
  return config_of(row, arguments);
}

const QuantConfigRow* find_quant_config_row(std::span<const QuantConfigRow> rows, std::string_view backend, const QuantArguments& arguments) {
  for (const QuantConfigRow& row : rows) {
    if (is_for(row, backend) && admits(row.block, arguments.block_shape) && admits(row.scheme, arguments)) return &row;
  }
  return nullptr;
}

Answer<QuantConfig> quant_config(deployment::Engine engine, std::string_view oracle, std::string_view backend, const QuantArguments& arguments) {
  return quant_config(quant_config_rows(engine, oracle), backend, arguments);
}

}  // namespace mx::engine
