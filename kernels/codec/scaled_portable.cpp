// Elements under any fp32 factor, one at a time.

#include <algorithm>
#include <bit>

#include "kernels/codec/plans.hpp"
#include "kernels/codec/upper_half.hpp"

namespace mx::kernels {
namespace {

constexpr std::uint32_t kMagnitude = 0x7FFFFFFFU;
constexpr std::uint32_t kTopOfMantissa = 0x007FFFC0U;
constexpr float kLargestCount = 127.0F;

template <ElementSource kSource>
void largest(const void* elements, std::size_t groups, std::size_t length, std::uint32_t* amax) {
  for (std::size_t g = 0; g < groups; ++g) {
    amax[g] = 0;
    for (std::size_t i = g * length; i < (g + 1) * length; ++i) amax[g] = std::max(amax[g], f32_at<kSource>(elements, i) & kMagnitude);
  }
}

/// The count of units nearest to a magnitude, with its sign.
std::uint32_t counted(std::uint32_t f32, float units, const RoundingPlan& how) {
  const float count = std::min(std::bit_cast<float>(f32 & kMagnitude) * units, kLargestCount);
  // NaN has no count, and no integer: code 0.
  const std::uint32_t whole = count >= 0 ? static_cast<std::uint32_t>(count) : 0U;
  const float rest = count - static_cast<float>(whole);
  const bool tie_goes_up = how.sticky != 0 || (how.even != 0 && (whole & 1U) != 0);
  const bool up = how.addend != 0 && (rest > 0.5F || (rest == 0.5F && tie_goes_up));
  const std::uint32_t code = whole + (up ? 1U : 0U);
  return (f32 > kMagnitude ? 0U - code : code) & 0xFFU;
}

/// A finite number, within the range of the source's type, as that type holds it: ties go to even.
template <ElementSource kSource>
std::uint32_t narrowed(std::uint32_t f32) {
  [[maybe_unused]] const auto cut = [](std::uint32_t bits, int drop) {
    return (bits + (1U << (drop - 1)) - 1U + (bits >> drop & 1U)) >> drop << drop;
  };
  if constexpr (kSource == ElementSource::bf16) return cut(f32, 16);
  if constexpr (kSource == ElementSource::fp16) {
    constexpr std::uint32_t kSmallestNormal = 0x38800000U;  // 2^-14
    const std::uint32_t magnitude = f32 & kMagnitude;
    if (magnitude >= kSmallestNormal) return cut(f32, 13);
    // The unit of fp32 numbers from a half up is that of fp16's subnormals.
    const float sum = std::bit_cast<float>(magnitude) + 0.5F;
    return std::bit_cast<std::uint32_t>(sum - 0.5F) | (f32 & ~kMagnitude);
  }
  return f32;
}

/// One group at a time.
template <ElementSource kSource>
class Group {
 public:
  Group(const ScaledPlan& plan, const void* elements, std::uint32_t factor)
      : plan_(plan), elements_(elements), factor_(std::bit_cast<float>(factor)) {}

  std::uint32_t code(std::size_t i) {
    const float x = std::bit_cast<float>(f32_at<kSource>(elements_, i)) * plan_.before;
    auto scaled = std::bit_cast<std::uint32_t>(plan_.divides != 0 ? x / factor_ : x * factor_);
    if (plan_.narrows != 0) scaled = narrowed<kSource>(scaled);
    scaled = std::bit_cast<std::uint32_t>(std::bit_cast<float>(scaled) * plan_.behind);
    is_doubtful_ |= plan_.doubts != 0 && (scaled & kTopOfMantissa) == kTopOfMantissa;
    if (plan_.units != 0) return counted(scaled, plan_.units, plan_.rounding);
    return rounded_code(upper_half(scaled), plan_.half_unit, plan_.rounding);
  }
  bool is_doubtful() const { return is_doubtful_; }

 private:
  const ScaledPlan& plan_;
  const void* elements_;
  float factor_;
  bool is_doubtful_ = false;
};

template <ElementSource kSource>
void run(const ScaledPlan& plan, const void* elements, std::size_t groups, std::size_t length, const std::uint32_t* factors, std::uint8_t* codes,
         std::uint64_t* irregular) {
  for (std::size_t g = 0; g < groups; ++g) {
    Group<kSource> group(plan, elements, factors[g]);
    const std::size_t last = (g + 1) * length;
    if (plan.rounding.width == 4) {
      for (std::size_t i = g * length; i < last; i += 2) codes[i / 2] = static_cast<std::uint8_t>(group.code(i) | group.code(i + 1) << 4);
    } else {
      for (std::size_t i = g * length; i < last; ++i) codes[i] = static_cast<std::uint8_t>(group.code(i));
    }
    if (group.is_doubtful()) irregular[g / 64] |= std::uint64_t{1} << (g % 64);
  }
}

}  // namespace

void largest_magnitudes_portable(ElementSource source, const void* elements, std::size_t groups, std::size_t length, std::uint32_t* amax) {
  switch (source) {
    case ElementSource::f32: return largest<ElementSource::f32>(elements, groups, length, amax);
    case ElementSource::bf16: return largest<ElementSource::bf16>(elements, groups, length, amax);
    case ElementSource::fp16: break;
  }
  largest<ElementSource::fp16>(elements, groups, length, amax);
}

void scaled_encode_portable(const ScaledPlan& plan, const void* elements, std::size_t groups, std::size_t length, const std::uint32_t* factors,
                            std::uint8_t* codes, std::uint64_t* irregular) {
  switch (plan.source) {
    case ElementSource::f32: return run<ElementSource::f32>(plan, elements, groups, length, factors, codes, irregular);
    case ElementSource::bf16: return run<ElementSource::bf16>(plan, elements, groups, length, factors, codes, irregular);
    case ElementSource::fp16: return run<ElementSource::fp16>(plan, elements, groups, length, factors, codes, irregular);
  }
}

}  // namespace mx::kernels
