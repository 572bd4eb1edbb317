// Integers with a scale and a zero point: rules are said and read back the same; numbers by hand; blocks against the libraries' own lines in the
// host's fp32. What torchao and compressed-tensors gave is recorded in golden/witness/numerics-2/group_integers.

#include "model/numerics/affine.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "model/error.hpp"
#include "model/numerics/f32.hpp"
#include "support/random.hpp"
#include "tests/catch.hpp"

namespace {

using namespace mx;

std::uint32_t bits_of(float x) { return std::bit_cast<std::uint32_t>(x); }
float number_of(std::uint32_t bits) { return std::bit_cast<float>(bits); }

std::vector<std::uint32_t> bits_of(const std::vector<float>& x) {
  std::vector<std::uint32_t> bits;
  for (const float one : x) bits.push_back(bits_of(one));
  return bits;
}

std::string message(std::string_view text) {
  try {
    return "read as " + text_of(affine_rules(text));
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::usage);
    return error.what();
  }
}

struct Made {
  float scale;
  float zero;
  std::vector<float> codes;
};

/// pseudo_quantize_tensor of llm-awq, its lines for zero_point=True in fp32.
Made awq(const std::vector<float>& w) {
  const auto [least, most] = std::ranges::minmax(w);
  const float scales = std::max(most - least, 1e-5F) / 15.0F;
  const float zeros = std::clamp(-std::nearbyint(least / scales), 0.0F, 15.0F);
  Made made{scales, zeros, {}};
  for (const float x : w) made.codes.push_back(std::clamp(std::nearbyint(x / scales) + zeros, 0.0F, 15.0F));
  return made;
}

/// Quantizer.find_params and quantize of AutoGPTQ, perchannel, in fp32.
Made gptq(const std::vector<float>& w, bool symmetric) {
  float least = std::min(std::ranges::min(w), 0.0F), most = std::max(std::ranges::max(w), 0.0F);
  if (symmetric) {
    most = std::max(std::fabs(least), most);
    if (least < 0) least = -most;
  }
  if (least == 0 && most == 0) {
    least = -1;
    most = 1;
  }
  const float scale = (most - least) / 15.0F, zero = symmetric ? 8.0F : std::nearbyint(-least / scale);
  Made made{scale, zero, {}};
  for (const float x : w) made.codes.push_back(std::clamp(std::nearbyint(x / scale) + zero, 0.0F, 15.0F));
  return made;
}

/// Blocks of 16 with values of both signs, of one, and at halves of a step.
std::vector<float> drawn(support::SplitMix64& random, int kind) {
  std::vector<float> x;
  const float unit = std::ldexp(1.0F, static_cast<int>(random.next() % 40U) - 20);
  for (int i = 0; i < 16; ++i) {
    const std::uint64_t word = random.next();
    const float part = kind < 3 ? static_cast<float>(word >> 40U) / 16777216.0F : static_cast<float>(word % 61U) * 0.25F;
    x.push_back((kind == 1 ? part : kind == 2 ? -part : part * 2.0F - (kind == 3 ? 15.0F : 1.0F)) * unit);
  }
  return x;
}

}  // namespace

TEST_CASE("rules of integers are read, said, and read back the same") {
  for (const AffineRow& row : named_affine_rules()) {
    INFO(row.name);
    const AffineRules rules = affine_rules(row.name);
    CHECK(rules.block == 128);
    CHECK(affine_rules(row.text) == rules);
    CHECK(affine_rules(text_of(rules)) == rules);
    CHECK(is_affine(row.name));
    CHECK(is_affine(row.text));
    AffineRules smaller = rules;
    smaller.block = 32;
    smaller.scale = &kBf16;
    CHECK(affine_rules(std::string(row.name) + ", block=32, scale=bf16") == smaller);
  }
  CHECK_FALSE(is_affine("mxfp4"));
  CHECK_FALSE(is_affine("block=32,element=(e2m1,zero-sign=positive),scale=e8m0"));
  CHECK(affine_rules("awq,block=row").block == 0);
}

TEST_CASE("blocks of integers by hand") {
  // The range -1 to 2 in fifteen steps: 0.2, of which 5 lie below 0; 0.5 and 0.3 are ties in fp32, both to 2.
  const AffineBlock block = quantize(bits_of({-1, 0, 2, 0.5F, 0.3F}), affine_rules("gptq,block=5"));
  CHECK(block.scale == bits_of(0.2F));
  CHECK(block.zero == 5);
  CHECK(block.codes == std::vector<std::int32_t>{0, 5, 15, 7, 7});
  // Numbers 2 and 3 alone: awq counts the range as it is, and its zero point of -30 saturates; gptq counts 0 in.
  CHECK(quantize(bits_of({2, 3}), affine_rules("awq,block=2")).codes == std::vector<std::int32_t>{15, 15});
  CHECK(quantize(bits_of({2, 3}), affine_rules("gptq,block=2")).codes == std::vector<std::int32_t>{10, 15});
  // -8 to 7 under 7.5 / 7.5 = 1; the largest rule makes 7 of 7.5, and -8 is not used where it is narrow.
  CHECK(quantize(bits_of({-7.5F, 7.5F, 2.5F}), affine_rules("torchao-int4,block=3")).codes == std::vector<std::int32_t>{-8, 7, 2});
  const std::string largest = "torchao-int4,block=3,rule=largest";
  CHECK(quantize(bits_of({-7, 7, 3}), affine_rules(largest)).scale == bits_of(1.0F));
  CHECK(quantize(bits_of({-7.5F, 7.5F, 2.5F}), affine_rules("torchao-int4,block=3,narrow=yes")).codes[0] == -7);
  // The farther side: -4 / -8 = 0.5 and 2.8 / 7 = 0.4.
  CHECK(quantize(bits_of({-4, 2.8F}), affine_rules("torchao-int4-no-clipping,block=2")).scale == bits_of(0.5F));
  // Without a negative number the range of gptq-sym is 0 to 15: from 7 on all saturate.
  CHECK(quantize(bits_of({0, 15, 7, 8, 6}), affine_rules("gptq-sym,block=5")).codes == std::vector<std::int32_t>{8, 15, 15, 15, 14});
  // A scale in bf16: 1 / 15 is 0x3D888889 in fp32, 0x3D89 in bf16, of which 1 has 14.94.
  const AffineBlock rounded = quantize(bits_of({0, 1}), affine_rules("gptq,block=2,scale=bf16"));
  CHECK(rounded.scale == 0x3D89);
  CHECK(rounded.codes == std::vector<std::int32_t>{0, 15});
  // Zeros: -1 to 1 of gptq; the bound of awq; the scale that stands in.
  CHECK(quantize(bits_of({0, -0.0F}), affine_rules("gptq,block=2")).scale == bits_of(2.0F / 15.0F));
  CHECK(quantize(bits_of({0, -0.0F}), affine_rules("awq,block=2")).scale == bits_of(1e-5F / 15.0F));
  CHECK(quantize(bits_of({0, -0.0F}), affine_rules("compressed-tensors-int4,block=2")).scale == 0x34000000);
  CHECK(quantize(bits_of({0, 0}), affine_rules("awq,block=2,least-range=0")).codes == std::vector<std::int32_t>{0, 0});
}

TEST_CASE("blocks of integers are those of the libraries' lines in fp32") {
  support::SplitMix64 random(16);
  std::string wrong;
  for (int round = 0; round < 20000; ++round) {
    const std::vector<float> x = drawn(random, round % 5);
    const auto held = [&](const Made& want, std::string_view rules) {
      const AffineBlock block = quantize(bits_of(x), affine_rules(rules));
      bool same = number_of(block.scale) == want.scale && static_cast<float>(block.zero) == want.zero;
      for (std::size_t i = 0; i < x.size(); ++i) same = same && static_cast<float>(block.codes[i]) == want.codes[i];
      if (!same && wrong.empty()) wrong = std::string(rules) + " of block " + std::to_string(round);
    };
    held(awq(x), "awq,block=16");
    held(gptq(x, false), "gptq,block=16");
    held(gptq(x, true), "gptq-sym,block=16");
  }
  CHECK(wrong.empty());
}

TEST_CASE("integers become numbers by one rounding") {
  const AffineRules rules = affine_rules("awq,block=2"), narrow = affine_rules("awq,block=2,scale=fp16");
  CHECK(dequantize(7, 5, bits_of(0.2F), rules, kF32) == bits_of(2.0F * 0.2F));
  CHECK(dequantize(0, 15, bits_of(0.1F), rules, kF32) == bits_of(-15.0F * 0.1F));
  CHECK(dequantize(5, 5, bits_of(0.2F), rules, kF32) == 0);
  CHECK(dequantize(15, 0, 0x7BFF, narrow, kF32) == bits_of(15.0F * 65504.0F));
  CHECK(dequantize(15, 0, 0x7BFF, narrow, kFp16) == 0x7C00);
  CHECK(dequantize(5, 5, 0x7F800000, rules, kF32) == f32::kNan);
  CHECK(dequantize(5, 5, 0x7C00, narrow, kFp16) == 0x7E00);
  CHECK(dequantize(7, 5, 0xFE01, narrow, kFp16) == 0x7E00);
  CHECK(dequantize(5, 5, 0x7F80, affine_rules("awq,block=2,scale=bf16"), kBf16) == 0x7FC0);
  CHECK(dequantize(7, 5, 0x7C00, narrow, kFp16) == 0x7C00);
  CHECK_THROWS_AS(dequantize(0, 0, 0, rules, kBf16), Error);
}

TEST_CASE("rules of integers that are none are told with what may stand there") {
  const auto says = [](std::string_view text, std::string_view part) {
    const std::string said = message(text);
    INFO(said);
    CHECK(said.find(part) != std::string::npos);
  };
  says("awq,block=0", "block=0: a whole number from 1 to");
  says("awq,element=u9", "element=u9: an integer of 2 to 8 bits");
  says("awq,zero=q2.2", "zero=q2.2: an integer of 2 to 32 bits");
  says("awq,zero=none", "zero-point=middle");
  says("gptq-sym,zero=u3", "does not hold the middle, 8");
  says("awq,narrow=yes", "of integers with a sign");
  says("awq,rule=farther-side", "of integers with a sign");
  says("awq,rule=spam", "did you mean span");
  says("awq,round=stochastic-floor", "no rounding into integers");
  says("awq,round=rne,round=rna", "round is said twice");
  says("awk,block=4", "did you mean awq");
  says("awq,zeros=u4", "did you mean zero");
  says("awq,least-scale=7f800000", "fp32 bits of a finite number");
  says("block=32,zero=u4", "it does not say element");
  CHECK_THROWS_AS(quantize(bits_of({1, 2, 3}), affine_rules("awq,block=2")), Error);
  CHECK_THROWS_AS(quantize(std::vector<std::uint32_t>{0x7F800000, 0}, affine_rules("awq,block=2")), Error);
}
