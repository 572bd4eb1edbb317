// NVFP4 blocks with 512-bit vectors: a batch's largest magnitudes by a tree, its scales by the loops, its codes by a table.

#include "kernels/codec/maxima_avx512.hpp"
#include "kernels/codec/nvfp4_loops.hpp"
#include "kernels/codec/rounding_avx512.hpp"

namespace mx::kernels {
namespace {

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

}  // namespace

void nvfp4_quantize_avx512(const Nvfp4Plan& plan, const void* elements, size_t blocks, uint8_t* codes, uint8_t* scales, uint64_t* irregular) {
  quantize<VectorBatch>(plan, elements, blocks, codes, scales, irregular);
}

}  // namespace mx::kernels
