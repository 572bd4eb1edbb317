#pragma once
// Foreign JSON, read within bounds: depth, size, UTF-8, no duplicate keys, integers kept exactly.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

namespace mx::sim {

struct JsonLimits {
  std::uint64_t bytes;  ///< of the text
  int depth = 8;
};

/// Parses UTF-8 text. Throws Error(input) that names `where` and the byte offset within the text (plus `base`): bad syntax, a duplicate key,
/// nesting deeper than the limit, trailing bytes, a number that does not fit its type.
nlohmann::ordered_json parse_json(std::span<const std::uint8_t> text, const JsonLimits& limits, const std::string& where, std::uint64_t base = 0);

}  // namespace mx::sim
