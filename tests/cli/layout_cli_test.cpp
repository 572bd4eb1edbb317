#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "support/json.hpp"
#include "tests/cli/run_program.hpp"

namespace {

using mx::tests::Run;
using mx::tests::run_json;
using mx::tests::run_mxact;
using mx::tests::ScratchDirectory;

const std::string kTrtllm = " FLASHINFER_TRTLLM_MXFP4_BF16 --shape 256x256 ";

void write(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

std::string read(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("layout list names every modelled backend with its tensors, and every building block") {
  const std::string out = run_mxact("layout list").out;
  for (const char* name : {"FLASHINFER_TRTLLM_MXFP4_BF16", "FLASHINFER_CUTLASS_MXFP4_MXFP8", "XPU", "EMULATION", "sf_128x4", "w13_weight_scale"}) {
    INFO(name);
    CHECK(out.find(name) != std::string::npos);
  }
  const mx::support::Json all = run_json("layout list");
  CHECK(all["backends"].size() >= 5);
  for (const mx::support::Json& backend : all["backends"]) {
    CHECK_FALSE(backend["tensors"].empty());
    CHECK(backend["source"]["commit"].get<std::string>().size() == 40);
  }
  CHECK_FALSE(all["building_blocks"].empty());
}

TEST_CASE("layout list is filtered, and an empty list is not a success") {
  const mx::support::Json one = run_json("layout list --backend xpu");
  REQUIRE_FALSE(one["backends"].empty());
  for (const mx::support::Json& backend : one["backends"]) CHECK(backend["backend"] == "XPU");
  CHECK_FALSE(one.contains("building_blocks"));
  const mx::support::Json of_format = run_json("layout list --format mxfp4 --engine 2026-08");
  REQUIRE_FALSE(of_format["backends"].empty());
  for (const mx::support::Json& backend : of_format["backends"]) CHECK(backend["format"] == "mxfp4");
  CHECK(run_mxact("layout list --backend XPU --format nvfp4").status == 5);
}

TEST_CASE("layout where answers with the recorded formulas") {
  // 128x4 tile: scale (row, group) of w2 after the row shuffle. Destination row 1 holds source row 4; row 1, group 2 of a tile is at 1 * 16 + 2.
  const mx::support::Json scale = run_json("layout where" + kTrtllm + "--tensor w2_weight_scale --coord N=4,G=2");
  CHECK(scale["places"][0]["byte"] == 18);
  // Gate row 0 of a gpt-oss checkpoint goes to destination row 8 (byte 8 * 128); element 3 is the high nibble of its second byte.
  const mx::support::Json weight = run_json("layout where" + kTrtllm + "--tensor w13_weight --coord half=gate,I=0,K=3");
  CHECK(weight["places"][0]["byte"] == 8 * 128 + 1);
  CHECK(weight["places"][0]["bit"] == 4);
  const mx::support::Json address = weight["places"][0]["address"];
  // And back, by byte and by address.
  const mx::support::Json back = run_json("layout where" + kTrtllm + "--tensor w13_weight --byte 1025");
  REQUIRE(back["holds"].size() == 2);
  CHECK(back["holds"][1]["is"] == "E=0 half=gate I=0 K=3");
  CHECK(back["holds"][1]["address"] == address);
  CHECK(run_json("layout where" + kTrtllm + "--tensor w13_weight --address " + address.dump())["holds"][0]["is"] == "E=0 half=gate I=0 K=3");
  // Intermediate 128 was padded to 256: the last row of w13 is padding.
  const mx::support::Json padding =
      run_json("layout where FLASHINFER_TRTLLM_MXFP4_BF16 --engine 2026-05 --shape I=128,H=256 --tensor w13_weight --byte 65535");
  CHECK(padding["holds"][0]["is"] == "padding, zero");
  // A bias is widened to fp32: 4 bytes a unit.
  CHECK(run_json("layout where" + kTrtllm + "--tensor w2_bias --coord N=4")["places"][0]["byte"] == 4);
}

TEST_CASE("layout show prints program, digits, example, rules and source") {
  const Run run = run_mxact("layout show FLASHINFER_CUTLASS_MXFP4_MXFP8 --tensor w13_weight_scale --shape 128x256");
  INFO(run.out);
  CHECK(run.status == 0);
  for (const char* part : {"flip", "split", "as digits", "stride", "for example", "source: vllm-project/vllm", "needs"}) {
    INFO(part);
    CHECK(run.out.find(part) != std::string::npos);
  }
  CHECK(run_json("layout show XPU --format mxfp4 --tensor w2_weight --shape 64x64")["digits"].size() >= 1);
}

TEST_CASE("layout show without a shape says what holds for every shape") {
  const Run block = run_mxact("layout show trtllm.shuffle_matrix_a");
  for (const char* part : {"formula: ", "--set epilogue_tile_m=128", "versions: ", "source: "}) {
    INFO(part);
    CHECK(block.out.find(part) != std::string::npos);
  }
  CHECK(run_json("layout show EMULATION")["backends"][0]["backend"] == "EMULATION");
}

TEST_CASE("flags of a setting are given alone, with a value, or by --set") {
  const std::string show = "layout show XPU --format mxfp4 --tensor w2_weight --shape 32x32";
  CHECK(run_json(show + " --a8w4")["layout"].get<std::string>().find("a8w4=yes") != std::string::npos);
  CHECK(run_json(show + " --has-bias=no")["layout"].get<std::string>().find("has-bias=no") != std::string::npos);
  CHECK(run_json(show + " --set tp=2")["layout"].get<std::string>().find("tp=2") != std::string::npos);
}

TEST_CASE("what a verb prints of its choices, the verbs take") {
  const std::string spec = run_json("layout show marlin.repack.w4a16 --shape 64x64")["layout"].text();
  CHECK(run_json("layout show " + spec)["layout"] == spec);
  CHECK(run_json("layout where " + spec + " --address 5")["layout"] == spec);
}

TEST_CASE("layout draw writes a picture once, and again only when forced") {
  const ScratchDirectory scratch;
  const std::string file = (scratch.path() / "a.svg").string();
  const std::string draw = "layout draw sf_128x4 --shape 100x6 -o '" + file + "'";
  CHECK(run_json(draw)["addresses"] == 1024);
  const std::string picture = read(file);
  CHECK(picture.starts_with("<svg "));
  CHECK(picture.ends_with("</svg>\n"));
  const Run again = run_mxact(draw + " --by memory");
  CHECK(again.status == 3);
  CHECK(again.err.find(file) != std::string::npos);
  CHECK(read(file) == picture);
  CHECK(run_mxact(draw + " --by memory --force").status == 0);
  CHECK(read(file) != picture);
  CHECK(run_mxact("layout draw sf_128x4 --shape 100x6 -o -").out == picture);
}

TEST_CASE("a part that is drawn is said, and one that is too large is answered by one that fits") {
  const ScratchDirectory scratch;
  const std::string file = " -o '" + (scratch.path() / "a.svg").string() + "'";
  const std::string marlin = "layout draw MARLIN --format mxfp4 --tensor w13_weight --platform sm90 --shape 8x512x512";
  struct Row {
    std::string arguments;
    const char* advice;
  };
  for (const Row& row :
       {Row{"layout draw sf_128x4 --shape 3x1024x1024", "--of batch=0 and --rows 0-127 draw a part"},
        Row{"layout draw sf_128x4 --shape 3x1024x1024 --of batch=2", "--of batch=2 and --rows 0-127 draw a part"},
        Row{"layout draw sf_128x4 --shape 1024x1024", "--rows 0-127 draws a part"}, Row{marlin, "--of E=0,half=gate and --rows 0-127 draw a part"},
        Row{marlin + " --of E=3", "--of E=3,half=gate and --rows 0-127 draw a part"},
        Row{marlin + " --of half=up", "--of E=0,half=up and --rows 0-127 draw a part"}}) {
    const Run run = run_mxact(row.arguments + " --force" + file);
    INFO(row.arguments << "\n" << run.err);
    CHECK(run.status == 2);
    REQUIRE(run.err.find(row.advice) != std::string::npos);
    // What is advised is drawn.
    std::string advised = row.advice;
    advised = advised.substr(0, advised.find(" draw"));
    if (const std::size_t both = advised.find(" and "); both != std::string::npos) advised.replace(both, 5, " ");
    CHECK(run_mxact(row.arguments.substr(0, row.arguments.find(" --of")) + " " + advised + " --force" + file).status == 0);
  }
  const Run part = run_mxact(marlin + " --of E=3,half=up --rows 0-7 --force" + file);
  CHECK(part.out.find("a.svg: MARLIN w13_weight, E=3 half=up I=0-7, 4096 of 4194304 elements\n") != std::string::npos);
  CHECK(read((scratch.path() / "a.svg").string()).find("of the part E=3 half=up I=0-7, 4096 of 4194304 elements") != std::string::npos);
}

TEST_CASE("words of a coordinate that are wrong are named with those that are right") {
  const std::string of = "layout where MARLIN --format mxfp4 --platform sm90 --shape 8x512x512 --tensor ";
  struct Row {
    const char* arguments;
    const char* sentence;
  };
  for (const Row& row : {Row{"w13_weight --coord half=left", "half is 'left', must be gate, up, 0 or 1"},
                         Row{"w13_weight --coord half=2", "not a whole number in 0..1"},
                         Row{"w13_weight_scale --coord K=70,G=2", "axis G is given twice, as K and as G: 32 of K are one of G, name one of them"},
                         Row{"w13_weight_scale --coord G=2,G=2", "axis G is given twice\n"},
                         Row{"w13_weigth --coord K=70", "unknown tensor 'w13_weigth' (did you mean w13_weight?)"}}) {
    const Run run = run_mxact(of + row.arguments);
    INFO(row.arguments << "\n" << run.err);
    CHECK(run.status == 2);
    CHECK(run.err.find(row.sentence) != std::string::npos);
  }
}

TEST_CASE("the picture in the documents is the one that its command draws") {
  CHECK(run_mxact("layout draw sf_8x4 --shape 12x6 -o -").out == read(MXACT_SOURCE_DIR "/docs/pictures/sf_8x4.svg"));
}

TEST_CASE("layout diff ends with 0 for equal layouts and with 1 for others") {
  CHECK(run_json("layout diff sf_128x4 sf_128x4.cutlass_atom --shape 100x6")["equal"] == true);
  const mx::support::Json versions =
      run_json("layout diff XPU,source-order=gpt_oss XPU,source-order=standard,engine=2026-08 --format mxfp4 --tensor w13_weight --shape 64x64", 1);
  CHECK(versions["differing"].get<int>() > 0);
  CHECK(versions["a"].get<std::string>().find("gpt_oss") != std::string::npos);
  CHECK_FALSE(versions["first"].empty());
}

TEST_CASE("layout identify names the layout, says what it cannot tell, and what it does not know") {
  const ScratchDirectory scratch;
  const std::string canonical = (scratch.path() / "canonical.bin").string();
  const std::string packed = (scratch.path() / "packed.bin").string();
  std::string bytes;
  for (int i = 0; i < 128 * 8; ++i) bytes.push_back(static_cast<char>(i * i * 7 / 13 % 251));
  std::string tiled(bytes.size(), '\0');
  for (std::size_t n = 0; n < 128; ++n) {
    for (std::size_t g = 0; g < 8; ++g) tiled[g / 4 * 512 + n % 32 * 16 + n / 32 * 4 + g % 4] = bytes[n * 8 + g];
  }
  write(canonical, bytes);
  write(packed, tiled);
  const std::string identify = "layout identify '" + canonical + "' '" + packed + "' --shape 128x8";
  const mx::support::Json found = run_json(identify);
  REQUIRE(found["groups"].size() == 1);
  CHECK(std::ranges::any_of(found["groups"][0], [](const mx::support::Json& match) { return match["name"] == "sf_128x4"; }));
  const Run text = run_mxact(identify);
  CHECK(text.out.starts_with("exact match"));

  tiled[0] = static_cast<char>(tiled[0] + 1);
  write(packed, tiled);
  const mx::support::Json partial = run_json(identify, 1);
  CHECK(partial["groups"].empty());
  CHECK(partial["partial"][0]["equal"] == 1023);
  REQUIRE(partial["wrong"].size() == 1);
  CHECK(partial["wrong"][0]["address"] == 0);
  CHECK(partial["wrong"][0]["content"] == "batch=0 rows=0 cols=0");
  CHECK(partial["wrong"][0]["found"].get<int>() == partial["wrong"][0]["wanted"].get<int>() + 1);
  // Row 33, column 5 lies at byte 512 + 16 + 4 + 1.
  tiled[0] = static_cast<char>(tiled[0] - 1);
  tiled[533] = static_cast<char>(tiled[533] ^ 3);
  write(packed, tiled);
  const Run named = run_mxact(identify);
  CHECK(named.out.find(", but for 1 of 1024 addresses:\n  byte 533: 0x") != std::string::npos);
  CHECK(named.out.find(" (batch=0 rows=33 cols=5)\n") != std::string::npos);

  write(canonical, std::string(1024, '\0'));
  write(packed, std::string(1024, '\0'));
  CHECK(run_json(identify, 5)["ambiguous"] == true);
}
