// convert and restore as a user types them.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "support/json.hpp"
#include "tests/cli/run_program.hpp"

namespace {

using mx::tests::quoted;
using mx::tests::Run;
using mx::tests::run_json;
using mx::tests::run_mxact;
using mx::tests::ScratchDirectory;
using mx::tests::tiny;

}  // namespace

TEST_CASE("convert and restore print what they did, and cmp finds nothing") {
  const ScratchDirectory scratch;
  const std::string packed = quoted(scratch.path() / "packed"), restored = quoted(scratch.path() / "restored");
  const Run there = run_mxact("convert " + tiny() + " --backend flashinfer_trtllm_mxfp4_bf16 --platform SM100 -o " + packed);
  INFO(there.out << there.err);
  CHECK(there.status == 0);
  CHECK(there.err.empty());
  CHECK(there.out ==
        "backend  FLASHINFER_TRTLLM_MXFP4_BF16 on sm100, engine vllm@2026-08\n"
        "sizes    8 experts, hidden 256, intermediate 256\n"
        "layers   2, experts 1695744 -> 1720320 bytes; 29 other tensors as they were\n"
        "losses   none: restoring gives the same bytes\n");
  const Run back = run_mxact("restore " + packed + " -o " + restored);
  INFO(back.out << back.err);
  CHECK(back.status == 0);
  CHECK(back.out.find("layers   2 restored into 2 files, experts 1695744 bytes\n") != std::string::npos);
  for (const char* file : {"model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors", "model.safetensors.index.json", "config.json"}) {
    INFO(file);
    CHECK(std::system(("cmp " + tiny() + "/" + file + " " + restored + "/" + file).c_str()) == 0);
  }
  // A packed directory is no checkpoint.
  CHECK(run_mxact("convert " + packed + " --backend TRITON --platform SM90 -o " + quoted(scratch.path() / "twice")).status == 3);
  CHECK(run_mxact("verify " + packed).status == 3);
  CHECK(run_mxact("restore " + restored + " -o " + quoted(scratch.path() / "twice")).status == 3);
  CHECK_FALSE(std::filesystem::exists(scratch.path() / "twice"));
}

TEST_CASE("convert lays out for a platform without a kernel when told to") {
  const ScratchDirectory scratch;
  const mx::support::Json json =
      run_json("convert " + tiny() + " --backend DEEPGEMM_MXFP4 --platform gfx950 --any-platform -o " + quoted(scratch.path() / "packed"));
  CHECK(json["setting"]["platform"] == "gfx950");
  CHECK(json["losses"].empty());
}

TEST_CASE("convert and restore as JSON, by rank") {
  const ScratchDirectory scratch;
  const auto rank = [&](int i) { return quoted(scratch.path() / std::to_string(i)); };
  for (const int i : {0, 1}) {
    const mx::support::Json json =
        run_json("convert " + tiny() + " --backend TRITON --platform gfx950 --engine 2026-08 --tp 2 --rank " + std::to_string(i) + " -o " + rank(i));
    CHECK(json["schema"] == "mxact-convert/1");
    CHECK(json["backend"] == "TRITON");
    CHECK(json["rank"] == i);
    CHECK(json["setting"]["platform"] == "gfx950");
    CHECK(json["setting"]["intermediate"] == 128);
    CHECK(json["setting"]["rounded_intermediate"] == 256);
    CHECK(json["layers"] == 2);
    CHECK(json["losses"].empty());
  }
  const mx::support::Json json = run_json("restore " + rank(1) + " " + rank(0) + " -o " + quoted(scratch.path() / "restored"));
  CHECK(json["schema"] == "mxact-restore/1");
  CHECK(json["layers"] == 2);
  CHECK(json["bytes"] == 1695744);
  CHECK(run_mxact("restore " + rank(1) + " -o " + quoted(scratch.path() / "again")).status == 3);
}

TEST_CASE("the model alone converts, restores and verifies to the same bytes") {
  const ScratchDirectory scratch;
  const auto place = [&](const char* name) { return quoted(scratch.path() / name); };
  // Scales go through fp16 and biases become it.
  const std::string how = " --backend MARLIN --platform SM90 --params-dtype fp16 -o ";
  CHECK(run_mxact("convert " + tiny() + how + place("fast")).status == 0);
  CHECK(run_mxact("convert " + tiny() + " --reference" + how + place("model")).status == 0);
  CHECK(std::system(("diff -r " + place("fast") + " " + place("model")).c_str()) == 0);
  CHECK(run_mxact("restore --accept-losses " + place("fast") + " -o " + place("fast-back")).status == 0);
  CHECK(run_mxact("restore --accept-losses --reference " + place("fast") + " -o " + place("model-back")).status == 0);
  CHECK(std::system(("diff -r " + place("fast-back") + " " + place("model-back")).c_str()) == 0);
  const std::string verify = "verify " + tiny() + " --platform SM90 --layers 1 --tokens 1 --contract f32-sequential";
  CHECK(run_mxact(verify + " --reference").out == run_mxact(verify).out);
}

TEST_CASE("convert and restore refuse with the exit status of the mistake") {
  const ScratchDirectory scratch;
  const std::string output = " -o " + quoted(scratch.path() / "out");
  struct Row {
    std::string arguments;
    int status;
    std::string part;
  };
  const std::vector<Row> rows{
      {"convert " + tiny() + " --backend TRITON" + output, 2, "--platform is required"},
      {"convert " + quoted(std::filesystem::path(MXACT_SOURCE_DIR) / "golden/witness/checkpoints/tiny-gpt-oss/model-00001-of-00002.safetensors") +
           " --platform SM90" + output,
       2, "--backend: is missing"},
      {"convert " + tiny() + " --backend TRITON --platform SM90", 2, "--output is required"},
      {"convert " + tiny() + " --backend TRITON --platform SM91" + output, 2, "unknown platform 'SM91'"},
      {"convert " + tiny() + " --backend TRITON --platform SM90 --engine 2026-06" + output, 4, "engine vllm@2026-06 is not known"},
      {"convert " + tiny() + " --backend TRITOM --platform SM90" + output, 2, "did you mean TRITON"},
      {"convert " + tiny() + " --backend DEEPGEMM_MXFP4 --platform gfx950" + output, 4,
       "engine vllm@2026-08 has no kernel of DEEPGEMM_MXFP4 on gfx950; it has on SM100, SM103, SM120, SM121 (--any-platform"},
      {"convert " + tiny() + " --backend XPU --platform XPU --engine vllm==0.30.0" + output, 4, "release vllm==0.30.0 is not known"},
      {"convert " + tiny() + " --backend TRITON --platform SM90 --tp 2" + output, 2, "which of the 2 ranks"},
      {"convert " + tiny() + " --backend MARLIN --platform SM90 --input-dtype int8" + output, 2, "activation dtype int8"},
      {"convert " + tiny() + " --backend TRITON --platform SM90 -o " + tiny(), 2, "is what is read"},
      {"plan " + tiny() + " --backend TRITON --platform SM90 --converted " + tiny() + output, 2, "is what is read"},
      {"plan " + tiny() + " --backend TRITON --platform SM90 --converted " + tiny() + "/packed" + output, 2, "lies in what is read"},
      {"convert " + quoted(scratch.path() / "nowhere") + " --backend TRITON --platform SM90" + output, 3, "there is no such file"},
      {"convert " + quoted(scratch.path() / "nowhere") + " --platform SM90" + output, 3, "nowhere: there is no such file or directory"},
      {"plan " + quoted(scratch.path() / "nowhere") + " --platform SM90 --converted x" + output, 3, "nowhere: there is no such file or directory"},
      {"restore " + tiny() + output, 3, "holds no layout tags"},
      {"restore" + output, 2, "DIRECTORY is required"},
  };
  for (const Row& row : rows) {
    INFO(row.arguments);
    const Run run = run_mxact(row.arguments);
    INFO(run.err);
    CHECK(run.status == row.status);
    CHECK(run.out.empty());
    CHECK(run.err.find(row.part) != std::string::npos);
    CHECK_FALSE(std::filesystem::exists(scratch.path() / "out"));
  }
}

TEST_CASE("a plan is run and merged as typed, and resumed") {
  const ScratchDirectory scratch;
  const std::filesystem::path& at = scratch.path();
  const std::string how = tiny() + " --backend TRITON --platform SM100";
  const std::string plan = quoted(at / "plan.json"), run = "run " + plan;
  const mx::support::Json whole = run_json("convert " + how + " -o " + quoted(at / "whole"));
  const mx::support::Json planned = run_json("plan " + how + " --converted " + quoted(at / "packed") + " -o " + plan);
  CHECK(planned["schema"] == "mxact-plan/1");
  REQUIRE(planned["units"].size() == 4);
  CHECK(planned["units"][3]["what"] == "shard model-00002-of-00002.safetensors");
  // Only the plan is there: overwriting it is asked for.
  CHECK(run_mxact("plan " + how + " --converted " + quoted(at / "packed") + " -o " + plan).status == 3);
  const mx::support::Json first = run_json(run + " --job 2,0");
  CHECK(first["units"][1]["outcome"] == "written");
  const Run missing = run_mxact("merge " + plan);
  CHECK(missing.status == 3);
  CHECK(missing.err.find("jobs 1, 3 of 4 are missing") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(at / "packed"));
  const mx::support::Json second = run_json(run + " --job 0,1,3");
  CHECK(second["units"][0]["outcome"] == "there already");
  CHECK(second["units"][0]["digest"] == first["units"][1]["digest"]);
  CHECK(run_mxact(run + " --job 4").status == 2);
  CHECK(run_mxact("run " + tiny() + "/config.json --job 0").status == 3);
  const mx::support::Json merged = run_json("merge " + plan);
  CHECK(merged["schema"] == "mxact-merge/1");
  CHECK(merged["digest"] == whole["digest"]);
  CHECK(merged["bytes_out"] == whole["bytes_out"]);
  CHECK(std::system(("diff -r " + quoted(at / "whole") + " " + quoted(at / "packed")).c_str()) == 0);
  CHECK_FALSE(std::filesystem::exists(at / "packed.units"));
  const Run twice = run_mxact("merge " + plan);
  CHECK(twice.status == 3);
  CHECK(twice.err.find("packed: is merged already: it has the files of all 4 jobs") != std::string::npos);
}

TEST_CASE("a checkpoint that changes between the runs of a plan is noticed") {
  const ScratchDirectory scratch;
  const std::filesystem::path& at = scratch.path();
  const std::string source = quoted(at / "source"), plan = quoted(at / "plan.json");
  REQUIRE(std::system(("cp -r " + tiny() + " " + source).c_str()) == 0);
  REQUIRE(run_mxact("plan " + source + " --backend TRITON --platform SM100 --converted " + quoted(at / "packed") + " -o " + plan).status == 0);
  REQUIRE(run_mxact("run " + plan + " --job 0").status == 0);
  // One byte of layer 1, whose names, shapes and size stay.
  {
    std::fstream stream(at / "source/model-00002-of-00002.safetensors", std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(-1, std::ios::end);
    stream.put('\x11');
  }
  const Run changed = run_mxact("run " + plan);
  INFO(changed.err);
  CHECK(changed.status == 3);
  CHECK(changed.err.find("what job 1, layer 1, reads has the digest xxh3:") != std::string::npos);
  CHECK(changed.err.find("the checkpoint has changed since") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(at / "packed.units/unit-00001.json"));
  std::ofstream(at / "source/config.json", std::ios::app) << "\n";
  const Run config = run_mxact("run " + plan + " --job 2");
  CHECK(config.status == 3);
  CHECK(config.err.find("config.json: is not what it was when the conversion was planned") != std::string::npos);
  const Run inside = run_mxact("run " + plan + " --job 2 --directory " + quoted(at / "source/jobs"));
  CHECK(inside.status != 0);
}

TEST_CASE("a run without jobs does what is left, takes ranges, and says what is done") {
  const ScratchDirectory scratch;
  const std::filesystem::path& at = scratch.path();
  const std::string plan = quoted(at / "plan.json"), run = "run " + plan;
  REQUIRE(run_mxact("plan " + tiny() + " --backend TRITON --platform SM100 --converted " + quoted(at / "packed") + " -o " + plan).status == 0);
  const auto outcomes = [](const mx::support::Json& json) {
    std::vector<std::string> words;
    for (const mx::support::Json& unit : json["units"]) words.push_back(std::to_string(unit["unit"].get<int>()) + " " + unit["outcome"].text());
    return words;
  };
  using Words = std::vector<std::string>;
  CHECK(outcomes(run_json(run + " --status")) == Words{"0 left", "1 left", "2 left", "3 left"});
  CHECK_FALSE(std::filesystem::exists(at / "packed.units"));
  CHECK(outcomes(run_json(run + " --job 1-2")) == Words{"1 written", "2 written"});
  CHECK(outcomes(run_json(run + " --status")) == Words{"0 left", "1 there already", "2 there already", "3 left"});
  CHECK(outcomes(run_json(run)) == Words{"0 written", "3 written"});
  CHECK(outcomes(run_json(run)) == Words{});
  CHECK(outcomes(run_json(run + " --again --job 3,0-1")) == Words{"3 written", "0 written", "1 written"});
  CHECK_FALSE(run_json(run + " --status").contains("notes"));
  // Nothing but the directory of the output tells that jobs are merged.
  CHECK(run_mxact("merge " + plan).status == 0);
  const mx::support::Json merged = run_json(run + " --status");
  CHECK(outcomes(merged) == Words{"0 left", "1 left", "2 left", "3 left"});
  REQUIRE(merged["notes"].size() == 1);
  CHECK(merged["notes"][0].text().find("packed is there already") != std::string::npos);
  struct Row {
    std::string options, says;
  };
  for (const Row& row : {Row{"--job 2-4", "'2-4' is not in 0..3"}, Row{"--job 2-1", "'2-1' ends before it begins"}, Row{"--job 1-", "'1-' is no job"},
                         Row{"--job x", "'x' is no job"}, Row{"--status --job 0", "--status"}, Row{"--status --again", "--status"}}) {
    INFO(row.options);
    const Run refused = run_mxact(run + " " + row.options);
    CHECK(refused.status == 2);
    CHECK(refused.err.find(row.says) != std::string::npos);
  }
}

TEST_CASE("the words of the release before are taken, and no help has them") {
  const ScratchDirectory scratch;
  const std::filesystem::path& at = scratch.path();
  const std::string plan = quoted(at / "plan.json"), how = tiny() + " --backend TRITON --platform SM100 ";
  REQUIRE(run_mxact("plan " + how + "--family 1 --converted " + quoted(at / "packed") + " -o " + plan).status == 0);
  const mx::support::Json done = run_json("run " + plan + " --unit 0,2 --units " + quoted(at / "elsewhere"));
  CHECK(done["units"].size() == 2);
  CHECK(std::filesystem::exists(at / "elsewhere" / "unit-00002.json"));
  CHECK(run_json("run " + plan + " --job 0 --directory " + quoted(at / "elsewhere"))["units"][0]["outcome"] == "there already");
  CHECK(run_mxact("run " + plan + " --unit 0 --job 1").status == 2);
  CHECK(run_mxact("verify " + tiny() + " --family 2").err.find("there is no layer group 2") != std::string::npos);
  struct Row {
    const char* verb;
    const char* word;
    const char* old;
  };
  for (const Row& row : {Row{"run", "--job ", "--unit"}, Row{"run", "--directory ", "--units"}, Row{"convert", "--layer-group ", "--family"},
                         Row{"verify", "--layer-group ", "--family"}}) {
    const std::string help = run_mxact(std::string(row.verb) + " --help").out;
    INFO(row.verb << " " << row.old);
    CHECK(help.find(row.word) != std::string::npos);
    CHECK(help.find(row.old) == std::string::npos);
  }
}

TEST_CASE("a relative plan serves the directory under another name") {
  const ScratchDirectory scratch;
  const std::filesystem::path here = scratch.path() / "here", there = scratch.path() / "there";
  std::filesystem::create_directory(here);
  REQUIRE(std::system(("cp -r " + tiny() + " " + quoted(here / "source")).c_str()) == 0);
  const std::string how = quoted(here / "source") + " --backend TRITON --platform SM100 --converted " + quoted(here / "packed") + " -o ";
  REQUIRE(run_mxact("plan " + how + quoted(here / "plan.json") + " --relative").status == 0);
  REQUIRE(run_mxact("plan " + how + quoted(here / "fixed.json")).status == 0);
  std::filesystem::rename(here, there);
  CHECK(run_mxact("run " + quoted(there / "fixed.json") + " --job 0").status == 3);
  REQUIRE(run_mxact("run " + quoted(there / "plan.json")).status == 0);
  REQUIRE(run_mxact("merge " + quoted(there / "plan.json")).status == 0);
  CHECK_FALSE(std::filesystem::exists(here));
  REQUIRE(run_mxact("restore " + quoted(there / "packed") + " -o " + quoted(there / "restored")).status == 0);
  CHECK(std::system(("diff -r -x expected.safetensors " + tiny() + " " + quoted(there / "restored")).c_str()) == 0);
}

TEST_CASE("an option that may be repeated takes one word, and the checkpoint may stand behind it") {
  const ScratchDirectory scratch;
  const std::string how = " --env VLLM_USE_DEEP_GEMM_E8M0=0 --library flashinfer=0.6.18 " + tiny() + " -o " + quoted(scratch.path() / "packed");
  const Run run = run_mxact("convert --backend TRITON --platform SM90" + how);
  INFO(run.err);
  CHECK(run.status == 0);
  CHECK(std::filesystem::exists(scratch.path() / "packed"));
}
