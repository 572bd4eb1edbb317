#pragma once
// A deployment as an INFO file: `platform SM100`, `parallel { tp 2 }`, `layer { ... }`, `env { ... }`, `software { ... }`.

#include <filesystem>
#include <string>
#include <string_view>

#include "model/oracle/deployment.hpp"

namespace mx::sim {

/// Reads and checks a deployment file. Throws Error(input) naming file, line, key, value and rule.
oracle::Deployment load_deployment(const std::filesystem::path& path);
oracle::Deployment parse_deployment(std::string_view text, const std::string& where);

}  // namespace mx::sim
