#pragma once
// A model's configuration file: bounded JSON, and its values as the model's tables read them.

#include <filesystem>

#include "model/deployment/config_value.hpp"
#include "support/json.hpp"

namespace mx::support {

/// Reads a configuration. Throws Error(input) that names the file, and the key before the place where it is no JSON: empty, cut off, a byte order
/// mark, NaN, a key given twice, a number that 64 bits do not hold.
Json read_model_json(const std::filesystem::path& file);

/// The same value. An integer above int64 is the largest one, with its own digits as text.
deployment::ConfigValue config_value_of(const Json& json);

}  // namespace mx::support
