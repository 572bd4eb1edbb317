// mxact engine from outside: versions, what changes between two of them, and answers of the later ones.

#include <cstdint>
#include <fstream>
#include <string>

#include "support/json.hpp"
#include "tests/cli/run_program.hpp"
#include "tests/sim/verify/scratch.hpp"

namespace {

using mx::support::Json;
using mx::tests::Run;
using mx::tests::run_json;
using mx::tests::run_mxact;

bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("engine list has every version with its releases and its oracles") {
  const Json json = run_json("engine list");
  REQUIRE(json["engines"].size() >= 3);
  const Json& may = json["engines"][0];
  CHECK(may["engine"] == "vllm@2026-05");
  CHECK(may["releases"].size() == 2);
  CHECK(may["choices"].size() == 6);
  CHECK(may["default"] == false);
  CHECK(json["engines"][1]["engine"] == "vllm@2026-08");
  CHECK(json["engines"][1]["default"] == true);
  const Json& november = json["engines"][2];
  CHECK(november["engine"] == "vllm@2026-11");
  CHECK(november["releases"][0] == "0.33.0");
  CHECK(november["choices"].size() == 10);
  CHECK(november["conversions"] == false);
}

TEST_CASE("engine diff counts what an upgrade changes, and gives a deployment of each change that is one") {
  const Json json = run_json("engine diff 2026-05 2026-08");
  CHECK(json["from"] == "vllm@2026-05");
  CHECK(json["deployments"] == 5400);
  std::int64_t sum = 0;
  for (const Json& change : json["changes"]) sum += change["deployments"].get<std::int64_t>();
  std::int64_t counted = 0;
  for (const auto& [kind, count] : json["counts"].items()) counted += count.get<std::int64_t>();
  CHECK(sum == counted);
  // As docs/engines.md says.
  const auto counts_are = [](const Json& counts, int choice, int refusal, int kernel_class, int sizes) {
    return counts["choice"] == choice && counts["refusal"] == refusal && counts["class"] == kernel_class && counts["sizes"] == sizes;
  };
  CHECK(counts_are(json["counts"], 1033, 66, 60, 44));
  CHECK(counts_are(run_json("engine diff 2026-08 2026-11")["counts"], 707, 22, 88, 8));
  CHECK(run_json("engine diff 2026-08 2026-08")["changes"].size() == 0);
  CHECK(run_json("engine diff 2026-08 2026-08")["memory"].size() == 0);
  const std::string nothing =
      "nothing changes from vllm@2026-08 to vllm@2026-08: 5400 deployments have the same choice, the same memory of weights and the same "
      "arithmetic\n";
  CHECK(run_mxact("engine diff vllm==0.29.0 0.29").out.find(nothing) != std::string::npos);
  CHECK(run_mxact("engine diff 2026-05 2026-08").out.find("nothing changes") == std::string::npos);
  // Its deployment is one that both versions read: FP8 blocks that ranks cut stand in it with the checkpoint's own key.
  for (const Json& change : json["changes"]) CHECK(change["smallest"].get<std::string>().find("FP8:float32:64,64") == std::string::npos);
}

TEST_CASE("engine diff says where a backend that both choose computes otherwise") {
  const mx::tests::ScratchDirectory scratch;
  const auto file = scratch.path() / "deployment.info";
  std::ofstream(file) << "platform SM90 oracle fp8 layer { experts 8 top_k 2 hidden 2048 intermediate 512 activation SILU bias false }\n";
  // Outputs of an H100: TRITON's FP8 and the sums of slots since 2026-08.
  const Json json = run_json("engine diff 2026-05 2026-08 '" + file.string() + "'");
  REQUIRE(json["arithmetic"].size() >= 2);
  std::string all;
  for (const Json& change : json["arithmetic"]) {
    all += change["where"].get<std::string>();
    CHECK(change["backend"] == "TRITON");
    CHECK(change["deployments"] == 1);
    CHECK(says(change["where"].get<std::string>(), "since vllm@2026-08"));
  }
  CHECK(says(all, "operands are exchanged"));
  CHECK(says(all, "slots are summed in fp32"));
  CHECK(says(all, "an up of -0 acts as +0"));
  // Outputs of an H200: 0.33.0 multiplies groups by the scale's reciprocal.
  const Json november = run_json("engine diff 2026-08 2026-11 '" + file.string() + "'")["arithmetic"];
  REQUIRE(november.size() == 1);
  CHECK(november[0]["deployments"] == 1);
  CHECK(
      says(november[0]["where"].get<std::string>(), "quantized by vllm-group-cuda-times-reciprocal, before by vllm-group-cuda, since vllm@2026-11"));
}

TEST_CASE("engine diff says where the weights lie otherwise, or that no layout is known") {
  const mx::tests::ScratchDirectory scratch;
  const auto file = scratch.path() / "deployment.info";
  std::ofstream(file) << "platform SM100 layer { experts 32 top_k 4 hidden 2880 intermediate 2880 }\n";
  const Json json = run_json("engine diff 2026-05 2026-08 '" + file.string() + "'");
  REQUIRE(json["memory"].size() == 1);
  const Json& change = json["memory"][0];
  CHECK(change["cause"] == "other sizes");
  // I is rounded to 256 and since then to 128, H to 256: 2880 becomes 3072, then 2944.
  CHECK(change["tensors"][0]["before"] == "U8[32, 6144, 1536]");
  CHECK(change["tensors"][0]["after"] == "U8[32, 5888, 1536]");
  CHECK(change["before"]["bytes"].get<std::int64_t>() == 482'476'032);
  CHECK(change["after"]["bytes"].get<std::int64_t>() == 462'389'248);
  CHECK(json["memory_counts"]["differing"] == 1);
  const std::string hopper = std::string("'") + MXACT_SOURCE_DIR + "/docs/examples/gpt-oss-h100.info'";
  const Json later = run_json("engine diff 2026-08 2026-11 " + hopper);
  REQUIRE(later["memory"].size() == 1);
  CHECK(later["memory"][0]["after"]["missing"] == "run at vllm@2026-08, changed since: layouts of triton_kernels 3.8");
  CHECK(later["memory"][0]["after"]["bytes"].is_null());
  CHECK(later["memory_counts"]["unknown"] == 1);
  const Run text = run_mxact("engine diff 2026-05 2026-08");
  CHECK(says(text.out, "memory of the weights: "));
}

TEST_CASE("every verb says what a release differs in, and whose conversion and arithmetic it takes") {
  const mx::tests::ScratchDirectory scratch;
  const auto file = scratch.path() / "deployment.info";
  std::ofstream(file) << "oracle nvfp4 platform SM100 weight_key kNvfp4Static activation_key kNvfp4Dynamic\n"
                         "layer { experts 8 top_k 2 hidden 256 intermediate 96 activation SILU bias false }\n";
  const std::string named = "'" + file.string() + "'";
  const std::string differs = "0.29.0 differs here: FLASHINFER_TRTLLM pads gate and up each: its weights are right (read)";
  const std::string comes = "0.29.0 comes with flashinfer-python 0.6.18";
  for (const std::string& asked : {"select " + named, "sim " + named, "audit " + named}) {
    INFO(asked);
    const Run run = run_mxact(asked + " --engine vllm==0.29.0");
    CHECK(says(run.out, differs));
    CHECK(says(run.out, comes));
    CHECK_FALSE(says(run_mxact(asked + " --engine 2026-08").out, "0.29.0 "));
  }
  const Run matrix = run_mxact("matrix --oracle nvfp4 --platform SM100 --engine vllm==0.29.0 --count");
  CHECK(says(matrix.out, differs));
  CHECK(says(matrix.out, comes));
  CHECK(
      says(run_mxact("audit --needs --oracle nvfp4 --engine vllm==0.29.0").out, "0.29.0 differs in nvfp4 with I of a rank no multiple of 64, gated"));
  const std::string changed = "FLASHINFER_TRTLLM: conversion of its weights run at vllm@2026-08, changed since: gate and up are padded each";
  CHECK(says(run_mxact("select " + named + " --engine 2026-11").out, changed));
  const Run simulated = run_mxact("sim " + named + " --engine 2026-11");
  CHECK(simulated.status == 5);
  CHECK(says(simulated.out, changed));
  CHECK(says(simulated.out, "arithmetic run at vllm@2026-05; of vllm@2026-11 activations and quantizers alone"));
  CHECK(says(simulated.out, "NOT YET MODELLED the conversion was run at vllm@2026-08, changed since"));
  const Run verified = run_mxact("verify --engine vllm==0.33.0 --platform SM90 --tp 1 --layers 1");
  CHECK(says(verified.out, "0.33.0 comes with flashinfer-python 0.7.2.post1"));
  CHECK(says(verified.out, "MARLIN: conversion of its weights run at vllm@2026-08, reads the same"));
  CHECK(says(verified.out, "TRITON: its conversion was run at vllm@2026-08, changed since: layouts of triton_kernels 3.8"));
}

TEST_CASE("a library's release that a release of the engine asks for decides, and is named") {
  const mx::tests::ScratchDirectory scratch;
  const auto file = scratch.path() / "deployment.info";
  std::ofstream(file) << "platform SM90 backend flashinfer_cutlass\nlayer { experts 8 top_k 2 hidden 256 intermediate 256 activation SWIGLUOAI }\n";
  const std::string asked = " '" + file.string() + "' --engine ";
  const std::string said = "FLASHINFER_CUTLASS_MXFP4_BF16: conversion of its weights ";
  CHECK(says(run_mxact("select" + asked + "vllm==0.29.0").out, said + "as flashinfer=0.6.18 has it, which 0.29.0 asks for"));
  CHECK(says(run_mxact("sim" + asked + "vllm==0.29.0").out, said + "as flashinfer=0.6.18 has it"));
  CHECK_FALSE(says(run_mxact("select" + asked + "2026-08").out, said));
  CHECK(says(run_mxact("select" + asked + "vllm==0.33.0").out, said + "run at vllm@2026-08, reads the same, with flashinfer=0.7.2.post1"));
  const std::string backend = "verify --platform SM90 --tp 1 --layers 1 --backend FLASHINFER_CUTLASS_MXFP4_BF16 --engine ";
  CHECK(says(run_mxact(backend + "vllm==0.29.0").out, said + "as flashinfer=0.6.18 has it"));
  CHECK(says(run_mxact(backend + "2026-08 --library flashinfer=0.6.18").out, said + "as flashinfer=0.6.18 has it"));
}

TEST_CASE("convert and layout take the last conversions that were run for a version without its own and say what changed since") {
  const mx::tests::ScratchDirectory scratch;
  const std::string layout = " --shape 2x256x256 --tensor w13_weight --platform sm90 --engine ";
  const std::string triton = "TRITON: conversion of its weights run at vllm@2026-08, changed since: layouts of triton_kernels 3.8";
  const Run shown = run_mxact("layout show TRITON --format mxfp4" + layout + "2026-11");
  CHECK(shown.status == 0);
  CHECK(says(shown.out, triton));
  CHECK_FALSE(says(run_mxact("layout show TRITON --format mxfp4" + layout + "2026-08").out, "conversion of its weights"));
  const Json place = run_json("layout where MARLIN --format nvfp4" + layout + "2026-11 --coord E=0");
  REQUIRE(place["notes"].size() == 1);
  CHECK(place["notes"][0] == "MARLIN: conversion of its weights run at vllm@2026-08, reads the same");
  const Run humming = run_mxact("verify --engine 2026-11 --platform SM90 --tp 1 --layers 1 --backend HUMMING");
  CHECK(says(humming.out, "HUMMING: conversion of its weights run at vllm@2026-08, reads the same, with humming=0.1.19"));
  CHECK(says(humming.out, "0 known to differ"));
}

TEST_CASE("FP8 by TRITON is computed under the launch of its version") {
  const mx::tests::ScratchDirectory scratch;
  const auto file = scratch.path() / "deployment.info";
  std::ofstream(file) << "oracle fp8 platform SM90 backend triton weight_key kFp8Static128BlockSym activation_key kFp8Dynamic128Sym\n"
                         "layer { experts 4 top_k 2 hidden 256 intermediate 256 activation SILU bias false }\n";
  const std::string asked = "sim '" + file.string() + "' --engine ";
  const Run august = run_mxact(asked + "2026-08"), may = run_mxact(asked + "2026-05"), many = run_mxact(asked + "2026-05 --launch tokens=65");
  for (const Run& run : {august, may, many}) {
    CHECK(run.status == 0);
    CHECK_FALSE(says(run.out, "known to differ"));
    CHECK(says(run.out, "grounds: run ("));
  }
  CHECK(says(august.out, "hopper-fp8-block-exchanged"));
  CHECK(says(august.out, "launch: block_m 16, block_n 64, step_k 128: the engine's tile for 4 tokens without a tuned file"));
  CHECK(says(may.out, "hopper-fp8-as-fp16-block"));
  CHECK(says(many.out, "hopper-fp8-block-1x128"));
  CHECK(says(run_mxact(asked + "2026-05 --launch block_m=128,e8m0=0").out, "block_m 128 (given)"));
  CHECK(run_mxact(asked + "2026-05 --launch block_m=0").status == 2);
}

TEST_CASE("engine diff of one deployment is what select says of both") {
  const std::string file = std::string("'") + MXACT_SOURCE_DIR + "/docs/examples/gpt-oss-xpu.info'";
  const Json json = run_json("engine diff vllm==0.22.1 vllm==0.29.0 " + file);
  CHECK(json["deployments"] == 1);
  REQUIRE(json["changes"].size() == 1);
  CHECK(json["changes"][0]["kind"] == "class");
  const Run may = run_mxact("select " + file + " --engine 2026-05");
  const Run august = run_mxact("select " + file + " --engine 2026-08");
  CHECK(says(may.out, "XPU (XPUExpertsMXFp4)"));
  CHECK(says(august.out, "XPU (XPUExpertsMxFp4)"));
  CHECK(says(august.out, "engine vllm@2026-08"));
}

TEST_CASE("words and oracles of later engines are refused by earlier ones with exit 4") {
  const mx::tests::ScratchDirectory scratch;
  const auto asked = [&](const std::string& text, const std::string& options) {
    const auto file = scratch.path() / "deployment.info";
    std::ofstream(file) << text;
    return run_mxact("select '" + file.string() + "'" + options);
  };
  const std::string layer = "layer { experts 8 top_k 2 hidden 256 intermediate 256 activation SITU bias false }\n";
  const Run early = asked("platform SM100\n" + layer, " --engine 2026-05");
  CHECK(early.status == 4);
  CHECK(says(early.err, "activation SITU is none of vllm@2026-05"));
  CHECK(asked("platform SM100\n" + layer, " --engine 2026-08").status == 0);
  const Run plain =
      asked("platform SM100\noracle unquantized\nlayer { experts 8 top_k 2 hidden 256 intermediate 256 activation SILU }\n", " --engine 2026-05");
  CHECK(plain.status == 4);
  CHECK(says(plain.err, "vllm@2026-05 has no tables of oracle unquantized"));
  const Run later =
      asked("platform SM90\noracle unquantized\nlayer { experts 8 top_k 2 hidden 256 intermediate 256 activation SILU }\n", " --engine 2026-11");
  CHECK(later.status == 0);
  CHECK(says(later.out, "TRITON (TritonExperts)"));
}

TEST_CASE("a backend that a version has and no version a layout of is said to have none") {
  for (const std::string verb : {"layout show CUTLASS_MXFP4_MXFP4", "layout where CUTLASS_MXFP4_MXFP4 --address 0"}) {
    const Run run = run_mxact(verb + " --format mxfp4 --tensor w13_weight --shape 128x256 --engine 2026-11");
    CHECK(run.status == 4);
    CHECK(says(run.err, "CUTLASS_MXFP4_MXFP4 of vllm@2026-11 (oracle mxfp4): no layout"));
  }
  // Of a name that no version knows nothing is known.
  CHECK(run_mxact("layout show CUTLASS_MXFP5 --format mxfp4 --engine 2026-11").status == 2);
}
