#pragma once
// What tests ask of HTML and SVG as text.

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace mx::tests {

inline std::size_t times(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

/// Every tag is closed in order, except those of HTML that never are.
inline bool is_well_formed(const std::string& text) {
  constexpr std::array<std::string_view, 3> kVoid{"meta", "!doctype", "br"};
  std::vector<std::string> open;
  for (std::size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at + 1)) {
    const std::size_t end = text.find('>', at);
    if (end == std::string::npos) return false;
    const std::string tag = text.substr(at + 1, end - at - 1);
    const std::string name = tag.substr(0, tag.find_first_of(" /"));
    if (tag.front() == '/') {
      if (open.empty() || open.back() != tag.substr(1)) return false;
      open.pop_back();
    } else if (tag.back() != '/' && std::ranges::find(kVoid, name) == kVoid.end()) {
      open.push_back(name);
    }
  }
  return open.empty();
}

}  // namespace mx::tests
