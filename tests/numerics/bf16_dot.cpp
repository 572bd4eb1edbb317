// The contract bf16-chain against the instruction that it says it is, where this processor has it, and against MPFR everywhere.

#include <array>
#include <cmath>
#include <random>

#include "model/numerics/chain.hpp"
#include "model/numerics/dot.hpp"
#include "tests/catch.hpp"
#include "tests/numerics/mpfr_number.hpp"
#include "tests/numerics/search_encoder.hpp"
#include "tests/skip.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

using namespace mx;
using namespace mx::tests;

namespace {

constexpr std::size_t kLanes = 4;

/// Sixteen-bit patterns that meet where rounding, flushing and special values are: any, special ones, and numbers near 2^(e/2) whose products
/// lie near 2^e.
std::uint32_t any_bf16(std::mt19937& random, int exponent) {
  constexpr std::array<std::uint32_t, 12> kSpecial{0x0000, 0x8000, 0x0001, 0x807F, 0x0080, 0x8080, 0x7F80, 0xFF80, 0x7FC0, 0xFF81, 0x7F7F, 0x3F80};
  const auto bits = static_cast<std::uint32_t>(random());
  const std::uint32_t kind = bits >> 28;
  if (kind == 0) return kSpecial[bits % kSpecial.size()];
  if (kind == 1) return bits & 0xFFFFU;
  const int field = 127 + exponent / 2 + static_cast<int>(bits >> 8 & 3U) - 1;
  return (bits & 0x807FU) | static_cast<std::uint32_t>(field) << 7;
}

/// An fp32 accumulator near 2^e; every sixteenth is special, and some are 2^-126 or next to it.
std::uint32_t any_f32(std::mt19937& random, int exponent) {
  constexpr std::array<std::uint32_t, 10> kSpecial{0,          0x80000000, 0x00000001, 0x807FFFFF, 0x00800000,
                                                   0x80800001, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7F7FFFFF};
  const auto bits = static_cast<std::uint32_t>(random());
  if (bits >> 28 == 0) return kSpecial[bits % kSpecial.size()];
  const int field = std::max(1, std::min(254, 127 + exponent + static_cast<int>(bits >> 24 & 7U) - 3));
  return (bits & 0x807FFFFFU) | static_cast<std::uint32_t>(field) << 23;
}

/// One lane: an fp32 sum and two pairs of factors.
struct Lane {
  std::uint32_t start;
  std::array<std::uint32_t, 2> a, b;
};

/// From sums that all flush to sums that overflow; most lie near 2^-126, and some are 2^-126 itself with less than half an ulp taken from it.
Lane any_lane(std::mt19937& random) {
  const std::uint32_t kind = static_cast<std::uint32_t>(random()) % 4;
  const int exponent = kind == 0 ? static_cast<int>(random() % 260) - 130 : -128 + static_cast<int>(random() % 8);
  const int products = kind == 1 ? -152 + static_cast<int>(random() % 4) : exponent;
  const std::uint32_t start = kind == 1 ? 0x00800000U | (static_cast<std::uint32_t>(random()) & 0x80000000U) : any_f32(random, exponent);
  Lane lane{start, {}, {}};
  for (std::uint32_t* code : {lane.a.data(), lane.a.data() + 1, lane.b.data(), lane.b.data() + 1}) *code = any_bf16(random, products);
  return lane;
}

std::string text_of(const Lane& lane) {
  return hex(lane.start) + " + " + hex(lane.a[1]) + " * " + hex(lane.b[1]) + " + " + hex(lane.a[0]) + " * " + hex(lane.b[0]);
}

double bf16_value(std::uint32_t code) { return f32_value(code << 16); }

/// The chain over two elements by the model.
std::uint32_t modelled(const Lane& lane) {
  const std::array<Value, 2> a{decode(kBf16, lane.a[0]), decode(kBf16, lane.a[1])};
  const std::array<Value, 2> b{decode(kBf16, lane.b[0]), decode(kBf16, lane.b[1])};
  return dot(row_of(Contract::bf16_chain), {a, &kBf16, {}, 0}, {b, &kBf16, {}, 0}, {.c = lane.start, .bias = {}});
}

/// One step restated: MPFR's fused multiply-add to 24 bits with hardly a limit on exponents, then flushed or overflown.
std::uint32_t mpfr_step(std::uint32_t start, std::uint32_t a, std::uint32_t b) {
  const auto flushed = [](double x) { return std::fabs(x) < 0x1p-126 ? std::copysign(0.0, x) : x; };
  MpfrNumber left(24);
  MpfrNumber right(24);
  MpfrNumber sum(24);
  mpfr_set_d(left.get(), flushed(bf16_value(a)), MPFR_RNDN);
  mpfr_set_d(right.get(), flushed(bf16_value(b)), MPFR_RNDN);
  mpfr_set_d(sum.get(), flushed(f32_value(start)), MPFR_RNDN);
  mpfr_fma(sum.get(), left.get(), right.get(), sum.get(), MPFR_RNDN);
  if (mpfr_nan_p(sum.get()) != 0) return 0x7FC00000U;
  // 24 bits of any size are a double here: two bf16 factors lie above 2^-252.
  const double value = flushed(mpfr_get_d(sum.get(), MPFR_RNDN));
  return std::bit_cast<std::uint32_t>(static_cast<float>(value));
}

#if defined(__x86_64__)

bool has_instruction() { return __builtin_cpu_supports("avx512bf16") != 0 && __builtin_cpu_supports("avx512vl") != 0; }

__attribute__((target("avx512bf16,avx512vl"))) void instruction(const std::uint32_t* start, const std::uint32_t* a, const std::uint32_t* b,
                                                                std::uint32_t* result) {
  const __m128 sum = _mm_castsi128_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(start)));
  const __m128i left = _mm_loadu_si128(reinterpret_cast<const __m128i*>(a));
  const __m128i right = _mm_loadu_si128(reinterpret_cast<const __m128i*>(b));
  const __m128 out = _mm_dpbf16_ps(sum, reinterpret_cast<__m128bh>(left), reinterpret_cast<__m128bh>(right));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(result), _mm_castps_si128(out));
}

#else

bool has_instruction() { return false; }
void instruction(const std::uint32_t*, const std::uint32_t*, const std::uint32_t*, std::uint32_t*) {}

#endif

}  // namespace

TEST_CASE("bf16-chain is what VDPBF16PS computes") {
  if (!has_instruction()) {
    mx::tests::skip_without("processor feature: VDPBF16PS");
    return;
  }
  std::mt19937 random(20240807);
  Comparison comparison;
  std::uint64_t flushed = 0;
  for (int round = 0; round < 250000; ++round) {
    std::array<Lane, kLanes> lanes;
    std::array<std::uint32_t, kLanes> start;
    std::array<std::uint32_t, kLanes> a;
    std::array<std::uint32_t, kLanes> b;
    std::array<std::uint32_t, kLanes> result;
    for (std::size_t i = 0; i < kLanes; ++i) {
      lanes[i] = any_lane(random);
      start[i] = lanes[i].start;
      a[i] = lanes[i].a[0] | lanes[i].a[1] << 16;
      b[i] = lanes[i].b[0] | lanes[i].b[1] << 16;
    }
    instruction(start.data(), a.data(), b.data(), result.data());
    for (std::size_t i = 0; i < kLanes; ++i) {
      const std::uint32_t model = modelled(lanes[i]);
      // The instruction hands on the sign and payload of a NaN, the contract has one NaN.
      const bool both_nan = (result[i] & 0x7FFFFFFFU) > 0x7F800000U && model == 0x7FC00000U;
      if ((model & 0x7FFFFFFFU) == 0) ++flushed;
      comparison.expect(both_nan || model == result[i],
                        [&] { return text_of(lanes[i]) + ": model " + hex(model) + ", instruction " + hex(result[i]); });
    }
  }
  INFO(comparison.first);
  CHECK(comparison.failures == 0);
  CHECK(comparison.count == 1000000);
  CHECK(flushed > 10000);
}

TEST_CASE("bf16-chain is MPFR's fused multiply-add to 24 bits, odd element first, flushed") {
  std::mt19937 random(5);
  Comparison comparison;
  for (int round = 0; round < 100000; ++round) {
    const Lane lane = any_lane(random);
    const std::uint32_t expected = mpfr_step(mpfr_step(lane.start, lane.a[1], lane.b[1]), lane.a[0], lane.b[0]);
    const std::uint32_t model = modelled(lane);
    comparison.expect(model == expected, [&] { return text_of(lane) + ": model " + hex(model) + ", MPFR " + hex(expected); });
  }
  INFO(comparison.first);
  CHECK(comparison.failures == 0);
}

TEST_CASE("a sum is flushed when it is below 2^-126 after rounding to 24 bits") {
  struct Row {
    std::string_view what;
    std::uint32_t c, a, b, sum;
  };
  // 2^-126 less a fraction of its lower neighbour's ulp, 2^-150.
  const Row rows[] = {
      {"less 1/4: rounds up to 2^-126", 0x00800000U, 0x1A000000U, 0x99000000U, 0x00800000U},
      {"less 1/2: a tie, which goes to 2^-126", 0x00800000U, 0x1A000000U, 0x99800000U, 0x00800000U},
      {"less 3/4: rounds down, and is flushed", 0x00800000U, 0x1A000000U, 0x99C00000U, 0x00000000U},
      {"the same, negative", 0x80800000U, 0x1A000000U, 0x19C00000U, 0x80000000U},
      {"less 1: flushed", 0x00800000U, 0x1A000000U, 0x9A000000U, 0x00000000U},
      {"a subnormal sum before", 0x007FFFFFU, 0x3F800000U, 0x3F800000U, 0x3F800000U},
      {"a subnormal factor", 0x3F800000U, 0x00400000U, 0x7F000000U, 0x3F800000U},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    CHECK(flushed_fma(row.a, row.b, row.c) == row.sum);
  }
}
