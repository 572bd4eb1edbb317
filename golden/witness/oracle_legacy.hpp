#pragma once
// Recorded answers of the legacy mxfp4 method. Same contract as FunctionRow::evaluate.

#include <nlohmann/json.hpp>
#include <string>

namespace mx::golden {

nlohmann::ordered_json evaluate_legacy_mxfp4(const nlohmann::ordered_json& inputs, const std::string& where);
nlohmann::ordered_json evaluate_legacy_tile_tokens_dim(const nlohmann::ordered_json& inputs, const std::string& where);
nlohmann::ordered_json evaluate_legacy_can_support(const nlohmann::ordered_json& inputs, const std::string& where);

}  // namespace mx::golden
