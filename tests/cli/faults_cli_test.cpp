// mxact faults as users type it: the helper program stands beside it in a build with tests.

#include <string>

#include "tests/catch.hpp"
#include "tests/cli/run_program.hpp"

using mx::tests::Run;
using mx::tests::run_mxact;

TEST_CASE("faults says which laws notice a planted fault") {
  const Run text = run_mxact("faults encode_loses_carry oracle_ignores_wish");
  CHECK(text.status == 0);
  CHECK(text.err.empty());
  CHECK(text.out.find("oracle    1       1       100.0 %") != std::string::npos);
  const auto json = mx::tests::run_json("faults encode_loses_carry");
  CHECK(json["schema"] == "mxact-faults/1");
  CHECK(json["exit_code"] == 0);
  REQUIRE(json["faults"].size() == 1);
  const auto& fault = json["faults"][0];
  CHECK(fault["killed"] == true);
  CHECK(fault["laws"].size() == fault["named"].size());
  for (const auto& law : fault["laws"]) {
    CHECK(law["fate"] == "broken");
    CHECK(law["first_line"].get<std::string>().starts_with(law["law"].get<std::string>() + ":"));
  }
}

TEST_CASE("one change of a table is tried by the id that is printed for it") {
  const auto changes = mx::tests::run_json("faults --tables 'activations swiglu_oai_cuda limit_is_optional on'")["changes"];
  REQUIRE(changes.size() == 1);
  CHECK(changes[0]["judgement"] == "restated");
}

// It runs every backend twice, a quarter of a minute.
TEST_CASE("faults says which tolerances would have let an output with the fault pass", "[.exhaustive]") {
  const auto json = mx::tests::run_json("faults --blind encode_drops_sticky");
  CHECK(json["exit_code"] == 0);
  REQUIRE(json["faults"].size() == 1);
  const auto& runs = json["faults"][0]["runs"];
  REQUIRE(runs.size() > 100);
  std::size_t shown = 0;
  std::size_t overlooked = 0;
  for (const auto& run : runs) {
    if (run["differ"] == 0) continue;
    ++shown;
    if (!run["accepted"].empty()) ++overlooked;
  }
  CHECK(shown > 10);
  CHECK(overlooked > 0);
}

TEST_CASE("faults names what it does not know") {
  const Run near = run_mxact("faults encode_looses_carry");
  CHECK(near.status == 2);
  CHECK(near.err.find("did you mean encode_loses_carry?") != std::string::npos);
  CHECK(near.out.empty());
  const Run far = run_mxact("faults bogus");
  CHECK(far.status == 2);
  CHECK(far.err.find("known: numerics kernels layouts moe oracle simulator") != std::string::npos);
  CHECK(run_mxact("faults 'a;echo b'").status == 2);
  CHECK(run_mxact("faults --all --first").status == 2);
  CHECK(run_mxact("faults --jobs 0").status == 2);
  CHECK(run_mxact("faults --tables bogus").status == 2);
  CHECK(run_mxact("faults --tables 'activations swiglu_oai_cuda limit_is'").status == 2);
  CHECK(run_mxact("faults --tables --blind").status == 2);
  CHECK(run_mxact("faults --sample 3").status == 2);
  CHECK(run_mxact("faults -o matrix.txt").status == 2);
}
