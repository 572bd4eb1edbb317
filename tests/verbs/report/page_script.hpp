#pragma once
// A page without the script that every page has.

#include <fstream>
#include <sstream>
#include <string>

namespace mx::tests {

/// The page without support/page.js. One that does not have it, or has another one, stays as it is.
inline std::string without_script(const std::string& html) {
  std::ifstream stream(std::string(MXACT_SOURCE_DIR) + "/support/page.js");
  std::stringstream script;
  script << stream.rdbuf();
  const std::string element = "<script>" + script.str() + "</script>\n";
  const std::size_t at = html.find(element);
  return at == std::string::npos ? html : html.substr(0, at) + html.substr(at + element.size());
}

}  // namespace mx::tests
