// Elements under any fp32 factor with the 128-bit vectors of AArch64.

#include "kernels/codec/rounding_neon.hpp"
#include "kernels/codec/scaled_plan.hpp"

namespace mx::kernels {
namespace {

constexpr size_t kStep = 32;  // elements of one step

constexpr size_t word_bytes(ElementSource source) { return source == ElementSource::f32 ? 4 : 2; }

template <ElementSource kSource>
const void* element(const void* elements, size_t i) {
  return static_cast<const uint8_t*>(elements) + i * word_bytes(kSource);
}

template <ElementSource kSource>
[[gnu::always_inline]] inline uint32x4_t magnitudes(const void* elements, size_t i) {
  return vandq_u32(number_bits<kSource>(elements, i), vdupq_n_u32(0x7FFFFFFF));
}

template <ElementSource kSource>
uint32_t largest_of(const void* elements, size_t length) {
  constexpr size_t kAtOnce = 8;
  uint32x4_t amax[2] = {vdupq_n_u32(0), vdupq_n_u32(0)};
  size_t i = 0;
  for (; i + kAtOnce <= length; i += kAtOnce) {
    for (size_t j = 0; j < 2; ++j) amax[j] = vmaxq_u32(amax[j], magnitudes<kSource>(elements, i + 4 * j));
  }
  if (i != length) {
    alignas(16) uint8_t rest[kAtOnce * 4] = {};
    __builtin_memcpy(rest, element<kSource>(elements, i), (length - i) * word_bytes(kSource));
    for (size_t j = 0; j < 2; ++j) amax[j] = vmaxq_u32(amax[j], magnitudes<kSource>(rest, 4 * j));
  }
  return vmaxvq_u32(vmaxq_u32(amax[0], amax[1]));
}

template <ElementSource kSource>
void largest(const void* elements, size_t groups, size_t length, uint32_t* amax) {
  for (size_t g = 0; g < groups; ++g) amax[g] = largest_of<kSource>(element<kSource>(elements, g * length), length);
}

/// What is the same for every group.
struct Constants {
  Rounding rounding;
  uint16x8_t half_unit;
  float32x4_t units, before, behind;
  uint32x4_t up, away, even;  // for counts of units: whether anything goes up, and which ties
  bool divides, narrows, doubts, counts;
};

[[gnu::always_inline]] inline Constants constants_of(const ScaledPlan& plan) {
  const auto all = [](uint32_t on) { return vdupq_n_u32(on != 0 ? ~0U : 0U); };
  return {rounding_of(plan.rounding), set16(plan.half_unit),     vdupq_n_f32(plan.units),   vdupq_n_f32(plan.before),
          vdupq_n_f32(plan.behind),   all(plan.rounding.addend), all(plan.rounding.sticky), vdupq_n_u32(plan.rounding.even),
          plan.divides != 0,          plan.narrows != 0,         plan.doubts != 0,          plan.units != 0};
}

/// Finite numbers as the source's type holds them.
template <ElementSource kSource>
[[gnu::always_inline]] inline float32x4_t narrow(float32x4_t x) {
  if constexpr (kSource == ElementSource::fp16) {
    return vcvt_f32_f16(vcvt_f16_f32(x));
  } else if constexpr (kSource == ElementSource::bf16) {
    const uint32x4_t bits = vreinterpretq_u32_f32(x);
    const uint32x4_t odd = vandq_u32(vshrq_n_u32(bits, 16), vdupq_n_u32(1));
    const uint32x4_t up = vaddq_u32(bits, vaddq_u32(odd, vdupq_n_u32(0x7FFF)));
    return vreinterpretq_f32_u32(vandq_u32(up, vdupq_n_u32(0xFFFF0000U)));
  }
  return x;
}

/// Counts of 4 fp32 numbers in the low bytes of words of 32 bits.
[[gnu::always_inline]] inline uint32x4_t counted(float32x4_t x, const Constants& c) {
  const float32x4_t count = vminq_f32(vmulq_f32(vabsq_f32(x), c.units), vdupq_n_f32(127.0F));
  const uint32x4_t whole = vcvtq_u32_f32(count);
  const float32x4_t rest = vsubq_f32(count, vcvtq_f32_u32(whole));
  const float32x4_t half = vdupq_n_f32(0.5F);
  const uint32x4_t tie_goes_up = vandq_u32(vceqq_f32(rest, half), vorrq_u32(c.away, vtstq_u32(whole, c.even)));
  const uint32x4_t up = vandq_u32(c.up, vorrq_u32(vcgtq_f32(rest, half), tie_goes_up));
  const uint32x4_t code = vsubq_u32(whole, up);
  const uint32x4_t negative = vreinterpretq_u32_s32(vshrq_n_s32(vreinterpretq_s32_f32(x), 31));
  return vandq_u32(vsubq_u32(veorq_u32(code, negative), negative), vdupq_n_u32(0xFF));
}

/// Magnitudes just below a power of two.
[[gnu::always_inline]] inline uint32x4_t doubtful(float32x4_t x) {
  const uint32x4_t top = vdupq_n_u32(0x007FFFC0);
  return vceqq_u32(vandq_u32(vreinterpretq_u32_f32(x), top), top);
}

/// 4 elements under the factor.
template <ElementSource kSource>
[[gnu::always_inline]] inline float32x4_t scaled(const void* elements, size_t i, float32x4_t factor, const Constants& c, uint32x4_t& doubts) {
  const float32x4_t x = vmulq_f32(numbers<kSource>(elements, i), c.before);
  float32x4_t result = c.divides ? vdivq_f32(x, factor) : vmulq_f32(x, factor);
  if (c.narrows) result = narrow<kSource>(result);
  result = vmulq_f32(result, c.behind);
  if (c.doubts) doubts = vorrq_u32(doubts, doubtful(result));
  return result;
}

/// Codes of the elements of a step from i on.
template <ElementSource kSource, bool kNibbles, ZeroSigns kZeros>
[[gnu::always_inline]] inline void step(const void* elements, size_t i, float32x4_t factor, const Constants& c, uint8_t* codes, uint32x4_t& doubts) {
  uint16x8_t coded[4];
  for (size_t j = 0; j < 4; ++j) {
    const float32x4_t low = scaled<kSource>(elements, i + 8 * j, factor, c, doubts);
    const float32x4_t high = scaled<kSource>(elements, i + 8 * j + 4, factor, c, doubts);
    if (c.counts) {
      coded[j] = vcombine_u16(vmovn_u32(counted(low, c)), vmovn_u32(counted(high, c)));
    } else {
      coded[j] = codes_of<kZeros>(upper_halves(vreinterpretq_u32_f32(low), vreinterpretq_u32_f32(high)), c.half_unit, c.rounding);
    }
  }
  store_codes<kNibbles>(codes, coded);
}

/// The same for fewer elements.
template <ElementSource kSource, bool kNibbles, ZeroSigns kZeros>
void last_step(const void* elements, size_t count, float32x4_t factor, const Constants& c, uint8_t* codes, uint32x4_t& doubts) {
  alignas(16) uint8_t rest[kStep * word_bytes(kSource)] = {};
  alignas(16) uint8_t rest_codes[kStep];
  __builtin_memcpy(rest, elements, count * word_bytes(kSource));
  step<kSource, kNibbles, kZeros>(rest, 0, factor, c, rest_codes, doubts);
  __builtin_memcpy(codes, rest_codes, kNibbles ? count / 2 : count);
}

template <ElementSource kSource, bool kNibbles, ZeroSigns kZeros>
void run(const ScaledPlan& plan, const void* elements, size_t groups, size_t length, const uint32_t* factors, uint8_t* codes, uint64_t* irregular) {
  const auto place = [&](size_t i) { return codes + (kNibbles ? i / 2 : i); };
  const Constants c = constants_of(plan);
  for (size_t g = 0; g < groups; ++g) {
    const float32x4_t factor = vreinterpretq_f32_u32(vdupq_n_u32(factors[g]));
    const size_t last = (g + 1) * length;
    uint32x4_t doubts = vdupq_n_u32(0);
    size_t i = g * length;
    for (; i + kStep <= last; i += kStep) step<kSource, kNibbles, kZeros>(elements, i, factor, c, place(i), doubts);
    if (i != last) last_step<kSource, kNibbles, kZeros>(element<kSource>(elements, i), last - i, factor, c, place(i), doubts);
    if (vmaxvq_u32(doubts) != 0) irregular[g / 64] |= uint64_t{1} << (g % 64);
  }
}

template <ElementSource kSource, bool kNibbles>
ScaledEncode* chosen(const ScaledPlan& plan) {
  if (plan.rounding.zeros == ZeroSigns::kept) return run<kSource, kNibbles, ZeroSigns::kept>;
  if (plan.rounding.zeros == ZeroSigns::dropped) return run<kSource, kNibbles, ZeroSigns::dropped>;
  if (plan.rounding.zeros == ZeroSigns::all_negative) return run<kSource, kNibbles, ZeroSigns::all_negative>;
  return run<kSource, kNibbles, ZeroSigns::kept_if_rounded>;
}

template <ElementSource kSource>
ScaledEncode* chosen(const ScaledPlan& plan) {
  return plan.rounding.width == 4 ? chosen<kSource, true>(plan) : chosen<kSource, false>(plan);
}

}  // namespace

void largest_magnitudes_neon(ElementSource source, const void* elements, size_t groups, size_t length, uint32_t* amax) {
  if (source == ElementSource::f32) return largest<ElementSource::f32>(elements, groups, length, amax);
  if (source == ElementSource::bf16) return largest<ElementSource::bf16>(elements, groups, length, amax);
  largest<ElementSource::fp16>(elements, groups, length, amax);
}

void scaled_encode_neon(const ScaledPlan& plan, const void* elements, size_t groups, size_t length, const uint32_t* factors, uint8_t* codes,
                        uint64_t* irregular) {
  ScaledEncode* const by_source[] = {chosen<ElementSource::f32>(plan), chosen<ElementSource::bf16>(plan), chosen<ElementSource::fp16>(plan)};
  by_source[static_cast<uint32_t>(plan.source)](plan, elements, groups, length, factors, codes, irregular);
}

}  // namespace mx::kernels
