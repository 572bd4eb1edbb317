// The verdict of each run and of a report: never green by luck.

#include <string>
#include <vector>

#include "model/error.hpp"
#include "tests/catch.hpp"
#include "tests/verbs/report/sample_runs.hpp"

namespace {

using namespace mx::tests;
using mx::verbs::exit_code;
using mx::verbs::Outcome;
using mx::verbs::outcomes_of;
using mx::verbs::Standing;
using mx::verbs::worst;

Outcome outcome(Json json) {
  const std::vector<ReportRun> runs{named("run.json", std::move(json))};
  return outcomes_of(runs).front();
}

}  // namespace

TEST_CASE("verify passes, fails, is mistrusted, or checked nothing") {
  const Outcome passed = outcome(verify_json());
  CHECK(passed.standing == Standing::passed);
  CHECK(passed.counted == "4 cells: 3 passed, 0 known to differ, 0 failed, 0 mistrusted, 1 refused, 0 not yet modelled; 1500 units compared");
  CHECK(outcome(failed_verify_json()).standing == Standing::failed);

  Json expected = with(verify_json(), "/expected/0/verdict", "FAILED");
  CHECK(outcome(with(expected, "/exit_code", 1)).standing == Standing::failed);

  Json mistrusted = verify_json();
  mistrusted["conversions"][1]["verdict"] = mistrusted["cells"][1]["verdict"] = "MISTRUSTED";
  mistrusted["totals"].update({{"passed", 2}, {"mistrusted", 1}});
  CHECK(outcome(with(mistrusted, "/exit_code", 5)).standing == Standing::mistrusted);

  // The engine's own choice is refused by its converter.
  Json broken = verify_json();
  broken["conversions"][1]["verdict"] = broken["cells"][1]["verdict"] = "REFUSED";
  broken["totals"].update({{"passed", 2}, {"refused", 2}});
  CHECK(outcome(with(broken, "/exit_code", 4)).standing == Standing::refused);

  Json empty = verify_json();
  empty["conversions"] = empty["cells"] = empty["expected"] = Json::array();
  empty["totals"] = {{"cells", 0}, {"passed", 0}, {"failed", 0}, {"mistrusted", 0}, {"refused", 0}, {"not_modelled", 0}};
  CHECK(outcome(with(empty, "/exit_code", 5)).standing == Standing::nothing);
}

TEST_CASE("cells that passed without a comparison checked nothing") {
  Json json = verify_json();
  for (Json& conversion : json["conversions"]) conversion["units_compared"] = 0;
  CHECK(outcome(json).standing == Standing::nothing);
}

TEST_CASE("every other check says what it compared, and nothing compared is not passed") {
  CHECK(outcome(witness_json()).standing == Standing::passed);
  CHECK(outcome(witness_json()).counted == "1 sets: 100 values compared, 0 differ, 2 excused, 1 entries not modelled");
  CHECK(outcome(with(witness_json(), "/sets/0/compared", 0)).standing == Standing::nothing);
  CHECK(outcome(with(witness_json(), "/exit_code", 1)).standing == Standing::failed);
  CHECK(outcome(audit_json()).standing == Standing::passed);
  CHECK(outcome(with(audit_json(), "/differences", Json::array({"a new finding"}))).standing == Standing::failed);
  CHECK(outcome(with(audit_json(), "/checks", 0)).standing == Standing::nothing);
  CHECK(outcome(upgrade_json()).standing == Standing::shown);
  CHECK(outcome(upgrade_json()).counted == "vllm@2026-05 to vllm@2026-08: 4 of 10 deployments change");
  CHECK_THROWS_AS(outcome(with(upgrade_json(), "/deployments", 3)), mx::Error);
  // No ledger is about a later version: what differs fails nothing there.
  const Outcome later = outcome(with(with(audit_json(), "/differences", Json::array({"a new finding"})), "/engine", "vllm@2026-08"));
  CHECK(later.standing == Standing::shown);
  CHECK(later.counted.ends_with("1 differences from the ledger of vllm@2026-05, which fail nothing"));
  CHECK(outcome(sweep_json()).standing == Standing::passed);
  CHECK(outcome(with(sweep_json(), "/against/differing", Json::array({0}))).standing == Standing::failed);
  CHECK(outcome(with(sweep_json(), "/against/compared", 0)).standing == Standing::nothing);
  Json alone = sweep_json();
  alone.erase("against");
  CHECK(outcome(alone).standing == Standing::shown);
  CHECK(outcome(doctor_json()).standing == Standing::passed);
  CHECK(outcome(inspect_json()).standing == Standing::failed);
  CHECK(outcome(inspect_json()).counted == "1 layer groups, 4000 bytes read, weights among them, 1 findings");
  CHECK(outcome(with(with(inspect_json(), "/faults", Json::array()), "/exit_code", 0)).standing == Standing::passed);
  CHECK_THROWS_AS(outcome(with(inspect_json(), "/exit_code", 0)), mx::Error);
  CHECK(outcome(with(doctor_json(), "/checks/0/passed", false)).standing == Standing::failed);
  CHECK(outcome(with(doctor_json(), "/checks", Json::array())).standing == Standing::nothing);
  CHECK(outcome(with(bench_json(), "/benchmarks", Json::array())).standing == Standing::nothing);
  CHECK(outcome(with(select_json(), "/exit_code", 4)).standing == Standing::refused);
}

TEST_CASE("a simulation fails where the engine's own choice is broken, a device where an answer differs") {
  CHECK(outcome(sim_json()).standing == Standing::passed);
  CHECK(outcome(sim_json()).counted == "3 cells: 2 executed, 1 of them broken, 1 refused");
  CHECK(outcome(with(sim_json(), "/cells/1/answer", "chosen")).standing == Standing::failed);
  CHECK(outcome(with(sim_json(), "/cells/2/answer", "chosen")).standing == Standing::failed);
  CHECK(outcome(with(sim_json(), "/cells", Json::array())).standing == Standing::nothing);
  Json one = sim_json();
  one.erase("cells");
  one.update({{"backend", "MARLIN"}, {"refusal", nullptr}, {"result", sim_json()["cells"][0]["result"]}});
  one["result"]["ranks"] = 2;
  CHECK(outcome(one).standing == Standing::passed);
  CHECK(outcome(with(one, "/result/broken", "combine")).standing == Standing::failed);
  CHECK(outcome(with(one, "/result/links", Json::array())).standing == Standing::nothing);
  CHECK(outcome(with(one, "/refusal", "no backend")).standing == Standing::refused);
  CHECK(outcome(ver_json()).standing == Standing::passed);
  CHECK(outcome(with(ver_json(), "/verdict", "FAILED")).standing == Standing::failed);
  CHECK(outcome(with(ver_json(), "/verdict", "MISTRUSTED")).standing == Standing::mistrusted);
  CHECK(outcome(with(ver_json(), "/checked", 0)).standing == Standing::nothing);
}

TEST_CASE("runs of a device together stand as their verdict says, which their counts bear out") {
  CHECK(outcome(merged_json()).standing == Standing::passed);
  CHECK(outcome(with(merged_json(), "/verdict", "FAILED")).standing == Standing::failed);
  CHECK(outcome(with(merged_json(), "/runs/0/checked", 0)).standing == Standing::nothing);
  CHECK_THROWS_AS(outcome(with(merged_json(), "/runs/0/wrong", 1)), mx::Error);
  CHECK_THROWS_AS(outcome(with(merged_json(), "/coverage/hit", 1)), mx::Error);
  CHECK_THROWS_AS(outcome(with(merged_json(), "/coverage/hit", 3)), mx::Error);
}

TEST_CASE("a checked set of vectors fails where a file is missing, different or unknown") {
  CHECK(outcome(vectors_json()).standing == Standing::passed);
  for (const char* list : {"/missing", "/different", "/unknown"}) {
    CHECK(outcome(with(vectors_json(), list, Json::array({"a.hex"}))).standing == Standing::failed);
  }
  CHECK(outcome(with(vectors_json(), "/files", 0)).standing == Standing::nothing);
  Json written = vectors_json();
  for (const char* list : {"missing", "different", "unknown"}) written.erase(list);
  CHECK(outcome(written).standing == Standing::shown);
}

TEST_CASE("what shows something is not a check") {
  for (const Json& json : {compare_json(), bench_json(), study_json(), formats_json(), codes_json(), quantize_json(), layout_json(), select_json()}) {
    INFO(json.dump().substr(0, 60));
    CHECK(outcome(json).standing == Standing::shown);
  }
}

TEST_CASE("a report is as bad as its worst run") {
  const auto of = [](std::vector<Standing> standings) {
    std::vector<Outcome> outcomes;
    for (Standing standing : standings) outcomes.push_back({standing, ""});
    return worst(outcomes);
  };
  using enum Standing;
  CHECK(of({}) == nothing);
  CHECK(of({shown, shown}) == shown);
  CHECK(of({shown, passed}) == passed);
  CHECK(of({passed, nothing, shown}) == nothing);
  CHECK(of({mistrusted, passed, nothing}) == mistrusted);
  CHECK(of({refused, mistrusted}) == refused);
  CHECK(of({passed, failed, refused}) == failed);
  CHECK(exit_code(shown) == 0);
  CHECK(exit_code(passed) == 0);
  CHECK(exit_code(failed) == 1);
  CHECK(exit_code(refused) == 4);
  CHECK(exit_code(nothing) == 5);
  CHECK(exit_code(mistrusted) == 5);
}
