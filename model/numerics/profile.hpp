#pragma once
// Profiles: how one implementation converts, quantizes and dequantizes. A profile is a row of data; nothing is implied, nothing falls back.

#include <span>
#include <string_view>

#include "model/numerics/convert.hpp"
#include "model/numerics/dequantize.hpp"
#include "model/numerics/recipe.hpp"
#include "model/numerics/releases.hpp"

namespace mx {

/// One conversion of a profile: every choice for one source and target format.
struct ConversionRow {
  const Format* from;  ///< null: every source that no other row of the profile names; also one of wide_sources()
  const Format* to;
  Conversion how;
};

/// What one implementation does. `implementation`, `device` and `build` are words of the witness form (golden/witness/FORMAT.md, section 7);
/// `operation` tells apart what one implementation offers (satfinite and nosat casts, scale rules).
struct Profile {
  std::string_view name;  ///< with "@release" or "@commit" where another row has the same name without it
  std::string_view implementation;
  std::string_view operation;
  std::string_view device;
  std::string_view build;
  std::string_view source;  ///< what these rows were read from or held against, with its version
  std::span<const ConversionRow> conversions;
  std::span<const Recipe> recipes;
  std::span<const Dequantizer> dequantizers;
  Releases releases = {};
};

/// Every profile; names are unique. `ocp` follows OFP8 and MX where they speak.
std::span<const Profile> all_profiles();
/// A name alone is the profile of the newest release that is known, never of a commit; "NAME@2.11" or "NAME@36027d8" the one that holds for that
/// release or commit; a text of rules, or the name of one (rules.hpp), the profile that it says. Throws Error(usage) with the nearest known name, or
/// with the versions that are known.
const Profile& profile_named(std::string_view name);

/// What the profile does for one source and target, block format, or block format and target. Each throws Error(usage) when the profile does not
/// define it, naming those that do.
const Conversion& conversion(const Profile& profile, const Format& from, const Format& to);
const Recipe& recipe(const Profile& profile, const BlockFormat& format);
/// The recipe, which must take elements of that source.
const Recipe& recipe(const Profile& profile, const BlockFormat& format, const Format& source);
const Dequantizer& dequantizer(const Profile& profile, const BlockFormat& format, const Format& target);

/// The same, or null when the profile does not define it.
const Conversion* find_conversion(const Profile& profile, const Format& from, const Format& to);
const Recipe* find_recipe(const Profile& profile, const BlockFormat& format);
const Dequantizer* find_dequantizer(const Profile& profile, const BlockFormat& format, const Format& target);

inline constexpr std::string_view kOcp = "ocp";

}  // namespace mx
