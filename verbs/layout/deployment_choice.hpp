#pragma once
// What a deployment says of the layout that its rank has.

#include <string_view>
#include <vector>

#include "support/deployment_file.hpp"
#include "verbs/layout/subject.hpp"

namespace mx::verbs {

/// The choices of `backend` on a rank of the deployment: rank-shape, padded as the engine rounds for that backend, format, order, device, ranks and
/// whatever else of the setting is not as usual. Choices behind them hold in their place. Throws Error(unsupported) for weights without a layout,
/// Error(usage) as checkpoint::rank_sizes does.
std::vector<KeyValue> choices_on(const support::DeploymentFile& file, std::string_view backend);

}  // namespace mx::verbs
