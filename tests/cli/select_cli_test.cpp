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

TEST_CASE("a ROCm preset has amd-quark, as the engine's requirements do, and software { } says otherwise") {
  const std::string sizes = "layer { experts 128 top_k 8 hidden 4096 intermediate 1536 bias false activation ";
  // Kimi-K3 on MI325X, Ling-3.0 on MI300X (measured as emulated), W4A4 of Quark on MI355X without AITER.
  const std::string rows[] = {
      "platform gfx942\noracle mxfp4_deepseek_v4\nenv {\nVLLM_ROCM_USE_AITER 1\n}\n" + sizes + "SITU }\n",
      "platform gfx942\noracle mxfp4_deepseek_v4\nenv {\nVLLM_ROCM_USE_AITER 1\n}\n" + sizes + "SILU }\n",
      "platform gfx950\noracle mxfp4\nquant_method quark\nactivation_key kMxfp4Dynamic\n" + sizes + "SILU }\n",
  };
  const ScratchDirectory scratch;
  for (const std::string& row : rows) {
    INFO(row);
    const mx::support::Json json = run_json("select " + written(scratch, row));
    CHECK(json["choice"]["backend"] == "EMULATION");
    CHECK(json["choice"]["kernel_class"] == "OCP_MXQuantizationEmulationTritonExperts");
    CHECK(json["software"]["said"].empty());
    const std::string without = written(scratch, row + "software {\nhas_quark false\n}\n");
    CHECK(run_json("select " + without, 4)["refusal"]["text"].text().find("quark_missing") != std::string::npos);
    const Run said = run_mxact("select --explain " + without);
    CHECK(said.status == 4);
    CHECK(said.out.find("software { } says otherwise: has_quark false\n") != std::string::npos);
  }
  const Run explained = run_mxact("select --explain " + written(scratch, rows[0]));
  CHECK(explained.out.find("software that is assumed on rocm, of the engine's requirements, build and image:") != std::string::npos);
  CHECK(explained.out.find("amd-quark") != std::string::npos);
  CHECK(explained.out.find("==0.12.post1") != std::string::npos);
  CHECK(explained.out.find("requirements/rocm.txt") != std::string::npos);
}

TEST_CASE("a variable that the version no longer reads, or that only a later one reads, is said by select, matrix and verify") {
  const std::string dropped = "VLLM_MXFP4_USE_MARLIN changes nothing: vllm@2026-08 dropped it";
  const std::string asked = "select " + example("gpt-oss-b200") + " --env VLLM_MXFP4_USE_MARLIN=1 --engine ";
  CHECK(run_mxact(asked + "2026-05").out.find("changes nothing") == std::string::npos);
  CHECK(run_mxact(asked + "2026-08").out.find(dropped) != std::string::npos);
  CHECK(run_json(asked + "2026-11")["notes"].dump().find(dropped) != std::string::npos);
  CHECK(run_mxact("matrix --model gpt-oss-120b --platform SM100 --count --env VLLM_MXFP4_USE_MARLIN=1").out.find(dropped) != std::string::npos);
  CHECK(run_mxact("verify --platform SM100 --tp 1 --layers 1 --tokens 1 --no-execute --env VLLM_MXFP4_USE_MARLIN=1").out.find(dropped) !=
        std::string::npos);
  const Run later = run_mxact("select " + example("gpt-oss-b200") + " --engine 2026-05 --env VLLM_B12X_MOE_FP4_FORCE_A16=1");
  CHECK(later.status == 0);
  CHECK(later.out.find("no choice of vllm@2026-05 reads it, vllm@2026-08 is the first that does") != std::string::npos);
  const Run none = run_mxact("select " + example("gpt-oss-b200") + " --env VLLM_MOE_SKIP_PADDING=1");
  CHECK(none.status == 2);
  CHECK(none.err.find("is a variable of the engine, which gives tokens that pad a batch no expert; no choice of a backend reads it") !=
        std::string::npos);
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
