#pragma once
// Recorded answers of the legacy mxfp4 method. Same contract as FunctionRow::evaluate.

#include <string>

#include "model/deployment/version.hpp"
#include "support/json.hpp"

namespace mx::golden {

sim::Json evaluate_legacy_mxfp4(Engine engine, const sim::Json& inputs, const std::string& where);
sim::Json evaluate_legacy_tile_tokens_dim(Engine engine, const sim::Json& inputs, const std::string& where);
sim::Json evaluate_legacy_can_support(Engine engine, const sim::Json& inputs, const std::string& where);

}  // namespace mx::golden
