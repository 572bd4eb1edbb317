#pragma once
// Recorded answers of single functions around the choice of a backend: roundings, quantization configs, the legacy method and others.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/deployment/version.hpp"
#include "support/json.hpp"

namespace mx::golden {

/// One function of the engine.
struct FunctionRow {
  std::string_view oracle;  ///< as the case names it: "mxfp4_round_up"
  /// What the model says, with the keys of the recorded result; {"error_type"} where the engine raises. Throws Error(input) for a line that breaks
  /// its form, Unmodelled and Error(usage) for a word that the model does not know.
  support::Json (*evaluate)(deployment::Engine engine, const support::Json& inputs, const std::string& where);
  deployment::Versions versions;  ///< whose answers have a model
};

/// Every function of a version that has a model.
std::vector<FunctionRow> oracle_functions(deployment::Engine engine);
/// The row of a name, or null.
const FunctionRow* oracle_function(std::string_view oracle);

}  // namespace mx::golden
