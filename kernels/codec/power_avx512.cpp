// Power-of-two scales with 512-bit vectors: one vector holds 32 elements in 16 bits each. The scales of 32 vectors are found together, and the codes
// of four are packed by the same instructions.

#include <immintrin.h>

#include "kernels/codec/maxima_avx512.hpp"
#include "kernels/codec/power_plan.hpp"
#include "kernels/codec/rounding_avx512.hpp"

namespace mx::kernels {
namespace {

constexpr size_t kGroup = 128;  // elements that go together
constexpr size_t kBatch = 8;    // groups between the two passes
/// Bytes between what is worked on and what is asked for: of memory, to come to the second cache, and of that one. A first cache of 32 KiB keeps the
/// latter and two batches.
constexpr size_t kFar = 8192;
constexpr size_t kNear = 4096;

/// The largest of each vector, somewhere in the 128 bits at its place.
[[gnu::always_inline]] inline __m512i largest_in_lanes(const Four& x) {
  const __m512i ab = _mm512_max_epu16(_mm512_shuffle_i64x2(x.v[0], x.v[1], 0x44), _mm512_shuffle_i64x2(x.v[0], x.v[1], 0xEE));
  const __m512i cd = _mm512_max_epu16(_mm512_shuffle_i64x2(x.v[2], x.v[3], 0x44), _mm512_shuffle_i64x2(x.v[2], x.v[3], 0xEE));
  return _mm512_max_epu16(_mm512_shuffle_i64x2(ab, cd, 0x88), _mm512_shuffle_i64x2(ab, cd, 0xDD));
}

/// Words of an index: of word i what `of` gives.
template <class Of>
[[gnu::always_inline]] inline __m512i index_of(Of of) {
  alignas(64) uint16_t words[32];
  for (uint16_t i = 0; i < 32; ++i) words[i] = static_cast<uint16_t>(of(i));
  return _mm512_load_si512(words);
}

/// What is the same for every block.
struct Constants {
  __m512i least_amax, amax_from, amax_span, zero_scale, scale_addend, scale_offset, half_unit_offset;
  Rounding rounding;
  Table table;  ///< of codes of four bits
  uint32_t zero_is_irregular;
};

[[gnu::always_inline]] inline Constants constants_of(const PowerPlan& plan) {
  Constants c;
  c.least_amax = set16(plan.least_amax);
  c.amax_from = set16(plan.amax_from);
  c.amax_span = set16(plan.amax_span);
  c.zero_scale = set16(plan.zero_scale);
  c.scale_addend = set16(plan.scale_addend);
  c.scale_offset = set16(plan.scale_offset);
  c.half_unit_offset = set16(plan.half_unit_offset);
  c.rounding = rounding_of(plan.rounding);
  if (plan.rounding.width == 4) c.table = table_of(c.rounding);
  c.zero_is_irregular = plan.zero_is_regular != 0 ? 0U : ~0U;
  return c;
}

/// Scales from largest magnitudes; words that are irregular are set in `irregular`.
[[gnu::always_inline]] inline __m512i scales_of(__m512i amax, const Constants& c, uint32_t& irregular) {
  amax = _mm512_max_epu16(amax, c.least_amax);
  const __mmask32 zero = _mm512_testn_epi16_mask(amax, amax);
  const __mmask32 outside = _mm512_cmpgt_epu16_mask(_mm512_sub_epi16(amax, c.amax_from), c.amax_span);
  irregular = outside & (c.zero_is_irregular | ~zero);
  const __m512i scale = _mm512_sub_epi16(_mm512_srli_epi16(_mm512_add_epi16(amax, c.scale_addend), 7), c.scale_offset);
  return _mm512_mask_mov_epi16(scale, zero, c.zero_scale);
}

[[gnu::always_inline]] inline void store(uint8_t* to, __m512i value, bool streams) {
  if (streams) {
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to), value);
  } else {
    _mm512_storeu_si512(to, value);
  }
}

/// What the first pass over some groups leaves for the second one. Two short loops instead of a long one: the processor can work on many groups at
/// once then, and the way from the elements to their scale is long.
struct Scratch {
  alignas(64) uint32_t half_units[4 * kBatch];  ///< of each vector, in both halves
  __m512i largest[kBatch];
  Four elements[kBatch];
};

template <ElementSource kSource>
constexpr size_t kGroupBytes = (kSource == ElementSource::f32 ? 4 : 2) * kGroup;

/// What lies some bytes ahead: `left` groups from there on.
struct Later {
  const uint8_t* from;
  size_t left;
};
template <ElementSource kSource>
[[gnu::always_inline]] inline Later later(const void* elements, size_t groups, size_t bytes) {
  constexpr size_t kBytes = kGroupBytes<kSource>;
  const size_t skipped = groups < bytes / kBytes ? groups : bytes / kBytes;
  return {static_cast<const uint8_t*>(elements) + skipped * kBytes, groups - skipped};
}

/// Asks for group `g` of what lies ahead, to come to the cache of that level. Both passes ask, so that requests are under way all the time.
template <ElementSource kSource, int kLevel>
[[gnu::always_inline]] inline void ask(const Later& later, size_t g) {
  constexpr size_t kBytes = kGroupBytes<kSource>;
  for (size_t line = 0; g < later.left && line < kBytes; line += 64) __builtin_prefetch(later.from + g * kBytes + line, 0, 4 - kLevel);
}

/// First pass: scales of `groups` groups, and upper halves where the source is not made of them.
template <ElementSource kSource, uint32_t kBlock>
[[gnu::always_inline]] inline void measure(const void* elements, size_t groups, const Later& far, uint8_t* scales, uint64_t* irregular,
                                           size_t first_block, Scratch& scratch, const Constants& c) {
  for (size_t g = 0; g < groups; ++g) {
    ask<kSource, 2>(far, g);
    Four magnitudes;
    for (size_t j = 0; j < 4; ++j) {
      const __m512i x = load<kSource>(elements, g * kGroup + 32 * j);
      if constexpr (kSource != ElementSource::bf16) scratch.elements[g].v[j] = x;
      magnitudes.v[j] = _mm512_and_si512(x, _mm512_set1_epi16(0x7FFF));
    }
    scratch.largest[g] = largest_in_lanes(magnitudes);
  }
  for (size_t g = groups; g < kBatch; ++g) scratch.largest[g] = _mm512_setzero_si512();
  static_assert(kBatch == 8);
  __m512i largest = largest_words(scratch.largest);  // [vector of a group][group]
  if constexpr (kBlock == 32) {
    largest = _mm512_permutexvar_epi16(index_of([](unsigned i) { return i % 4 * 8 + i / 4; }), largest);
  } else {
    largest = _mm512_max_epu16(largest, _mm512_shuffle_i64x2(largest, largest, 0x4E));
    largest = _mm512_max_epu16(largest, _mm512_shuffle_i64x2(largest, largest, 0xB1));
  }
  uint32_t words = 0;
  const __m512i scale = scales_of(largest, c, words);
  const auto blocks = static_cast<uint32_t>(kGroup / kBlock * groups);
  const uint32_t known = blocks == 32 ? ~0U : (1U << blocks) - 1;
  _mm256_mask_storeu_epi8(scales, known, _mm512_cvtepi16_epi8(scale));
  if (__builtin_expect((words & known) != 0, 0)) irregular[first_block / 64] |= uint64_t{words & known} << (first_block % 64);
  const __m512i half_units = _mm512_slli_epi16(_mm512_sub_epi16(scale, c.half_unit_offset), 7);
  constexpr unsigned kVectors = kBlock / 32;  // that share a scale
  const auto twice = [&](unsigned first) {
    return _mm512_permutexvar_epi16(index_of([&](unsigned i) { return (first + i / 2) / kVectors; }), half_units);
  };
  _mm512_store_si512(scratch.half_units, twice(0));
  _mm512_store_si512(scratch.half_units + 16, twice(16));
}

/// Second pass: codes.
template <ElementSource kSource, int kWidth, ZeroSigns kZeros>
[[gnu::always_inline]] inline void encode(const void* elements, size_t groups, const Later& near, uint8_t* codes, const Scratch& scratch,
                                          const Constants& c, bool streams) {
  for (size_t g = 0; g < groups; ++g) {
    ask<kSource, 1>(near, g);
    Four coded;
    for (size_t j = 0; j < 4; ++j) {
      __m512i x;
      if constexpr (kSource == ElementSource::bf16) {
        x = load<kSource>(elements, g * kGroup + 32 * j);
      } else {
        x = scratch.elements[g].v[j];
      }
      const __m512i half_unit = _mm512_set1_epi32(static_cast<int>(scratch.half_units[4 * g + j]));
      if constexpr (kWidth == 4) {
        coded.v[j] = codes_by_table<kZeros>(x, half_unit, c.rounding, c.table);
      } else {
        coded.v[j] = codes_of<kZeros, kWidth>(x, half_unit, c.rounding);
      }
    }
    if constexpr (kWidth == 4) {
      store(codes + g * 64, nibbles(coded), streams);
    } else {
      store(codes + g * 128, bytes(coded.v[0], coded.v[1]), streams);
      store(codes + g * 128 + 64, bytes(coded.v[2], coded.v[3]), streams);
    }
  }
}

template <ElementSource kSource, uint32_t kBlock, int kWidth, ZeroSigns kZeros>
void run(const PowerPlan& plan, const void* elements, size_t blocks, uint8_t* codes, uint8_t* scales, uint64_t* irregular) {
  constexpr size_t kBlocks = kGroup / kBlock;
  constexpr size_t kCodes = kWidth == 4 ? kGroup / 2 : kGroup;
  constexpr size_t kBytes = kGroupBytes<kSource>;
  const Constants c = constants_of(plan);
  const bool streams = plan.streams != 0 && (reinterpret_cast<uintptr_t>(codes) & 63U) == 0;
  const auto* from = static_cast<const uint8_t*>(elements);
  const size_t whole = blocks / kBlocks;
  Scratch scratch;
  for (size_t g = 0; g < whole; g += kBatch) {
    const size_t groups = whole - g < kBatch ? whole - g : kBatch;
    const uint8_t* const here = from + g * kBytes;
    measure<kSource, kBlock>(here, groups, later<kSource>(here, whole - g, kFar), scales + g * kBlocks, irregular, g * kBlocks, scratch, c);
    encode<kSource, kWidth, kZeros>(here, groups, later<kSource>(here, whole - g, kNear), codes + g * kCodes, scratch, c, streams);
  }
  if (streams) _mm_sfence();
  const size_t left = blocks - whole * kBlocks;
  if (left == 0) return;
  // The last group is filled up with zeros.
  alignas(64) uint8_t rest[kBytes] = {};
  alignas(64) uint8_t rest_codes[kCodes];
  uint8_t rest_scales[kBlocks];
  uint64_t rest_irregular = 0;
  __builtin_memcpy(rest, from + whole * kBytes, left * kBytes / kBlocks);
  constexpr Later kNothing{nullptr, 0};
  measure<kSource, kBlock>(rest, 1, kNothing, rest_scales, &rest_irregular, 0, scratch, c);
  encode<kSource, kWidth, kZeros>(rest, 1, kNothing, rest_codes, scratch, c, false);
  __builtin_memcpy(codes + whole * kCodes, rest_codes, left * kCodes / kBlocks);
  __builtin_memcpy(scales + whole * kBlocks, rest_scales, left);
  irregular[whole * kBlocks / 64] |= (rest_irregular & ((1U << left) - 1U)) << (whole * kBlocks % 64);
}

template <ElementSource kSource, uint32_t kBlock, int kWidth>
PowerQuantize* chosen(ZeroSigns zeros) {
  return zeros == ZeroSigns::kept ? run<kSource, kBlock, kWidth, ZeroSigns::kept> : run<kSource, kBlock, kWidth, ZeroSigns::dropped>;
}

template <ElementSource kSource, uint32_t kBlock>
PowerQuantize* chosen(const RoundingPlan& plan) {
  if (plan.width == 4) return chosen<kSource, kBlock, 4>(plan.zeros);
  return plan.width == 6 ? chosen<kSource, kBlock, 6>(plan.zeros) : chosen<kSource, kBlock, 8>(plan.zeros);
}

template <ElementSource kSource>
PowerQuantize* chosen(const PowerPlan& plan) {
  return plan.block == 32 ? chosen<kSource, 32>(plan.rounding) : chosen<kSource, 128>(plan.rounding);
}

}  // namespace

void power_quantize_avx512(const PowerPlan& plan, const void* elements, size_t blocks, uint8_t* codes, uint8_t* scales, uint64_t* irregular) {
  PowerQuantize* const by_source[] = {chosen<ElementSource::f32>(plan), chosen<ElementSource::bf16>(plan), chosen<ElementSource::fp16>(plan)};
  by_source[static_cast<uint32_t>(plan.source)](plan, elements, blocks, codes, scales, irregular);
}

}  // namespace mx::kernels
