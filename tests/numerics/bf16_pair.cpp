// The contract bf16-pair against MPFR and against what else a unit might do, everywhere; against TDPBF16PS where this processor has it.

#include <array>
#include <cmath>

#include "model/numerics/dot.hpp"
#include "tests/catch.hpp"
#include "tests/numerics/mpfr_number.hpp"
#include "tests/numerics/pair_inputs.hpp"
#include "tests/numerics/search_encoder.hpp"
#include "tests/skip.hpp"

#if defined(__x86_64__) && !defined(MXACT_PORTABLE)
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>
#define MXACT_TEST_TILES 1
#endif

using namespace mx;
using namespace mx::tests;

namespace {

constexpr std::uint32_t kOne = 0x3F800000U;
constexpr std::uint32_t kSign = 0x80000000U;
constexpr std::uint32_t kSmallestNormal = 0x00800000U;
constexpr std::uint32_t kNan = 0x7FC00000U;

bool is_nan(std::uint32_t f32) { return (f32 & ~kSign) > 0x7F800000U; }
std::uint32_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }

// The restatement.

/// What becomes of subnormal numbers.
enum class Subnormals { flushed_after_rounding, flushed_before_rounding, kept };

/// a * b + c by MPFR: 24 bits with hardly a limit on the exponent, then flushed or overflown. A product of two fp32 numbers and its sum are doubles.
class Restated {
 public:
  explicit Restated(Subnormals subnormals) : subnormals_(subnormals) {}

  std::uint32_t fma(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    if (subnormals_ == Subnormals::kept) return bits_of(std::fma(std::bit_cast<float>(a), std::bit_cast<float>(b), std::bit_cast<float>(c)));
    mpfr_set_d(a_.get(), f32_value(read(a)), MPFR_RNDN);
    mpfr_set_d(b_.get(), f32_value(read(b)), MPFR_RNDN);
    mpfr_set_d(sum_.get(), f32_value(read(c)), MPFR_RNDN);
    const int rounding = mpfr_fma(sum_.get(), a_.get(), b_.get(), sum_.get(), MPFR_RNDN);
    if (mpfr_nan_p(sum_.get()) != 0) return kNan;
    const double value = mpfr_get_d(sum_.get(), MPFR_RNDN);
    const double size = std::fabs(value);
    const bool came_from_below = size == 0x1p-126 && rounding != 0 && (rounding > 0) == (value > 0);
    const bool is_flushed = size < 0x1p-126 || (subnormals_ == Subnormals::flushed_before_rounding && came_from_below);
    return bits_of(static_cast<float>(is_flushed ? std::copysign(0.0, value) : value));
  }
  std::uint32_t add(std::uint32_t a, std::uint32_t b) { return fma(kOne, a, b); }

 private:
  static std::uint32_t read(std::uint32_t f32) { return (f32 & ~kSign) < kSmallestNormal ? f32 & kSign : f32; }

  Subnormals subnormals_;
  MpfrNumber a_{24}, b_{24}, sum_{24};
};

/// The chain over one half of each pair, from `start`.
std::uint32_t half_chain(Restated& restated, const Sum& sum, std::size_t half, std::uint32_t start) {
  for (std::size_t k = half; k < 2 * sum.pairs; k += 2) start = restated.fma(in_f32(sum.a[k]), in_f32(sum.b[k]), start);
  return start;
}

std::uint32_t pair_sum(Restated& restated, const Sum& sum) {
  return restated.add(sum.c, restated.add(half_chain(restated, sum, 0, 0), half_chain(restated, sum, 1, 0)));
}

Sum with_pairs_reversed(const Sum& sum) {
  Sum other = sum;
  for (std::size_t p = 0; p < sum.pairs; ++p) {
    const std::size_t from = 2 * (sum.pairs - 1 - p);
    for (std::size_t half = 0; half < 2; ++half) {
      other.a[2 * p + half] = sum.a[from + half];
      other.b[2 * p + half] = sum.b[from + half];
    }
  }
  return other;
}

/// What a unit might compute instead, in the order of Tells.
struct Alternative {
  std::string_view what;
  std::uint32_t (*sum)(const Sum& sum);
};
constexpr std::array kAlternatives{
    Alternative{"subnormals kept",
                [](const Sum& sum) {
                  Restated restated(Subnormals::kept);
                  return pair_sum(restated, sum);
                }},
    Alternative{"flushed before rounding",
                [](const Sum& sum) {
                  Restated restated(Subnormals::flushed_before_rounding);
                  return pair_sum(restated, sum);
                }},
    Alternative{"(c + e) + o",
                [](const Sum& sum) {
                  Restated restated(Subnormals::flushed_after_rounding);
                  return restated.add(restated.add(sum.c, half_chain(restated, sum, 0, 0)), half_chain(restated, sum, 1, 0));
                }},
    Alternative{"the even chain starts at c",
                [](const Sum& sum) {
                  Restated restated(Subnormals::flushed_after_rounding);
                  return restated.add(half_chain(restated, sum, 0, sum.c), half_chain(restated, sum, 1, 0));
                }},
    Alternative{"VDPBF16PS: one chain from c, of each pair the odd element first",
                [](const Sum& sum) {
                  Restated restated(Subnormals::flushed_after_rounding);
                  std::uint32_t chain = sum.c;
                  for (std::size_t k = 0; k < 2 * sum.pairs; ++k) chain = restated.fma(in_f32(sum.a[k ^ 1U]), in_f32(sum.b[k ^ 1U]), chain);
                  return chain;
                }},
    Alternative{"k descending",
                [](const Sum& sum) {
                  Restated restated(Subnormals::flushed_after_rounding);
                  return pair_sum(restated, with_pairs_reversed(sum));
                }},
};

std::string text_of(const Sum& sum) {
  std::string text = "c " + hex(sum.c);
  for (std::size_t k = 0; k < 2 * sum.pairs; ++k) text += ", " + hex(sum.a[k]) + " * " + hex(sum.b[k]);
  return text;
}

// The instruction.

#ifdef MXACT_TEST_TILES

/// Whether the processor has it and the kernel lets this process use tiles.
bool has_instruction() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  constexpr unsigned kBf16Tiles = (1U << 22) | (1U << 24);
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0 || (edx & kBf16Tiles) != kBf16Tiles) return false;
  constexpr long kAskForComponent = 0x1023, kTileData = 18;
  return syscall(SYS_arch_prctl, kAskForComponent, kTileData) == 0;
}

/// 16 rows by 16 columns of sums, each with factors of its own row and its own column.
struct Tile {
  alignas(64) std::uint16_t a[16][32];
  alignas(64) std::uint16_t b[16][32];  ///< [pair][2 * column + half]
  alignas(64) std::uint32_t c[16][16];
};

__attribute__((target("amx-tile,amx-bf16"))) void instruction(Tile& tile, std::size_t pairs) {
  struct alignas(64) Configuration {
    std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
    std::uint16_t row_bytes[16] = {};
    std::uint8_t rows[16] = {};
  } configuration;
  configuration.row_bytes[0] = configuration.row_bytes[2] = 64;
  configuration.row_bytes[1] = static_cast<std::uint16_t>(4 * pairs);
  configuration.rows[0] = configuration.rows[1] = 16;
  configuration.rows[2] = static_cast<std::uint8_t>(pairs);
  _tile_loadconfig(&configuration);
  _tile_loadd(0, tile.c, 64);
  _tile_loadd(1, tile.a, 64);
  _tile_loadd(2, tile.b, 64);
  _tile_dpbf16ps(0, 1, 2);
  _tile_stored(0, tile.c, 64);
  _tile_release();
}

/// Row i has the factors a of the i-th sum, column j the factors b of the j-th one, the number in c that of the row.
void hold_tile(const Inputs& inputs, Draw& draw, Comparison& comparison) {
  const std::size_t pairs = some_pairs(draw);
  std::array<Sum, 16> sums;
  Tile tile{};
  for (std::size_t i = 0; i < 16; ++i) {
    sums[i] = drawn(inputs, draw, pairs);
    for (std::size_t k = 0; k < 2 * kMostPairs; ++k) {
      tile.a[i][k] = static_cast<std::uint16_t>(sums[i].a[k]);
      tile.b[k / 2][2 * i + k % 2] = static_cast<std::uint16_t>(sums[i].b[k]);
    }
    for (std::uint32_t& c : tile.c[i]) c = sums[i].c;
  }
  instruction(tile, pairs);
  for (std::size_t i = 0; i < 16; ++i) {
    for (std::size_t j = 0; j < 16; ++j) {
      Sum one = sums[i];
      one.b = sums[j].b;
      const std::uint32_t model = modelled(one);
      // The instruction hands on the sign and payload of a NaN, the contract has one NaN.
      comparison.expect(model == tile.c[i][j] || (model == kNan && is_nan(tile.c[i][j])),
                        [&] { return text_of(one) + ": model " + hex(model) + ", instruction " + hex(tile.c[i][j]); });
    }
  }
}

#else

bool has_instruction() { return false; }
void hold_tile(const Inputs&, Draw&, Comparison&) {}

#endif

}  // namespace

TEST_CASE("bf16-pair is what TDPBF16PS computes") {
  if (!has_instruction()) {
    skip_without("processor feature: TDPBF16PS");
    return;
  }
  for (const Inputs& inputs : pair_inputs()) {
    INFO(inputs.what);
    Draw draw(20261130);
    Comparison comparison;
    for (int round = 0; round < 60; ++round) hold_tile(inputs, draw, comparison);
    INFO(comparison.first);
    CHECK(comparison.failures == 0);
    CHECK(comparison.count == 60 * 256);
  }
}

TEST_CASE("bf16-pair is MPFR's steps to 24 bits, and no alternative is where the inputs tell") {
  Restated restated(Subnormals::flushed_after_rounding);
  for (const Inputs& inputs : pair_inputs()) {
    INFO(inputs.what);
    Draw draw(7);
    Comparison comparison;
    std::array<int, kAlternatives.size()> told{};
    for (int round = 0; round < 1200; ++round) {
      const Sum sum = drawn(inputs, draw, some_pairs(draw));
      const std::uint32_t expected = pair_sum(restated, sum);
      const std::uint32_t model = modelled(sum);
      comparison.expect(model == expected, [&] { return text_of(sum) + ": model " + hex(model) + ", MPFR " + hex(expected); });
      for (std::size_t i = 0; i < told.size(); ++i) {
        const std::uint32_t other = kAlternatives[i].sum(sum);
        told[i] += other != model && !(is_nan(other) && is_nan(model)) ? 1 : 0;
      }
    }
    INFO(comparison.first);
    CHECK(comparison.failures == 0);
    for (std::size_t i = 0; i < told.size(); ++i) {
      INFO(kAlternatives[i].what << ": " << told[i]);
      if ((inputs.tells >> i & 1U) != 0) CHECK(told[i] > 0);
    }
  }
}

TEST_CASE("blocks of 32 along k are added in order, the last has as many pairs as there are, an odd k a partner of zeros") {
  Restated restated(Subnormals::flushed_after_rounding);
  Draw draw(3);
  Comparison comparison;
  for (std::size_t length = 1; length <= 99; ++length) {
    for (const Inputs& inputs : pair_inputs()) {
      std::vector<Value> a;
      std::vector<Value> b;
      const std::uint32_t c = drawn(inputs, draw, kMostPairs).c;
      std::uint32_t expected = c;
      for (std::size_t first = 0; first < length; first += 2 * kMostPairs) {
        const std::size_t rest = std::min(length - first, 2 * kMostPairs);
        Sum sum = drawn(inputs, draw, (rest + 1) / 2);
        for (std::size_t k = 0; k < rest; ++k) {
          a.push_back(decode(kBf16, sum.a[k]));
          b.push_back(decode(kBf16, sum.b[k]));
        }
        if (rest % 2 == 1) sum.a[rest] = sum.b[rest] = 0;
        sum.c = expected;
        expected = pair_sum(restated, sum);
      }
      const std::uint32_t model = dot(row_of(Contract::bf16_pair), {a, &kBf16}, {b, &kBf16}, {.c = c, .bias = {}});
      comparison.expect(model == expected || (is_nan(model) && is_nan(expected)),
                        [&] { return std::to_string(length) + " products: model " + hex(model) + ", MPFR " + hex(expected); });
    }
  }
  INFO(comparison.first);
  CHECK(comparison.failures == 0);
}

TEST_CASE("what tells bf16-pair from its neighbours, by hand") {
  struct Row {
    std::string_view what;
    std::uint32_t c;
    std::vector<std::uint32_t> a;  ///< times 1
    std::uint32_t sum;
  };
  // bf16: 0x3F80 is 1, 0x4B80 2^24, 0x0080 2^-126, 0x7F00 2^127, 0x7F80 Inf, 0x8000 -0. 2^24 + 1 rounds to 2^24.
  const Row rows[] = {
      {"e + o is 2; c would lose each of them alone", 0x4B800000U, {0x3F80, 0x3F80}, 0x4B800001U},
      {"e + o is 1 - 2^24; (c + e) + o would be 0", 0x4B800000U, {0x3F80, 0xCB80}, 0x3F800000U},
      {"e is 2^24 - 2^24, o is 2; one chain would lose the first 1", 0, {0x4B80, 0x3F80, 0xCB80, 0x3F80}, 0x40000000U},
      {"k ascending: 2^24 loses each 1; descending it would have 2", 0, {0x4B80, 0, 0x3F80, 0, 0x3F80}, 0x4B800000U},
      {"c of the least subnormal is a zero with its sign", 0x80000001U, {0x8000, 0x8000}, 0x00000000U},
      {"a subnormal factor is zero", 0x3F800000U, {0x0040, 0x0040}, 0x3F800000U},
      {"-0: chains begin with +0, whatever they add", 0x80000000U, {0x8000, 0x8000}, 0x00000000U},
      {"e is Inf, o -Inf, though the exact sum is 0", 0, {0x7F00, 0xFF00, 0x7F00, 0xFF00}, kNan},
      {"Inf less Inf", 0xFF800000U, {0x7F80}, kNan},
      {"a NaN has no sign here", 0xFFC00001U, {0x3F80}, kNan},
      {"33 ones: 32 of the first block, and the one of the second is lost", 0x4B800000U, std::vector<std::uint32_t>(33, 0x3F80), 0x4B800010U},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    std::vector<Value> a;
    for (const std::uint32_t code : row.a) a.push_back(decode(kBf16, code));
    const std::vector<Value> ones(a.size(), decode(kBf16, 0x3F80));
    CHECK(dot(row_of(Contract::bf16_pair), {a, &kBf16}, {ones, &kBf16}, {.c = row.c, .bias = {}}) == row.sum);
  }
}
