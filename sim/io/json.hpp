#pragma once
// Foreign JSON, read within bounds: depth, size, memory, UTF-8, no duplicate keys, integers kept exactly.
// Include <nlohmann/json.hpp> where the values are used.

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

namespace mx::sim {

struct JsonLimits {
  std::uint64_t bytes;                             ///< of the text
  int depth = 8;                                   ///< of nested objects and arrays
  std::uint64_t memory = std::uint64_t{64} << 20;  ///< estimate, in bytes, of the values held at one time
};

/// Parses UTF-8 text. Throws Error(input) that names `where` and the byte offset within the text (plus `base`): bad syntax or UTF-8, a duplicate key,
/// nesting deeper than the limit, trailing bytes, a number that does not fit its type, a token longer than 1 MiB, too many values.
/// Integers are int64 or uint64, never rounded to floating point.
nlohmann::ordered_json parse_json(std::span<const std::uint8_t> text, const JsonLimits& limits, const std::string& where, std::uint64_t base = 0);

/// Takes one member of the top-level object; `offset` is where its key begins. Returns false when it already has a member of that name.
using JsonMember = std::function<bool(std::string&& key, nlohmann::ordered_json&& value, std::uint64_t offset)>;

/// As parse_json for a text that must be an object, one member at a time: only one member is in memory, and limits.memory is per member.
void for_each_json_member(std::span<const std::uint8_t> text, const JsonLimits& limits, const std::string& where, std::uint64_t base,
                          const JsonMember& member);

}  // namespace mx::sim
