// FP8 with fp32 scales as implementations do them.

#include "model/numerics/profile_tables.hpp"

namespace mx {

std::span<const Profile> fp8_profiles() { return {}; }

}  // namespace mx
