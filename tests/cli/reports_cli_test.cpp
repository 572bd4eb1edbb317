// Public reports of the summer of 2026 that no table of the model holds: answered, or refused in one true sentence.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/cli/run_program.hpp"
#include "tests/sim/verify/scratch.hpp"

namespace {

using mx::tests::quoted;
using mx::tests::Run;
using mx::tests::run_json;
using mx::tests::run_mxact;
using mx::tests::ScratchDirectory;

std::string example(const std::string& name) { return std::string(MXACT_SOURCE_DIR) + "/docs/examples/" + name + ".info"; }

std::string deployment_of(const ScratchDirectory& directory, const std::string& activation) {
  const std::filesystem::path path = directory.path() / (activation + ".info");
  std::ofstream(path) << "platform SM100\noracle nvfp4\nparallel { tp 8 expert_parallel true }\nlayer { experts 896 top_k 16 hidden 7168 "
                         "intermediate 3072 activation "
                      << activation << " routing DeepSeekV3 correction_bias true routed_scaling true expert_groups 1 topk_group 1 bias false }\n";
  return quoted(path);
}

bool notes(const mx::support::Json& document, const std::string& part) {
  for (const mx::support::Json& note : document["notes"]) {
    if (note.text().find(part) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

// flashinfer#5053: which sizes are wrong follows from no field of a deployment, so that the choice stands and the report is told.
TEST_CASE("select tells a reported fault of a kernel that no field decides, where the choice may meet it") {
  const ScratchDirectory scratch;
  for (const std::string strict : {"", " --strict"}) {
    const mx::support::Json situ = run_json("select " + deployment_of(scratch, "SITU") + strict);
    CHECK(situ["choice"]["backend"] == "FLASHINFER_TRTLLM");
    CHECK(notes(situ, "the first product writes no scales, so that the layer's output is zeros, without an error (flashinfer issue 5053)"));
    CHECK(!notes(run_json("select " + deployment_of(scratch, "SILU") + strict), "5053"));
  }
}

TEST_CASE("what the model has no word for is refused in one sentence that says what there is") {
  struct Row {
    std::string arguments;
    std::string said;
  };
  const std::vector<Row> rows{
      // TransformerEngine#3325, tt-metal#57410: a scale of UE5M3 is a format, and no block format has it.
      {"quantize nvfp4_ue5m3 1 2", "unknown block format 'nvfp4_ue5m3' (known: mxfp8_e4m3"},
      {"quantize bfp4 1 2", "unknown block format 'bfp4' (known: mxfp8_e4m3"},
      // vortex#359, arch-com#627.
      {"gen dot_bf16_bf16_to_bf16", "dot_bf16_bf16 answers in f32, and no dot product or product in another format"},
      {"gen product_e4m3fn_e4m3fn_to_fp16", "product_e4m3fn_e4m3fn answers in f32"},
      // triton#11668.
      {"quantize nvfp4 --profile triton-kernels-round-up 1 2", "unknown profile 'triton-kernels-round-up'"},
      // aiter#4398, #671.
      {"layout show klane_inner --shape 1x64x64", "unknown layout 'klane_inner'"},
      // vllm#55914: a draft model is a model of its own.
      {"select " + example("gpt-oss-b200") + " " + example("gpt-oss-h100"), "DEPLOYMENT is given twice; two files are for --diff"},
      // vllm#57036.
      {"select " + example("gpt-oss-b200") + " --env VLLM_MOE_SKIP_PADDING=1", "no choice of a backend reads it: leave it out"},
  };
  for (const Row& row : rows) {
    INFO(row.arguments);
    const Run run = run_mxact(row.arguments);
    CHECK(run.status == 2);
    CHECK(run.out.empty());
    INFO(run.err);
    CHECK(run.err.find(row.said) != std::string::npos);
    CHECK(std::count(run.err.begin(), run.err.end(), '\n') == 1);
  }
}

// vllm#47365: the cause is in the kernel's launch; the engine's choice, and that it is one of a wish, is what there is to say.
TEST_CASE("a deployment on two ranks whose kernel fails in its launch is answered as the engine chooses") {
  const ScratchDirectory scratch;
  const std::filesystem::path path = scratch.path() / "b12x.info";
  std::ofstream(path) << "platform SM120\noracle nvfp4\nbackend flashinfer_b12x\nparallel { tp 2 }\nlayer { experts 128 top_k 8 hidden 2048 "
                         "intermediate 768 activation SILU }\n";
  const mx::support::Json answer = run_json("select " + quoted(path));
  CHECK(answer["choice"]["backend"] == "FLASHINFER_B12X");
}

// model-serving-minefield#19: variables in recipes that do nothing any more.
TEST_CASE("every verb that takes variables says which its version does not read") {
  const ScratchDirectory scratch;
  const std::string at = scratch.path().string();
  const std::string tiny = mx::tests::tiny(), env = " --env VLLM_MXFP4_USE_MARLIN=1";
  const std::string layout = " MARLIN --format mxfp4 --shape 2x64x64 --tensor w2_weight --engine 2026-08";
  const std::vector<std::string> commands{
      "select " + example("gpt-oss-b200"),
      "audit " + example("gpt-oss-b200"),
      "matrix --model gpt-oss-120b --platform SM100 --count",
      "verify --platform SM100 --tp 1 --layers 1 --tokens 1 --no-execute",
      "convert " + tiny + " --backend TRITON --platform SM90 -o " + at + "/packed",
      "plan " + tiny + " --backend TRITON --platform SM90 --converted " + at + "/parts -o " + at + "/plan.json",
      "layer " + tiny + " --backend TRITON --platform SM90 --layer 0 --x " + tiny + "/expected.safetensors:layers.0.mlp.x --router",
      "layout show" + layout,
      "layout where" + layout + " --coord E=0",
      "layout draw" + layout + " -o " + at + "/a.svg",
      "layout diff MARLIN TRITON --format mxfp4 --shape 2x64x64 --tensor w2_weight --engine 2026-08",
  };
  const std::string dropped = "VLLM_MXFP4_USE_MARLIN changes nothing: vllm@2026-08 dropped it";
  for (const std::string& command : commands) {
    INFO(command);
    const Run run = run_mxact(command + env);
    INFO(run.out << run.err);
    CHECK(run.out.find(dropped) != std::string::npos);
  }
}
