// bf16-block, and scales of both contracts of bf16, at the ends of fp32 and at what is no number.

#include "tests/kernels/moe_edges.hpp"

#include <cmath>
#include <random>
#include <set>
#include <string>

#include "model/numerics/f32.hpp"
#include "tests/catch.hpp"
#include "tests/counts.hpp"

using namespace mx;
using namespace mx::tests::edges;

TEST_CASE("chains and their sums that come down to the subnormal numbers are the contract's") {
  std::mt19937 random(3);
  std::size_t subnormal = 0;
  std::size_t normal = 0;
  const auto count = [&](bool is_subnormal) { ++(is_subnormal ? subnormal : normal); };
  mx::tests::EveryNth picked(3);
  for (const WeightFacts& format : kFormats) {
    // The exponent of one unit of the output: 2^-126 is the smallest normal number.
    for (int unit = -131; unit <= -122; ++unit) {
      for (const int exponent : {60, 100, 140}) {
        for (const bool with_row_scale : {false, true}) {
          const int row_scale = with_row_scale ? -20 : 0;
          const int wanted = unit - (exponent - 134) - format.unit - row_scale;  // of the column's scale
          const auto finish = [&](EdgeCase one) {
            if (with_row_scale)
              one.row_scales.assign(format.k / kRowBlock, std::ldexp(1.0F + std::ldexp(static_cast<float>(random() % 3), -23), row_scale));
            if (format.scale == &kE8m0) {
              for (std::uint32_t& scale : one.scales) scale = static_cast<std::uint32_t>(wanted + 127) + random() % 2;
            } else if (format.scale == &kF32) {
              for (std::uint32_t& scale : one.scales) scale = bits_of(std::ldexp(1.0F + std::ldexp(static_cast<float>(random() % 3), -23), wanted));
            } else {
              for (std::uint32_t& scale : one.scales) scale = 1 + random() % 2;  // 2^-9 and twice that
              one.expert = std::ldexp(1.0F + std::ldexp(static_cast<float>(random() % 3), -23), wanted + 9);
            }
            return one;
          };
          if (wanted < -126 || wanted > 100 || !picked()) continue;
          const std::string what = "unit 2^" + std::to_string(unit) + ", exponent field " + std::to_string(exponent);
          count(hold(finish(one_unit(format, exponent)), format, what));
          count(hold(finish(cancelling(format, exponent, random)), format, what));
        }
      }
    }
  }
  const auto least = static_cast<std::size_t>(mx::tests::counted(16, 50));
  CHECK(subnormal > least);
  CHECK(normal > least);
}

TEST_CASE("chains that leave the last bit of a row's scale, a subnormal number, are the contract's") {
  std::size_t subnormal = 0;
  for (const WeightFacts& format : kFormats) {
    if (format.scale != &kE8m0) continue;
    for (int unit = -131; unit <= -122; ++unit) {
      constexpr int kExponent = 110;
      constexpr int kLastBit = -23;
      EdgeCase one = one_unit(format, kExponent);
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

TEST_CASE("chains that leave the last bit of an expert's scale or of a column's, a subnormal number, are the contract's") {
  std::size_t subnormal = 0;
  for (const WeightFacts& format : kFormats) {
    if (format.scale == &kE8m0) continue;
    for (int unit = -131; unit <= -122; ++unit) {
      constexpr int kExponent = 110;
      constexpr int kLastBit = -23;
      const int exponent = unit - (kExponent - 134) - format.unit - kLastBit;
      const float scale = std::ldexp(1.0F + std::ldexp(1.0F, kLastBit), exponent);
      // Eight units times 9/8 of the scale, rounded down by an eighth of its last bit, less nine units times that scale.
      EdgeCase one = one_unit(format, kExponent);
      one.x[0] += 7;
      one.codes[format.block] = one.codes[format.block + 1] = 1;
      one.x[format.block] = (one.x[0] + 1) | 0x8000U;
      one.x[format.block + 1] = one.x[1] & 0x7FFFU;
      if (format.scale == &kF32) {
        one.scales = {bits_of(std::ldexp(1.125F + std::ldexp(1.0F, kLastBit), exponent)), bits_of(scale)};
      } else {
        one.scales = {0x39, 0x38, 0x38, 0x38};
        one.expert = scale;
      }
      subnormal += hold(one, format, "unit 2^" + std::to_string(unit)) ? 1U : 0U;
    }
  }
  CHECK(subnormal == 10);  // 2^-131 to 2^-127, of two formats
}

TEST_CASE("subnormal scales of large activations are the contract's") {
  std::size_t finite = 0;
  for (const WeightFacts& format : kFormats) {
    for (int scale = 0; scale < 6; ++scale) {
      EdgeCase large = one_unit(format, 250);
      if (format.scale == &kE8m0) {
        large.scales.assign(large.scales.size(), static_cast<std::uint32_t>(scale));
      } else if (format.scale == &kF32) {
        large.scales.assign(large.scales.size(), bits_of(std::ldexp(1.75F, scale - 130)));
      } else {
        large.expert = std::ldexp(1.75F, scale - 130);
      }
      const std::uint32_t expected = held(Contract::bf16_block, large, format, "scale " + std::to_string(scale));
      if (!is_zero(expected) && !is_infinite(expected)) ++finite;
      // The same product of two normal numbers.
      if (format.scale == &kE8m0) large.scales.assign(large.scales.size(), static_cast<std::uint32_t>(scale + 60));
      if (format.scale == &kF32) large.scales.assign(large.scales.size(), bits_of(std::ldexp(1.75F, scale - 70)));
      large.expert = std::ldexp(large.expert, 60);
      large.row_scales.assign(format.k / kRowBlock, std::ldexp(1.5F, -60));
      hold(large, format, "scales of rows and columns, " + std::to_string(scale));
    }
  }
  CHECK(finite == 24);
}

TEST_CASE("subnormal scales of rows by large ones of columns are the contract's") {
  std::size_t finite = 0;
  for (const WeightFacts& format : kFormats) {
    for (int exponent = -140; exponent <= -124; ++exponent) {
      EdgeCase one = one_unit(format, 134);
      if (format.scale == &kE8m0) one.scales.assign(one.scales.size(), 240);
      if (format.scale == &kF32) one.scales.assign(one.scales.size(), bits_of(0x1.cp113F));
      one.expert = 0x1.cp113F;
      one.row_scales.assign(format.k / kRowBlock, std::ldexp(1.25F, exponent));
      const std::uint32_t expected = held(Contract::bf16_block, one, format, "row scale 2^" + std::to_string(exponent));
      if (!is_zero(expected) && !is_infinite(expected)) ++finite;
    }
  }
  CHECK(finite == 68);
}

TEST_CASE("sums of a chain that are subnormal before they are scaled count as zero") {
  std::size_t zeros = 0;
  for (const WeightFacts& format : kFormats) {
    if (format.scale != &kE8m0) continue;
    for (int exponent = 1; exponent <= 20; ++exponent) {
      EdgeCase one = one_unit(format, exponent);
      for (std::uint32_t& scale : one.scales) scale = 200;
      hold(one, format, "exponent field " + std::to_string(exponent));
      if (is_zero(one.modelled(Contract::bf16_block, format))) ++zeros;
    }
  }
  CHECK(zeros > 10);
  CHECK(zeros < 40);
}

TEST_CASE("a scale that is a NaN among moderate ones is met by the weights of its block alone") {
  for (const Contract contract : {Contract::bf16_chain, Contract::bf16_pair, Contract::bf16_block}) {
    for (const WeightFacts& format : kFormats) {
      for (const bool with_row_scale : {false, true}) {
        if (with_row_scale && contract != Contract::bf16_block) continue;
        for (std::size_t block = 0; block < format.k / format.block; ++block) {
          EdgeCase one = one_unit(format, 127);
          if (with_row_scale) one.row_scales.assign(format.k / kRowBlock, 1.5F);
          one.scales.assign(one.scales.size(), format.moderate);
          one.scales[block] = format.nan;
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
  for (const Contract contract : {Contract::bf16_chain, Contract::bf16_pair, Contract::bf16_block}) {
    for (std::size_t block = 0; block < nvfp4.k / nvfp4.block; ++block) {
      EdgeCase one = cancelling(nvfp4, 127, random);
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
  for (const Contract contract : {Contract::bf16_chain, Contract::bf16_pair, Contract::bf16_block}) {
    for (const float expert : {1.37F, -0.83F, 0x1.8p-90F, 0x1.1p95F}) {
      std::set<std::uint32_t> answers;
      for (std::uint32_t first = 0; first <= kLargest; first += nvfp4.k / nvfp4.block) {
        EdgeCase one = cancelling(nvfp4, 127, random);
        one.expert = expert;
        for (std::uint32_t& code : one.codes) code = static_cast<std::uint32_t>(random() % 16);
        for (std::uint32_t block = 0; block < nvfp4.k / nvfp4.block; ++block) one.scales[block] = std::min(first + block, kLargest);
        answers.insert(held(contract, one, nvfp4, std::string(name_of(contract)) + ", scales from " + std::to_string(first)));
      }
      CHECK(answers.size() > 25);  // of 32: they differ
    }
  }
}
