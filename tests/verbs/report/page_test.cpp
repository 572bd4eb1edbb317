// The page: a part for what there is data for, the verdict first, nothing from outside, and no text that could become markup.

#include <string>
#include <vector>

#include "model/error.hpp"
#include "tests/catch.hpp"
#include "tests/verbs/report/markup.hpp"
#include "tests/verbs/report/page_script.hpp"
#include "tests/verbs/report/sample_runs.hpp"

namespace {

using namespace mx::tests;
using mx::verbs::report_html;

std::string page(Json json) {
  const std::vector<ReportRun> runs{named("run.json", std::move(json))};
  return report_html(runs);
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a page has the parts that there is data for, in order, and links to each") {
  const std::string html = without_script(report_html(every_run()));
  CHECK(is_well_formed(html));
  std::size_t last = 0;
  for (const char* id : {"summary", "verdicts", "conversions", "recorded", "digests", "differences", "constraints", "layouts", "numbers", "errors",
                         "kernels", "findings", "other", "environment", "reproduce"}) {
    INFO(id);
    const std::size_t at = html.find(std::string("<h2 id=\"") + id + "\">");
    REQUIRE(at != std::string::npos);
    CHECK(at > last);
    CHECK(times(html, std::string("<a href=\"#") + id + "\">") == 1);
    last = at;
  }
  CHECK_FALSE(has(html, "id=\"matrix\""));
  const std::string small = page(doctor_json());
  for (const char* id : {"summary", "environment", "reproduce"}) CHECK(has(small, std::string("<h2 id=\"") + id + "\">"));
  CHECK(times(small, "<h2 ") == 3);
}

TEST_CASE("the verdict comes first, and a run that checked nothing says so") {
  const std::string passed = page(verify_json());
  CHECK(has(passed, "<p class=\"verdict passed\"><b>PASSED</b>"));
  CHECK(passed.find("<b>PASSED</b>") < passed.find("id=\"verdicts\""));
  CHECK(has(page(failed_verify_json()), "<p class=\"verdict failed\"><b>FAILED</b>"));
  CHECK(has(page(failed_verify_json()), "byte 7 of w2_weight"));
  CHECK(has(page(compare_json()), "<b>SHOWN</b> Nothing here was checked"));
  Json empty = audit_json();
  empty["checks"] = 0;
  CHECK(has(page(empty), "<b>NOTHING CHECKED</b> A run that should have checked something compared nothing. It proves nothing."));
}

TEST_CASE("what an upgrade changes stands by its kind, and a kind that nobody knows is an error") {
  const std::string upgrade = page(upgrade_json());
  CHECK(has(upgrade, "Another backend, or a choice against a refusal"));
  CHECK(has(upgrade, "platform SM120"));
  CHECK_FALSE(has(upgrade, "Other sizes alone"));
  CHECK(has(upgrade, "Weights that lie otherwise in memory"));
  CHECK(has(upgrade, "2 of 9 deployments, 1 not known"));
  CHECK(has(upgrade, "MARLIN mxfp4, 1280 bytes"));
  CHECK(has(upgrade, "w13_weight: shape"));
  CHECK(has(upgrade, "HPC: no layout"));
  Json early = upgrade_json();
  early.erase("memory");
  CHECK_FALSE(has(page(early), "Weights that lie otherwise"));
  CHECK_THROWS_AS(page(with(upgrade_json(), "/changes/0/kind", "sizs")), mx::Error);
}

TEST_CASE("a checkpoint's page has its layers, its scales as histograms, and its findings") {
  const std::string html = page(inspect_json());
  CHECK(has(html, "ModelOpt NVFP4"));
  CHECK(has(html, "modelopt 0.47.0"));
  // Three binades and one.
  CHECK(times(html, "class=\"first-fill\"") == 4);
  CHECK(has(html, "2^8: 76 numbers"));
  const std::string findings = html.substr(html.find("<h2 id=\"findings\">"));
  CHECK(has(findings, "model.layers.1.mlp.experts.2.gate_proj.weight"));
  CHECK(has(findings, "experts 0, 2 have the same codes"));
  CHECK(has(findings, "very likely: an export that wrote each expert over the one before"));
}

TEST_CASE("a finding says where its need is read, and which version mends it") {
  CHECK(has(page(audit_json()), "vllm a.py; vllm#1; until vllm@2026-08"));
  Json lasting = audit_json();
  lasting["findings"][0]["until"] = nullptr;
  CHECK_FALSE(has(page(lasting), "mended"));
}

TEST_CASE("a deployment that is broken is a finding, whether the engine chooses it or not") {
  const std::string html = page(sim_json());
  const std::string findings = html.substr(html.find("<h2 id=\"findings\">"));
  CHECK(has(html, "<b>PASSED</b>"));
  CHECK(has(findings, "<td class=\"failed\">BROKEN: dispatch</td><td class=\"text\">rows are lost</td>"));
  CHECK_FALSE(has(findings, "bit-equal"));
}

TEST_CASE("the verdict table has a cell for every backend and platform that was asked") {
  const std::string html = page(verify_json());
  // One rank: MARLIN is chosen on SM80 and possible on SM90, TRITON is chosen on SM90. Two ranks: SM90 is refused.
  CHECK(times(html, "\u2713 chosen</td>") == 2);
  CHECK(times(html, "\u2713 possible</td>") == 1);
  CHECK(times(html, "\u2013 chosen</td>") == 1);
  CHECK(has(html, "SM90 TP=2: REFUSED; ValueError: no backend takes it"));
  CHECK(has(html, "SM80 TP=1: PASSED; 1000 units, 0 differ; 20 outputs, 0 differ"));
  CHECK(has(html, "256 \u2192 384"));
  CHECK(has(html, "mxact verify --json"));
}

TEST_CASE("a cell asked for twice shows the worse verdict") {
  Json json = failed_verify_json();
  // SM90 reaches MARLIN a second time, by a request that passes.
  json["conversions"].push_back(json["conversions"][1]);
  json["cells"].push_back({{"platform", "SM90"}, {"tp", 1}, {"request", "again"}, {"verdict", "PASSED"}, {"backend", "MARLIN"}, {"conversion", 2}});
  json["totals"].update({{"passed", 2}, {"cells", 5}});
  CHECK(times(page(json), "\u2717 possible</td>") == 1);
  CHECK(times(page(json), "\u2717 chosen</td>") == 1);
}

TEST_CASE("rates stand beside their limits, without the name of the host") {
  const std::string html = page(bench_json());
  // The median, not the single runs, and the limit that is a benchmark of its own: 5 of 10 G/s.
  CHECK(has(html, "50 %, 5 G/s of 10 G/s"));
  CHECK(has(html, "75 %, 3 G/s of 4 G/s"));
  CHECK(has(html, ">4 %</td>"));
  CHECK_FALSE(has(html, "a-host-of-mine"));
  CHECK_FALSE(has(html, "/home/me"));
}

TEST_CASE("no text of a run becomes markup") {
  const std::string evil = "\"><script>alert(1)</script><img src=x onerror=alert(2)>'&amp;\u202e";
  Json verify = failed_verify_json();
  verify["checkpoint"]["path"] = verify["checkpoint"]["form"] = verify["tokens"]["source"] = verify["contracts"][0] = evil;
  verify["mxact"] = {{"version", evil}, {"commit", evil}, {"command", evil}};
  for (Json& conversion : verify["conversions"]) conversion["backend"] = conversion["detail"] = evil;
  for (Json& cell : verify["cells"]) {
    cell["platform"] = evil;
    if (cell.contains("backend")) cell["backend"] = evil;
    if (cell.contains("refusal")) cell["refusal"] = {{"error_type", evil}, {"text", evil}};
  }
  Json witness = witness_json();
  witness["sets"][0]["set"] = witness["sets"][0]["path"] = witness["sets"][0]["excuses"][0]["reason"] = evil;
  Json audit = audit_json();
  audit["differences"] = Json::array({evil});
  for (auto& [key, value] : audit["findings"][0].items()) {
    if (value.is_string()) value = evil;
  }
  Json bench = bench_json();
  for (Json& one : bench["benchmarks"]) one["name"] = one["run_name"] = evil;
  bench["context"][evil] = evil;
  bench["benchmarks"][4].update({{"error_occurred", true}, {"error_message", evil}});
  Json study = study_json();
  for (Json& row : study["rows"]) {
    row["format"] = row["profile"] = row["rule"] = evil;
    for (Json& cell : row["cells"]) cell["distribution"] = evil;
  }
  Json select = select_json();
  select[evil] = evil;
  select["trace"][0][evil] = evil;
  Json quantize = quantize_json();
  quantize["profile"] = quantize["scale_rule"] = quantize["blocks"][0]["elements"][0]["code"] = evil;
  Json compare = compare_json();
  compare["classes"][0]["class"] = compare["classes"][0]["meaning"] = compare["first"]["profile"] = evil;
  Json sweep = sweep_json();
  sweep["chunks"][0]["digest"] = sweep["against"]["recorded"] = sweep["profile"] = evil;
  Json doctor = doctor_json();
  doctor["compiler"] = doctor["isa"][0] = doctor["checks"][0]["name"] = evil;
  std::vector<ReportRun> runs;
  for (const Json& json : {verify, witness, audit, bench, study, select, quantize, compare, sweep, doctor}) runs.push_back(named(evil, json));
  const std::string html = without_script(report_html(runs));
  CHECK(is_well_formed(html));
  CHECK_FALSE(has(html, "<script"));
  CHECK_FALSE(has(html, "<img"));
  CHECK(times(html, "&lt;script&gt;alert(1)&lt;/script&gt;") > 50);
  // An attribute cannot be left either.
  CHECK_FALSE(has(html, "\"\"><"));
}

TEST_CASE("a page fetches nothing and executes its own script alone") {
  const std::string html = without_script(report_html(every_run()));
  CHECK(has(html, "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-"));
  for (const char* outside : {"<script", "<link", "<img", "<iframe", "<object", "src=", "@import", "http://", "https://", "javascript:"}) {
    INFO(outside);
    CHECK_FALSE(has(html, outside));
  }
  CHECK(times(html, "href=") == times(html, "href=\"#"));
  CHECK(times(html, "url(") == times(html, "url(#"));
  CHECK(has(html, "prefers-color-scheme:dark"));
}
