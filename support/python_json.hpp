#pragma once
// JSON with the infinities of Python's json module, which JSON has not and published configurations hold (Nemotron-H: "time_step_limit").

#include <cstdint>
#include <string>
#include <vector>

#include "support/json.hpp"

namespace mx::support {

/// As parse_json; Infinity and -Infinity outside of texts become the texts "inf" and "-inf", which are no numbers to compute with. Bytes keep their
/// places. NaN stays no JSON.
Json parse_python_json(std::vector<std::uint8_t> text, const JsonLimits& limits, const std::string& where);

}  // namespace mx::support
