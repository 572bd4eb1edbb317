// The profile `ocp`: what the documents say, and where they leave a choice, what is chosen. `ocp-nosat` does not saturate; the others round
// otherwise.

#include <array>

#include "model/numerics/profile_tables.hpp"

namespace mx {
namespace {

constexpr Conversion fixed_nan(Rounding rounding, Overflow overflow, std::uint32_t nan) {
  return {rounding, overflow, NanRule::fixed, nan, nan, 0, false};
}

constexpr Conversion saturating(std::uint32_t nan) { return fixed_nan(Rounding::nearest_even, Overflow::saturate, nan); }

/// Scale formats have no sign: a negative number gives NaN; so does what overflows unless the mode saturates.
constexpr Conversion scale(Rounding rounding, bool saturates, std::uint32_t nan) {
  return {rounding, saturates ? Overflow::saturate : Overflow::nan, NanRule::fixed, nan, nan, 0x00, true};
}

// OFP8 1.0 section 5 and MX 1.0 section 5.3: nearest even, saturating. What they leave open is chosen as PTX cvt.rn.satfinite does:
// a NaN loses its sign and becomes the positive all-ones NaN, or the largest value in formats without NaN. Inf saturates.
// OFP8's non-saturating mode makes NaN (E4M3) or Inf (E5M2) of what is above the range after rounding, in every direction; formats without either
// clamp in both modes (MX 1.0 section 5.3).
// E8M0 has no zero (code 0 instead) and no sign (NaN instead). UE4M3 and UE5M3 have no sign (NaN instead).
// bf16, fp16 and f32 follow IEEE 754 in both modes, with the positive quiet NaN.
constexpr auto casts(Rounding rounding, Rounding scale_rounding, bool saturates) {
  const auto cast = [&](Overflow otherwise, std::uint32_t nan) { return fixed_nan(rounding, saturates ? Overflow::saturate : otherwise, nan); };
  return std::to_array<ConversionRow>({
      {nullptr, &kE4m3fn, cast(Overflow::nan, 0x7F)},
      {nullptr, &kE5m2, cast(Overflow::inf, 0x7F)},
      {nullptr, &kE4m3fnuz, cast(Overflow::nan, 0x80)},
      {nullptr, &kE5m2fnuz, cast(Overflow::nan, 0x80)},
      {nullptr, &kE2m3, fixed_nan(rounding, Overflow::saturate, 0x1F)},
      {nullptr, &kE3m2, fixed_nan(rounding, Overflow::saturate, 0x1F)},
      {nullptr, &kE2m1, fixed_nan(rounding, Overflow::saturate, 0x07)},
      {nullptr, &kE8m0, scale(scale_rounding, saturates, 0xFF)},
      {nullptr, &kUe4m3, scale(rounding, saturates, 0x7F)},
      {nullptr, &kUe5m3, scale(rounding, saturates, 0xFF)},
      {nullptr, &kMxint8, fixed_nan(rounding, Overflow::saturate, 0x7F)},
      {nullptr, &kBf16, fixed_nan(rounding, Overflow::ieee, 0x7FC0)},
      {nullptr, &kFp16, fixed_nan(rounding, Overflow::ieee, 0x7E00)},
      {nullptr, &kF32, fixed_nan(rounding, Overflow::ieee, 0x7FC00000)},
  });
}

/// Both modes of one rounding.
struct Modes {
  using Casts = decltype(casts(Rounding::nearest_even, Rounding::nearest_even, true));
  Casts saturating;
  Casts non_saturating;
};
constexpr Modes modes(Rounding rounding, Rounding scale_rounding) {
  return {casts(rounding, scale_rounding, true), casts(rounding, scale_rounding, false)};
}

// An E8M0 scale is a floor where elements are rounded to nearest even (MX 1.0 section 6.3).
constexpr Modes kNearestEven = modes(Rounding::nearest_even, Rounding::toward_zero);
constexpr Modes kNearestAway = modes(Rounding::nearest_away, Rounding::nearest_away);
constexpr Modes kTowardZero = modes(Rounding::toward_zero, Rounding::toward_zero);
constexpr Modes kTowardPositive = modes(Rounding::toward_positive, Rounding::toward_positive);
constexpr Modes kTowardNegative = modes(Rounding::toward_negative, Rounding::toward_negative);

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

constexpr std::string_view kNosatSource = "OFP8 1.0 section 5, the non-saturating mode; MX 1.0 section 5.3 for formats without NaN";
constexpr std::string_view kDirectionSource = "the overflow and NaN rules of ocp or ocp-nosat, the rounding of IEEE 754-2019 section 4.3";

constexpr Profile casts_only(std::string_view name, std::string_view operation, std::string_view source, std::span<const ConversionRow> rows) {
  return {name, "ocp", operation, "any", "any", source, rows, {}, {}};
}

constexpr std::array<Profile, 10> kOcpProfiles{{
    {kOcp, "ocp", "nearest-even, saturating", "any", "any",
     "OFP8 1.0 section 5; MX 1.0 sections 5.3, 6.3; PTX ISA cvt.rn.satfinite where these leave a choice", kNearestEven.saturating, kOcpRecipes,
     kOcpDequantizers},
    casts_only("ocp-nosat", "nearest-even, non-saturating", kNosatSource, kNearestEven.non_saturating),
    casts_only("ocp-rna", "nearest-away, saturating", kDirectionSource, kNearestAway.saturating),
    casts_only("ocp-rna-nosat", "nearest-away, non-saturating", kDirectionSource, kNearestAway.non_saturating),
    casts_only("ocp-rz", "toward-zero, saturating", kDirectionSource, kTowardZero.saturating),
    casts_only("ocp-rz-nosat", "toward-zero, non-saturating", kDirectionSource, kTowardZero.non_saturating),
    casts_only("ocp-ru", "toward-positive, saturating", kDirectionSource, kTowardPositive.saturating),
    casts_only("ocp-ru-nosat", "toward-positive, non-saturating", kDirectionSource, kTowardPositive.non_saturating),
    casts_only("ocp-rd", "toward-negative, saturating", kDirectionSource, kTowardNegative.saturating),
    casts_only("ocp-rd-nosat", "toward-negative, non-saturating", kDirectionSource, kTowardNegative.non_saturating),
}};

}  // namespace

std::span<const Profile> ocp_profiles() { return kOcpProfiles; }

}  // namespace mx
