#pragma once
// The tables that all_profiles() concatenates, one per file. Names are unique over all of them.

#include <span>

#include "model/numerics/profile.hpp"

namespace mx {

std::span<const Profile> ocp_profiles();         ///< the documents
std::span<const Profile> conversion_profiles();  ///< scalar casts
std::span<const Profile> mx_profiles();          ///< E8M0 block scales
std::span<const Profile> mx_library_profiles();  ///< E8M0 block scales of Python libraries, as their releases have them
std::span<const Profile> group_profiles();       ///< scales of groups from amax / max_normal
std::span<const Profile> nvfp4_profiles();
std::span<const Profile> fp8_profiles();
std::span<const Profile> dequantize_profiles();  ///< blocks with E8M0 scales back into numbers

}  // namespace mx
