#pragma once
// What a user demands of a conversion beyond its profile: the profile decides, the demand refuses another decision.

#include <optional>

#include "model/numerics/profile.hpp"

namespace mx::verbs {

/// Nothing is demanded of what is not set.
struct ConversionDemand {
  std::optional<Rounding> rounding;
  std::optional<Overflow> overflow;
};

/// conversion(profile, from, to) when it does as demanded. Throws Error(usage) as that does, and for a profile that rounds or overflows in another
/// way, naming those that do as demanded.
const Conversion& demanded_conversion(const Profile& profile, const Format& from, const Format& to, const ConversionDemand& demand);

}  // namespace mx::verbs
