// The contract bf16-chain against the instruction that it says it is, where this processor has it, and against exact integers everywhere.

#include <array>
#include <random>

#include "model/numerics/chain.hpp"
#include "model/numerics/dot.hpp"
#include "tests/catch.hpp"
#include "tests/numerics/oracle.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

using namespace mx;
using namespace mx::test;

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

/// One pair of products by the model: the chain over two elements from `start`.
std::uint32_t model_pair(std::uint32_t start, std::array<std::uint32_t, 2> a, std::array<std::uint32_t, 2> b) {
  const ContractRow& row = row_of(Contract::bf16_chain);
  const std::array<Value, 2> left{decode(kBf16, a[0]), decode(kBf16, a[1])};
  const std::array<Value, 2> right{decode(kBf16, b[0]), decode(kBf16, b[1])};
  return dot(row, Operand{.elements = left, .format = &kBf16}, Operand{.elements = right, .format = &kBf16}, {.c = start, .bias = {}});
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
    WARN("this processor has no VDPBF16PS: the contract is held against integers alone");
    SUCCEED();
    return;
  }
  std::mt19937 random(20240807);
  Comparison comparison;
  std::uint64_t flushed = 0;
  for (int round = 0; round < 250000; ++round) {
    // From sums that all flush to sums that overflow; most lie near 2^-126.
    const int exponent = round % 4 == 0 ? static_cast<int>(random() % 260) - 130 : -128 + static_cast<int>(random() % 8);
    std::array<std::uint32_t, kLanes> start{};
    std::array<std::uint32_t, kLanes> a{};
    std::array<std::uint32_t, kLanes> b{};
    std::array<std::uint32_t, kLanes> result{};
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      start[lane] = any_f32(random, exponent);
      a[lane] = any_bf16(random, exponent) | any_bf16(random, exponent) << 16;
      b[lane] = any_bf16(random, exponent) | any_bf16(random, exponent) << 16;
    }
    instruction(start.data(), a.data(), b.data(), result.data());
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const std::uint32_t model = model_pair(start[lane], {a[lane] & 0xFFFFU, a[lane] >> 16}, {b[lane] & 0xFFFFU, b[lane] >> 16});
      const bool both_nan = (result[lane] & 0x7FFFFFFFU) > 0x7F800000U && model == 0x7FC00000U;
      if ((model & 0x7FFFFFFFU) == 0) ++flushed;
      comparison.expect(both_nan || model == result[lane], [&] {
        return hex(start[lane]) + " + " + hex(a[lane]) + " * " + hex(b[lane]) + ": model " + hex(model) + ", instruction " + hex(result[lane]);
      });
    }
  }
  INFO(comparison.first);
  CHECK(comparison.failures == 0);
  CHECK(flushed > 10000);
}
