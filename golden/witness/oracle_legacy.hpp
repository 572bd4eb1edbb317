#pragma once
// Recorded answers of the legacy mxfp4 method. Same contract as FunctionRow::evaluate.

#include <string>

#include "model/deployment/version.hpp"
#include "support/json.hpp"

namespace mx::golden {

support::Json evaluate_legacy_mxfp4(deployment::Engine engine, const support::Json& inputs, const std::string& where);
support::Json evaluate_legacy_tile_tokens_dim(deployment::Engine engine, const support::Json& inputs, const std::string& where);
support::Json evaluate_legacy_can_support(deployment::Engine engine, const support::Json& inputs, const std::string& where);

}  // namespace mx::golden
