#include "model/numerics/profile.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "model/numerics/rows.hpp"

namespace mx {
namespace {

constexpr Conversion fixed_nan(Rounding rounding, Overflow overflow, std::uint32_t nan) {
  return {rounding, overflow, NanRule::fixed, nan, nan, 0, false};
}

constexpr Conversion saturating(std::uint32_t nan) { return fixed_nan(Rounding::nearest_even, Overflow::saturate, nan); }
constexpr Conversion ieee(std::uint32_t nan) { return fixed_nan(Rounding::nearest_even, Overflow::ieee, nan); }

// OFP8 1.0 section 5 and MX 1.0 section 5.3: nearest even, saturating. What they leave open is chosen as PTX cvt.rn.satfinite does:
// a NaN loses its sign and becomes the positive all-ones NaN, or the largest value in formats without NaN. Inf saturates.
// An E8M0 scale is a floor (MX 1.0 section 6.3); it has no zero (code 0 instead) and no sign (NaN instead).
// bf16, fp16 and f32 follow IEEE 754 with the positive quiet NaN.
constexpr std::array<ConversionRow, 12> kOcpConversions{{
    {nullptr, &kE4m3fn, saturating(0x7F)},
    {nullptr, &kE5m2, saturating(0x7F)},
    {nullptr, &kE4m3fnuz, saturating(0x80)},
    {nullptr, &kE5m2fnuz, saturating(0x80)},
    {nullptr, &kE2m3, saturating(0x1F)},
    {nullptr, &kE3m2, saturating(0x1F)},
    {nullptr, &kE2m1, saturating(0x07)},
    {nullptr, &kE8m0, {Rounding::toward_zero, Overflow::saturate, NanRule::fixed, 0xFF, 0xFF, 0x00, true}},
    {nullptr, &kMxint8, saturating(0x7F)},
    {nullptr, &kBf16, ieee(0x7FC0)},
    {nullptr, &kFp16, ieee(0x7E00)},
    {nullptr, &kF32, ieee(0x7FC00000)},
}};

// Blocks as the document defines them: floor, exact scaling, one rounding.
constexpr Recipe floor_recipe(const BlockFormat& format, std::uint32_t nan) {
  return {&format, MxRecipe{ScaleRule::floor, saturating(nan)}, "MX 1.0 sections 5.2, 6.3"};
}

constexpr std::array<Recipe, 6> kOcpRecipes{{
    floor_recipe(kMxfp8E4m3, 0x7F),
    floor_recipe(kMxfp8E5m2, 0x7F),
    floor_recipe(kMxfp6E2m3, 0x1F),
    floor_recipe(kMxfp6E3m2, 0x1F),
    floor_recipe(kMxfp4, 0x07),
    floor_recipe(kMxint8Block, 0x7F),
}};

constexpr std::array<Profile, 1> kProfiles{{
    {kOcp,
     "ocp",
     "nearest-even, saturating",
     "any",
     "any",
     "OFP8 1.0 section 5; MX 1.0 sections 5.3, 6.3; PTX ISA cvt.rn.satfinite where these leave a choice",
     kOcpConversions,
     kOcpRecipes,
     {}},
}};

[[noreturn]] void undefined(const Profile& profile, const std::string& what, std::vector<std::string_view> those_that_do) {
  std::string message = "profile '" + std::string(profile.name) + "' does not define " + what;
  if (those_that_do.empty()) throw Error(ErrorCode::usage, message + "; no profile does");
  message += "; these do:";
  for (std::string_view name : those_that_do) message += " " + std::string(name);
  throw Error(ErrorCode::usage, message);
}

/// The row that `find` gives for the profile, or the error that names the profiles for which it gives one.
template <typename Find>
const auto& required(const Profile& profile, const std::string& what, const Find& find) {
  if (const auto* row = find(profile)) return *row;
  std::vector<std::string_view> names;
  for (const Profile& other : all_profiles()) {
    if (find(other) != nullptr) names.push_back(other.name);
  }
  undefined(profile, what, names);
}

}  // namespace

std::span<const Profile> all_profiles() { return kProfiles; }

const Profile& profile_named(std::string_view name) { return rows::named(kProfiles, "profile", name); }

const Conversion* find_conversion(const Profile& profile, const Format& from, const Format& to) {
  const Conversion* general = nullptr;
  for (const ConversionRow& row : profile.conversions) {
    if (*row.to != to) continue;
    if (row.from == nullptr) general = &row.how;
    if (row.from != nullptr && *row.from == from) return &row.how;
  }
  return general;
}

const Recipe* find_recipe(const Profile& profile, const BlockFormat& format) {
  const auto row = std::ranges::find_if(profile.recipes, [&](const Recipe& r) { return r.format->name == format.name; });
  return row == profile.recipes.end() ? nullptr : &*row;
}

const Dequantizer* find_dequantizer(const Profile& profile, const BlockFormat& format, const Format& target) {
  const auto row =
      std::ranges::find_if(profile.dequantizers, [&](const Dequantizer& r) { return r.format->name == format.name && *r.target == target; });
  return row == profile.dequantizers.end() ? nullptr : &*row;
}

const Conversion& conversion(const Profile& profile, const Format& from, const Format& to) {
  const std::string what = "a conversion " + std::string(from.name) + " -> " + std::string(to.name);
  return required(profile, what, [&](const Profile& p) { return find_conversion(p, from, to); });
}

const Recipe& recipe(const Profile& profile, const BlockFormat& format) {
  return required(profile, "a recipe for " + std::string(format.name), [&](const Profile& p) { return find_recipe(p, format); });
}

const Dequantizer& dequantizer(const Profile& profile, const BlockFormat& format, const Format& target) {
  const std::string what = "how " + std::string(format.name) + " becomes " + std::string(target.name);
  return required(profile, what, [&](const Profile& p) { return find_dequantizer(p, format, target); });
}

}  // namespace mx
