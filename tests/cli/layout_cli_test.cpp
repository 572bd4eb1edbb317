#include <string>

#include "tests/cli/run_program.hpp"

namespace {

using mx::tests::Run;
using mx::tests::run_json;
using mx::tests::run_mxact;

}  // namespace

TEST_CASE("layout list names every modelled backend") {
  const std::string out = run_mxact("layout list").out;
  for (const char* name : {"FLASHINFER_TRTLLM_MXFP4_BF16", "FLASHINFER_TRTLLM_MXFP4_MXFP8", "FLASHINFER_CUTLASS_MXFP4_MXFP8", "XPU", "EMULATION",
                           "sf_128x4", "w13_weight_scale"}) {
    INFO(name);
    CHECK(out.find(name) != std::string::npos);
  }
  CHECK(run_json("layout list")["backends"].size() >= 5);
}

TEST_CASE("layout where answers with the recorded formulas") {
  // 128x4 tile: scale (row, group) of w2 after the row shuffle. Destination row 1 holds source row 4; row 1, group 2 of a tile is at 1 * 16 + 2.
  const nlohmann::json scale = run_json("layout where FLASHINFER_TRTLLM_MXFP4_BF16 w2_weight_scale N=4 G=2 --hidden 256 --intermediate 256");
  CHECK(scale["byte"] == 18);
  // Gate row 0 of a gpt-oss checkpoint goes to destination row 8 (byte 8 * 128); element 3 is the high nibble of its second byte.
  const nlohmann::json weight = run_json("layout where FLASHINFER_TRTLLM_MXFP4_BF16 w13_weight half=gate I=0 K=3 --hidden 256 --intermediate 256");
  CHECK(weight["byte"] == 8 * 128 + 1);
  CHECK(weight["bit"] == 4);
  // And back.
  const nlohmann::json back = run_json("layout where FLASHINFER_TRTLLM_MXFP4_BF16 w13_weight --byte 1025 --hidden 256 --intermediate 256");
  REQUIRE(back["holds"].size() == 2);
  CHECK(back["holds"][1]["is"] == "E=0 half=gate I=0 K=3");
  // Intermediate 128 is padded to 256: the last row of w13 is padding.
  CHECK(run_json("layout where FLASHINFER_TRTLLM_MXFP4_BF16 w13_weight --byte 65535 --hidden 256 --intermediate 128")["holds"][0]["is"] ==
        "padding, zero");
  // A bias is widened to fp32: 4 bytes a unit.
  CHECK(run_json("layout where FLASHINFER_TRTLLM_MXFP4_BF16 w2_bias N=4 --hidden 256 --intermediate 256")["byte"] == 4);
}

TEST_CASE("layout show prints program, digits, rules and source") {
  const Run run = run_mxact("layout show FLASHINFER_CUTLASS_MXFP4_MXFP8 w13_weight_scale --hidden 256 --intermediate 128");
  INFO(run.out);
  CHECK(run.status == 0);
  for (const char* part : {"flip", "split", "as digits", "stride", "source: vllm-project/vllm", "needs"}) {
    INFO(part);
    CHECK(run.out.find(part) != std::string::npos);
  }
  CHECK(run_json("layout show XPU w2_weight")["digits"].size() >= 1);
}
