#include <algorithm>
#include <array>
#include <string>

#include "model/numerics/convert.hpp"
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
constexpr std::array<ProfileRow, 12> kOcpConversions{{
    {&kE4m3fn, saturating(0x7F)},
    {&kE5m2, saturating(0x7F)},
    {&kE4m3fnuz, saturating(0x80)},
    {&kE5m2fnuz, saturating(0x80)},
    {&kE2m3, saturating(0x1F)},
    {&kE3m2, saturating(0x1F)},
    {&kE2m1, saturating(0x07)},
    {&kE8m0, {Rounding::toward_zero, Overflow::saturate, NanRule::fixed, 0xFF, 0xFF, 0x00, true}},
    {&kMxint8, saturating(0x7F)},
    {&kBf16, ieee(0x7FC0)},
    {&kFp16, ieee(0x7E00)},
    {&kF32, ieee(0x7FC00000)},
}};

constexpr std::array<Profile, 1> kProfiles{{
    {kOcp, Rounding::nearest_even, Overflow::saturate,
     "OFP8 1.0 section 5; MX 1.0 sections 5.3, 6.3; PTX ISA cvt.rn.satfinite where these leave a choice", kOcpConversions},
}};

}  // namespace

std::span<const Profile> all_profiles() { return kProfiles; }

const Profile& profile_named(std::string_view name) { return rows::named(kProfiles, "profile", name); }

Conversion conversion(const Profile& profile, const Format& to) {
  const auto row = std::ranges::find_if(profile.conversions, [&](const ProfileRow& r) { return *r.to == to; });
  if (row != profile.conversions.end()) return row->how;
  throw Error(ErrorCode::usage, "profile '" + std::string(profile.name) + "' has no conversion into " + std::string(to.name));
}

}  // namespace mx
