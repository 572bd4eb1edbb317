// NVFP4 blocks with 512-bit vectors: a batch's largest magnitudes by a tree, its scales by the loops, its codes by a table.

#include "kernels/codec/maxima_avx512.hpp"
#include "kernels/codec/nvfp4_plan.hpp"
#include "kernels/codec/rounding_avx512.hpp"

namespace mx::kernels {
namespace {

constexpr size_t kBatch = 64;  // blocks
constexpr size_t kElements = kBatch * kNvfp4Block;
constexpr uint32_t kInfinity = 0x7F800000U;
/// Numbers between these have room for every step in fp32: no result of one is subnormal, infinite or flushed.
constexpr float kTiny = 0x1p-100F;
constexpr float kHuge = 0x1p+100F;
constexpr float kSmallestNormal = 0x1p-126F;
constexpr float kSixth = 0x1.555556p-3F;

inline float number(uint32_t bits) { return __builtin_bit_cast(float, bits); }
inline uint32_t bits_of(float value) { return __builtin_bit_cast(uint32_t, value); }

constexpr uint32_t kE2m1HalfUnit = (127U - 2U) << 7;

/// E4M3 code of a magnitude, nearest even and saturating: the rounding of upper_half.hpp for one format.
inline uint32_t e4m3_code(float value) {
  constexpr uint32_t kMantissaBits = 3;
  constexpr uint32_t kHalfUnit = (127U - 10U) << 7;
  constexpr uint32_t kLargest = 0x43E0U - kHalfUnit;
  const uint32_t magnitude = bits_of(value) & 0x7FFFFFFFU;
  const uint32_t upper = magnitude >> 16 | ((magnitude & 0xFFFFU) != 0 ? 1U : 0U);
  const uint32_t distance = upper > kHalfUnit ? upper - kHalfUnit : 0U;
  const uint32_t above = distance < kLargest ? distance : kLargest;
  const uint32_t steps = above >> 7;
  const uint32_t low_steps = steps < kMantissaBits + 1U ? steps : kMantissaBits + 1U;
  const uint32_t moved_up = ((above & 0x7FU) | 0x80U) << low_steps;
  return ((moved_up + 0x7FU + (moved_up >> 8 & 1U)) >> 8) + ((steps - low_steps) << kMantissaBits);
}

/// The number of a positive, finite E4M3 code.
inline float e4m3_number(uint32_t code) {
  const float subnormal = static_cast<float>(static_cast<int32_t>(code)) * 0x1p-9F;
  const float normal = number((code + (120U << 3)) << 20);
  return code < 8U ? subnormal : normal;
}

/// Scales of a batch: what elements are multiplied by, codes, and 1 for irregular blocks.
template <bool kDividesBySix>
void scales_of(const Nvfp4Plan& plan, const uint32_t* amax, float* multiplier, uint32_t* code, uint32_t* irregular) {
  for (size_t b = 0; b < kBatch; ++b) {
    const float largest = number(amax[b]);
    const float part = kDividesBySix ? largest / 6.0F : largest * kSixth;
    const float exact = kDividesBySix ? part / plan.factor : part * plan.factor;
    const float wanted = exact < plan.least_wanted ? plan.least_wanted : exact;
    const uint32_t scale = e4m3_code(wanted);
    const float s = e4m3_number(scale);
    const float product = s * plan.reciprocal;
    const float by = (plan.divides_by_scale != 0 ? plan.reciprocal : 1.0F) / (plan.divides_by_scale != 0 ? s : product);
    const bool room = (part >= kSmallestNormal) & (exact <= plan.largest_wanted) & (scale != 0) & (product > kTiny) & (product < kHuge) &
                      (by > kTiny) & (by < kHuge);
    const bool zero = amax[b] == 0;
    irregular[b] = (zero ? plan.zero_is_regular != 0 : room & (amax[b] < kInfinity)) ? 0U : 1U;
    code[b] = zero ? plan.zero_scale : scale;
    multiplier[b] = zero ? 0.0F : by;
  }
}

constexpr size_t kPair = 2 * kNvfp4Block;  // elements of a vector of 16-bit lanes

/// Largest magnitudes of 16 blocks of bf16, as fp32.
[[gnu::always_inline]] inline __m512i largest_bf16(const uint16_t* words) {
  __m512i v[8];
  for (size_t i = 0; i < 8; ++i) v[i] = _mm512_and_si512(_mm512_loadu_si512(words + kPair * i), _mm512_set1_epi16(0x7FFF));
  const __m512i quarters = largest_words(v);
  // Word i of quarters 0 and 1 is of block 2 i, of 2 and 3 of the one behind it.
  const __m512i halves = _mm512_max_epu16(quarters, _mm512_shuffle_i64x2(quarters, quarters, 0xB1));
  const __m512i places = _mm512_set_epi16(23, 0, 7, 0, 22, 0, 6, 0, 21, 0, 5, 0, 20, 0, 4, 0, 19, 0, 3, 0, 18, 0, 2, 0, 17, 0, 1, 0, 16, 0, 0, 0);
  return _mm512_maskz_permutexvar_epi16(0xAAAAAAAAU, places, halves);
}

/// Likewise of any source.
template <ElementSource kSource>
[[gnu::always_inline]] inline __m512i largest_of(const void* elements) {
  __m512i v[16];
  for (size_t i = 0; i < 16; ++i) {
    v[i] = _mm512_and_si512(_mm512_castps_si512(numbers<kSource>(elements, kNvfp4Block * i)), _mm512_set1_epi32(0x7FFFFFFF));
  }
  return largest_lanes(v);
}

template <ElementSource kSource>
class VectorBatch {
 public:
  explicit VectorBatch(const Nvfp4Plan& plan)
      : keeps_zero_sign_(plan.keeps_zero_sign != 0),
        rounding_(rounding_of({static_cast<uint16_t>(0x40C0U - kE2m1HalfUnit), 1, 0x7F, 1, 0, ZeroSigns::kept, 4})),
        table_(table_of(rounding_)) {}

  void take(const void* elements) { elements_ = elements; }

  void largest(uint32_t* amax) const {
    constexpr size_t kBytes = kNvfp4Block * (kSource == ElementSource::f32 ? 4 : 2);
    for (size_t b = 0; b < kBatch; b += 16) {
      const void* const from = static_cast<const uint8_t*>(elements_) + b * kBytes;
      if constexpr (kSource == ElementSource::bf16) {
        _mm512_store_si512(amax + b, largest_bf16(static_cast<const uint16_t*>(from)));
      } else {
        _mm512_store_si512(amax + b, largest_of<kSource>(from));
      }
    }
  }

  void encode(const float* multiplier, uint8_t* codes) const {
    keeps_zero_sign_ ? encode<ZeroSigns::kept>(multiplier, codes) : encode<ZeroSigns::kept_if_rounded>(multiplier, codes);
  }

 private:
  template <ZeroSigns kZeros>
  void encode(const float* multiplier, uint8_t* codes) const {
    const __m512i half_unit = set16(kE2m1HalfUnit);
    const Rounding rounding = rounding_;
    const Table table = table_;
    for (size_t i = 0; i < kElements; i += 4 * kPair) {
      Four coded;
      for (size_t j = 0; j < 4; ++j) {
        const size_t at = i + kPair * j;
        Two x = two_of<kSource>(elements_, at);
        __m512 first = _mm512_set1_ps(multiplier[at / kNvfp4Block]);
        __m512 last = _mm512_set1_ps(multiplier[at / kNvfp4Block + 1]);
        // Both vectors have elements of both blocks.
        if constexpr (kSource == ElementSource::bf16) first = last = _mm512_mask_mov_ps(first, 0xFF00, last);
        x = {{_mm512_mul_ps(x.v[0], first), _mm512_mul_ps(x.v[1], last)}};
        coded.v[j] = codes_by_table<kZeros>(upper_halves_of<kSource>(x), half_unit, rounding, table);
      }
      _mm512_storeu_si512(codes + i / 2, nibbles(coded));
    }
  }

  bool keeps_zero_sign_;
  Rounding rounding_;
  Table table_;
  const void* elements_ = nullptr;
};

template <ElementSource kSource>
void run(const Nvfp4Plan& plan, const void* elements, size_t blocks, uint8_t* codes, uint8_t* scales, uint64_t* irregular) {
  constexpr size_t kBlockBytes = kNvfp4Block * (kSource == ElementSource::f32 ? 4 : 2);
  VectorBatch<kSource> batch(plan);
  alignas(64) uint32_t amax[kBatch];
  alignas(64) float multiplier[kBatch];
  alignas(64) uint32_t scale[kBatch];
  alignas(64) uint32_t outside[kBatch];
  alignas(64) uint8_t rest[kBatch * kBlockBytes];
  alignas(64) uint8_t rest_codes[kElements / 2];
  for (size_t first = 0; first < blocks; first += kBatch) {
    const size_t count = blocks - first < kBatch ? blocks - first : kBatch;
    const uint8_t* from = static_cast<const uint8_t*>(elements) + first * kBlockBytes;
    uint8_t* const to = codes + first * kNvfp4Block / 2;
    if (count < kBatch) {
      __builtin_memset(rest, 0, sizeof rest);
      from = static_cast<const uint8_t*>(__builtin_memcpy(rest, from, count * kBlockBytes));
    }
    batch.take(from);
    batch.largest(amax);
    (plan.divides_by_six != 0 ? scales_of<true> : scales_of<false>)(plan, amax, multiplier, scale, outside);
    batch.encode(multiplier, count < kBatch ? rest_codes : to);
    if (count < kBatch) __builtin_memcpy(to, rest_codes, count * kNvfp4Block / 2);
    uint64_t left_over = 0;
    for (size_t b = 0; b < count; ++b) {
      scales[first + b] = static_cast<uint8_t>(scale[b]);
      left_over |= static_cast<uint64_t>(outside[b]) << b;
    }
    irregular[first / 64] |= left_over << (first % 64);
  }
}

}  // namespace

void nvfp4_quantize_avx512(const Nvfp4Plan& plan, const void* elements, size_t blocks, uint8_t* codes, uint8_t* scales, uint64_t* irregular) {
  Nvfp4Quantize* const by_source[] = {run<ElementSource::f32>, run<ElementSource::bf16>, run<ElementSource::fp16>};
  by_source[static_cast<uint32_t>(plan.source)](plan, elements, blocks, codes, scales, irregular);
}

}  // namespace mx::kernels
