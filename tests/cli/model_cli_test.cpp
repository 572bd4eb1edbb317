// A model's directory in the place of a deployment: every verb that takes one, and what is said where it cannot be one.

#include <filesystem>
#include <fstream>
#include <string>

#include "support/json.hpp"
#include "tests/cli/run_program.hpp"
#include "tests/sim/verify/scratch.hpp"

namespace {

using mx::tests::quoted;
using mx::tests::Run;
using mx::tests::run_json;
using mx::tests::run_mxact;
using mx::tests::ScratchDirectory;
using mx::tests::tiny;

std::string model(const std::string& name) { return quoted(std::filesystem::path(MXACT_SOURCE_DIR) / "golden/words" / name); }

bool says(const Run& run, const std::string& text) { return run.out.find(text) != std::string::npos || run.err.find(text) != std::string::npos; }

}  // namespace

TEST_CASE("select of a model: a section for each kind, the INFO text of each, and what the class does not read") {
  const Run step = run_mxact("select " + model("step-3.5-flash-fp8") + " --platform B200 --tp 8 --ep --engine 2026-11");
  CHECK(step.status == 0);
  for (const char* const text : {"layers 3-42 of 45", "TrtLlmFp8ExpertsMonolithic", "layers 43-44 of 45", "SWIGLUSTEP", "TritonOrDeepGemmExperts"}) {
    INFO(text << "\n" << step.out);
    CHECK(says(step, text));
  }
  const Run one = run_mxact("select " + model("step-3.5-flash-fp8") + " --platform B200 --tp 8 --ep --layer 44 --write-info");
  CHECK(one.status == 0);
  CHECK(one.out.find("activation SWIGLUSTEP") != std::string::npos);
  CHECK(one.out.find("; layers") == std::string::npos);
  CHECK(says(run_mxact("select " + model("gpt-oss-120b") + " --platform B200 --explain"), "not read by the engine's class: hidden_act"));
  CHECK(run_json("select " + model("deepseek-v4-flash") + " --platform MI355X --tp 8")["kinds"].size() == 2);
}

TEST_CASE("every verb that takes a deployment takes a model's directory") {
  const ScratchDirectory scratch;
  const std::string out = quoted(scratch.path() / "out"), plan = quoted(scratch.path() / "plan.json");
  struct Row {
    std::string command;
    std::string says;
  };
  const Row rows[] = {{"audit " + tiny() + " --platform B200 --tp 2", "0 needs are broken"},
                      {"sim " + tiny() + " --platform B200 --tokens 1", "8 experts"},
                      {"engine diff 2026-08 2026-11 " + tiny() + " --platform B200", "1 deployment"},
                      {"matrix " + tiny() + " --platform B200 --platform H100 --parallel tp2", "SM90"},
                      {"matrix " + tiny() + " --platform B200 --tp 2 --dp 2 --ep", "tp2-dp2-ep"},
                      {"matrix --model gpt-oss-120b --scheme mxfp4 --platform SM90 --tp 3", "tp3"},
                      {"layout show " + tiny() + " --platform sm100 --tp 2", "w13_weight"},
                      {"convert " + tiny() + " --platform sm90 -o " + out, ""},
                      {"convert " + tiny() + " --platform sm90 --tp 2 --dp 2 --rank 3 -o " + out + "-dp", ""},
                      {"convert " + tiny() + " --platform sm90 --tp 2 --ep -o " + out + "-ep", ""},
                      {"plan " + tiny() + " --platform sm90 --converted " + out + " -o " + plan, ""},
                      {"verify " + tiny() + " --platform B200 --tp 2 --ep --no-execute --layers 1", "PASSED"}};
  for (const Row& row : rows) {
    const Run run = run_mxact(row.command);
    INFO(row.command << "\n" << run.out << run.err);
    CHECK(run.status == 0);
    CHECK(says(run, row.says));
  }
}

TEST_CASE("a model is laid out as the INFO file that stands for it") {
  const ScratchDirectory scratch;
  const std::string info = quoted(scratch.path() / "written.info");
  struct Row {
    const char* name;
    std::string sizes;
  };
  const Row rows[] = {{"gpt-oss-120b", " --tp 4"},
                      {"gpt-oss-120b", " --tp 4 --ep"},
                      {"gpt-oss-120b", " --tp 2 --dp 4"},
                      {"deepseek-r1", " --tp 4"},
                      {"deepseek-r1", " --dp 8 --ep --layer 60"},
                      {"qwen3-235b-nvfp4-sidecar", " --tp 4"},
                      {"qwen3-30b-a3b-fp8", " --tp 4 --ep"},
                      {"minimax-m2.5", " --tp 4"}};
  for (const auto& [name, sizes] : rows) {
    INFO(name << sizes);
    const std::string where = " --tensor w2_weight --coord E=1,N=5,K=70", asked = model(name) + " --platform B200" + sizes;
    const mx::support::Json chosen = run_json("select " + asked);
    const std::string backend = chosen["kinds"][0]["choice"]["backend"].get<std::string>();
    const Run written = run_mxact("select " + asked + " --write-info");
    REQUIRE(written.status == 0);
    std::ofstream(scratch.path() / "written.info") << written.out;
    const Run direct = run_mxact("layout where " + asked + where);
    CHECK(direct.status == 0);
    CHECK(direct.out == run_mxact("layout where " + backend + " --deployment " + info + where).out);
  }
}

TEST_CASE("a model without a platform, an INFO file with one, and a layer that has no experts are misuses") {
  const std::string info = quoted(std::filesystem::path(MXACT_SOURCE_DIR) / "docs/examples/gpt-oss-b200.info");
  struct Row {
    std::string command;
    int status;
    const char* says;
  };
  const Row rows[] = {{"select " + model("gpt-oss-120b"), 2, "--platform is missing"},
                      {"select " + info + " --platform B200", 2, "--platform is for a model"},
                      {"select " + info + " --tp 2", 2, "--tp is for a model"},
                      {"select nowhere/gpt-oss-120b --platform B200", 3, "nowhere/gpt-oss-120b: there is no such file or directory"},
                      {"select " + model("gpt-oss-120b") + " --platform B200 --oracle fp8", 2, "--oracle is for an INFO file"},
                      {"select " + model("deepseek-r1") + " --platform H200 --layer 0", 2, "layer 0 has no experts: layers 3-60 have"},
                      {"select " + model("gpt-oss-120b") + " --platform B200 --tp 0", 2, "--tp"},
                      {"select " + model("qwen3-8b-dense") + " --platform B200", 4, "no experts"},
                      {"layout show TRITON --ep --shape 64x64", 2, "ep is for a model's directory or configuration"},
                      {"layout where " + model("gpt-oss-120b") + " --platform B200 --layer 36 --coord E=0", 2, "layers 0-35 have"},
                      {"layout show " + model("gpt-oss-120b") + " --platform B200 --dp 0", 2, "dp"},
                      {"layout where " + model("gpt-oss-120b") + " --platform B200 --tp 7 --coord E=0", 2,
                       "--tp 7: intermediate_size is 2880, which 7 tensor parallel ranks cannot share equally"},
                      {"layout show " + model("gpt-oss-120b") + " --platform B200 --tp 2 --dp 7", 2, "--dp 7: intermediate_size is 2880"},
                      {"layout draw " + model("gpt-oss-120b") + " --platform B200 --tp 7 -o /no/such.svg", 6, ""},
                      {"layout show " + model("gpt-oss-120b") + " --dp 2", 2, "platform is missing"},
                      {"convert " + model("gpt-oss-120b") + " --platform sm100 -o /no/such", 3, ""}};
  for (const Row& row : rows) {
    const Run run = run_mxact(row.command);
    INFO(row.command << "\n" << run.out << run.err);
    CHECK(run.status == row.status);
    CHECK(says(run, row.says));
  }
}

TEST_CASE("a placement that a model refuses is a cell that says so, in tables and in pictures") {
  const ScratchDirectory scratch;
  const std::filesystem::path file = scratch.path() / "heads.json";
  std::ofstream(file) << R"({"architectures": ["Qwen2MoeForCausalLM"], "model_type": "qwen2_moe", "num_attention_heads": 28, "hidden_size": 3584})";
  const std::string asked = "matrix " + quoted(file) + " --platform B200 --parallel tp4 --parallel tp8";
  const Run run = run_mxact(asked);
  INFO(run.out << run.err);
  CHECK(run.status == 0);
  CHECK(says(run, "model    the model's sizes cannot be spread so, or its class raises"));
  CHECK(run_mxact(asked + " -o " + quoted(scratch.path() / "heads.svg")).status == 0);
  CHECK(run_json(asked)["sections"][0]["deployments"][1]["refusal"].text().find("28, which 8 tensor parallel ranks") != std::string::npos);
}

TEST_CASE("verify says which variable would give more cells, and why there are none") {
  const Run aiter = run_mxact("verify " + tiny() + " --platform MI355X --tp 1 --no-execute --layers 1");
  INFO(aiter.out << aiter.err);
  CHECK(says(aiter, "gfx950: --env VLLM_ROCM_USE_AITER=1 gives AITER_MXFP4_BF16"));
  const Run set = run_mxact("verify " + tiny() + " --platform MI355X --tp 1 --no-execute --layers 1 --env VLLM_ROCM_USE_AITER=1");
  CHECK(says(set, "AITER_MXFP4_BF16"));
  CHECK_FALSE(says(set, "--env VLLM_ROCM_USE_AITER=1 gives"));
}
