#pragma once
// What a release answers otherwise than the version that it stands for, and which libraries come with it.

#include <string>
#include <string_view>
#include <vector>

#include "model/deployment/deployment.hpp"

namespace mx::oracle {

/// One line for each known difference of the release from its version that touches the deployment, and one for the libraries that its CUDA wheel
/// requires. Empty for no release ("") and for one without rows.
std::vector<std::string> release_notes(std::string_view release, std::string_view oracle, const Deployment& deployment);

}  // namespace mx::oracle
