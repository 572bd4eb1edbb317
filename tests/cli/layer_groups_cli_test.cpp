// convert, plan, run, merge and restore of a checkpoint with two layer groups, as a user types them.

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "support/json.hpp"
#include "tests/checkpoint/published_forms.hpp"
#include "tests/cli/run_program.hpp"

namespace {

using mx::support::Json;
using mx::tests::quoted;
using mx::tests::Run;
using mx::tests::run_json;
using mx::tests::run_mxact;
using mx::tests::ScratchDirectory;

void write_two_groups(const std::filesystem::path& directory) {
  std::filesystem::create_directory(directory);
  mx::tests::two_groups_draft().write(directory);
}

}  // namespace

TEST_CASE("layer groups are converted each by its backend, planned, merged and restored as typed") {
  const ScratchDirectory scratch;
  const std::filesystem::path& at = scratch.path();
  write_two_groups(at / "source");
  const std::string how = quoted(at / "source") + " --backend FLASHINFER_CUTLASS,fp8_block=flashinfer_trtllm --platform SM100";
  const Json whole = run_json("convert " + how + " -o " + quoted(at / "packed"));
  CHECK(whole["backend"] == "FLASHINFER_CUTLASS");
  CHECK(whole["layers"] == 2);
  REQUIRE(whole["further"].size() == 1);
  CHECK(whole["further"][0]["family"] == 2);
  CHECK(whole["further"][0]["backend"] == "FLASHINFER_TRTLLM");
  CHECK(whole["further"][0]["layers"] == 1);
  for (int layer_group = 0; layer_group < 2; ++layer_group) CHECK(whole["families"][layer_group]["chosen"] == true);
  const Json planned = run_json("plan " + how + " --converted " + quoted(at / "merged") + " -o " + quoted(at / "plan.json"));
  CHECK(planned["further"][0]["backend"] == "FLASHINFER_TRTLLM");
  CHECK(planned["units"][1]["what"] == "layer 0 of layer group 2");
  CHECK(run_json("run " + quoted(at / "plan.json"))["units"].size() == 3);
  const Json merged = run_json("merge " + quoted(at / "plan.json"));
  for (const char* const key : {"digest", "further", "families", "bytes_out"}) CHECK(merged[key] == whole[key]);
  CHECK(std::system(("diff -r " + quoted(at / "packed") + " " + quoted(at / "merged")).c_str()) == 0);
  const Json restored = run_json("restore " + quoted(at / "packed") + " -o " + quoted(at / "restored"));
  CHECK(restored["layers"] == 2);
  CHECK(restored["further"][0]["family"] == 2);
  CHECK(std::system(("diff -r " + quoted(at / "source") + " " + quoted(at / "restored")).c_str()) == 0);
}

TEST_CASE("a layer group is left where no backend is named for it, with what would convert it, or why not") {
  const ScratchDirectory scratch;
  const std::filesystem::path& at = scratch.path();
  write_two_groups(at / "source");
  const std::string convert = "convert " + quoted(at / "source") + " --platform SM100 ", left = "left as they are: 2 experts in 1 layer ";
  const Run one = run_mxact(convert + "--backend nvfp4=FLASHINFER_CUTLASS -o " + quoted(at / "one"));
  CHECK(one.status == 0);
  CHECK(one.out.find(left + "(mtp.layers.N.mlp): FP8 block, for further tokens; --backend 2=NAME converts them\n") != std::string::npos);
  const Run alone = run_mxact(convert + "--backend FLASHINFER_TRTLLM --layer-group 2 -o " + quoted(at / "alone"));
  CHECK(alone.status == 0);
  CHECK(alone.out.find(left + "(model.layers.N.block_sparse_moe): ModelOpt NVFP4; --backend 1=NAME converts them\n") != std::string::npos);
  const Run rank = run_mxact(convert + "--backend FLASHINFER_TRTLLM --tp 2 --rank 1 -o " + quoted(at / "rank"));
  CHECK(rank.status == 0);
  CHECK(rank.out.find("for further tokens; FLASHINFER_TRTLLM: side of a block = 64 is not 128: the engine has no class of this backend for other "
                      "blocks, which TRITON takes") != std::string::npos);
  struct Row {
    std::string options;
    std::string says;
  };
  for (const Row& row : std::vector<Row>{
           {"--backend MARLIN,TRITON", "--backend: 'TRITON' is the second one for all layer groups, after MARLIN"},
           {"--backend 0=MARLIN", "'0=MARLIN' names no layer group: they are counted from 1"},
           {"--backend 99999999999=MARLIN", "'99999999999=MARLIN' names no layer group"},
           {"--backend 3=MARLIN", "there is no layer group 3: the checkpoint has 2"},
           {"--backend fp8_blok=MARLIN", "unknown weight format 'fp8_blok'"},
           {"--backend mxfp8=MARLIN", "no layer group of the checkpoint is mxfp8, for which MARLIN is named; there are nvfp4, fp8_block"},
           {"--backend =MARLIN", "'=MARLIN' is not WHICH=NAME"},
           {"--backend 2=", "'2=' is not WHICH=NAME"},
           {"--backend 2=MARLIN --backend 2=TRITON", "'2=TRITON' is the second backend for 2"},
           {"--backend 2=MARLIN --layer-group 1", "--layer-group: is one layer group alone, by one backend, and '2=MARLIN' names one for others"},
           {"--backend MARLIN --layer-group 3", "there is no layer group 3"},
       }) {
    INFO(row.options);
    const Run refused = run_mxact(convert + row.options + " -o " + quoted(at / "never"));
    CHECK(refused.status == 2);
    CHECK(refused.out.empty());
    CHECK(refused.err.find(row.says) != std::string::npos);
    CHECK_FALSE(std::filesystem::exists(at / "never"));
  }
}
