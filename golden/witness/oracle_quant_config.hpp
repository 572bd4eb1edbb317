#pragma once
// Recorded quantization configs. Same contract as FunctionRow::evaluate.

#include <nlohmann/json.hpp>
#include <string>

namespace mx::golden {

nlohmann::ordered_json evaluate_mxfp4_quant_config(const nlohmann::ordered_json& inputs, const std::string& where);
nlohmann::ordered_json evaluate_fp8_quant_config(const nlohmann::ordered_json& inputs, const std::string& where);
nlohmann::ordered_json evaluate_nvfp4_quant_config(const nlohmann::ordered_json& inputs, const std::string& where);
nlohmann::ordered_json evaluate_w4a8_quant_config(const nlohmann::ordered_json& inputs, const std::string& where);

}  // namespace mx::golden
