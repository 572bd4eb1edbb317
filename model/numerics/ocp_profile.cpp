// The profile `ocp`: what the documents say, and where they leave a choice, what is chosen.

#include <array>

#include "model/numerics/profile_tables.hpp"

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
// UE4M3 is E4M3 without a sign (NaN instead).
// bf16, fp16 and f32 follow IEEE 754 with the positive quiet NaN.
constexpr std::array<ConversionRow, 13> kOcpConversions{{
    {nullptr, &kE4m3fn, saturating(0x7F)},
    {nullptr, &kE5m2, saturating(0x7F)},
    {nullptr, &kE4m3fnuz, saturating(0x80)},
    {nullptr, &kE5m2fnuz, saturating(0x80)},
    {nullptr, &kE2m3, saturating(0x1F)},
    {nullptr, &kE3m2, saturating(0x1F)},
    {nullptr, &kE2m1, saturating(0x07)},
    {nullptr, &kE8m0, {Rounding::toward_zero, Overflow::saturate, NanRule::fixed, 0xFF, 0xFF, 0x00, true}},
    {nullptr, &kUe4m3, {Rounding::nearest_even, Overflow::saturate, NanRule::fixed, 0x7F, 0x7F, 0x00, true}},
    {nullptr, &kMxint8, saturating(0x7F)},
    {nullptr, &kBf16, ieee(0x7FC0)},
    {nullptr, &kFp16, ieee(0x7E00)},
    {nullptr, &kF32, ieee(0x7FC00000)},
}};

// Blocks as the document defines them: floor, exact scaling, one rounding.
constexpr Recipe floor_recipe(const BlockFormat& format, std::uint32_t nan) {
  return {&format, ocp_recipe(saturating(nan)), "MX 1.0 sections 5.2, 6.3"};
}

constexpr std::array<Recipe, 6> kOcpRecipes{{
    floor_recipe(kMxfp8E4m3, 0x7F),
    floor_recipe(kMxfp8E5m2, 0x7F),
    floor_recipe(kMxfp6E2m3, 0x1F),
    floor_recipe(kMxfp6E3m2, 0x1F),
    floor_recipe(kMxfp4, 0x07),
    floor_recipe(kMxint8Block, 0x7F),
}};

// The exact product, rounded once; what is above the target's range is Inf there.
constexpr Dequantizer exact(const BlockFormat& format, const Format& target) {
  return {&format, &target, ScaleReading::value, nullptr, ProductRange::infinite, false, TensorUse::none, "MX 1.0 section 5.2"};
}

constexpr std::array<Dequantizer, 18> kOcpDequantizers{{
    exact(kMxfp8E4m3, kF32),
    exact(kMxfp8E4m3, kBf16),
    exact(kMxfp8E4m3, kFp16),
    exact(kMxfp8E5m2, kF32),
    exact(kMxfp8E5m2, kBf16),
    exact(kMxfp8E5m2, kFp16),
    exact(kMxfp6E2m3, kF32),
    exact(kMxfp6E2m3, kBf16),
    exact(kMxfp6E2m3, kFp16),
    exact(kMxfp6E3m2, kF32),
    exact(kMxfp6E3m2, kBf16),
    exact(kMxfp6E3m2, kFp16),
    exact(kMxfp4, kF32),
    exact(kMxfp4, kBf16),
    exact(kMxfp4, kFp16),
    exact(kMxint8Block, kF32),
    exact(kMxint8Block, kBf16),
    exact(kMxint8Block, kFp16),
}};

constexpr std::array<Profile, 1> kOcpProfiles{{
    {kOcp, "ocp", "nearest-even, saturating", "any", "any",
     "OFP8 1.0 section 5; MX 1.0 sections 5.3, 6.3; PTX ISA cvt.rn.satfinite where these leave a choice", kOcpConversions, kOcpRecipes,
     kOcpDequantizers},
}};

}  // namespace

std::span<const Profile> ocp_profiles() { return kOcpProfiles; }

}  // namespace mx
