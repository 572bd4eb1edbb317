#include "verbs/compare/demand.hpp"

#include <fmt/format.h>

#include <string>

#include "model/error.hpp"

namespace mx::verbs {
namespace {

bool meets(const Conversion& how, const ConversionDemand& demand) {
  return demand.rounding.value_or(how.rounding) == how.rounding && demand.overflow.value_or(how.overflow) == how.overflow;
}

/// Names of the profiles whose conversion is as demanded.
std::string those_that_meet(const Format& from, const Format& to, const ConversionDemand& demand) {
  std::string names;
  for (const Profile& profile : all_profiles()) {
    const Conversion* how = find_conversion(profile, from, to);
    if (how != nullptr && meets(*how, demand)) names += " " + std::string(profile.name);
  }
  return names.empty() ? "no profile does" : "these do:" + names;
}

}  // namespace

const Conversion& demanded_conversion(const Profile& profile, const Format& from, const Format& to, const ConversionDemand& demand) {
  const Conversion& how = conversion(profile, from, to);
  if (meets(how, demand)) return how;
  const bool rounding = demand.rounding.value_or(how.rounding) != how.rounding;
  const std::string_view has = rounding ? name_of(how.rounding) : name_of(how.overflow);
  const std::string_view wanted = rounding ? name_of(*demand.rounding) : name_of(*demand.overflow);
  throw Error(ErrorCode::usage, fmt::format("profile '{}' converts {} -> {} with {} {}, not {}; {}", profile.name, from.name, to.name,
                                            rounding ? "rounding" : "overflow", has, wanted, those_that_meet(from, to, demand)));
}

}  // namespace mx::verbs
