#pragma once
// The tensor's scales as command-line options.

#include "model/numerics/profile.hpp"

namespace mx::cli {

/// Throws Error(usage) naming the option, --global-scale or --scale, when the profile's recipe cannot do without a scale that is not given.
void require_tensor_scales(const Profile& profile, const Recipe& recipe, const TensorScale& tensor);

}  // namespace mx::cli
