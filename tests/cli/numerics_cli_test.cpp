// encode, quantize, formats and compare from outside. Expected numbers are recorded ones (golden/witness/numerics and its README) or follow
// from the formats by hand.

#include <fstream>
#include <string>
#include <vector>

#include "support/json.hpp"
#include "tests/cli/run_program.hpp"
#include "tests/json_text.hpp"

namespace {

using mx::tests::Run;
using mx::tests::run_json;
using mx::tests::run_mxact;
using mx::tests::ScratchDirectory;

struct Misuse {
  std::string arguments;
  int status;
  const char* message;
};

std::string repeated(const std::string& word, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += " " + word;
  return text;
}

/// The class of that name.
mx::support::Json class_of(const mx::support::Json& compared, const std::string& name) {
  for (const auto& row : compared["classes"]) {
    if (row["class"] == name) return row;
  }
  return {};
}

}  // namespace

TEST_CASE("misuse of profiles gets one line, exit 2, and nothing on stdout") {
  const std::vector<Misuse> table{
      {"encode e2m1 1 --profile torch-cpu", 2, "profile 'torch-cpu@2.13' does not define a conversion f32 -> e2m1; these do: "},
      {"encode e4m3fn 1 --profile torch-cpx", 2, "did you mean torch-cpu?"},
      {"encode e4m3fn 1 --profile torch-cpu@2.12", 2, "profile 'torch-cpu' has no version '2.12'; known: 2.11; 2.13"},
      {"encode e4m3fn 1 --profile torch-cpu@", 2, "profile 'torch-cpu' has no version ''"},
      {"quantize mxfp4 1 --profile torchao-rceil@main", 2, "profile 'torchao-rceil' has no version 'main'"},
      {"encode e4m3fn 1.5 --from i64", 2, "'1.5' is no integer of i64"},
      {"encode e4m3fn 2147483648 --from i32", 2, "'2147483648' is no integer of i32"},
      {"encode e4m3fn 0x100000000 --from i32", 2, "is no pattern of the 32 bits of i32"},
      {"encode e4m3fn 1e999 --from f64", 2, "is out of the range of f64"},
      {"encode e4m3fn 1 --rounding toward_zero", 2,
       "profile 'ocp' converts f32 -> e4m3fn with rounding nearest_even, not toward_zero; these do: ocp-rz"},
      {"encode e4m3fn 1 --overflow nan", 2, "with overflow saturate, not nan; these do: ocp-nosat"},
      {"encode e4m3fn 1 --rounding nearest_evn", 2, "did you mean nearest_even?"},
      {"encode e2m1 1 --profile gfloat-stochastic-fastest", 2, "takes 8 random bits: give them as --random"},
      {"encode e2m1 1 2 3 --profile gfloat-stochastic-fastest --random 1,2", 2, "2 random numbers for 3 values"},
      {"encode e2m1 1 --profile gfloat-stochastic-fastest --random 256", 2, "256"},
      {"encode e2m1 1 --profile gfloat-stochastic-fastest --random x", 2, "'x' is not a code"},
      {"encode e2m1 1 --random 1", 2, "takes no random bits"},
      {"encode e2m1 nan --profile gfloat-ties-to-away", 2, "refuses it"},
      {"decode mxfp4 7", 2, "mxfp4 is a block format: its codes need the scale of their block, --scale"},
      {"decode mxfp5 7", 2, "unknown format 'mxfp5'"},
      {"decode fp8_e4m3 7 --scale 1x", 2, "'1x' is not a number"},
      {"decode nvfp4 7 --scale 0x38 --profile vllm-nvfp4", 2, "give it as --global-scale"},
      {"decode mxfp4 7 --scale 256", 2, "does not fit the 8 bits of e8m0"},
      {"decode mxfp4 16 --scale 1", 2, "does not fit the 4 bits of e2m1"},
      {"decode mxfp4 7 --scale 1 --to bf16", 2, "give --profile"},
      {"decode e2m1 7 --profile ocp", 2, "give --scale too"},
      {"decode mxfp4 7 --scale 1 --profile cuda-nosat", 2, "does not define how mxfp4 becomes f32; these do: "},
      {"formats --profile ocpp", 2, "did you mean ocp?"},
      {"encode e3m3 1", 2,
       "e3m3 does not say what its last codes are: ieee (Inf and NaN), fn (one NaN), fnuz (NaN for -0), inf-top (Inf the largest code), finite"},
      {"encode e3m3,finite 1", 2, "no profile does: rules do, as round=rne,overflow=ieee"},
      {"encode e4m3fn 1 --profile round=rn,overflow=ieee", 2, "unknown round 'rn' (did you mean rne?); known: rne rna"},
      {"encode e4m3,fn,round=rne,overflow=ieee 1 --profile torch-cpu", 2, "says its own rules, and profile 'torch-cpu@2.13' others"},
      {"gen f32_to_e2m1 --profile ieee", 2, "profile 'ieee' refuses NaNs into e2m1"},
      {"gen f32_to_e4m3fn --flags some", 2, "unknown flags 'some'"},
      {"quantize mxfp4 1 2 3", 2, "3 values are no whole blocks: mxfp4 has blocks of 32"},
      {"quantize nvfp4 1 2 3 --profile ocp", 2, "profile 'ocp' does not define a recipe for nvfp4; these do: "},
      {"quantize mxfp4 1 2 3 --rows 2", 2, "3 values are no 2 whole rows"},
      {"quantize mxfp4 1 2 3 --scale-layout 129x4", 2, "unknown scale layout '129x4' (did you mean 128x4?)"},
      {"quantize mxfp4 --block 16 1", 2, "blocks of 16: mxfp4 has blocks of 32"},
      {"quantize mxfp4 1 --profile flashinfer-mx", 2,
       "profile 'flashinfer-mx' does not define a recipe for mxfp4 that takes f32 elements; these do: ocp "},
      {"quantize nvfp4 1 --profile vllm-nvfp4", 2,
       "profile 'vllm-nvfp4' quantizes nvfp4 with the encode scale g of the tensor: give it as --global-scale"},
      {"quantize nvfp4 1 --profile torchao-nvfp4", 2, "give it as --scale"},
      {"quantize nvfp4 --profile vllm-nvfp4 --global-scale -1" + repeated("0", 16), 2, "0xbf800000"},
      {"quantize fp8_e4m3_128x128 --profile deepgemm" + repeated("0", 128), 2,
       "a matrix of 1x128 is no whole tiles: fp8_e4m3_128x128 has tiles of 128x128"},
      {"quantize fp8_e4m3_128x128 --profile deepgemm --rows 128" + repeated("0", 12800), 2, "a matrix of 128x100 is no whole tiles"},
      {"quantize mxfp4 1 --rows 0", 2, "'0' is not a whole number in 1.."},
      {"compare ocp ocp", 2, "FORMAT"},
      {"compare ocp ocp mxfp5", 2, "unknown format 'mxfp5' (did you mean mxfp4?)"},
      {"compare ocp torch-cpu e2m1", 2, "profile 'torch-cpu@2.13' does not define a conversion f32 -> e2m1; these do: "},
      {"compare ocp torch-cpu mxfp4", 2, "profile 'torch-cpu@2.13' does not define a recipe for mxfp4; these do: "},
      {"compare ocp flashinfer-mx mxfp4", 2, "profile 'flashinfer-mx' does not define a recipe for mxfp4 that takes f32 elements; these do: ocp "},
      {"compare vllm-nvfp4 vllm-nvfp4 nvfp4 --from bf16", 2, "give it as --global-scale"},
      {"compare ocp gfloat-stochastic-fastest e2m1 --from bf16", 2, "does not define a conversion bf16 -> e2m1"},
      {"compare ocp gfloat-stochastic-fastest e2m1", 2, "takes random bits"},
      {"compare ocp ml_dtypes e4m3fn --rest 1", 2, "--rest"},
      {"compare vllm-nvfp4 vllm-nvfp4 nvfp4 --from bf16 --global-scale 1,2,3", 2, "--global-scale takes one value, or one for each profile, not 3"},
      {"sweep", 2, "FORMAT is required"},
      {"sweep e4m3fn --profile nothing", 2, "unknown profile 'nothing'"},
      {"sweep e4m3fn --shard 3/2", 2, "'3/2' is not a shard"},
      {"sweep e4m3fn --shard 1/2 --out file", 2, "merge the states"},
      {"sweep e2m1 --profile gfloat-stochastic-fastest --reference", 2, "takes random bits"},
      {"sweep e2m1 --profile gfloat-ties-to-away --reference", 2, "refuses NaN"},
      {"sweep f32", 4, "--reference"},
      {"sweep e4m3fn --reference --out no-such-directory/file", 6, "cannot create a file in this directory"},
      {"sweep e4m3fn merge no-such-file", 2, "FORMAT stands before merge"},
      {"sweep --profile ocp merge no-such-file", 2, "--profile stands before merge"},
      {"sweep --json merge no-such-file", 2, "--json stands before merge"},
      {"sweep e4m3fn --against no/such", 3, "no recorded sweep is here"},
      {"sweep merge", 2, "STATE"},
      {"sweep merge no-such-file", 3, "no-such-file"},
  };
  for (const Misuse& misuse : table) {
    const Run run = run_mxact(misuse.arguments);
    INFO("mxact " << misuse.arguments << "\n" << run.out << run.err);
    CHECK(run.status == misuse.status);
    CHECK(run.out.empty());
    CHECK(run.err.find(misuse.message) != std::string::npos);
    CHECK(std::count(run.err.begin(), run.err.end(), '\n') == 1);
  }
}

TEST_CASE("encode speaks the profile that was asked for") {
  // docs/disagreements.md, numbers 2, 4, 5 and 8.
  const auto code = [](const std::string& arguments) { return run_json("encode " + arguments)["results"][0]["code"].get<std::string>(); };
  CHECK(code("e4m3fn 0xff800001 --profile ml_dtypes") == "0xff");
  CHECK(code("e4m3fn 0xff800001 --profile cuda-satfinite") == "0x7f");
  CHECK(code("e5m2 0x7f800001 --profile ml_dtypes") == "0x7e");
  CHECK(code("e5m2 61440 --profile torch-cpu") == "0x7c");
  CHECK(code("e5m2 61440 --profile cuda-satfinite") == "0x7b");
  CHECK(code("e4m3fn 450 --profile hip-nosat") == "0x7f");
  CHECK(code("e4m3fn 480 --profile ocp-rz-nosat --rounding toward_zero --overflow nan") == "0x7f");
  CHECK(code("e5m2 0x6f81 --from fp16 --profile ocp-ru") == "0x70");
  CHECK(code("e8m0 -1.5 --profile torch-cpu") == "0x80");
  CHECK(code("e8m0 -1.5 --profile ml_dtypes") == "0xff");
  // A name alone is the newest release: torch saturates since 2.13.
  CHECK(code("e4m3fn 470 --profile torch-cpu") == "0x7e");
  CHECK(code("e4m3fn 470 --profile torch-cpu@2.11") == "0x7f");
  CHECK(run_json("encode e4m3fn 470 --profile torch-cpu@2.13.0")["profile"] == "torch-cpu@2.13");
  // Beside the midpoint of 416 and 448: rounded once below it, through fp32 upon it.
  CHECK(code("e4m3fn -431.999999999568 --from f64") == "0xfd");
  CHECK(code("e4m3fn -431.999999999568 --from f64 --profile torch-cpu") == "0xfe");
  CHECK(code("e8m0 1610612735 --from i64 --profile ml_dtypes") == "0x9e");  // 2^31, though 2^30 is nearer
  const mx::support::Json nan = run_json("encode e4m3fn nan --profile ml_dtypes --rounding nearest_even --overflow nan");
  CHECK(nan["nan_negative"] == "0xff");
  CHECK(nan["results"][0]["flags"] == "nan");
}

TEST_CASE("a stochastic rounding takes its bits from --random") {
  // 1.25 lies half way from 1 (0x2) to 1.5 (0x3): f = 0.5, up iff 128 + r >= 256.
  const std::string stochastic = "encode e2m1 1.25 1.25 --profile gfloat-stochastic-fastest --random ";
  const mx::support::Json two = run_json(stochastic + "0x7f,128");
  CHECK(two["results"][0]["code"] == "0x2");
  CHECK(two["results"][1]["code"] == "0x3");
  CHECK(two["random_bits"] == 8);
  const mx::support::Json one = run_json(stochastic + "255");
  CHECK(one["results"][0]["code"] == "0x3");
  CHECK(one["results"][1]["code"] == "0x3");
}

TEST_CASE("decode shows codes of a block as each implementation dequantizes them") {
  // docs/disagreements.md, disagreement 18.
  const auto bits = [](const std::string& arguments) { return run_json("decode mxfp4 " + arguments)["results"][0]["bits"].get<std::string>(); };
  CHECK(bits("--scale 254 7 --to bf16 --profile triton-kernels-dequantize") == "0x7f7f");
  CHECK(bits("--scale 254 7 --to bf16 --profile vllm-dequantize") == "0x7f80");
  CHECK(bits("--scale 0 2 --to bf16 --profile triton-kernels-dequantize") == "0x0000");
  CHECK(bits("--scale 0 2 --to bf16 --profile vllm-dequantize") == "0x0040");
  CHECK(bits("--scale 0 2") == "0x00400000");
  CHECK(bits("--scale 255 2") == "0x7fc00000");
}

TEST_CASE("decode takes fp32 scales as quantize does: decimal values or bits") {
  // Code 0x38 of e4m3fn is 1.
  const auto bits = [](const std::string& scale) {
    return run_json("decode fp8_e4m3 0x38 --scale " + scale)["results"][0]["bits"].get<std::string>();
  };
  CHECK(bits("1.5") == "0x3fc00000");
  CHECK(bits("0x3fc00000") == "0x3fc00000");
  CHECK(bits("2") == "0x40000000");
}

TEST_CASE("formats shows one contract, by name and as a record") {
  const mx::support::Json named = run_json("formats --contract hopper-bf16")["contract"];
  const std::string record = "step=aligned:cast=bf16:group=16:least=-133:align=25:keep=24:zero=plus:nan=0x7fffffff";
  CHECK(named["record"] == record);
  CHECK(named["evidence"] == "silicon");
  CHECK(named["grounds"] == "run");
  CHECK(named["fields"].size() == 8);
  const mx::support::Json read = run_json("formats --contract " + record)["contract"];
  CHECK(read["name"] == record);
  CHECK(read["record"] == record);
  CHECK(read["evidence"] == "own record");
  CHECK(run_json("formats")["contracts"].size() == 74);
  CHECK(run_mxact("formats --contract hopper-bf16 --profile ocp").status == 2);
  CHECK(run_mxact("formats --contract hopper-bf16:align=77").err.find("align=77: a whole number from 0 to 48") != std::string::npos);
}

TEST_CASE("formats shows one profile whole") {
  const mx::support::Json profile = run_json("formats --profile ml_dtypes")["profile"];
  CHECK(profile["implementation"] == "ml_dtypes");
  CHECK(profile["device"] == "cpu");
  int found = 0;
  for (const auto& row : profile["conversions"]) {
    if (row["to"] != "e5m2") continue;
    ++found;
    CHECK(row["overflow"] == "inf");
    CHECK(row["nan_positive"] == "0x7e");
  }
  CHECK(found >= 1);
  const mx::support::Json all = run_json("formats");
  CHECK(all["profiles"].size() > 30);
  CHECK(all["contracts"].size() >= 2);
  for (const auto& block : all["block_formats"]) {
    INFO(block.dump());
    CHECK_FALSE(block["source"].text().empty());
    CHECK(block["block_rows"] == (block["name"] == "fp8_e4m3_128x128" ? 128 : 1));
  }
  CHECK(run_mxact("formats --profile torchao-rceil").out.find("rceil") != std::string::npos);
  const std::string newest = run_mxact("formats --profile torch-cpu").out;
  CHECK(newest.find("torch-cpu@2.13: torch, to, on cpu, build default-2.13") != std::string::npos);
  CHECK(newest.find("releases: 2.13: e4m3fn saturates") != std::string::npos);
  CHECK(newest.find("other versions: torch-cpu@2.11") != std::string::npos);
  CHECK(run_mxact("formats --profile torchao-rceil@36027d8").out.find("releases: commit 36027d8 after 0.18: ") != std::string::npos);
}

TEST_CASE("what a profile does is printed as rules, which read again do the same") {
  const mx::support::Json json = run_json("formats --profile hip-nosat");
  int tried = 0;
  for (const auto& row : json["profile"]["conversions"]) {
    if (row["from"] != "f32") continue;
    const std::string rules = row["rules"].text();
    INFO(rules);
    const std::string values = " 300 -1000 0.001 1.0625 inf nan 1e-9";
    const mx::support::Json named = run_json("encode " + row["to"].text() + values + " --profile hip-nosat");
    const mx::support::Json written = run_json("encode " + rules + values);
    CHECK(written["rules"] == named["rules"]);
    CHECK(written["results"] == named["results"]);
    ++tried;
  }
  CHECK(tried == 4);
  CHECK(run_json("formats --profile 'overflow=saturate, round=rtz'")["profile"]["name"] == "round=rtz,overflow=saturate");
  CHECK(run_mxact("formats --rules").out.find("infinity ") != std::string::npos);
}

TEST_CASE("quantize takes rows, tensor scales and scale layouts") {
  // Two rows of 64 values, amax 6, 12, 24 and 48: floor scales 2^0 to 2^3.
  const std::string rows =
      "quantize mxfp4 --rows 2 6" + repeated("0", 31) + " 12" + repeated("0", 31) + " 24" + repeated("0", 31) + " 48" + repeated("0", 31);
  CHECK(run_json(rows)["scales"]["memory"] == mx::support::Json::array({"0x7f", "0x80", "0x81", "0x82"}));
  CHECK(run_json(rows + " --scale-layout 8x4")["scales"]["memory"].size() == 32);
  const mx::support::Json tiled = run_json(rows + " --scale-layout 128x4");
  CHECK(tiled["blocks"].size() == 4);
  CHECK(tiled["scales"]["memory"].size() == 512);
  // Element (r, c) of the tile goes to (r % 32) * 16 + r / 32 * 4 + c.
  CHECK(tiled["scales"]["memory"][0] == "0x7f");
  CHECK(tiled["scales"]["memory"][1] == "0x80");
  CHECK(tiled["scales"]["memory"][16] == "0x81");
  CHECK(tiled["scales"]["memory"][17] == "0x82");
  CHECK(tiled["scales"]["memory"][2] == "0x00");
}

TEST_CASE("quantize cuts a matrix into tiles of 128x128, each under one scale") {
  // Two tiles beside each other: the largest of the left one is 448, that of the right one 896. 224 is 0x76 under scale 1 and 0x6e under scale 2.
  const ScratchDirectory scratch;
  const auto input = scratch.path() / "values";
  {
    std::ofstream values(input);
    for (int row = 0; row < 128; ++row) {
      for (int column = 0; column < 256; ++column) {
        const bool corner = (row == 127 && column == 0) || (row == 0 && column == 255);
        values << (corner ? (column == 0 ? "448 " : "896 ") : "224 ");
      }
      values << "\n";
    }
  }
  const std::string command = "quantize fp8_e4m3_128x128 --profile deepgemm --rows 128";
  const Run run = run_mxact(command + " --json", input.string());
  INFO(run.err);
  REQUIRE(run.status == 0);
  const mx::support::Json tiles = mx::tests::parsed(run.out);
  REQUIRE(tiles["blocks"].size() == 2);
  CHECK(tiles["block_rows"] == 128);
  CHECK(tiles["scales"]["memory"] == mx::support::Json::array({"0x3f800000", "0x40000000"}));
  std::vector<int> seen(128 * 256, 0);
  for (int b = 0; b < 2; ++b) {
    for (const auto& element : tiles["blocks"][static_cast<std::size_t>(b)]["elements"]) {
      const int row = element["row"].get<int>();
      const int column = element["column"].get<int>();
      REQUIRE(column / 128 == b);
      ++seen[static_cast<std::size_t>(row * 256 + column)];
      const bool corner = (row == 127 && column == 0) || (row == 0 && column == 255);
      const std::string code = corner ? "0x7e" : (b == 0 ? "0x76" : "0x6e");
      if (element["code"] != code) FAIL_CHECK(row << ", " << column << ": " << element.dump());
    }
  }
  CHECK(seen == std::vector<int>(128 * 256, 1));
  const std::string text = run_mxact(command, input.string()).out;
  CHECK(text.find("\n127  0       448    0x7e  448\n") != std::string::npos);
  CHECK(text.find("\n0    255     896    0x7e  896\n") != std::string::npos);
}

TEST_CASE("quantize shows special blocks as each implementation makes them") {
  const auto scale = [](const std::string& arguments, const std::string& first, int zeros) {
    return run_json("quantize " + arguments + " " + first + repeated("0", zeros))["blocks"][0]["scale"].get<std::string>();
  };
  // docs/disagreements.md, numbers 10, 12, 15, 16 and 17.
  CHECK(scale("mxfp4 --profile torchao-rceil@36027d8", "0x00400000", 31) == "0x00");
  CHECK(scale("mxfp4 --profile triton-kernels-rceil", "0x00400000", 31) == "0x01");
  CHECK(scale("mxfp8_e4m3 --profile torchao-rceil@36027d8", "nan", 31) == "0xff");
  CHECK(scale("mxfp8_e4m3 --profile triton-kernels-rceil", "nan", 31) == "0x00");
  CHECK(scale("nvfp4 --profile torchao-nvfp4-single", "0", 15) == "0x08");
  CHECK(scale("nvfp4 --profile vllm-nvfp4 --global-scale 336", "0", 15) == "0x00");
  const mx::support::Json scales_alone = run_json("quantize mxfp4 --profile aiter-floor 6" + repeated("0", 31));
  CHECK(scales_alone["blocks"][0]["scale"] == "0x7f");
  CHECK(scales_alone["blocks"][0]["elements"].empty());
  const mx::support::Json row = run_json("quantize fp8_e4m3 --profile torchao-fp8 --rows 2 --block 2 448 1 896 1 1 1 2 2");
  REQUIRE(row["blocks"].size() == 4);
  CHECK(row["blocks"][0]["scale"] == "0x3f800000");
  CHECK(row["blocks"][1]["scale"] == "0x40000000");
}

TEST_CASE("compare says how many inputs differ, by class, and exits as cmp does") {
  const mx::support::Json nans = run_json("compare ml_dtypes torch-cpu e5m2 --from bf16", 1);
  CHECK(nans["inputs"] == 65536);
  CHECK(nans["differing"] == 254);
  const mx::support::Json codes = class_of(nans, "NaN code");
  CHECK(codes["inputs"] == 254);
  CHECK(codes["example"]["input"]["code"] == "0x7f81");
  CHECK(codes["example"]["first"]["code"] == "0x7e");
  CHECK(codes["example"]["second"]["code"] == "0x7f");

  const mx::support::Json same = run_json("compare torch-cpu@2.11 ml_dtypes e4m3fn --from fp16");
  CHECK(same["differing"] == 0);
  const auto itself = run_mxact("compare triton triton e4m3fn --from bf16");
  CHECK(itself.status == 5);
  CHECK(itself.out.find("identical: 65536 inputs, 0 differ") != std::string::npos);
  CHECK(itself.out.find("MISTRUSTED: a profile was compared with itself") != std::string::npos);
  CHECK(run_mxact("compare torchao-floor torchao-floor mxfp4 --from bf16").status == 5);
}

TEST_CASE("compare takes block formats") {
  // Alone in its block, x has the scale byte of its exponent less 8, or one more where RCEIL finds its mantissa above 1.75: 31 of 128 mantissas.
  const mx::support::Json rules = run_json("compare torchao-floor@36027d8 torchao-rceil@36027d8 mxfp8_e4m3 --from bf16", 1);
  CHECK(rules["kind"] == "recipe");
  CHECK(class_of(rules, "scale one step apart")["example"]["input"]["code"].get<std::string>() != "");
  CHECK(class_of(rules, "NaN block")["blocks"] == 0);
  const mx::support::Json scales = run_json("compare torchao-rceil@36027d8 aiter-rceil mxfp4 --from bf16", 1);
  CHECK(scales["codes_compared"] == false);
  CHECK(scales["codes_differing"] == 0);
  const Run two_level = run_mxact("compare vllm-nvfp4 torchao-nvfp4 nvfp4 --from bf16 --global-scale 336,none --scale none,0x3b430c31");
  INFO(two_level.err);
  CHECK(two_level.status == 1);
  CHECK(run_mxact("compare vllm-nvfp4 torchao-nvfp4 nvfp4 --from bf16").status == 2);
  // A profile and itself: nothing could differ.
  CHECK(run_json("compare ocp ocp mxint8 --from bf16", 5)["kind"] == "conversion");
  CHECK(run_json("compare ocp ocp mxint8 --from bf16 --blocks", 5)["kind"] == "recipe");
}

TEST_CASE("a profile says which way its blocks take") {
  using mx::support::Json;
  const Json logarithms = run_json("formats --profile torchao-rceil@0.18")["profile"];
  CHECK(logarithms["recipes"][0]["way"] == Json{{"f32", "thresholds"}, {"bf16", "thresholds"}});
  const Json fields = run_json("formats --profile torchao-rceil@36027d8")["profile"];
  CHECK(fields["recipes"][0]["way"] == Json{{"f32", "kernel"}, {"bf16", "kernel"}});
  CHECK(run_json("formats --profile aiter-floor")["profile"]["recipes"][0]["way"]["f32"] == "model");  // scales alone
  CHECK(run_json("formats --profile mlx-cpu-mx")["profile"]["dequantizers"][0]["way"] == "kernel");
}

namespace {

/// A .npy file of one dimension, as numpy 2 writes it: format 1.0.
std::string npy(const std::string& type, int count, const std::string& elements) {
  std::string head = "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + std::to_string(count) + ",), }";
  head.append(117 - head.size(), ' ') += '\n';
  return std::string("\x93NUMPY\x01\x00\x76\x00", 10) + head + elements;
}

}  // namespace

TEST_CASE("encode and decode read standard input and .npy files") {
  const ScratchDirectory scratch;
  const auto file = [&scratch](const std::string& name, const std::string& bytes) {
    const std::string path = (scratch.path() / name).string();
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  };
  const Run typed = run_mxact("encode e2m1 --json", file("typed", "1.5 -6\n0x40800000\n"));
  CHECK(typed.status == 0);
  CHECK(mx::tests::parsed(typed.out)["results"].size() == 3);
  const std::string floats = file("f4.npy", npy("<f4", 2, std::string("\x00\x00\x80\x3f\x00\x00\xc0\xc0", 8)));  // 1, -6
  const mx::support::Json encoded = run_json("encode e2m1 '" + floats + "' 3");
  REQUIRE(encoded["results"].size() == 3);
  for (const std::size_t i : {0U, 1U, 2U}) CHECK(encoded["results"][i]["code"] == std::vector<std::string>{"0x2", "0xf", "0x5"}[i]);
  const std::string codes = file("u1.npy", npy("|u1", 2, "\x02\x0f"));
  CHECK(run_json("decode e2m1 '" + codes + "'")["results"][1]["value"] == "-6");
  CHECK(run_json("encode e4m3fn --from i32 '" + file("i2.npy", npy("<i2", 1, "\xfd\xff")) + "'")["results"][0]["value"] == "-3");
  CHECK(run_json("encode e2m1 --from bf16 '" + file("v2.npy", npy("|V2", 1, std::string("\x80\x3f", 2))) + "'")["results"][0]["value"] == "1");
  const std::vector<Misuse> rows{{"encode e2m1", 2, "no values: give them as arguments or on standard input"},
                                 {"decode e2m1 '" + floats + "'", 2, "holds numbers; codes are unsigned integers"},
                                 {"encode e2m1 --from f64 '" + floats + "'", 2, "holds f32 numbers, not f64: give --from f32"},
                                 {"encode e2m1 '" + file("none.npy", "1 2 3") + "'", 3, "is no .npy file"},
                                 {"encode e2m1 '" + file("cut.npy", npy("<f4", 3, "12345678")) + "'", 3, "8 bytes for 3 elements of 4"},
                                 {"encode e2m1 '" + file("big.npy", npy(">f4", 1, "1234")) + "'", 3, "is of a type that is not read"},
                                 {"encode e2m1 '" + file("short.npy", npy("<f4", 1, "").substr(0, 40)) + "'", 3, "ends within its head"},
                                 {"encode e2m1 /no/such.npy", 3, "/no/such.npy"}};
  for (const Misuse& row : rows) {
    const Run run = run_mxact(row.arguments);
    INFO(row.arguments << "\n" << run.err);
    CHECK(run.status == row.status);
    CHECK(run.err.find(row.message) != std::string::npos);
  }
}
