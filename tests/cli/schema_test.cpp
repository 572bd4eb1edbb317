// docs/schema/mxact.json: every verb's JSON follows it (run_json holds each document that any test reads to it), and nothing else does.

#include <algorithm>
#include <fstream>
#include <set>
#include <string>

#include "tests/cli/python_stand_in.hpp"
#include "tests/cli/run_program.hpp"

namespace {

using mx::support::Json;
using mx::tests::run_json;
using mx::tests::run_mxact;
using mx::tests::schema_problem;

const std::string kRoot = MXACT_SOURCE_DIR;
const std::string kTiny = "'" + kRoot + "/golden/witness/checkpoints/tiny-gpt-oss'";
const std::string kExample = "'" + kRoot + "/docs/examples/gpt-oss-b200.info'";

struct Row {
  std::string command;
  int status = 0;
};

/// At least one command of every verb and of every definition, in an order in which each finds what an earlier one wrote in `at`. What takes
/// seconds is met elsewhere: blindness and table-changes in faults_cli_test.cpp, sweep-merge in sweep_cli_test.cpp.
std::vector<Row> rows(const std::string& at) {
  const std::string how = kTiny + " --backend TRITON --platform SM90 ";
  return {
      {"verify " + kTiny + " --platform SM90 --backend MARLIN --tp 1 --layers 1 --contract f32-sequential"},
      {"verify --platform SM75 --tp 1 --layers 1 --tokens 1 --contract f32-sequential -o '" + at + "/verdicts.svg'"},
      {"verify --platform SM75 --tp 1 --no-execute --shard 1/1 --part '" + at + "/part.json'"},
      {"verify merge '" + at + "/part.json'"},
      {"witness '" + kRoot + "/golden/witness/numerics/routing'"},
      {"witness --ledger"},
      {"audit --oracle w4a8"},
      {"audit --oracle w4a8 --needs"},
      {"select " + kExample},
      {"select '" + kRoot + "/golden/words/step-3.5-flash-fp8' --platform B200 --tp 8 --ep --explain"},
      {"select '" + kRoot + "/golden/words/deepseek-v4-flash' --platform B200 --tp 8 --write-info"},
      {"audit '" + kRoot + "/golden/words/gpt-oss-120b' --platform B200 --tp 8"},
      {"select " + kExample + " --oracle nvfp4 --strict --explain", 3},
      {"select '" + kRoot + "/docs/examples/qwen3-mxfp4-b200.info' --strict"},
      {"select --diff " + kExample + " '" + kRoot + "/docs/examples/gpt-oss-cpu.info'"},
      {"matrix --model gpt-oss-120b --scheme mxfp4 --platform SM90 --platform CPU --parallel tp8 --explain --env VLLM_MXFP4_USE_MARLIN=1"},
      {"matrix --model gpt-oss-120b --count"},
      {"engine list"},
      {"engine diff 2026-05 2026-11 " + kExample},
      {"sim '" + kRoot + "/docs/examples/sim-b200-dp2.info' --backend FLASHINFER_CUTLASS_MXFP4_MXFP8", 1},
      {"sim '" + kRoot + "/docs/examples/sim-b200.info' --backend CPU", 4},
      {"sim '" + at + "/small.info' --compare --tokens 1", 1},
      {"ver e2m1_to_bf16 --coverage-out '" + at + "/coverage.json'", 5},
      {"coverage merge '" + at + "/coverage.json'", 1},
      {"gen --list"},
      {"gen f32_to_e4m3 --with-expected"},
      {"vectors --core --check /no-such-directory", 5},
      {"vectors --core --coverage"},
      {"vectors --core --growth"},
      {"vectors --core -o '" + at + "/vectors'"},
      {"inspect " + kTiny + " --deep"},
      {"convert " + how + "-o '" + at + "/packed'"},
      {"restore '" + at + "/packed' --accept-losses -o '" + at + "/restored'"},
      {"plan " + how + "--converted '" + at + "/merged' -o '" + at + "/plan.json'"},
      {"run '" + at + "/plan.json' --job 0,1,2,3"},
      {"merge '" + at + "/plan.json'"},
      {"layer " + how + "--layer 0 --router --x " + kTiny + "/expected.safetensors:layers.0.mlp.x -o '" + at + "/stages.safetensors'"},
      {"layer " + how + "--layer 1 --router --x " + kTiny + "/expected.safetensors:layers.1.mlp.x --expect '" + at + "/stages.safetensors'", 1},
      {"layout list"},
      {"layout list --backend XPU --format nvfp4", 5},
      {"layout show MARLIN"},
      {"layout show trtllm.shuffle_matrix_a"},
      {"layout show sf_128x4 --shape 100x6"},
      {"layout where sf_128x4 --shape 100x6 --coord rows=3"},
      {"layout where sf_128x4 --shape 100x6 --byte 3"},
      {"layout draw sf_128x4 --shape 8x4 -o '" + at + "/layout.svg'"},
      {"layout diff sf_128x4 sf_8x4 --shape 128x8", 1},
      {"layout identify '" + kRoot + "/docs/examples/w2-scale-dump.safetensors:w2_weight_scale' '" + kRoot +
       "/docs/examples/w2-scale-dump.safetensors:dump'"},
      {"formats"},
      {"formats --profile ml_dtypes"},
      {"formats --format e4m3fn"},
      {"formats --rules"},
      {"formats --profile 'e3m3,bias=5,finite,round=odd,overflow=saturate'"},
      {"formats --profile te-nvfp4"},
      {"encode 'ue4m3,fn,round=rne,overflow=ieee,negative=zero' 1 500"},
      {"encode e8m0 1 3"},
      {"decode e8m0 127"},
      {"decode mxfp4 --scale 0x80 7"},
      {"quantize fp8_e4m3 --profile torchao-fp8 --block 2 448 1"},
      {"quantize awq,block=2 --rows 2 1 2 3 4"},
      {"formats --profile gptq,block=32"},
      {"compare ml_dtypes torch-cpu e5m2 --from bf16", 1},
      {"compare " + kTiny + " " + kTiny},
      {"compare '" + kRoot + "/golden/witness/checkpoints/tiny-base' '" + kRoot + "/golden/witness/checkpoints/tiny-modelopt'"},
      {"compare '" + kRoot + "/golden/witness/checkpoints/tiny-base' '" + kRoot + "/golden/witness/checkpoints/tiny-modelopt' --proves-lossless", 1},
      {"compare torchao-floor torchao-floor mxfp4 --from bf16", 5},
      {"study --format mxfp4 --profile ocp"},
      {"study --rules --format mxfp4"},
      {"study --line --format e2m1"},
      {"sweep e4m3fn --shard 1/256"},
      {"laws quantizer mxfp4 --profile ocp cat"},
      {"laws converter MARLIN --no-bias cat"},
      {"laws oracle --seed 1 cat"},
      {"laws kernel --activation SILU cat"},
      {"laws power --format mxfp4 --activation SILU cat"},
      {"laws batch --format mxfp4 --activation SILU cat"},
      {"faults encode_loses_carry"},
      {"doctor"},
      {"report '" + kRoot + "/docs/examples/report/doctor.json' -o '" + at + "/report.html'"},
      {"help"},
      {"help exit-status"},
      {"completion bash"},
      {"manual"}};
}

/// Verbs that print JSON.
void collect(const Json& verb, std::set<std::string>& verbs) {
  const auto is_json = [](const Json& option) { return option["names"].back() == "--json"; };
  if (std::ranges::any_of(verb["options"], is_json)) verbs.insert(verb["verb"].text());
  for (const Json& below : verb["verbs"]) collect(below, verbs);
}

/// The verb of a command: as many of its words as make one.
std::string verb_of(const std::string& command, const std::set<std::string>& verbs) {
  std::string longest;
  for (const std::string& verb : verbs) {
    if ((command + " ").starts_with(verb + " ") && verb.size() > longest.size()) longest = verb;
  }
  return longest;
}

}  // namespace

TEST_CASE("every verb's JSON follows its definition, and every definition is some verb's") {
  const mx::tests::ScratchDirectory scratch;
  std::ofstream(scratch.path() / "small.info") << "platform CPU\nlayer {\n experts 2\n top_k 1\n hidden 32\n intermediate 32\n}\n";
  const mx::tests::PythonStandIn python(scratch.path(), mx::tests::kLawsHeld, 0);
  std::set<std::string> verbs;
  collect(run_json("help")["program"], verbs);
  std::set<std::string> met;
  std::set<std::string> unmet = verbs;
  for (const Row& row : rows(scratch.path().string())) {
    INFO(row.command);
    unmet.erase(verb_of(row.command, verbs));
    if (row.status == 3) continue;
    const Json document = run_json(row.command, row.status);
    met.insert(document["schema"].text());
    CHECK(document["mxact"]["command"].text().starts_with("mxact "));
  }
  CHECK(unmet == std::set<std::string>{"sweep merge"});
  met.insert({"mxact-blindness/1", "mxact-table-changes/1", "mxact-sweep-merge/1"});
  std::set<std::string> defined;
  const Json schema = mx::tests::parsed_file(kRoot + "/docs/schema/mxact.json");
  for (const Json& one : schema["oneOf"]) {
    const std::string& reference = one["$ref"].text();
    defined.insert(schema["$defs"].at(reference.substr(reference.rfind('/') + 1))["properties"]["schema"]["const"].text());
  }
  CHECK(met == defined);
}

TEST_CASE("the schema refuses what a document must not be") {
  const Json right = run_json("layout list --backend XPU --format mxfp4");
  const auto changed = [&](const auto& change) {
    Json document = right;
    change(document);
    return schema_problem(document);
  };
  CHECK(changed([](Json&) {}).empty());
  CHECK(changed([](Json& d) { d["extra"] = 1; }) == "layout-list.extra is no member of the definition");
  CHECK(changed([](Json& d) { d.erase("exit_code"); }) == "layout-list has no exit_code");
  CHECK(changed([](Json& d) { d["schema"] = "mxact-layout-list/2"; }).starts_with("layout-list.schema is \"mxact-layout-list/2\""));
  CHECK(changed([](Json& d) { d["schema"] = "mxact-nothing/1"; }) == "no definition of mxact-nothing/1");
  CHECK(changed([](Json& d) {
          d["backends"][0]["tensors"][0]["unit_bits"] = "4";
        }).starts_with("layout-list.backends[0].tensors[0].unit_bits is \"4\", not \"integer\""));
  CHECK(changed([](Json& d) { d["backends"][0]["source"].erase("commit"); }) == "layout-list.backends[0].source has no commit");
  CHECK(changed([](Json& d) { d["mxact"]["seconds"] = "1"; }).starts_with("layout-list.mxact.seconds is"));
}
