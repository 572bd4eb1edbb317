// mxact select from outside: the difference of two deployments, strict selection, and bad deployment files.

#include <algorithm>
#include <fstream>
#include <string>

#include "support/json.hpp"
#include "tests/cli/run_program.hpp"
#include "tests/sim/verify/scratch.hpp"

namespace {

using mx::tests::Run;
using mx::tests::run_json;
using mx::tests::run_mxact;
using mx::tests::ScratchDirectory;

std::string example(const std::string& name) { return std::string(MXACT_SOURCE_DIR) + "/docs/examples/" + name + ".info"; }

std::string written(const ScratchDirectory& directory, const std::string& text) {
  const std::string path = (directory.path() / "bad.info").string();
  std::ofstream(path) << text;
  return path;
}

const std::string kLayer = "layer { experts 8 top_k 2 hidden 64 intermediate 64 }\n";

}  // namespace

TEST_CASE("select --diff says what differs, where the searches part, and both answers") {
  const mx::support::Json json = run_json("select --diff " + example("gpt-oss-h100") + " " + example("gpt-oss-mi300x"));
  CHECK(json["schema"] == "mxact-select-diff/1");
  std::vector<std::string> keys;
  for (const mx::support::Json& input : json["inputs"]) keys.push_back(input["key"].text());
  for (const char* key : {"hardware.platform", "hardware.capability", "hardware.gcn_arch", "parallel.tp", "software.has_flashinfer"}) {
    INFO(key);
    CHECK(std::find(keys.begin(), keys.end(), key) != keys.end());
  }
  // Both reject everything before TRITON for the same reasons.
  CHECK(json["parting"].is_null());
  CHECK(json["a"]["backend"] == "TRITON");
  CHECK(json["b"]["backend"] == "TRITON");
  const mx::support::Json parted = run_json("select --diff " + example("gpt-oss-h100") + " " + example("gpt-oss-b200"));
  CHECK(parted["parting"] == 5);
  CHECK(parted["a"]["step"].get<std::string>().find("FLASHINFER_TRTLLM_MXFP4_BF16 (TrtLlmMxfp4ExpertsMonolithic): device: ") == 0);
  CHECK(parted["b"]["step"] == "FLASHINFER_TRTLLM_MXFP4_BF16 (TrtLlmMxfp4ExpertsMonolithic): supported");
  const Run same = run_mxact("select --diff " + example("gpt-oss-cpu") + " " + example("gpt-oss-cpu"));
  CHECK(same.status == 0);
  CHECK(same.out.find("the two describe the same deployment") == 0);
}

TEST_CASE("select --explain and --json answer for every oracle") {
  struct Row {
    const char* file;
    const char* oracle;
    int status;
    bool chosen;
  };
  // Every oracle has a class for SWIGLUOAI on SM100; for 4-bit and 8-bit activations on a CPU there is none, which fp8 alone lets pass. 2880 rows are
  // no whole blocks of 128, so that the engine raises when it makes the weights of FP8 blocks or turns those of NVFP4, whatever it chose.
  const Row rows[] = {{"gpt-oss-b200", "mxfp4", 0, true}, {"gpt-oss-b200", "mxfp4_deepseek_v4", 0, true},
                      {"gpt-oss-b200", "nvfp4", 4, true}, {"gpt-oss-b200", "fp8", 4, true},
                      {"gpt-oss-b200", "mxfp8", 0, true}, {"gpt-oss-b200", "w4a8", 0, true},
                      {"gpt-oss-cpu", "nvfp4", 4, false}, {"gpt-oss-cpu", "fp8", 4, true},
                      {"gpt-oss-cpu", "mxfp8", 4, false}};
  for (const auto& [file, oracle, status, chosen] : rows) {
    INFO(file << " " << oracle);
    const Run run = run_mxact("select " + example(file) + " --engine 2026-05 --explain --oracle " + oracle);
    CHECK(run.status == status);
    CHECK(run.out.find("in the order in which the engine looks:") != std::string::npos);
    const mx::support::Json json = run_json("select " + example(file) + " --engine 2026-05 --oracle " + oracle, status);
    CHECK(json["oracle"] == oracle);
    CHECK_FALSE(json["trace"].empty());
    CHECK(json.contains(chosen ? "choice" : "refusal"));
  }
}

TEST_CASE("select --strict leaves out what cannot do the work and says so") {
  const mx::support::Json loose = run_json("select " + example("qwen3-mxfp4-b200"));
  const mx::support::Json strict = run_json("select --strict " + example("qwen3-mxfp4-b200"));
  CHECK(loose["choice"]["backend"] == "FLASHINFER_TRTLLM_MXFP4_BF16");
  REQUIRE_FALSE(strict["skipped"].empty());
  CHECK(strict["skipped"][0]["backend"] == "FLASHINFER_TRTLLM_MXFP4_BF16");
  CHECK(strict["choice"]["backend"] != loose["choice"]["backend"]);
  CHECK(run_json("select --strict " + example("gpt-oss-h100"))["skipped"].empty());
}

TEST_CASE("bad deployment files: one line with file and line, exit 3") {
  struct Row {
    std::string text;
    const char* message;  ///< after the file's name
  };
  const Row rows[] = {
      {"platform SM100\nplatfrom SM90\n" + kLayer, ":2: unknown key 'platfrom' (did you mean platform?)"},
      {"platform SM100\nparallel {\n  expert_parallel true\n}\n" + kLayer, ":3: parallel.expert_parallel is true, but tp * pcp * dp is 1"},
      {"platform SM100\nlayer {\n  experts 8\n  top_k 9\n  hidden 64\n  intermediate 64\n}\n",
       ":4: layer.top_k is '9', must be a whole number in [1, 8]"},
      {"platform SM100\nparallel { tp 3 }\n" + kLayer, ":3: layer.intermediate is 64, which 3 tensor parallel ranks cannot share equally"},
      {"platform SM100\nbackend marlyn\n" + kLayer, ":2: backend: unknown name 'marlyn' (did you mean marlin?)"},
      {"platform SM100\noracle nvpf4\n" + kLayer, ":2: oracle: unknown name 'nvpf4' (did you mean nvfp4?)"},
      {kLayer + "hardware {\n  platform cuda\n  capability 999\n}\n", ":4: hardware.capability is '999', must be a whole number in [50, 199]"},
      {kLayer + "hardware {\n  platform cuda\n}\n", ":2: hardware.capability is missing"},
      {kLayer + "hardware {\n  platform cpu\n  capability 90\n}\n", ":4: hardware.capability: platform cpu has none"},
      {"platform SM100\nenv {\n  VLLM_USE_DEEP_GEM 1\n}\n" + kLayer, ":3: unknown variable 'VLLM_USE_DEEP_GEM' (did you mean VLLM_USE_DEEP_GEMM?)"},
  };
  const ScratchDirectory scratch;
  for (const Row& row : rows) {
    const std::string path = written(scratch, row.text);
    for (const std::string& command : {"select " + path, "select --diff " + example("gpt-oss-cpu") + " " + path}) {
      const Run run = run_mxact(command);
      INFO(row.text << run.err);
      CHECK(run.status == 3);
      CHECK(run.out.empty());
      CHECK(run.err.find(path + row.message) != std::string::npos);
      CHECK(std::count(run.err.begin(), run.err.end(), '\n') == 1);
    }
  }
}

TEST_CASE("select with the wrong number of files or options that contradict each other") {
  const std::string file = example("gpt-oss-cpu");
  for (const std::string& arguments :
       {"select " + file + " " + file, "select --diff " + file, "select --diff --strict " + file + " " + file, "select --oracle mxpf4 " + file}) {
    const Run run = run_mxact(arguments);
    INFO(arguments << run.err);
    CHECK(run.status == 2);
    CHECK(run.out.empty());
    CHECK(std::count(run.err.begin(), run.err.end(), '\n') == 1);
  }
}
