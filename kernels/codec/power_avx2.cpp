// Power-of-two scales with 256-bit vectors: as with 512 bits, 16 elements in a vector.

#include <immintrin.h>

#include "kernels/codec/power_plan.hpp"
#include "kernels/codec/rounding_avx2.hpp"

namespace mx::kernels {
namespace {

constexpr size_t kVector = 16;  // elements
constexpr size_t kGroup = 128;  // elements that go together
constexpr size_t kBatch = 8;    // groups between the two passes

struct Eight {
  __m256i v[8];
};

/// Largest magnitudes of the four blocks of 32, in four words each, in the order of kBlockPlace.
[[gnu::always_inline]] inline __m256i largest_of_each(const Eight& x) {
  __m256i block[4];
  for (std::size_t i = 0; i < 4; ++i) block[i] = _mm256_max_epu16(x.v[2 * i], x.v[2 * i + 1]);
  const __m256i ab = _mm256_max_epu16(_mm256_permute2x128_si256(block[0], block[1], 0x20), _mm256_permute2x128_si256(block[0], block[1], 0x31));
  const __m256i cd = _mm256_max_epu16(_mm256_permute2x128_si256(block[2], block[3], 0x20), _mm256_permute2x128_si256(block[2], block[3], 0x31));
  __m256i all = _mm256_max_epu16(_mm256_unpacklo_epi64(ab, cd), _mm256_unpackhi_epi64(ab, cd));
  all = _mm256_max_epu16(all, _mm256_shuffle_epi32(all, 0xB1));
  return _mm256_max_epu16(all, _mm256_shufflehi_epi16(_mm256_shufflelo_epi16(all, 0xB1), 0xB1));
}
/// Which four words belong to block 0, 1, 2 and 3.
constexpr size_t kBlockPlace[4] = {0, 2, 1, 3};

/// The largest of all, in every word.
[[gnu::always_inline]] inline __m256i largest_of_all(const Eight& x) {
  __m256i all = largest_of_each(x);
  all = _mm256_max_epu16(all, _mm256_permute4x64_epi64(all, 0x4E));
  return _mm256_max_epu16(all, _mm256_shuffle_epi32(all, 0x4E));
}

/// What is the same for every block.
struct Constants {
  __m256i least_amax, amax_from, amax_span, zero_scale, zero_is_regular, scale_addend, scale_offset, half_unit_offset;
  Rounding rounding;
};

[[gnu::always_inline]] inline Constants constants_of(const PowerPlan& plan) {
  Constants c;
  c.least_amax = set16(plan.least_amax);
  c.amax_from = set16(plan.amax_from);
  c.amax_span = set16(plan.amax_span);
  c.zero_scale = set16(plan.zero_scale);
  c.zero_is_regular = set16(plan.zero_is_regular);
  c.scale_addend = set16(plan.scale_addend);
  c.scale_offset = set16(plan.scale_offset);
  c.half_unit_offset = set16(plan.half_unit_offset);
  c.rounding = rounding_of(plan.rounding);
  return c;
}

/// Scales from largest magnitudes; bytes of irregular ones are cleared in `regular`.
[[gnu::always_inline]] inline __m256i scales_of(__m256i amax, const Constants& c, uint32_t& regular) {
  amax = _mm256_max_epu16(amax, c.least_amax);
  const __m256i zero = _mm256_cmpeq_epi16(amax, _mm256_setzero_si256());
  const __m256i inside = _mm256_cmpeq_epi16(_mm256_subs_epu16(_mm256_sub_epi16(amax, c.amax_from), c.amax_span), _mm256_setzero_si256());
  regular = static_cast<uint32_t>(_mm256_movemask_epi8(_mm256_blendv_epi8(inside, c.zero_is_regular, zero)));
  const __m256i scale = _mm256_sub_epi16(_mm256_srli_epi16(_mm256_add_epi16(amax, c.scale_addend), 7), c.scale_offset);
  return _mm256_blendv_epi8(scale, c.zero_scale, zero);
}

[[gnu::always_inline]] inline void store(uint8_t* to, __m256i value, bool streams) {
  if (streams) {
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to), value);
  } else {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), value);
  }
}

/// What the first pass over some groups leaves for the second one: see power_avx512.cpp.
struct Scratch {
  __m256i half_units[kBatch];
  Eight elements[kBatch];
};

template <ElementSource kSource, uint32_t kBlock>
[[gnu::always_inline]] inline void measure(const void* elements, size_t groups, uint8_t* scales, uint64_t* irregular, size_t first_block,
                                           Scratch& scratch, const Constants& c) {
  constexpr size_t kBlocks = kGroup / kBlock;
  for (size_t g = 0; g < groups; ++g) {
    Eight magnitudes;
    for (size_t j = 0; j < 8; ++j) {
      const __m256i x = load<kSource>(elements, g * kGroup + kVector * j);
      if constexpr (kSource != ElementSource::bf16) scratch.elements[g].v[j] = x;
      magnitudes.v[j] = _mm256_and_si256(x, set16(0x7FFF));
    }
    uint32_t regular = 0;
    const __m256i scale = scales_of(kBlock == 32 ? largest_of_each(magnitudes) : largest_of_all(magnitudes), c, regular);
    scratch.half_units[g] = _mm256_slli_epi16(_mm256_sub_epi16(scale, c.half_unit_offset), 7);
    alignas(32) uint16_t words[kVector];
    _mm256_store_si256(reinterpret_cast<__m256i*>(words), scale);
    for (size_t j = 0; j < kBlocks; ++j) scales[g * kBlocks + j] = static_cast<uint8_t>(words[4 * kBlockPlace[j]]);
    if (__builtin_expect(regular == ~0U, 1)) continue;
    for (size_t j = 0; j < kBlocks; ++j) {
      const size_t b = first_block + g * kBlocks + j;
      if ((regular >> (8 * kBlockPlace[j]) & 1U) == 0) irregular[b / 64] |= uint64_t{1} << (b % 64);
    }
  }
}

template <ElementSource kSource, bool kNibbles, ZeroSigns kZeros>
[[gnu::always_inline]] inline void encode(const void* elements, size_t groups, uint8_t* codes, const Scratch& scratch, const Constants& c,
                                          bool streams) {
  for (size_t g = 0; g < groups; ++g) {
    const auto* half_units = reinterpret_cast<const long long*>(&scratch.half_units[g]);
    Eight coded;
    for (size_t j = 0; j < 8; ++j) {
      __m256i x;
      if constexpr (kSource == ElementSource::bf16) {
        x = load<kSource>(elements, g * kGroup + kVector * j);
      } else {
        x = scratch.elements[g].v[j];
      }
      coded.v[j] = codes_of<kZeros>(x, _mm256_set1_epi64x(half_units[kBlockPlace[j / 2]]), c.rounding);
    }
    if constexpr (kNibbles) {
      for (size_t j = 0; j < 2; ++j) store(codes + g * 64 + 32 * j, nibbles(coded.v + 4 * j), streams);
    } else {
      for (size_t j = 0; j < 4; ++j) store(codes + g * 128 + 32 * j, bytes(coded.v[2 * j], coded.v[2 * j + 1]), streams);
    }
  }
}

template <ElementSource kSource, uint32_t kBlock, bool kNibbles, ZeroSigns kZeros>
void run(const PowerPlan& plan, const void* elements, size_t blocks, uint8_t* codes, uint8_t* scales, uint64_t* irregular) {
  constexpr size_t kBlocks = kGroup / kBlock;
  constexpr size_t kCodes = kNibbles ? kGroup / 2 : kGroup;
  constexpr size_t kBytes = kGroup * (kSource == ElementSource::f32 ? 4 : 2);
  const Constants c = constants_of(plan);
  const bool streams = plan.streams != 0 && (reinterpret_cast<uintptr_t>(codes) & 31U) == 0;
  const auto* from = static_cast<const uint8_t*>(elements);
  const size_t whole = blocks / kBlocks;
  Scratch scratch;
  for (size_t g = 0; g < whole; g += kBatch) {
    const size_t groups = whole - g < kBatch ? whole - g : kBatch;
    measure<kSource, kBlock>(from + g * kBytes, groups, scales + g * kBlocks, irregular, g * kBlocks, scratch, c);
    encode<kSource, kNibbles, kZeros>(from + g * kBytes, groups, codes + g * kCodes, scratch, c, streams);
  }
  if (streams) _mm_sfence();
  const size_t left = blocks - whole * kBlocks;
  if (left == 0) return;
  // The last group is filled up with zeros.
  alignas(32) uint8_t rest[kBytes] = {};
  alignas(32) uint8_t rest_codes[kCodes];
  uint8_t rest_scales[kBlocks];
  uint64_t rest_irregular = 0;
  __builtin_memcpy(rest, from + whole * kBytes, left * kBytes / kBlocks);
  measure<kSource, kBlock>(rest, 1, rest_scales, &rest_irregular, 0, scratch, c);
  encode<kSource, kNibbles, kZeros>(rest, 1, rest_codes, scratch, c, false);
  __builtin_memcpy(codes + whole * kCodes, rest_codes, left * kCodes / kBlocks);
  __builtin_memcpy(scales + whole * kBlocks, rest_scales, left);
  irregular[whole * kBlocks / 64] |= (rest_irregular & ((1U << left) - 1U)) << (whole * kBlocks % 64);
}

template <ElementSource kSource, uint32_t kBlock>
PowerQuantize* chosen(const PowerPlan& plan) {
  const bool keeps = plan.rounding.zeros == ZeroSigns::kept;
  if (plan.rounding.width == 4) return keeps ? run<kSource, kBlock, true, ZeroSigns::kept> : run<kSource, kBlock, true, ZeroSigns::dropped>;
  return keeps ? run<kSource, kBlock, false, ZeroSigns::kept> : run<kSource, kBlock, false, ZeroSigns::dropped>;
}

template <ElementSource kSource>
PowerQuantize* chosen(const PowerPlan& plan) {
  return plan.block == 32 ? chosen<kSource, 32>(plan) : chosen<kSource, 128>(plan);
}

}  // namespace

void power_quantize_avx2(const PowerPlan& plan, const void* elements, size_t blocks, uint8_t* codes, uint8_t* scales, uint64_t* irregular) {
  PowerQuantize* const by_source[] = {chosen<ElementSource::f32>(plan), chosen<ElementSource::bf16>(plan), chosen<ElementSource::fp16>(plan)};
  by_source[static_cast<uint32_t>(plan.source)](plan, elements, blocks, codes, scales, irregular);
}

}  // namespace mx::kernels
