// E8M0 block scales as implementations do them.

#include "model/numerics/profile_tables.hpp"

namespace mx {

std::span<const Profile> mx_profiles() { return {}; }

}  // namespace mx
