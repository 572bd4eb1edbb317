#include "cli/tensor_scales.hpp"

#include <fmt/format.h>

#include "model/error.hpp"

namespace mx::cli {

void require_tensor_scales(const Profile& profile, const Recipe& recipe, const TensorScale& tensor) {
  const TensorNeeds needs = tensor_needs(recipe);
  const auto require = [&](bool missing, const char* scale, const char* option) {
    if (!missing) return;
    throw Error(ErrorCode::usage,
                fmt::format("profile '{}' quantizes {} with {} of the tensor: give it as {}", profile.name, recipe.format->name, scale, option));
  };
  require(needs.encode && !tensor.encode, "the encode scale g", "--global-scale");
  require(needs.decode && !tensor.decode, "the decode scale (1/g, or a static one)", "--scale");
}

}  // namespace mx::cli
