// Eight rows at once: one lane each, so that nothing is summed across lanes and no lane waits for another's last group.

#include <immintrin.h>

#include "kernels/dot/aligned_args.hpp"

namespace mx::kernels::dot {
namespace {

/// An exponent below any of a product without a zero, above those with one.
constexpr int kNoProducts = -4096;
constexpr int kF32Bias = 127;
constexpr int kF32Mantissa = 23;
constexpr int kDoubleBits = 53;

/// 2^exponent, which is a normal number.
inline __m256 power_of_two(__m256i exponent) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(exponent, _mm256_set1_epi32(kF32Bias)), kF32Mantissa));
}

/// The largest nominal exponent of each lane's products in one group.
inline __m256i largest_exponent(const int16_t* lanes, const int16_t* row, size_t group) {
  __m128i largest = _mm_set1_epi16(INT16_MIN);
  for (size_t k = 0; k < group; ++k) {
    const __m128i lane = _mm_loadu_si128(reinterpret_cast<const __m128i*>(lanes + k * kLanes));
    largest = _mm_max_epi16(largest, _mm_add_epi16(lane, _mm_set1_epi16(row[k])));
  }
  return _mm256_cvtepi16_epi32(largest);
}

/// Each lane's products in units of 1 / to_unit, truncated and summed: below 2^31 in magnitude.
inline __m256i sum_in_units(const float* lanes, const float* row, size_t group, __m256 to_unit) {
  __m256i sum = _mm256_setzero_si256();
  for (size_t k = 0; k < group; ++k) {
    const __m256 product = _mm256_mul_ps(_mm256_loadu_ps(lanes + k * kLanes), _mm256_set1_ps(row[k]));
    sum = _mm256_add_epi32(sum, _mm256_cvttps_epi32(_mm256_mul_ps(product, to_unit)));
  }
  return sum;
}

/// The sum of two whole numbers, truncated to the kept bits of a double: +0 where it is zero.
inline __m128 truncated(__m128i a, __m128i b, __m256d kept) {
  return _mm256_cvtpd_ps(_mm256_and_pd(_mm256_add_pd(_mm256_cvtepi32_pd(a), _mm256_cvtepi32_pd(b)), kept));
}

inline __m256 truncated(__m256i a, __m256i b, __m256d kept) {
  const __m128 low = truncated(_mm256_castsi256_si128(a), _mm256_castsi256_si128(b), kept);
  const __m128 high = truncated(_mm256_extracti128_si256(a, 1), _mm256_extracti128_si256(b, 1), kept);
  return _mm256_insertf128_ps(_mm256_castps128_ps256(low), high, 1);
}

}  // namespace

void aligned_avx2(const AlignedArgs& args) {
  const __m256d kept = _mm256_castsi256_pd(_mm256_set1_epi64x(-(int64_t{1} << (kDoubleBits - args.kept_bits))));
  const __m256i alignment = _mm256_set1_epi32(args.alignment_bits);
  __m256 sums = _mm256_setzero_ps();
  for (size_t k = 0; k < args.length; k += args.group) {
    const __m256i largest = largest_exponent(args.lane_exponents + k * kLanes, args.row_exponents + k, args.group);
    // Without products a sum stays what it is; any unit does.
    const __m256i none = _mm256_cmpgt_epi32(_mm256_set1_epi32(kNoProducts), largest);
    // A sum that is not zero is a normal number: its exponent stands in its bits. That of zero is below any product's.
    const __m256i bits = _mm256_srli_epi32(_mm256_slli_epi32(_mm256_castps_si256(sums), 1), kF32Mantissa + 1);
    const __m256i exponent = _mm256_max_epi32(largest, _mm256_sub_epi32(bits, _mm256_set1_epi32(kF32Bias)));
    const __m256i unit = _mm256_sub_epi32(exponent, alignment);
    const __m256 to_unit = power_of_two(_mm256_sub_epi32(_mm256_setzero_si256(), unit));
    const __m256i products = sum_in_units(args.lanes + k * kLanes, args.row + k, args.group, to_unit);
    const __m256i before = _mm256_cvttps_epi32(_mm256_mul_ps(sums, to_unit));
    const __m256 next = _mm256_mul_ps(truncated(products, before, kept), power_of_two(unit));
    sums = _mm256_blendv_ps(next, sums, _mm256_castsi256_ps(none));
  }
  _mm256_storeu_ps(args.sums, sums);
}

}  // namespace mx::kernels::dot
