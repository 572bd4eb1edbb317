#pragma once
// JSON of the tests' own text and of what a program printed.

#include <filesystem>
#include <string>
#include <string_view>

#include "support/file.hpp"
#include "support/json.hpp"

namespace mx::tests {

/// Bounds that no test reaches.
inline constexpr support::JsonLimits kTestLimits{.bytes = std::uint64_t{1} << 28, .depth = 32, .memory = std::uint64_t{1} << 32};

inline support::Json parsed(std::string_view text) { return support::parse_json(text, kTestLimits, "text of a test"); }

inline support::Json parsed_file(const std::filesystem::path& file) {
  return support::parse_json(support::read_file(file, kTestLimits.bytes), kTestLimits, file.string());
}

}  // namespace mx::tests
