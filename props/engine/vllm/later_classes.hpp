#pragma once
// What classes of the later versions refuse, said a second time.

#include <string_view>
#include <vector>

#include "props/engine/vllm/later_restated.hpp"

namespace mx::props {

/// Classes that are said a second time: of each kind of check one at least.
std::vector<std::string_view> later_class_names(Later version);

/// The first check that a class fails for a layer of these keys, as recorded verdicts name it; empty: it takes the layer.
std::string_view later_class_code(Later version, std::string_view name, const deployment::Deployment& deployment, std::string_view weights,
                                  std::string_view activations);

}  // namespace mx::props
