// A run held against an earlier one: what is the same, other, gone and new is counted from JSON written by hand.

#include <string>
#include <vector>

#include "model/error.hpp"
#include "tests/catch.hpp"
#include "tests/verbs/report/markup.hpp"
#include "tests/verbs/report/sample_runs.hpp"

namespace {

using namespace mx::tests;
using mx::verbs::compare_runs;
using mx::verbs::Comparison;

Comparison compared(Json now, Json before) {
  const std::vector<ReportRun> runs{named("now.json", std::move(now))};
  const std::vector<ReportRun> earlier{named("before.json", std::move(before))};
  return compare_runs(runs, earlier);
}

}  // namespace

TEST_CASE("a run against itself: every answer is the same") {
  const Comparison comparison = compared(verify_json(), verify_json());
  CHECK(comparison.same == 4);
  CHECK(comparison.changes.empty());
  CHECK(mx::verbs::counted(comparison) == "4 answers are the same, 0 others, 0 gone, 0 new");
}

TEST_CASE("a run against an earlier one names what is another answer, gone and new") {
  Json now = failed_verify_json();
  now["cells"].erase(1);
  now["cells"][1]["platform"] = "SM100";
  now["totals"].update({{"cells", 3}, {"passed", 0}});
  const Comparison comparison = compared(now, verify_json());
  CHECK(mx::verbs::counted(comparison) == "1 answers are the same, 1 others, 2 gone, 1 new");
  REQUIRE(comparison.changes.size() == 4);
  CHECK(comparison.changes[0].about == "verify.SM80.tp1: MARLIN (auto)");
  CHECK(comparison.changes[0].was == "PASSED");
  CHECK(comparison.changes[0].is == "FAILED");
  CHECK(comparison.changes[0].why == "byte 7 of w2_weight");
  CHECK(comparison.changes[1].about == "verify.SM100.tp1: MARLIN (marlin)");
  CHECK_FALSE(comparison.changes[1].was.has_value());
  CHECK(comparison.changes[2].about == "verify.SM90.tp1: MARLIN (marlin)");
  CHECK_FALSE(comparison.changes[2].is.has_value());
  CHECK(comparison.changes[3].about == "verify.SM90.tp1: TRITON (auto)");

  const std::vector<ReportRun> runs{named("now.json", now)};
  const std::string html = mx::verbs::report_html(runs, comparison);
  CHECK(times(html, "<h2 id=\"changes\">What changed</h2>") == 1);
  CHECK(times(html, "<th scope=\"row\">verify.SM80.tp1: MARLIN (auto)</th><td>PASSED</td><td>FAILED</td>") == 1);
}

TEST_CASE("an entry that differs now says on how many values, and two of one name stay two") {
  Json before = witness_json();
  before["sets"][0]["entries"].push_back(before["sets"][0]["entries"][0]);
  Json now = before;
  now["sets"][0]["entries"][1].update({{"status", "differs"}, {"differing", 7}});
  const Comparison comparison = compared(now, before);
  CHECK(comparison.same == 1);
  REQUIRE(comparison.changes.size() == 1);
  CHECK(comparison.changes[0].about == "witness.casts: one (number 2 of that name)");
  CHECK(comparison.changes[0].was == "equal");
  CHECK(comparison.changes[0].is == "differs");
  CHECK(comparison.changes[0].why == "7 of 100 values differ; sets/casts");
}

TEST_CASE("runs without single answers cannot be compared") {
  try {
    compared(verify_json(), doctor_json());
    FAIL("no error");
  } catch (const mx::Error& error) {
    CHECK(error.code() == mx::ErrorCode::usage);
    CHECK(std::string(error.what()).find("the earlier runs have no single answers to compare; runs of verify, witness and matrix have") !=
          std::string::npos);
  }
}
