// Sets of quantized blocks and tensors: parameters that are optional, that must matter, and that no model covers.

#include "tests/golden/witness/changes.hpp"

namespace mx::tests::witness {
namespace {

/// One operation on small tensors whose outcome is known by hand.
struct ByHand {
  std::string op;
  Json profile;
  Json params;
  std::string in_name, in_dtype;
  std::vector<std::uint32_t> in;
  std::string out_dtype;
  std::vector<std::uint32_t> out;
};

std::size_t bytes_of(const std::string& dtype) { return dtype == "u8" ? 1 : dtype == "f32" ? 4 : 2; }

Json written(const Scratch& scratch, const std::string& file, const std::string& dtype, const std::vector<std::uint32_t>& words) {
  std::vector<std::uint8_t> bytes;
  for (const std::uint32_t word : words) {
    for (std::size_t i = 0; i < bytes_of(dtype); ++i) bytes.push_back(static_cast<std::uint8_t>(word >> (8 * i)));
  }
  write_bytes(scratch.path() / file, bytes);
  return {{"file", file}, {"dtype", dtype}, {"shape", Json::array({words.size()})}};
}

Outcome run_by_hand(const ByHand& one) {
  const Scratch scratch("by_hand");
  Json entry{{"id", "by_hand"}, {"op", one.op}, {"params", one.params}, {"profile", one.profile}, {"grounds", "library"}, {"level", "must"}};
  entry["inputs"][one.in_name] = written(scratch, "in.bin", one.in_dtype, one.in);
  entry["outputs"]["values"] = written(scratch, "out.bin", one.out_dtype, one.out);
  entry["relation"]["values"]["kind"] = "bits";
  Json manifest{{"format", "mxact-witness/1"}, {"set", "by_hand"}, {"split", "public"}};
  manifest["entries"] = Json::array({entry});
  write_text(scratch.path() / "manifest.json", manifest.dump());
  return run(scratch.path());
}

void check_equal(const ByHand& one) {
  const Outcome outcome = run_by_hand(one);
  INFO(outcome.text);
  CHECK(outcome.exit == 0);
}

Json who(const std::string& implementation, const std::string& build) {
  return {{"implementation", implementation}, {"device", "cpu"}, {"build", build}, {"version", "1"}};
}

TEST_CASE("codes decode into 16-bit types, rounded to nearest even", "[witness]") {
  // 1, 448, -0, NaN of both signs, 2^-9.
  const ByHand e4m3{"decode",
                    who("mine", "default"),
                    {{"format", "e4m3fn"}, {"target", "bf16"}},
                    "codes",
                    "u8",
                    {0x38, 0x7E, 0x80, 0x7F, 0xFF, 0x01},
                    "bf16",
                    {0x3F80, 0x43E0, 0x8000, 0x7FC0, 0xFFC0, 0x3B00}};
  check_equal(e4m3);
  // 1, 2^16 and above (no fp16 number), 2^-25 (a tie to 0), 2^-24 (the smallest), NaN.
  check_equal({"decode",
               who("mine", "default"),
               {{"format", "e8m0"}, {"target", "fp16"}},
               "codes",
               "u8",
               {0x7F, 0x8F, 0xFE, 0x66, 0x67, 0xFF},
               "fp16",
               {0x3C00, 0x7C00, 0x7C00, 0x0000, 0x0001, 0x7E00}});
  ByHand other = e4m3;
  other.params["target"] = "fp16";
  const Outcome outcome = run_by_hand(other);
  CHECK(outcome.exit == 5);
  CHECK(outcome.text.find("values in fp16, recorded as bf16") != std::string::npos);
}

// 6, 5.1875, 2.25, -0.5, 0, -1.5, 1, 3, as bf16; e2m1 has 4 and 6, 2 and 3 around the second and third.
const std::vector<std::uint32_t> kNumbers{0x40C0, 0x40A6, 0x4010, 0xBF00, 0x0000, 0xBFC0, 0x3F80, 0x4040};
const std::vector<std::uint32_t> kNearest{0x40C0, 0x40C0, 0x4000, 0xBF00, 0x0000, 0xBFC0, 0x3F80, 0x4040};

std::vector<std::uint32_t> filled(std::vector<std::uint32_t> words, std::size_t size) {
  words.resize(size);
  return words;
}

TEST_CASE("blocks with a tensor's scale come back through it", "[witness]") {
  // amax 6 makes the block's scale 1, times the encode scale; the way back divides by it. A scale left out would double or halve the numbers.
  Json params{{"source", "bf16"},
              {"format", "e2m1"},
              {"block", 16},
              {"axis", -1},
              {"scale_format", "e4m3fn"},
              {"scale_rule", "nvfp4"},
              {"rounding", "nearest_even"},
              {"overflow", "saturate"},
              {"target", "bf16"},
              {"packing", "low_first"}};
  ByHand one{"block_quantize_dequantize", who("vllm", "torch-reference"), params, "x", "bf16", filled(kNumbers, 16), "bf16", filled(kNearest, 16)};
  one.params["global_scale"] = "0x40000000";
  check_equal(one);
  one.params["per_tensor_scale"] = "0x40000000";
  CHECK(run_by_hand(one).text.find("both a global and a per tensor scale") != std::string::npos);

  one.profile = who("torchao", "eager");
  one.params.erase("global_scale");
  check_equal(one);
  one.profile = who("triton_kernels", "torch-reference");
  one.params["scale_rule"] = "nvfp4_direct";
  CHECK(run_by_hand(one).exit == 5);
}

TEST_CASE("blocks of an implementation that dequantizes elsewhere come back by its own way, NaN blocks as NaN", "[witness]") {
  constexpr std::size_t kBlock = 32;
  std::vector<std::uint32_t> x = filled(kNumbers, kBlock);
  std::vector<std::uint32_t> values = filled(kNearest, kBlock);
  x.resize(2 * kBlock, 0x7FC0);
  values.resize(2 * kBlock, 0x7FC0);
  Json params{{"source", "bf16"},
              {"format", "e2m1"},
              {"block", 32},
              {"axis", -1},
              {"scale_format", "e8m0"},
              {"scale_rule", "floor"},
              {"rounding", "nearest_even"},
              {"overflow", "saturate"},
              {"target", "bf16"},
              {"packing", "low_first"},
              {"nan_block_code", "0x33"}};
  ByHand one{"block_quantize_dequantize", who("torchao", "eager"), params, "x", "bf16", x, "bf16", values};
  check_equal(one);
  one.params.erase("packing");
  const Outcome outcome = run_by_hand(one);
  CHECK(outcome.exit == 5);
  CHECK(outcome.text.find("nan_block_code 0x33 is no code of e2m1") != std::string::npos);
}

TEST_CASE("an FP8 tensor's scales: a block is needed where nothing else says how long it is", "[witness]") {
  // Codes of 119 rows of 128, and their scales.
  check("fp8_scaled", "e4m3fn.row.torchao",
        {{"as written", [](Json&) {}, 0, "15351 values"},
         {"no block", [](Json& e) { e["params"].erase("block"); }, 0, "15351 values"},
         {"a block that is not the row", [](Json& e) { e["params"]["block"] = 64; }, 3, "rows of 128, block 64"},
         {"a block of nothing", [](Json& e) { e["params"]["block"] = 0; }, 5, "'block' is 0, outside 1..1048576"},
         {"no scale format", [](Json& e) { e["params"].erase("scale_format"); }, 5, "params has no 'scale_format'"},
         {"a granularity that takes the scale", [](Json& e) { e["params"]["granularity"] = "static"; }, 5, "granularity static with scale rule"}});
  check("fp8_scaled", "e4m3fn.group64.torchao",
        {{"as written", [](Json&) {}, 0, "15470 values"},
         {"no block", [](Json& e) { e["params"].erase("block"); }, 5, "granularity group without a block"}});
  check("fp8_scaled", "e4m3fn.tensor.torchao",
        {{"as written", [](Json&) {}, 0, "15233 values"},
         {"a block", [](Json& e) { e["params"]["block"] = 128; }, 0, "15233 values"},
         {"a block of nothing", [](Json& e) { e["params"]["block"] = 0; }, 5, "'block' is 0, outside 1..1048576"}});
  check("fp8_scaled", "e4m3fn.static.torchao",
        {{"as written", [](Json&) {}, 0, "15232 values"},
         {"a block", [](Json& e) { e["params"]["block"] = 128; }, 0, "15232 values"},
         {"no scale", [](Json& e) { e["params"].erase("scale"); }, 5, "params has no 'scale'"}});
}

TEST_CASE("a block's entry with a parameter missing is unmodelled", "[witness]") {
  check("block32", "f32.e2m1.floor.torchao_cpu",
        {{"as written", [](Json&) {}, 0, "values"},
         {"no block", [](Json& e) { e["params"].erase("block"); }, 5, "params has no 'block'"},
         {"no rule", [](Json& e) { e["params"].erase("scale_rule"); }, 5, "params has no 'scale_rule'"}});
}

TEST_CASE("an entry with one of two outputs skipped whole is not equal on the strength of the other", "[witness]") {
  check("block32", "f32.e2m1.floor.torchao_cpu",
        {{"every scale skipped",
          [](Json& e) {
            // No byte of two E2M1 codes, 0 and 1 first, is 0.
            e["skip"]["scales"] = {{"mask", {{"generate", "e2m1_pairs"}, {"dtype", "u8"}, {"shape", e["outputs"]["scales"]["shape"]}}}};
          },
          0, "0 equal, 0 differ, 0 unmodelled, 1 not compared"}});
}

}  // namespace
}  // namespace mx::tests::witness
