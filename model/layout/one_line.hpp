#pragma once
// Programs inside messages: an error is one line.

#include <string>

#include "model/layout/layout.hpp"

namespace mx::layout {

/// describe() with "; " between its steps.
inline std::string one_line(const Layout& layout) {
  std::string line;
  for (const char c : layout.describe()) line += c == '\n' ? std::string("; ") : std::string(1, c);
  while (line.ends_with("; ")) line.resize(line.size() - 2);
  return line;
}

}  // namespace mx::layout
