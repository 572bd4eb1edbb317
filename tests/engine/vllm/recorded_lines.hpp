#pragma once
// What golden/witness/oracle recorded, a JSON object a line.

#include <sstream>
#include <string>
#include <vector>

#include "golden/witness/recording.hpp"
#include "tests/json_text.hpp"

namespace mx::tests {

inline std::string oracle_recording(const std::string& name) { return std::string(MXACT_SOURCE_DIR) + "/golden/witness/oracle/" + name; }

/// Lines as text. Throws Error(input) where the recording is not there.
inline std::vector<std::string> recorded_texts(const std::string& name) {
  const auto bytes = golden::read_recording(oracle_recording(name), kTestLimits.bytes);
  std::istringstream text(std::string(bytes.begin(), bytes.end()));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

inline std::vector<support::Json> recorded_lines(const std::string& name) {
  std::vector<support::Json> lines;
  for (const std::string& line : recorded_texts(name)) lines.push_back(parsed(line));
  return lines;
}

}  // namespace mx::tests
