#pragma once
// Where scale rules part: within one power of two of the block's largest magnitude, each rule goes from one scale to the next at one place.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mx::sim {

/// What recipes do whose scales are alike for every largest magnitude from 1 to 2.
struct ScaleStep {
  std::string rule;                    ///< "rceil"
  std::vector<std::string> profiles;   ///< that have such a recipe
  std::uint32_t below;                 ///< E8M0 code for a largest magnitude of 1
  std::uint32_t above;                 ///< just below 2
  std::optional<std::uint32_t> first;  ///< fp32 bits of the least magnitude with the scale `above`; none where both are the same
};

/// The recipes for one block format with E8M0 scales, in the order of the profiles.
struct ScaleSteps {
  std::string format;
  std::vector<ScaleStep> rows;
};

/// Of each block format named, all with E8M0 scales when there is none. Throws Error(usage) for a format that is not known or has no such recipe.
std::vector<ScaleSteps> scale_steps(const std::vector<std::string>& formats);

}  // namespace mx::sim
