#pragma once
// A deployment written as the INFO text that `mxact select` reads.

#include <string>
#include <string_view>

#include "model/deployment/deployment.hpp"
#include "model/deployment/version.hpp"

namespace mx::audit {

/// One line, with what differs from the reader's defaults and what it requires; hardware by the name of its preset where there is one.
/// Reading it gives the deployment again.
std::string info_text(deployment::Engine engine, std::string_view oracle, const deployment::Deployment& deployment);

}  // namespace mx::audit
