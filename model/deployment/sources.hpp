#pragma once
// Which releases and commits stand for a version of an engine.

#include <string_view>
#include <vector>

#include "model/deployment/version.hpp"

namespace mx::deployment {

std::vector<std::string_view> releases_of(Engine engine);  ///< "0.22.0", oldest first
std::vector<std::string_view> commits_of(Engine engine);   ///< as far as they are known

}  // namespace mx::deployment
