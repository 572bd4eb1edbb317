#include "golden/witness/oracle_quant_config.hpp"

#include <optional>
#include <variant>

#include "golden/witness/oracle_inputs.hpp"
#include "model/engine/vllm/select.hpp"
#include "model/engine/vllm/setup/quant_config.hpp"

namespace mx::golden {
namespace {

Json shape_json(const std::optional<oracle::GroupShape>& shape) { return shape ? Json::array({shape->row, shape->col}) : Json(); }
Json word_json(const std::string& word) { return word.empty() ? Json() : Json(word); }
Json number_json(const std::optional<double>& number) { return number ? Json(*number) : Json(); }

/// No function of these makes zero points.
Json descriptor_json(const oracle::QuantDescriptor& descriptor) {
  return {{"dtype", word_json(descriptor.dtype)},
          {"shape", shape_json(descriptor.shape)},
          {"scale", word_json(descriptor.scale)},
          {"alpha_or_gscale", word_json(descriptor.alpha_or_gscale)},
          {"zp", nullptr},
          {"bias", word_json(descriptor.bias)}};
}

Json config_json(const oracle::Answer<oracle::QuantConfig>& answer) {
  if (const auto* refusal = std::get_if<oracle::Refusal>(&answer)) return {{"error_type", refusal->error_type}};
  const auto& config = std::get<oracle::QuantConfig>(answer);
  return {{"a1", descriptor_json(config.a1)},
          {"a2", descriptor_json(config.a2)},
          {"w1", descriptor_json(config.w1)},
          {"w2", descriptor_json(config.w2)},
          {"is_scale_swizzled", config.is_scale_swizzled},
          {"gemm1_alpha", number_json(config.gemm1_alpha)},
          {"gemm1_beta", number_json(config.gemm1_beta)},
          {"gemm1_clamp_limit", number_json(config.gemm1_clamp_limit)},
          {"mx_alignment", config.mx_alignment},
          {"quant_dtype", word_json(config.quant_dtype())},
          {"per_act_token_quant", config.per_act_token_quant()},
          {"per_out_ch_quant", config.per_out_ch_quant()},
          {"block_shape", shape_json(config.block_shape())}};
}

std::optional<oracle::GroupShape> read_block(Values& values) {
  const Json& block = values.at("block_shape");
  if (block.is_null()) return std::nullopt;
  if (!block.is_array() || block.size() != 2) values.wrong("block_shape", "null or [rows, columns]", block);
  return oracle::GroupShape{values.checked("block_shape", block[0], 1, oracle::kLargestSize),
                            values.checked("block_shape", block[1], 1, oracle::kLargestSize)};
}

}  // namespace

Json evaluate_mxfp4_quant_config(Engine /*engine*/, const Json& inputs, const std::string& where) {
  Values values(inputs, "inputs", where);
  oracle::QuantArguments arguments;
  arguments.hardware = read_hardware(values.at("hardware"), where);
  arguments.gemm1_alpha = values.number_or_null("gemm1_alpha");
  arguments.gemm1_beta = values.number_or_null("gemm1_beta");
  arguments.swiglu_limit = values.number_or_null("swiglu_limit");
  arguments.has_bias = values.boolean("has_bias");
  arguments.has_input_scales = values.boolean("has_input_scales");
  const std::string backend = values.text("backend");
  values.finish();
  return config_json(oracle::quant_config("mxfp4", backend, arguments));
}

Json evaluate_fp8_quant_config(Engine /*engine*/, const Json& inputs, const std::string& where) {
  Values values(inputs, "inputs", where);
  oracle::QuantArguments arguments;
  arguments.hardware = read_hardware(values.at("hardware"), where);
  arguments.block_shape = read_block(values);
  arguments.per_act_token_quant = values.boolean("per_act_token_quant");
  arguments.per_out_ch_quant = values.boolean("per_out_ch_quant");
  arguments.has_input_scales = values.boolean("has_input_scales");
  arguments.swiglu_limit = values.number_or_null("swiglu_limit");
  const std::string backend = values.text("backend");
  values.finish();
  return config_json(oracle::quant_config("fp8", backend, arguments));
}

Json evaluate_nvfp4_quant_config(Engine /*engine*/, const Json& inputs, const std::string& where) {
  Values values(inputs, "inputs", where);
  const std::string backend = values.text("backend");
  values.finish();
  Json got = config_json(oracle::quant_config("nvfp4", backend, {}));
  got["global_sf_supported"] = oracle::backend_named(oracle::nvfp4_tables(kVllm2026_05), backend).global_sf_supported;
  return got;
}

Json evaluate_w4a8_quant_config(Engine /*engine*/, const Json& inputs, const std::string& where) {
  Values(inputs, "inputs", where).finish();
  return config_json(oracle::quant_config("w4a8", "CUTLASS", {}));
}

}  // namespace mx::golden
