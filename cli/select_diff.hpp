#pragma once
// mxact select --diff: why two deployments get different answers.

#include <string>
#include <string_view>

#include "model/deployment/version.hpp"

namespace mx::cli {

/// Prints inputs that differ, where the searches part, and both answers. `oracle` replaces that of the files unless empty. Returns the exit status.
int select_diff(const std::string& file_a, const std::string& file_b, std::string_view oracle, Engine engine, bool json);

}  // namespace mx::cli
