// bf16-block and bf16-chain where products, sums and scales come to the ends of fp32, from both sides: engines take a quick way away from them and a
// careful one near them.

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "kernels/moe/gemm.hpp"
#include "model/numerics/block.hpp"
#include "model/numerics/dot.hpp"
#include "model/numerics/f32.hpp"
#include "tests/catch.hpp"

using namespace mx;
using namespace mx::kernels;
using namespace mx::kernels::moe;
using layout::WeightFormat;

namespace {

constexpr std::size_t kK = 64;
constexpr std::size_t kRowBlock = 32;

struct WeightFacts {
  WeightFormat format;
  const Format* element;
  const Format* scale;
  std::size_t block;
  int unit;  ///< of a code, as a power of two
};
constexpr WeightFacts kFormats[] = {
    {WeightFormat::mxfp4, &kE2m1, &kE8m0, 32, -1}, {WeightFormat::mxfp8, &kE4m3fn, &kE8m0, 32, -9}, {WeightFormat::nvfp4, &kE2m1, &kE4m3fn, 16, -1}};

/// One column of weights and one row of activations.
struct Case {
  std::vector<std::uint32_t> codes, scales, x;
  float expert;
  std::vector<float> row_scales;  ///< for kRowBlock of K; empty: none

  std::uint32_t modelled(Contract contract, const WeightFacts& format) const {
    const ContractRow& row = row_of(contract);
    const auto values = [](const Format& of, const std::vector<std::uint32_t>& bits) {
      std::vector<Value> decoded;
      for (const std::uint32_t code : bits) decoded.push_back(decode(of, code));
      return decoded;
    };
    std::vector<Value> columns = values(*format.scale, scales);
    if (format.scale == &kE4m3fn) {
      for (Value& scale : columns) scale = exact_product(scale, decode(kF32, std::bit_cast<std::uint32_t>(expert)));
    }
    std::vector<Value> rows;
    for (const float scale : row_scales) rows.push_back(decode(kF32, std::bit_cast<std::uint32_t>(scale)));
    const std::vector<Value> a = values(kBf16, x);
    const std::vector<Value> b = values(*format.element, codes);
    const PreparedOperand left =
        prepare(row, Side::a, {.elements = a, .format = &kBf16, .scales = rows, .block = rows.empty() ? 0 : static_cast<int>(kRowBlock)});
    const PreparedOperand right =
        prepare(row, Side::b, {.elements = b, .format = format.element, .scales = columns, .block = static_cast<int>(format.block)});
    return dot(row, left, right, {});
  }

  /// The same in every row of the product.
  std::vector<float> multiplied(const Engine& engine, const WeightFacts& format, std::size_t rows) const {
    std::vector<std::uint8_t> bytes, scale_bytes;
    for (std::size_t k = 0; k < kK; k += format.element == &kE2m1 ? 2 : 1) {
      bytes.push_back(static_cast<std::uint8_t>(format.element == &kE2m1 ? codes[k] | codes[k + 1] << 4 : codes[k]));
    }
    for (const std::uint32_t scale : scales) scale_bytes.push_back(static_cast<std::uint8_t>(scale));
    const std::vector<float> experts{expert};
    const bool of_experts = format.scale == &kE4m3fn;
    const PanelMatrix panels = pack({.experts = 1, .halves = 1, .columns = 1, .k = kK}, panel_format_of(format.format), layout::SourceOrder::standard,
                                    {.codes = bytes,
                                     .scales = scale_bytes,
                                     .expert_scales = of_experts ? std::span<const float>(experts) : std::span<const float>(),
                                     .bias = {}});
    std::vector<std::uint16_t> all;
    std::vector<float> all_scales;
    for (std::size_t row = 0; row < rows; ++row) {
      all.insert(all.end(), x.begin(), x.end());
      all_scales.insert(all_scales.end(), row_scales.begin(), row_scales.end());
    }
    std::vector<float> out(rows);
    if (row_scales.empty()) {
      gemm(engine, panels, 0, Bf16Rows{all}, out, 1);
    } else {
      gemm(engine, panels, 0, ScaledRows{all, all_scales, kRowBlock}, out, 1);
    }
    return out;
  }
};

/// Two terms of K that leave one unit of both, and nothing else: x 1 + 2^-7 and -1 times the smallest code.
Case one_unit(const WeightFacts& format, int exponent) {
  Case one{std::vector<std::uint32_t>(kK, 0), std::vector<std::uint32_t>(kK / format.block, 1), std::vector<std::uint32_t>(kK, 0), 1, {}};
  const auto field = static_cast<std::uint32_t>(exponent) << 7;
  one.codes[0] = one.codes[1] = 1;
  one.x[0] = field | 1U;
  one.x[1] = field | 0x8000U;
  return one;
}

/// Codes, signs and significands at random, exponents of activations at one place, so that sums cancel.
Case cancelling(const WeightFacts& format, int exponent, std::mt19937& random) {
  Case any = one_unit(format, exponent);
  for (std::uint32_t& x : any.x) x = static_cast<std::uint32_t>(exponent) << 7 | (random() & 0x807FU);
  for (std::uint32_t& code : any.codes) {
    const auto sign = static_cast<std::uint32_t>(random() % 2) << (format.element == &kE2m1 ? 3 : 7);
    code = static_cast<std::uint32_t>(random() % 4) | sign;
  }
  return any;
}

/// Every engine of the contract in one tile of rows and in several; returns the model's answer.
std::uint32_t held(Contract contract, const Case& one, const WeightFacts& format, const std::string& what) {
  const std::uint32_t expected = one.modelled(contract, format);
  for (const Engine& engine : engines()) {
    if (engine.contract != contract || engine.kind != panel_format_of(format.format).kind || (engine.needs & ~isa_of_processor()) != 0) continue;
    for (const std::size_t rows : {std::size_t{1}, std::size_t{4}, std::size_t{9}, std::size_t{14}}) {
      INFO(engine.name << ", " << layout::name_of(format.format) << ", " << rows << " rows, " << what);
      for (const float out : one.multiplied(engine, format, rows)) CHECK(std::bit_cast<std::uint32_t>(out) == expected);
    }
  }
  return expected;
}

bool is_zero(std::uint32_t bits) { return (bits & 0x7FFFFFFFU) == 0; }
bool is_infinite(std::uint32_t bits) { return (bits & 0x7FFFFFFFU) == 0x7F800000U; }

/// The same under bf16-block; returns whether the answer is subnormal.
bool hold(const Case& one, const WeightFacts& format, const std::string& what) {
  const std::uint32_t expected = held(Contract::bf16_block, one, format, what);
  return (expected & 0x7F800000U) == 0 && !is_zero(expected);
}

}  // namespace

TEST_CASE("chains and their sums that come down to the subnormal numbers are the contract's") {
  std::mt19937 random(3);
  std::size_t subnormal = 0;
  std::size_t normal = 0;
  const auto count = [&](bool is_subnormal) { ++(is_subnormal ? subnormal : normal); };
  for (const WeightFacts& format : kFormats) {
    // The exponent of one unit of the output: 2^-126 is the smallest normal number.
    for (int unit = -131; unit <= -122; ++unit) {
      for (const int exponent : {60, 100, 140}) {
        for (const bool with_row_scale : {false, true}) {
          const int row_scale = with_row_scale ? -20 : 0;
          const int wanted = unit - (exponent - 134) - format.unit - row_scale;  // of the column's scale
          const auto finish = [&](Case one) {
            if (with_row_scale)
              one.row_scales.assign(kK / kRowBlock, std::ldexp(1.0F + std::ldexp(static_cast<float>(random() % 3), -23), row_scale));
            if (format.scale == &kE8m0) {
              for (std::uint32_t& scale : one.scales) scale = static_cast<std::uint32_t>(wanted + 127) + random() % 2;
            } else {
              for (std::uint32_t& scale : one.scales) scale = 1 + random() % 2;  // 2^-9 and twice that
              one.expert = std::ldexp(1.0F + std::ldexp(static_cast<float>(random() % 3), -23), wanted + 9);
            }
            return one;
          };
          if (wanted < -126 || wanted > 100) continue;
          const std::string what = "unit 2^" + std::to_string(unit) + ", exponent field " + std::to_string(exponent);
          count(hold(finish(one_unit(format, exponent)), format, what));
          count(hold(finish(cancelling(format, exponent, random)), format, what));
        }
      }
    }
  }
  CHECK(subnormal > 50);
  CHECK(normal > 50);
}

TEST_CASE("chains that leave the last bit of a row's scale, a subnormal number, are the contract's") {
  std::size_t subnormal = 0;
  for (const WeightFacts& format : kFormats) {
    if (format.scale != &kE8m0) continue;
    for (int unit = -131; unit <= -122; ++unit) {
      constexpr int kExponent = 110;
      constexpr int kLastBit = -23;
      Case one = one_unit(format, kExponent);
      for (const std::size_t k : {std::size_t{0}, std::size_t{1}}) {
        one.codes[kRowBlock + k] = 1;
        one.x[kRowBlock + k] = one.x[k] ^ 0x8000U;
      }
      one.row_scales = {1.0F + std::ldexp(1.0F, kLastBit), 1.0F};
      for (std::uint32_t& scale : one.scales) scale = static_cast<std::uint32_t>(127 + unit - (kExponent - 134) - format.unit - kLastBit);
      subnormal += hold(one, format, "unit 2^" + std::to_string(unit)) ? 1U : 0U;
    }
  }
  CHECK(subnormal == 10);  // 2^-131 to 2^-127, of two formats
}

TEST_CASE("chains that leave the last bit of an expert's scale, a subnormal number, are the contract's") {
  const WeightFacts& format = kFormats[2];
  std::size_t subnormal = 0;
  for (int unit = -131; unit <= -122; ++unit) {
    constexpr int kExponent = 110;
    constexpr int kLastBit = -23;
    // Eight units times 9/8 of the expert's scale, rounded down by an eighth of its last bit, less nine units times that scale.
    Case one = one_unit(format, kExponent);
    one.x[0] += 7;
    one.codes[16] = one.codes[17] = 1;
    one.x[16] = (one.x[0] + 1) | 0x8000U;
    one.x[17] = one.x[1] & 0x7FFFU;
    one.scales = {0x39, 0x38, 0x38, 0x38};
    one.expert = std::ldexp(1.0F + std::ldexp(1.0F, kLastBit), unit - (kExponent - 134) - format.unit - kLastBit);
    subnormal += hold(one, format, "unit 2^" + std::to_string(unit)) ? 1U : 0U;
  }
  CHECK(subnormal == 5);  // 2^-131 to 2^-127
}

TEST_CASE("subnormal scales of large activations are the contract's") {
  std::size_t finite = 0;
  for (const WeightFacts& format : kFormats) {
    for (int scale = 0; scale < 6; ++scale) {
      Case large = one_unit(format, 250);
      if (format.scale == &kE8m0) {
        large.scales.assign(large.scales.size(), static_cast<std::uint32_t>(scale));
      } else {
        large.expert = std::ldexp(1.75F, scale - 130);
      }
      const std::uint32_t expected = held(Contract::bf16_block, large, format, "scale " + std::to_string(scale));
      if (!is_zero(expected) && !is_infinite(expected)) ++finite;
      // The same product of two normal numbers.
      if (format.scale == &kE8m0) large.scales.assign(large.scales.size(), static_cast<std::uint32_t>(scale + 60));
      large.expert = std::ldexp(large.expert, 60);
      large.row_scales.assign(kK / kRowBlock, std::ldexp(1.5F, -60));
      hold(large, format, "scales of rows and columns, " + std::to_string(scale));
    }
  }
  CHECK(finite == 18);
}

TEST_CASE("sums of a chain that are subnormal before they are scaled count as zero") {
  std::size_t zeros = 0;
  for (const WeightFacts& format : kFormats) {
    if (format.scale != &kE8m0) continue;
    for (int exponent = 1; exponent <= 20; ++exponent) {
      Case one = one_unit(format, exponent);
      for (std::uint32_t& scale : one.scales) scale = 200;
      hold(one, format, "exponent field " + std::to_string(exponent));
      if (is_zero(one.modelled(Contract::bf16_block, format))) ++zeros;
    }
  }
  CHECK(zeros > 10);
  CHECK(zeros < 40);
}

TEST_CASE("bf16-chain of blocks whose scales lie far apart is the contract's at both ends of fp32") {
  std::mt19937 random(5);
  std::size_t finite = 0;
  std::size_t infinite = 0;
  std::size_t zero = 0;
  for (const WeightFacts& format : kFormats) {
    if (format.scale != &kE8m0) continue;
    for (const int exponent : {20, 60, 127, 200, 240}) {
      for (const int first : {1, 2, 3, 8, 9, 10, 11, 60, 118, 127, 136, 200, 245, 246, 247, 248, 250, 251, 252, 253, 254}) {
        for (const int step : {-130, -127, -121, -60, -1, 0, 1, 60, 121, 127, 130}) {
          const int second = first + step;
          if (second < 1 || second > 254) continue;
          Case one = random() % 2 == 0 ? one_unit(format, exponent) : cancelling(format, exponent, random);
          one.scales = {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(second)};
          // The second block adds its own, takes the first one's sum away again, or nothing.
          for (std::size_t k = 0; k < 2; ++k) one.x[32 + k] = random() % 3 == 0 ? 0 : one.x[k] ^ 0x8000U;
          const std::uint32_t largest = format.element == &kE2m1 ? 7 : 0x7E;
          one.codes[32] = one.codes[33] = random() % 2 == 0 ? largest : static_cast<std::uint32_t>(random() % 8);
          const std::uint32_t expected =
              held(Contract::bf16_chain, one, format,
                   "exponent field " + std::to_string(exponent) + ", scales " + std::to_string(first) + ", " + std::to_string(second));
          ++(is_zero(expected) ? zero : is_infinite(expected) ? infinite : finite);
        }
      }
    }
  }
  CHECK(finite > 100);
  CHECK(infinite > 100);
  CHECK(zero > 100);
}

TEST_CASE("sums of bf16-chain that come down to the smallest normal number, or up to the largest, in units of any block") {
  std::size_t finite = 0;
  std::size_t infinite = 0;
  std::size_t zero = 0;
  // The sum of the first block lies `apart` powers of two from the scale of the second: as it is, or in that block's units, it is next to either end.
  for (const WeightFacts& format : kFormats) {
    if (format.scale != &kE8m0) continue;
    for (int apart = -100; apart <= 100; apart += 20) {
      for (int end = -6; end <= 6; ++end) {
        for (const bool large : {false, true}) {
          constexpr int kScale = 120;
          const int second = kScale + apart;
          // One unit, or the sum of two large numbers: exponents of what is left, less those of the scale.
          const int wanted = large ? 127 + end - (apart < 0 ? -apart : kScale - 127) : -126 + end - (apart > 0 ? -apart : kScale - 127);
          const int exponent = large ? wanted + 126 - (format.element == &kE2m1 ? 2 : 8) : wanted + 134 - format.unit;
          if (exponent < 1 || exponent > 254 || second < 2 || second > 252) continue;
          Case one = one_unit(format, exponent);
          if (large) {
            one.x[1] = one.x[0];
            one.codes[0] = one.codes[1] = format.element == &kE2m1 ? 7 : 0x7E;
          }
          one.scales = {kScale, static_cast<std::uint32_t>(second)};
          const std::uint32_t expected =
              held(Contract::bf16_chain, one, format, "apart " + std::to_string(apart) + ", " + std::to_string(end) + " from the end");
          ++(is_zero(expected) ? zero : is_infinite(expected) ? infinite : finite);
        }
      }
    }
  }
  CHECK(finite > 50);
  CHECK(infinite > 5);
  CHECK(zero > 5);
}

TEST_CASE("a sum of bf16-chain just below the smallest normal number is one if it rounds to that with 24 bits, else zero") {
  // 2^-126 less 2^-152, less 2^-151 (a tie), less 1.5 * 2^-151, which would be 2^-126 among subnormal numbers, and less 2^-150, by the second
  // product.
  struct Less {
    std::uint32_t x;  ///< times 2^-63
    bool kept;
  };
  constexpr Less kLess[] = {{38U << 7, true}, {39U << 7, true}, {39U << 7 | 0x40U, false}, {40U << 7, false}};
  for (const WeightFacts& format : kFormats) {
    for (const Less& less : kLess) {
      for (const std::uint32_t sign : {0U, 0x8000U}) {
        Case one = one_unit(format, 64);
        one.codes[0] = one.codes[1] = format.element == &kE2m1 ? 2 : 0x38;
        one.scales.assign(one.scales.size(), format.scale == &kE8m0 ? 64 : 0x38);
        if (format.scale != &kE8m0) one.expert = 0x1p-63F;
        one.x[1] = 64U << 7 | sign;
        one.x[0] = less.x | (sign ^ 0x8000U);
        const std::uint32_t expected = held(Contract::bf16_chain, one, format, "less field " + std::to_string(less.x >> 7));
        CHECK((expected & 0x7FFFFFFFU) == (less.kept ? 0x00800000U : 0U));
      }
    }
  }
}

TEST_CASE("a sum of bf16-chain that is flushed to -0 keeps its sign where weights of -0 follow, and only there") {
  const WeightFacts& format = kFormats[2];
  std::size_t negative = 0;
  std::size_t positive = 0;
  std::size_t normal = 0;
  // 129 and 194 are 1 + 2^-7 and one and a half times that, rounded to eight bits: what is left of 197 * 129 - 131 * 194 is one unit of both.
  constexpr int kExponent = 110;
  for (int unit = -140; unit <= -120; ++unit) {
    for (const std::uint32_t zero : {0x0U, 0x8U}) {
      Case one = one_unit(format, kExponent);
      one.codes.assign(kK, zero);
      one.x.assign(kK, std::uint32_t{kExponent} << 7);
      one.codes[0] = 2;
      one.codes[1] = 3 | 8;
      one.x[0] |= 197 - 128;
      one.x[1] |= 131 - 128;
      one.expert = std::ldexp(1.0F + std::ldexp(1.0F, -7), unit - (kExponent - 134) + 9 + 7);
      const std::uint32_t expected = held(Contract::bf16_chain, one, format, "unit 2^" + std::to_string(unit) + ", zeros " + std::to_string(zero));
      ++(!is_zero(expected) ? normal : expected == 0 ? positive : negative);
    }
  }
  CHECK(negative == 14);  // 2^-140 to 2^-127
  CHECK(positive == 14);
  CHECK(normal == 14);
}

TEST_CASE("a scale that is a NaN among moderate ones is met by the weights of its block alone") {
  for (const Contract contract : {Contract::bf16_chain, Contract::bf16_block}) {
    for (const WeightFacts& format : kFormats) {
      const std::uint32_t nan = format.scale == &kE8m0 ? 0xFF : 0x7F;
      for (const bool with_row_scale : {false, true}) {
        if (with_row_scale && contract == Contract::bf16_chain) continue;
        for (std::size_t block = 0; block < kK / format.block; ++block) {
          Case one = one_unit(format, 127);
          if (with_row_scale) one.row_scales.assign(kK / kRowBlock, 1.5F);
          one.scales.assign(one.scales.size(), format.scale == &kE8m0 ? 120 : 0x38);
          one.scales[block] = nan;
          INFO("block " << block);
          CHECK(f32::is_nan(held(contract, one, format, std::string(name_of(contract)))));
        }
      }
    }
  }
}

TEST_CASE("a negative scale among positive ones turns the signs of its block alone") {
  std::mt19937 random(11);
  const WeightFacts& nvfp4 = kFormats[2];
  REQUIRE(nvfp4.scale == &kE4m3fn);
  for (const Contract contract : {Contract::bf16_chain, Contract::bf16_block}) {
    for (std::size_t block = 0; block < kK / nvfp4.block; ++block) {
      Case one = cancelling(nvfp4, 127, random);
      one.scales.assign(one.scales.size(), 0x3A);
      const std::uint32_t without = one.modelled(contract, nvfp4);
      one.scales[block] = 0xBA;
      INFO("block " << block);
      CHECK(held(contract, one, nvfp4, std::string(name_of(contract))) != without);
    }
  }
}

TEST_CASE("each scale of NVFP4 that is a number and not negative is the contract's, whatever the expert's") {
  std::mt19937 random(17);
  const WeightFacts& nvfp4 = kFormats[2];
  REQUIRE(nvfp4.scale == &kE4m3fn);
  constexpr std::uint32_t kLargest = 0x7E;
  for (const Contract contract : {Contract::bf16_chain, Contract::bf16_block}) {
    for (const float expert : {1.37F, -0.83F, 0x1.8p-90F, 0x1.1p95F}) {
      std::set<std::uint32_t> answers;
      for (std::uint32_t first = 0; first <= kLargest; first += kK / 16) {
        Case one = cancelling(nvfp4, 127, random);
        one.expert = expert;
        for (std::uint32_t& code : one.codes) code = static_cast<std::uint32_t>(random() % 16);
        for (std::uint32_t block = 0; block < kK / 16; ++block) one.scales[block] = std::min(first + block, kLargest);
        answers.insert(held(contract, one, nvfp4, std::string(name_of(contract)) + ", scales from " + std::to_string(first)));
      }
      CHECK(answers.size() > 25);  // of 32: they differ
    }
  }
}
