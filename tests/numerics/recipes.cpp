// What recipes refuse, and blocks that laws do not reach: squares, sources, all zero blocks of every recipe.

#include <map>
#include <set>
#include <string>

#include "model/error.hpp"
#include "model/numerics/profile.hpp"
#include "tests/catch.hpp"

using namespace mx;

namespace {

constexpr std::uint32_t kOne = 0x3F800000U;

std::string refusal(const std::vector<std::uint32_t>& x, const Format& source, std::string_view profile, const BlockFormat& format,
                    const TensorScale& tensor = {}) {
  try {
    quantize_block(x, source, recipe(profile_named(profile), format), tensor);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::usage);
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("a recipe refuses what it does not define, and says it") {
  const std::vector<std::uint32_t> block(32, 0);
  CHECK(refusal(std::vector<std::uint32_t>(33, 0), kF32, "torchao-rceil", kMxfp4) == "a block of 33 elements: mxfp4 has 32");
  CHECK(refusal({}, kF32, "deepgemm", kFp8Group128) == "a block of 0 elements: fp8_e4m3_g128 has 128");
  CHECK(refusal(block, kF32, "deepgemm", kFp8Group128) == "a block of 32 elements: fp8_e4m3_g128 has 128");
  CHECK(refusal(block, kF32, "flashinfer-mx", kMxfp4) == "this recipe for mxfp4 does not take f32 elements; it takes bf16 fp16");
  CHECK(refusal(block, kFp16, "torchao-floor", kMxfp4) == "this recipe for mxfp4 does not take fp16 elements; it takes f32 bf16");
  CHECK(refusal(block, kF32, "aiter-even", kMxfp4) == "this recipe for mxfp4 gives scales alone, no codes");
  CHECK(refusal(block, kF32, "torchao-floor", kMxfp4, {.encode = kOne, .decode = {}}) == "mxfp4 takes no scale of the tensor");
  CHECK(refusal(block, kF32, "deepgemm", kFp4Group32, {.encode = {}, .decode = kOne}) == "fp4_e2m1_g32 takes no scale of the tensor");
  const TensorScale bounded{.encode = {}, .decode = {}, .amax_bound = kOne};
  CHECK(refusal(block, kF32, "torchao-floor", kMxfp4, bounded) == "mxfp4 takes no bound on amax");
  CHECK(refusal(block, kF32, "deepgemm", kFp4Group32, bounded) == "fp4_e2m1_g32 takes no bound on amax");
  CHECK_THROWS_AS(block_scale(block, kF32, recipe(profile_named("aiter-even"), kMxfp4), bounded), Error);
  CHECK_THROWS_AS(recipe(profile_named("flashinfer-mx"), kMxfp8E5m2), Error);
  CHECK_THROWS_AS(element_conversion(recipe(profile_named("aiter-ceil"), kMxfp4)), Error);
}

TEST_CASE("recipes with a scale of the tensor refuse sources that the implementation does not take") {
  const std::vector<std::uint32_t> block(16, 0);
  const TensorScale global{.encode = kOne, .decode = kOne};
  const TensorScale decode{.encode = {}, .decode = kOne};
  for (const std::string_view profile : {"flashinfer-fast", "flashinfer-exact", "flashinfer-fast-no-fast-math", "flashinfer-exact-no-fast-math"}) {
    INFO(profile);
    CHECK(refusal(block, kF32, profile, kNvfp4, global) == "this recipe for nvfp4 does not take f32 elements; it takes bf16 fp16");
    CHECK(refusal(block, kBf16, profile, kNvfp4, global) == "accepted");
    CHECK(refusal(block, kFp16, profile, kNvfp4, global) == "accepted");
  }
  CHECK(refusal(block, kFp16, "torchao-nvfp4", kNvfp4, decode) == "this recipe for nvfp4 does not take fp16 elements; it takes f32 bf16");
  CHECK(refusal(block, kFp16, "vllm-nvfp4", kNvfp4, global) == "accepted");
  CHECK(refusal(block, kE5m2, "triton-kernels-nvfp4", kNvfp4) == "this recipe for nvfp4 does not take e5m2 elements; it takes f32 bf16 fp16");
  CHECK(refusal(block, kE5m2, "torchao-fp8", kFp8E4m3) == "this recipe for fp8_e4m3 does not take e5m2 elements; it takes f32 bf16 fp16");
  CHECK(refusal(block, kFp16, "vllm-fp8-tensor", kFp8E4m3) == "accepted");
}

TEST_CASE("microxcaling's floor truncates, with the unit of the binade that its logarithm names") {
  // _round_mantissa and _quantize_elemwise_core by hand: log2 of what is just below 2^k, k = 8 or 3, is k in fp32, so the unit is that of 2^k.
  struct Row {
    const BlockFormat& format;
    std::uint32_t amax;
    std::uint32_t x;
    std::uint32_t expected;
  };
  const std::vector<Row> rows{
      {kMxfp8E4m3, 0x43E00000, 0x437FFFFF, 0x76},    // 255.99998: floor(7.9999995) * 32 = 224
      {kMxfp8E4m3, 0x43E00000, 0x437F0000, 0x77},    // 255: 240, as truncation has it
      {kMxfp8E4m3, 0x43E00000, 0xC37FFFFF, 0xF6},    //
      {kMxfp8E4m3, 0x43E00000, 0x3F7FFFFF, 0x37},    // just below 1 the logarithm is exact enough: 0.9375
      {kMxfp8E4m3, 0x43E00000, 0xBA800000, 0x80},    // -2^-10: -0
      {kMxfp8E4m3, 0x43E00000, 0x80000000, 0x00},    //
      {kMxfp8E5m2, 0x47000000, 0x467FFFFF, 0x72},    // just below 2^14: 3 * 2^12
      {kMxfp4, 0x40800000, 0x407FFFFF, 0x5},         // just below 4: 3
      {kMxint8Block, 0x3FC00000, 0x3FBFFFFF, 0x5F},  // fixed point: 95 / 64
  };
  const Profile& profile = profile_named("microxcaling-floor");
  for (const Row& row : rows) {
    std::vector<std::uint32_t> block(32, 0);
    block[0] = row.amax;
    block[1] = row.x;
    const QuantizedBlock got = quantize_block(block, kF32, recipe(profile, row.format));
    INFO(row.format.name << " " << row.x);
    CHECK(got.scale == 127);
    CHECK(got.codes[1] == row.expected);
  }
}

TEST_CASE("recipes name their scale rules as witnesses do") {
  const auto rule = [](std::string_view profile, const BlockFormat& format) { return scale_rule_name(recipe(profile_named(profile), format)); };
  CHECK(rule("torchao-ceil", kMxfp4) == "ceil");
  CHECK(rule("flashinfer-mx", kMxfp4) == "rceil_rcp");
  CHECK(rule("vllm-quark-even", kMxfp4) == "even_source_width");
  CHECK(rule("microxcaling-even", kMxint8Block) == "floor_log2");
  CHECK(rule("vllm-mxfp8-torch", kMxfp8E4m3) == "floor_log2_no_emax");
  CHECK(rule("deepgemm", kFp8Group128) == "group_amax");
  CHECK(rule("deepgemm-ue8m0", kFp4Group32) == "group_pow2_bits");
  CHECK(rule("vllm-group-ue8m0", kFp8Group32) == "group_pow2_log2");
}

TEST_CASE("an implementation has one recipe for a format, rule and rounding") {
  // Each pair is told apart by an argument of the implementation that is no part of the rule: the path, the operation on elements, the granularity.
  const std::set<std::string> told_apart{
      "flashinfer-exact flashinfer-fast",
      "flashinfer-exact-no-fast-math flashinfer-fast-no-fast-math",
      "torchao-float8 torchao-float8-pow2",
      "transformers-fp8 transformers-fp8-ue8m0",
      "vllm-fp8-static vllm-fp8-static-divided",
      "vllm-fp8-tensor vllm-fp8-token",
  };
  std::map<std::string, std::set<std::string>> names;
  for (const Profile& profile : all_profiles()) {
    for (const Recipe& row : profile.recipes) {
      // amax / max_normal has a name in the family of groups and one in that of FP8.
      const std::string rule(scale_rule_name(row) == "amax_div_max" ? "group_amax" : scale_rule_name(row));
      const std::string rounding(gives_codes(row) ? name_of(element_conversion(row).rounding) : "none");
      std::string key;
      for (const std::string_view word : {profile.implementation, profile.device, profile.build, row.format->name}) key += std::string(word) + "/";
      names[key + rule + "/" + rounding].emplace(profile.name);
    }
  }
  std::set<std::string> shared;
  for (const auto& [key, who] : names) {
    std::string text;
    for (const std::string& name : who) text += (text.empty() ? "" : " ") + name;
    if (who.size() > 1) shared.insert(text);
  }
  CHECK(shared == told_apart);
}

TEST_CASE("fp16 elements are their own numbers, and even rounds in their width") {
  // 60000 = 0x7B53: adding 0x0100 passes the largest fp16, so the logarithm of Inf leaves byte 0, whose scale is 0 in fp16.
  std::vector<std::uint32_t> block(32, 0x0000);
  block[3] = 0x7B53;
  block[4] = 0xC000;
  const QuantizedBlock quark = quantize_block(block, kFp16, recipe(profile_named("vllm-quark-even"), kMxfp4));
  CHECK(quark.scale == 0);
  CHECK(quark.codes[3] == 0x7);
  CHECK(quark.codes[4] == 0xF);
  CHECK(quark.codes[0] == 0xF);  // 0 / 0, x86's negative NaN
  // 6 is exactly 6 * 2^0 for rceil: scale 1.
  std::vector<std::uint32_t> six(32, 0x4600);
  const QuantizedBlock flashinfer = quantize_block(six, kFp16, recipe(profile_named("flashinfer-mx"), kMxfp4));
  CHECK(flashinfer.scale == 127);
  CHECK(flashinfer.codes == std::vector<std::uint32_t>(32, 0x7));
}

TEST_CASE("the torch code of triton_kernels on a GPU differs from the CPU's in the sign of NaN products") {
  // Elements 1, Inf and -NaN, scale byte 255 (floor of Inf) or that of NaN: the factor is 0. x86 makes Inf * 0 negative and keeps the sign of a NaN,
  // NVIDIA processors have one NaN, positive.
  std::vector<std::uint32_t> infinite(32, kOne);
  infinite[1] = 0x7F800000U;
  std::vector<std::uint32_t> nan(32, kOne);
  nan[1] = 0xFFC00000U;
  const auto codes = [](const std::vector<std::uint32_t>& x, std::string_view profile, std::uint32_t scale) {
    const QuantizedBlock block = quantize_block(x, kF32, recipe(profile_named(profile), kMxfp4));
    CHECK(block.scale == scale);
    return std::vector<std::uint32_t>{block.codes[0], block.codes[1]};
  };
  using Codes = std::vector<std::uint32_t>;
  CHECK(codes(infinite, "triton-kernels-floor", 0xFF) == Codes{0x0, 0xF});
  CHECK(codes(infinite, "triton-kernels-floor-h200", 0xFF) == Codes{0x0, 0x7});
  CHECK(codes(nan, "triton-kernels-rceil", 0x00) == Codes{0x0, 0xF});
  CHECK(codes(nan, "triton-kernels-rceil-h200", 0x00) == Codes{0x0, 0x7});
  // Numbers are the same: amax 3 has the scale 1/2 under both rules, elements 1 / 0.5 = 2 and -3 / 0.5 = -6.
  std::vector<std::uint32_t> numbers(32, kOne);
  numbers[1] = 0xC0400000U;
  for (const std::string_view profile : {"triton-kernels-floor", "triton-kernels-floor-h200", "triton-kernels-rceil", "triton-kernels-rceil-h200"}) {
    CHECK(codes(numbers, profile, 126) == Codes{0x4, 0xF});
  }
}

TEST_CASE("a square of 128 x 128 weights is one group") {
  const Recipe& row = recipe(profile_named("deepgemm"), kFp8E4m3Square);
  std::vector<std::uint32_t> square(128 * 128, kOne);
  square[77 * 128 + 5] = 0x43E00000U;  // 448, so that s is 1
  square[127 * 128 + 127] = 0xC0400000U;
  const QuantizedBlock block = quantize_block(square, kF32, row);
  CHECK(block.scale == kOne);
  REQUIRE(block.codes.size() == square.size());
  CHECK(block.codes[0] == 0x38);
  CHECK(block.codes[77 * 128 + 5] == 0x7E);
  CHECK(block.codes.back() == 0xC4);
}

TEST_CASE("an enumerator without a row or word has no name, and says which it was") {
  const auto message_of = [](const auto& call) -> std::string {
    try {
      call();
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::usage);
      return error.what();
    }
    return "no error";
  };
  CHECK(message_of([] { name_of(static_cast<ScaleRule>(99)); }) == "scale rule 99 has no row");
  CHECK(message_of([] { name_of(static_cast<Rounding>(99)); }) == "enumerator 99 has no name");
}

TEST_CASE("what no profile defines is refused as such") {
  BlockFormat unknown = kMxfp4;
  unknown.name = "mxfp5";
  CHECK(refusal(std::vector<std::uint32_t>(32, kOne), kF32, "ocp", unknown).find("does not define a recipe for mxfp5; no profile does") !=
        std::string::npos);
}
