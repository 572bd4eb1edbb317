#pragma once
// What a release answers otherwise than the version that it stands for, and which libraries come with it.

#include <string>
#include <string_view>
#include <vector>

#include "model/deployment/deployment.hpp"

namespace mx::engine {

/// One line for each known difference of the release from its version that touches the deployment. Empty for no release ("") and for one without
/// rows.
std::vector<std::string> release_differences(std::string_view release, std::string_view oracle, const deployment::Deployment& deployment);
/// The same for any deployment of the oracle, each with those that it touches.
std::vector<std::string> release_differences(std::string_view release, std::string_view oracle);

/// "0.29.0 comes with flashinfer-python 0.6.18, ..": what its CUDA wheel requires; empty as above.
std::string release_libraries(std::string_view release);

}  // namespace mx::engine
