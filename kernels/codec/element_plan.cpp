#include "kernels/codec/element_plan.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace mx::kernels {
namespace {

constexpr std::uint32_t kF32Bias = 127;
constexpr std::uint32_t kBelowHalf = 0x7F;

constexpr std::array kSources{std::pair{&kF32, ElementSource::f32}, std::pair{&kBf16, ElementSource::bf16}, std::pair{&kFp16, ElementSource::fp16}};

/// A direction as the kernels' integers: see RoundingPlan.
struct DirectionRow {
  Rounding rounding;
  std::uint32_t addend;
  std::uint32_t even;
  std::uint32_t sticky;
};
constexpr std::array kDirections{
    DirectionRow{Rounding::nearest_even, kBelowHalf, 1, 0},
    DirectionRow{Rounding::nearest_toward_zero, kBelowHalf, 0, 0},
    DirectionRow{Rounding::nearest_away, kBelowHalf, 0, 1},
    DirectionRow{Rounding::toward_zero, 0, 0, 0},
    // Of two at the same distance the first one is the one nearer to zero.
    DirectionRow{Rounding::first_least_distance, kBelowHalf, 0, 0},
    DirectionRow{Rounding::first_least_distance_signed, kBelowHalf, 0, 0},
};

constexpr std::array kZeroSigns{std::pair{ZeroSign::kept, ZeroSigns::kept}, std::pair{ZeroSign::lost_before_rounding, ZeroSigns::kept_if_rounded},
                                std::pair{ZeroSign::lost, ZeroSigns::dropped},
                                std::pair{ZeroSign::negative_before_rounding, ZeroSigns::all_negative}};

/// A search among the magnitudes finds +0 for a zero of either sign, and gives a number below 0 its sign; one that begins with +0 and ends with the
/// negative codes finds +0 wherever the nearest number is a zero.
ZeroSign sign_of_search(Rounding rounding, ZeroSign zeros) {
  if (rounding == Rounding::first_least_distance_signed) return ZeroSign::lost;
  return rounding == Rounding::first_least_distance && zeros == ZeroSign::kept ? ZeroSign::lost_before_rounding : zeros;
}

bool is_small_float(const Format& element) {
  return element.encoding == Encoding::floating && element.has_sign && !nan_is_negative_zero(element) && element.mantissa_bits <= 5 &&
         element.width <= 8;
}

/// The largest element's magnitude as an upper half, its exponent counted from that of half of the smallest one.
std::uint32_t largest_above_half_unit(const Format& element) {
  return (to_f32(max_finite_code(element), element) >> kLowHalf) - ((kF32Bias - half_unit_offset(element)) << kUpperMantissaBits);
}

}  // namespace

std::optional<RoundingPlan> rounding_plan(const Format& element, const Conversion& how, ZeroSign zeros) {
  const auto direction = std::ranges::find(kDirections, how.rounding, &DirectionRow::rounding);
  const auto signs = std::ranges::find(kZeroSigns, sign_of_search(how.rounding, zeros), &std::pair<ZeroSign, ZeroSigns>::first);
  const bool whole = counts_units(element);
  if (direction == kDirections.end() || signs == kZeroSigns.end() || how.before != Preparation{} || changes_codes(how.fine) ||
      how.flush != Flush::none || (!whole && !is_small_float(element)))
    return std::nullopt;
  RoundingPlan plan{};
  if (!whole) {
    plan.largest = narrow(largest_above_half_unit(element));
    plan.mantissa_bits = narrow(static_cast<std::uint32_t>(element.mantissa_bits));
  }
  plan.addend = narrow(direction->addend);
  plan.even = narrow(direction->even);
  plan.sticky = narrow(direction->sticky);
  plan.zeros = signs->second;
  plan.width = narrow(static_cast<std::uint32_t>(element.width));
  return plan;
}

bool counts_units(const Format& element) { return element.encoding == Encoding::fixed_point && element.width == 8; }

std::uint32_t half_unit_offset(const Format& element) { return static_cast<std::uint32_t>(element.bias + element.mantissa_bits); }

const ElementSource* find_source(const Format& format) {
  const auto row = std::ranges::find_if(kSources, [&](const auto& source) { return *source.first == format; });
  return row == kSources.end() ? nullptr : &row->second;
}

}  // namespace mx::kernels
