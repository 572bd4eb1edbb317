#include "golden/witness/oracle_quant_config.hpp"

#include <optional>
#include <variant>

#include "golden/witness/oracle_inputs.hpp"
#include "model/engine/vllm/select.hpp"
#include "model/engine/vllm/setup/quant_config.hpp"

namespace mx::golden {
namespace {

Json shape_json(const std::optional<engine::GroupShape>& shape) { return shape ? Json::array({shape->row, shape->col}) : Json(); }
Json word_json(const std::string& word) { return word.empty() ? Json() : Json(word); }
Json number_json(const std::optional<double>& number) { return number ? Json(*number) : Json(); }

Json descriptor_json(const engine::QuantDescriptor& descriptor) {
  return {{"dtype", word_json(descriptor.dtype)},    {"shape", shape_json(descriptor.shape)},
          {"scale", word_json(descriptor.scale)},    {"alpha_or_gscale", word_json(descriptor.alpha_or_gscale)},
          {"zp", word_json(descriptor.zero_points)}, {"bias", word_json(descriptor.bias)}};
}

Json config_json(const engine::Answer<engine::QuantConfig>& answer) {
  if (const auto* refusal = std::get_if<engine::Refusal>(&answer)) return {{"error_type", refusal->error_type}};
  const auto& config = std::get<engine::QuantConfig>(answer);
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

std::optional<engine::GroupShape> read_block(Values& values, std::int64_t lowest = 1) {
  const Json& block = values.at("block_shape");
  if (block.is_null()) return std::nullopt;
  if (!block.is_array() || block.size() != 2) values.wrong("block_shape", "null or [rows, columns]", block);
  return engine::GroupShape{values.checked("block_shape", block[0], lowest, deployment::kLargestSize),
                            values.checked("block_shape", block[1], lowest, deployment::kLargestSize)};
}

void read_constants(Values& values, engine::QuantArguments& arguments) {
  arguments.gemm1_alpha = values.number_or_null("gemm1_alpha");
  arguments.gemm1_beta = values.number_or_null("gemm1_beta");
  arguments.swiglu_limit = values.number_or_null("swiglu_limit");
}

/// The backend is what is left to read.
Json made(deployment::Engine engine, std::string_view oracle, Values& values, const engine::QuantArguments& arguments) {
  const std::string backend = values.text("backend");
  values.finish();
  return config_json(engine::quant_config(engine, oracle, backend, arguments));
}

}  // namespace

Json evaluate_mxfp4_quant_config(deployment::Engine engine, const Json& inputs, const std::string& where) {
  Values values(inputs, "inputs", where);
  engine::QuantArguments arguments;
  arguments.hardware = read_hardware(values.at("hardware"), where);
  read_constants(values, arguments);
  arguments.has_bias = values.boolean("has_bias");
  arguments.has_input_scales = values.boolean("has_input_scales");
  return made(engine, "mxfp4", values, arguments);
}

Json evaluate_fp8_quant_config(deployment::Engine engine, const Json& inputs, const std::string& where) {
  Values values(inputs, "inputs", where);
  engine::QuantArguments arguments;
  arguments.hardware = read_hardware(values.at("hardware"), where);
  arguments.block_shape = read_block(values);
  arguments.per_act_token_quant = values.boolean("per_act_token_quant");
  arguments.per_out_ch_quant = values.boolean("per_out_ch_quant");
  arguments.has_input_scales = values.boolean("has_input_scales");
  if (engine < deployment::kVllm2026_08) {
    arguments.swiglu_limit = values.number_or_null("swiglu_limit");
  } else {
    read_constants(values, arguments);
    arguments.has_bias = values.boolean("has_bias");
  }
  return made(engine, "fp8", values, arguments);
}

Json evaluate_nvfp4_quant_config(deployment::Engine engine, const Json& inputs, const std::string& where) {
  Values values(inputs, "inputs", where);
  engine::QuantArguments arguments;
  if (engine < deployment::kVllm2026_08) {
    const std::string backend = values.text("backend");
    Json got = made(engine, "nvfp4", values, arguments);
    got["global_sf_supported"] = engine::backend_named(engine::nvfp4_tables(engine), backend).global_sf_supported;
    return got;
  }
  arguments.sixteen_bit = values.boolean("use_a16");
  arguments.gemm1_alpha = values.number_or_null("swiglu_alpha");
  arguments.gemm1_beta = values.number_or_null("swiglu_beta");
  arguments.swiglu_limit = values.number_or_null("swiglu_limit");
  return made(engine, "nvfp4", values, arguments);
}

Json evaluate_w4a8_quant_config(deployment::Engine engine, const Json& inputs, const std::string& where) {
  Values values(inputs, "inputs", where);
  if (engine >= deployment::kVllm2026_08) return made(engine, "w4a8", values, {});
  values.finish();
  return config_json(engine::quant_config(engine, "w4a8", "CUTLASS", {}));
}

Json evaluate_int8_quant_config(deployment::Engine engine, const Json& inputs, const std::string& where) {
  Values values(inputs, "inputs", where);
  engine::QuantArguments arguments;
  arguments.has_bias = values.boolean("has_bias");
  arguments.per_act_token_quant = values.boolean("per_act_token_quant");
  arguments.has_input_scales = values.boolean("has_input_scales");
  return made(engine, "int8", values, arguments);
}

Json evaluate_int_wna16_quant_config(deployment::Engine engine, const Json& inputs, const std::string& where) {
  Values values(inputs, "inputs", where);
  engine::QuantArguments arguments;
  arguments.weight_bits = static_cast<int>(values.checked("num_bits", values.at("num_bits"), 4, 8));
  arguments.block_shape = engine::GroupShape{0, values.checked("group_size", values.at("group_size"), -1, deployment::kLargestSize)};
  arguments.has_zero_points = values.boolean("has_zp");
  arguments.has_bias = values.boolean("has_bias");
  read_constants(values, arguments);
  values.finish();
  return config_json(engine::quant_config(engine, "int_wna16", "MARLIN", arguments));
}

Json evaluate_w4a8_int8_quant_config(deployment::Engine engine, const Json& inputs, const std::string& where) {
  Values values(inputs, "inputs", where);
  engine::QuantArguments arguments;
  arguments.block_shape = read_block(values, -1);
  values.finish();
  return config_json(engine::quant_config(engine, "w4a8_int8", "CPU_INT4", arguments));
}

}  // namespace mx::golden
