// The program from outside: results on stdout, one clear line on stderr, the exit statuses that --help promises.

#include <filesystem>
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

struct Misuse {
  const char* arguments;
  int status;
  const char* message;  ///< part of the one line on stderr
};

}  // namespace

TEST_CASE("help and version answer") {
  const Run version = run_mxact("--version");
  CHECK(version.status == 0);
  for (const char* word : {"mxact 0.1.0 (", "compiler: ", "flags: ", "-ffp-contract=off", "tiers: portable", ", in use: "})
    CHECK(version.out.find(word) != std::string::npos);
  const Run help = run_mxact("--help");
  CHECK(help.status == 0);
  for (const char* verb : {"verify", "select", "matrix", "audit", "layout", "witness", "formats", "encode", "decode", "quantize", "compare", "sweep",
                           "inspect", "report", "gen", "ver", "vectors", "doctor", "exit status"}) {
    INFO(verb);
    CHECK(help.out.find(verb) != std::string::npos);
  }
  for (const char* verb : {"verify",      "select",       "matrix",      "engine list", "engine diff",     "audit",   "layout",  "layout list",
                           "layout show", "layout where", "layout draw", "layout diff", "layout identify", "witness", "formats", "encode",
                           "decode",      "quantize",     "compare",     "sweep",       "sweep merge",     "report",  "inspect", "doctor"}) {
    const Run run = run_mxact(std::string(verb) + " --help");
    INFO(verb);
    CHECK(run.status == 0);
    if (std::string(verb) != "layout") CHECK(run.out.find("--json") != std::string::npos);
  }
}

TEST_CASE("misuse gets one line, exit 2, and nothing on stdout") {
  const std::vector<Misuse> table{
      {"", 2, "no verb: `mxact verify` is the main job"},
      {"--verson", 2, "unknown option '--verson' (did you mean --version?)"},
      {"verfy", 2, "unknown verb 'verfy' (did you mean verify?)"},
      {"verify --platfrom SM100", 2, "unknown option '--platfrom' (did you mean --platform?) (mxact verify --help"},
      {"verify --platfrom=SM100", 2, "unknown option '--platfrom' (did you mean --platform?)"},
      {"verify --tp x", 2, "--tp: 'x' is no whole number"},
      {"verify a b", 2, "'b' is one word too many: mxact verify takes CHECKPOINT"},
      {"doctor now", 2, "'now' is one word too many: mxact doctor takes options alone"},
      {"compare ocp", 2, "PROFILE_B is required: mxact compare takes PROFILE_A PROFILE_B FORMAT"},
      {"verify --platform SM101", 2, "unknown platform 'SM101' (did you mean SM100, SM103, SM110 or SM121?"},
      {"verify --backend MARLINN", 2, "unknown backend 'MARLINN' (did you mean MARLIN?)"},
      {"verify --platform SM100 --platform B200", 2, "platform SM100 is given twice"},
      {"verify --platform SM100 --backend MARLIN --backend MARLIN", 2, "backend MARLIN is given twice"},
      {"verify --platform SM100 --tp 2,1,2", 2, "tensor parallel size 2 is given twice"},
      {"verify --platform SM100 --contract exact --contract exact", 2, "contract exact is given twice"},
      {"verify --tp 0", 2, "tensor parallel size 0"},
      {"verify --tp -3", 2, "tensor parallel size -3"},
      {"verify --tokens 0", 2, "--tokens"},
      {"verify ''", 2, "CHECKPOINT: is empty: say a value, or leave it out (mxact verify --help"},
      {"audit ''", 2, "DEPLOYMENT: is empty"},
      {"audit --tp 2", 2, "--tp is for one deployment: name its file or directory"},
      {"audit --needs --ep", 2, "--ep is for one deployment"},
      {"engine diff 2026-05 2026-08 --env VLLM_BATCH_INVARIANT=1", 2, "--env is for one deployment"},
      {"select --diff a.info b.info --moe-backend marlin", 2, "--moe-backend is for one deployment: --diff compares two files as they are"},
      {"audit --oracle ''", 2, "--oracle: is empty"},
      {"matrix '' --platform SM100", 2, "MODEL: is empty"},
      {"ver e2m1_to_bf16 -i ''", 2, "--input: is empty"},
      {"ver e2m1_to_bf16 --junit ''", 2, "--junit: is empty"},
      {"matrix --model gpt-oss-120b -o ''", 2, "--output: is empty"},
      {"verify --shard '' --part ''", 2, "--shard: is empty"},
      {"verify --tp ''", 2, "--tp: is empty"},
      {"compare '' '' mxfp4", 2, "PROFILE_A: is empty"},
      {"verify --seed -1", 2, "'-1' is not a whole number in 0.."},
      {"verify --seed 99999999999999999999", 2, "is not a whole number"},
      {"verify --layers 0", 2, "'0' is not a whole number in 1.."},
      {"verify --platform SM100 no-such-directory", 3, "no-such-directory"},
      {"verify \"$(printf 'a\\nb')\"", 3, "a\\x0ab"},
      {"encode e4m3fn 1e400", 2, "out of the range of f32"},
      {"encode e4m3fn 1e-400", 2, "out of the range of f32"},
      {"encode \"$(printf 'a\\nb')\" 1", 2, "unknown format 'a\\x0ab'"},
      {"layout where XPU --format mxfp4 --tensor w13_weight --byte 7 --shape 1048576x32x32", 2, "is not a whole number in 1..65536"},
      {"verify --contract exakt", 2, "unknown contract 'exakt' (did you mean exact?)"},
      {"encode e4m3x 1", 2, "unknown format 'e4m3x'"},
      {"encode e4m3fn abc", 2, "'abc' is not a number"},
      {"encode e4m3fn", 2, "no values: give them as arguments or on standard input"},
      {"encode e4m3fn 1 --profile ocpp", 2, "unknown profile 'ocpp' (did you mean ocp?)"},
      {"encode e4m3fn 0.1 --from bf16", 2, "'0.1' is not a value of bf16"},
      {"encode e4m3fn 0x100000000", 2, "does not fit the 32 bits of f32"},
      {"decode e4m3fn 0x1ff", 2, "does not fit the 8 bits of e4m3fn"},
      {"decode e2m1 16", 2, "does not fit the 4 bits of e2m1"},
      {"decode e4m3fn 1.5", 2, "'1.5' is not a code"},
      {"quantize mxfp5 1", 2, "unknown block format 'mxfp5'"},
      {"quantize awqq 1", 2, "unknown block format 'awqq' (did you mean awq?)"},
      {"quantize awq,zero=middle 1", 2, "rules 'awq,zero=middle': zero=middle: an integer of 2 to 32 bits"},
      {"gen quantize_awq --profile ocp", 2, "quantize_awq takes no --profile; it takes: no choices"},
      {"formats --profile ''", 2, "--profile: is empty"},
      {"formats --format ''", 2, "--format: is empty"},
      {"formats --contract ''", 2, "--contract: is empty"},
      {"formats --p3109 binary8p4se,", 2, "'' names no format"},
      {"quantize mxfp4 1 2 3", 2, "3 values are no whole blocks: mxfp4 has blocks of 32"},
      {"quantize mxfp4", 2, "no values"},
      {"layout", 2, "no verb: mxact layout takes list, show, where, draw, diff, identify"},
      {"layout wher", 2, "unknown verb of mxact layout 'wher' (did you mean where?)"},
      {"layout where sf_128x4 --shap 4x4 --coord rows=1", 2, "unknown option '--shap' (did you mean --shape?) (mxact layout where --help"},
      {"layout where sf_128x4 --shape 4x4 --byte 1 --in README.md", 2, "--in reads the element of --coord"},
      {"layout where sf_128x4 --shape 4x4 --coord rows=1 --in '" MXACT_PROGRAM "'", 2, "where the layout has 512"},
      {"layout show sf_128x5", 2, "unknown layout 'sf_128x5' (did you mean sf_128x4?)"},
      {"layout show XPU --format mxfp4 --tensor w13_wieght --shape 32x32", 2, "did you mean w13_weight?"},
      {"layout show XPU --format mxfp4 --tensor w13_weight --shape 32x32 --source-order gptoss2", 2, "gpt"},
      {"layout show XPU --format mxfp4 --tensor w13_weight --shape 32x33", 2,
       "must be multiples of the group of 32; the next sizes that are: --shape 1x32x64"},
      {"layout show XPU --format mxfp4 --tensor w13_weight --shape 32x-32", 2, "'-32' is not a whole number in 1.."},
      {"layout show XPU --format mxfp4 --tensor w13_weight --shape 0x32x32", 2, "'0' is not a whole number in 1..65536"},
      {"layout show XPU --format mxfp4 --tensor w13_weight", 2, "--shape is missing"},
      {"layout show XPU --format mxfp4 --shape 32x32", 2, "--tensor is missing"},
      {"layout show sf_128x4 --shape 4x4 --tensor w13_weight", 2, "unknown choice 'tensor'"},
      {"layout show sf_128x4 --shape 4x4 --set nonsense", 2, "'nonsense' is not KEY=VALUE"},
      {"layout show sf_128x4 --shape 4x4 --set unit-bits=4 --set unit-bits=8", 2, "--set: unit-bits is given twice"},
      {"layout show XPU --format mxfp4 --tensor w13_weight --shape 32x32 --tp 1 --set tp=2", 2, "--set: tp is given twice"},
      {"layout show XPU --library flashinfer=0.6.17 --library flashinfer=0.6.18", 2, "--library: 'flashinfer' is given twice"},
      {"verify --launch step_k=32,w2.step_k=64,step_k=128", 2, "launch: step_k: is given twice"},
      {"layout show FLASHINFER_TRTLLM_MXFP4_BF16 --tensor w13_weight --shape 128x128 --padded 160x128", 2, "2I = 320 is not a multiple of 128"},
      {"layout list --backend sf_128x4", 2, "sf_128x4 is a building block, not a backend"},
      {"layout list --backend NOPE", 2, "--backend: unknown backend 'NOPE' (known: FLASHINFER_TRTLLM_MXFP4_BF16 "},
      {"layout list --engine vlm@2026-05", 2, "unknown engine 'vlm' (did you mean vllm?)"},
      {"layout where XPU --format mxfp4 --tensor w13_weight --shape 32x32 --coord E=5", 2, "'5' is not a whole number in 0..0"},
      {"layout where XPU --format mxfp4 --tensor w13_weight --shape 32x32 --coord half=left", 2, "half is 'left', must be gate, up, 0 or 1"},
      {"layout where XPU --format mxfp4 --tensor w13_weight --shape 32x32 --coord J=1", 2, "unknown axis 'J'"},
      {"layout where XPU --format mxfp4 --tensor w13_weight --shape 32x32 --coord E=0,E=0", 2, "given twice"},
      {"layout where XPU --format mxfp4 --tensor w13_weight --shape 32x32 --byte 99999999", 2, "byte 99999999 is not in 0.."},
      {"layout where XPU --format mxfp4 --tensor w13_weight --shape 32x32 --address 99999999", 2, "address 99999999 is not in 0.."},
      {"layout where XPU --format mxfp4 --tensor w13_weight --shape 32x32", 2, "say one of --coord, --address, --byte"},
      {"layout where XPU --format mxfp4 --tensor w13_weight --shape 32x32 --coord E=0 --byte 0", 2, "say one of --coord, --address, --byte"},
      {"layout draw sf_128x4 --shape 4x4", 2, "--output is required"},
      {"layout draw sf_128x4 --shape 4x4 -o - --json", 2, "--json and a picture on stdout exclude each other"},
      {"layout draw sf_128x4 --shape 4x4 -o /no-such-directory/a.svg", 6, "no-such-directory"},
      {"layout draw sf_128x4 --shape 1024x1024 -o /dev/null/a.svg", 6, "/dev/null"},
      {"layout diff sf_128x4 --shape 4x4", 2, "B is required"},
      {"layout diff sf_128x4 sf_8x4,shape=8x4 --shape 4x4", 2, "they take different tensors"},
      {"layout identify no-such-file also-none --shape 4x4", 3, "no-such-file"},
      {"select", 2, "DEPLOYMENT"},
      {"select no-such-file.info", 3, "no-such-file.info"},
      {"verify no-such-directory", 3, "no-such-directory"},
      {"witness no-such-directory", 3, "no-such-directory"},
      {"witness", 2, "PATH is required"},
      {"witness . .", 2, "PATH: '.' is given twice"},
      {"faults oracle oracle", 2, "FAULT: 'oracle' is given twice"},
      {"witness . --ledger", 2, "PATH excludes --ledger"},
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

TEST_CASE("an audit of an oracle for which no deployments are written checked nothing") {
  const mx::support::Json json = run_json("audit --oracle unquantized", 5);
  CHECK(json["deployments"] == 0);
  CHECK(json["verdict"] == "MISTRUSTED");
}

TEST_CASE("witness shows the ledger without a set") {
  const mx::support::Json json = run_json("witness --ledger");
  const Run text = run_mxact("witness --ledger");
  CHECK(text.status == 0);
  REQUIRE_FALSE(json["ledger"].empty());
  std::size_t hip = 0;
  for (const mx::support::Json& row : json["ledger"]) {
    for (const char* key : {"implementation", "device", "build", "op", "condition", "reason"}) {
      INFO(key);
      CHECK(text.out.find(row[key].get<std::string>()) != std::string::npos);
    }
    if (row["implementation"] == "hip_header") ++hip;
  }
  CHECK(hip == 2);
}

TEST_CASE("encode and decode speak the format's codes") {
  const mx::support::Json encoded = run_json("encode e4m3fn 448 1000 -0.001 0x7fc00000 0x00000001");
  CHECK(encoded["schema"] == "mxact-encode/1");
  CHECK(encoded["profile"] == "ocp");
  const std::vector<std::string> codes{"0x7e", "0x7e", "0x81", "0x7f", "0x00"};
  for (std::size_t i = 0; i < codes.size(); ++i) CHECK(encoded["results"][i]["code"] == codes[i]);
  CHECK(encoded["results"][0]["flags"] == "");
  CHECK(encoded["results"][1]["flags"].get<std::string>().find("saturated") != std::string::npos);
  CHECK(encoded["results"][2]["flags"].get<std::string>().find("inexact") != std::string::npos);
  CHECK(run_json("encode e2m1 0x3f80 --from bf16")["results"][0]["code"] == "0x2");
  CHECK(run_json("encode e2m1 -6.0")["results"][0]["code"] == "0xf");
  const mx::support::Json infinity = run_json("encode e4m3fn -inf");
  CHECK(infinity["results"][0]["input"] == "-inf");
  CHECK(infinity["results"][0]["code"] == "0xfe");
  CHECK(run_json("encode e4m3fn -.5 -infinity")["results"][0]["code"] == "0xb0");

  const mx::support::Json decoded = run_json("decode e8m0 0 127 254 255");
  CHECK(decoded["results"][0]["f32"] == "0x00400000");
  CHECK(decoded["results"][1]["value"] == "1");
  CHECK(decoded["results"][2]["f32"] == "0x7f000000");
  CHECK(decoded["results"][3]["value"] == "nan");
}

std::string zeros(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += " 0";
  return text;
}

TEST_CASE("quantize reads arguments or standard input") {
  const mx::support::Json block = run_json("quantize mxfp4 12 -3 0.5 0" + zeros(28));
  CHECK(block["scale_rule"] == "floor");
  REQUIRE(block["blocks"].size() == 1);
  // amax 12 = 1.5 * 2^3, emax 2: scale 2^1.
  CHECK(block["blocks"][0]["scale"] == "0x80");
  const std::vector<std::string> codes{"0x7", "0xb", "0x0", "0x0"};
  for (std::size_t i = 0; i < codes.size(); ++i) CHECK(block["blocks"][0]["elements"][i]["code"] == codes[i]);

  const mx::tests::ScratchDirectory scratch;
  const std::string file = (scratch.path() / "values").string();
  std::ofstream(file) << "1 2 3\n4\n" << zeros(28);
  const Run run = run_mxact("quantize mxfp8_e4m3 --json", file);
  CHECK(run.status == 0);
  CHECK(mx::tests::parsed(run.out)["blocks"][0]["elements"].size() == 32);
}

TEST_CASE("a device that takes no output is a resource error") {
  for (const char* verb : {"formats --json", "doctor", "--help", "--version", "layout list"}) {
    INFO(verb);
    const Run full = run_mxact(std::string(verb) + " > /dev/full");
    CHECK(full.status == 6);
    CHECK(full.err.starts_with("mxact: error: stdout cannot be written"));
  }
}

TEST_CASE("a file over the limit of its size is a resource error, and nothing of it is left") {
  const mx::tests::ScratchDirectory scratch;
  const std::string at = "'" + scratch.path().string() + "'";
  for (const std::string& arguments : {"convert " + mx::tests::tiny() + " --backend TRITON --platform SM100 -o " + at + "/packed",
                                       "matrix -o " + at + "/matrix.html", std::string("gen f32_to_e4m3fn > ") + at + "/vectors"}) {
    INFO(arguments);
    const Run run = mx::tests::run_program("ulimit -f 16; '" MXACT_PROGRAM "'", arguments);
    INFO(run.err);
    CHECK(run.status == 6);
    CHECK(run.err.find("File too large") != std::string::npos);
    std::filesystem::remove(scratch.path() / "vectors");
    CHECK(std::filesystem::is_empty(scratch.path()));
  }
}

TEST_CASE("quantize refuses what is not a number, also behind a zero byte") {
  const mx::tests::ScratchDirectory scratch;
  const std::string file = (scratch.path() / "values").string();
  std::ofstream(file) << std::string("1\0junk 2\n", 9);
  CHECK(run_mxact("quantize mxfp4", file).status == 2);
  CHECK(run_mxact("quantize mxfp4", "/dev/zero").status == 2);
}

TEST_CASE("formats lists every format with its limits") {
  const mx::support::Json formats = run_json("formats");
  std::vector<std::pair<std::string, std::string>> largest;
  for (const auto& format : formats["formats"]) largest.emplace_back(format["name"].text(), format["max_finite"].text());
  for (const auto& [name, value] : std::vector<std::pair<std::string, std::string>>{{"e4m3fn", "448"},
                                                                                    {"e5m2", "57344"},
                                                                                    {"e4m3fnuz", "240"},
                                                                                    {"e5m2fnuz", "57344"},
                                                                                    {"e2m3", "7.5"},
                                                                                    {"e3m2", "28"},
                                                                                    {"e2m1", "6"},
                                                                                    {"fp16", "65504"},
                                                                                    {"mxint8", "1.984375"}}) {
    INFO(name);
    CHECK(std::count(largest.begin(), largest.end(), std::pair(name, value)) == 1);
  }
  CHECK(run_mxact("formats").out.find("e8m0") != std::string::npos);
}

TEST_CASE("doctor finds floating point as the model needs it") {
  const mx::support::Json doctor = run_json("doctor");
  CHECK(doctor["healthy"] == true);
  CHECK(doctor["checks"].size() == 4);
}

TEST_CASE("encode says what nearest_up does below 2^-126, and the true nearest stands beside it") {
  const std::string up = run_mxact("encode e8m0 0x00500000 --profile ml_dtypes").out;  // 1.25 * 2^-127
  CHECK(up.find("nearest_up: a tie goes up, and a number above 2^-127 has no code below 1") != std::string::npos);
  CHECK(run_json("encode e8m0 0x00500000 --profile ml_dtypes")["results"][0]["code"] == "0x01");
  CHECK(run_json("encode e8m0 0x00500000 --profile ocp-rna")["results"][0]["code"] == "0x00");
}

TEST_CASE("select names the choice and every rejection") {
  const std::string example = std::string("'") + MXACT_SOURCE_DIR + "/docs/examples/gpt-oss-b200.info'";
  const mx::support::Json chosen = run_json("select " + example);
  CHECK(chosen["choice"]["backend"] == "FLASHINFER_TRTLLM_MXFP4_BF16");
  CHECK(chosen["choice"]["rounded_hidden"] == 3072);
  CHECK(chosen["trace"].size() >= 1);
  const Run text = run_mxact("select " + example + " --explain");
  CHECK(text.out.find("in the order in which the engine looks") != std::string::npos);

  const mx::tests::ScratchDirectory scratch;
  const std::string file = (scratch.path() / "bad.info").string();
  std::ofstream(file) << "platform SM100\nlayer {\n  experts 32\n  top_k 4\n  hiden 2880\n  intermediate 2880\n}\n";
  const Run bad = run_mxact("select '" + file + "'");
  INFO(bad.err);
  CHECK(bad.status == 3);
  for (const char* part : {"bad.info:5", "hiden", "hidden"}) CHECK(bad.err.find(part) != std::string::npos);
}
