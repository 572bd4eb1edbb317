#pragma once
// Recorded quantization configs. Same contract as FunctionRow::evaluate.

#include <string>

#include "model/deployment/version.hpp"
#include "support/json.hpp"

namespace mx::golden {

support::Json evaluate_mxfp4_quant_config(deployment::Engine engine, const support::Json& inputs, const std::string& where);
support::Json evaluate_fp8_quant_config(deployment::Engine engine, const support::Json& inputs, const std::string& where);
support::Json evaluate_nvfp4_quant_config(deployment::Engine engine, const support::Json& inputs, const std::string& where);
support::Json evaluate_w4a8_quant_config(deployment::Engine engine, const support::Json& inputs, const std::string& where);
support::Json evaluate_int8_quant_config(deployment::Engine engine, const support::Json& inputs, const std::string& where);
support::Json evaluate_int_wna16_quant_config(deployment::Engine engine, const support::Json& inputs, const std::string& where);
support::Json evaluate_w4a8_int8_quant_config(deployment::Engine engine, const support::Json& inputs, const std::string& where);

}  // namespace mx::golden
