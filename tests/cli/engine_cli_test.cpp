// mxact engine from outside: versions, what changes between two of them, and answers of the later ones.

#include <cstdint>
#include <fstream>
#include <string>

#include "support/json.hpp"
#include "tests/cli/run_program.hpp"
#include "tests/sim/verify/scratch.hpp"

namespace {

using mx::sim::Json;
using mx::tests::Run;
using mx::tests::run_json;
using mx::tests::run_mxact;

bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("engine list has every version with its releases and its oracles") {
  const Json json = run_json("engine list");
  REQUIRE(json["engines"].size() == 3);
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
  CHECK(counts_are(json["counts"], 834, 66, 60, 44));
  CHECK(counts_are(run_json("engine diff 2026-08 2026-11")["counts"], 807, 22, 88, 8));
  CHECK(run_json("engine diff 2026-08 2026-08")["changes"].size() == 0);
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
