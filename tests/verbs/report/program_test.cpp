// mxact report from outside, on what the verbs print.

#include <fstream>
#include <sstream>
#include <string>

#include "support/json.hpp"
#include "tests/cli/run_program.hpp"
#include "tests/verbs/report/markup.hpp"
#include "tests/verbs/report/page_script.hpp"
#include "tests/verbs/report/sample_runs.hpp"

namespace {

using namespace mx::tests;

std::string content(const std::filesystem::path& path) {
  std::ifstream stream(path);
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

std::string in_shell(const std::filesystem::path& path) { return "'" + path.string() + "'"; }

/// Files of runs in a directory of the test's own.
struct Files {
  ScratchDirectory scratch;
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(scratch.path() / name) << text;
    return in_shell(scratch.path() / name);
  }
  std::filesystem::path page() const { return scratch.path() / "report.html"; }
};

}  // namespace

TEST_CASE("what the verbs print becomes a page") {
  const Files files;
  std::string runs;
  const std::string served = in_shell(std::string(MXACT_SOURCE_DIR) + "/golden/words/step-3.5-flash-fp8");
  const struct {
    const char* name;
    std::string arguments;
  } rows[] = {
      {"verify.json", "verify --platform SM90 --platform SM100 --tp 1 --layers 1 --tokens 1 --contract f32-sequential --json"},
      {"matrix.json",
       "matrix --model gpt-oss-120b --scheme mxfp4 --platform SM90 --platform CPU --parallel tp8 --parallel dp8-ep-deepep-ll --explain --json"},
      {"served.json", "matrix " + served + " --platform SM90 --platform SM100 --parallel tp1 --parallel tp8 --explain --json"},
      {"model.json", "select " + served + " --platform B200 --tp 4 --json"},
      {"infos.json", "select " + served + " --platform B200 --write-info --json"},
      {"count.json", "matrix --model gpt-oss-120b --count --json"},
      {"audit.json", "audit --oracle w4a8 --engine 2026-05 --json"},
      {"formats.json", "formats --json"},
      {"profile.json", "formats --profile ocp --json"},
      {"codes.json", "formats --format e4m3fn --json"},
      {"quantize.json", "quantize mxfp4 --json 1 2 3 4 5 6 7 8 1 2 3 4 5 6 7 8 1 2 3 4 5 6 7 8 1 2 3 4 5 6 7 -inf"},
      {"layout.json", "layout show sf_128x4 --shape 128x4 --json"},
      {"list.json", "layout list --json"},
      {"doctor.json", "doctor --json"},
      {"compare.json", "compare torchao-rceil triton-kernels-rceil mxfp4 --from bf16 --json"},
      {"encode.json", "encode e4m3fn 1.5 --json"},
      {"ledger.json", "witness --ledger --json"},
      {"select.json", "select " + in_shell(std::string(MXACT_SOURCE_DIR) + "/docs/examples/gpt-oss-b200.info") + " --explain --json"},
  };
  for (const auto& row : rows) {
    const Run run = run_mxact(row.arguments);
    INFO(row.arguments << "\n" << run.err);
    REQUIRE(run.err.empty());
    runs += " " + files.write(row.name, run.out);
  }
  const Json json = run_json("report" + runs + " -o " + in_shell(files.page()));
  CHECK(json["schema"] == "mxact-report/1");
  CHECK(json["verdict"] == "PASSED");
  CHECK(json["runs"].size() == std::size(rows));
  CHECK(json["runs"][0]["verdict"] == "PASSED");
  CHECK(json["runs"][0]["schema"] == "mxact-verify/1");
  const std::string html = content(files.page());
  CHECK(json["bytes"] == html.size());
  CHECK(is_well_formed(without_script(html)));
  // The matrix of the run, as `mxact matrix -o` draws it.
  // A cell over two platforms is two; 3, and 8 of the served model: two kinds of layers, two platforms, two ways of spreading.
  CHECK(times(html, ">CHOSEN</td>") + times(html, "<td class=\"chosen\" colspan=\"2\"") == 3 + 8);
  CHECK(html.find("cuda capability 90; the class needs xpu") != std::string::npos);
  // The layouts that the engine's choices on SM90 and SM100 lead to.
  CHECK(html.find("<summary>TRITON w2_weight_scale") != std::string::npos);
  CHECK(html.find("<summary>FLASHINFER_TRTLLM_MXFP4_BF16 w2_weight_scale") != std::string::npos);
  CHECK(html.find("mxact verify --platform SM90 --platform SM100 --tp 1") != std::string::npos);
}

TEST_CASE("a run is held against an earlier one from outside, on a page alone") {
  const Files files;
  const std::string before = files.write("before.json", verify_json().dump()), now = files.write("now.json", failed_verify_json().dump());
  const Run run = run_mxact("report " + now + " --against " + before + " -o " + in_shell(files.page()) + " --json");
  CHECK(run.status == 1);
  const Json json = parsed(run.out);
  CHECK(json["same"] == 2);
  REQUIRE(json["changes"].size() == 2);
  CHECK(json["changes"][0] == Json{{"about", "verify.SM80.tp1: MARLIN (auto)"}, {"was", "PASSED"}, {"is", "FAILED"}, {"why", "byte 7 of w2_weight"}});
  CHECK(content(files.page()).find("<h2 id=\"changes\">What changed</h2>") != std::string::npos);
  const Run misused = run_mxact("report " + now + " --against " + before + " -o " + in_shell(files.scratch.path() / "checks.xml"));
  CHECK(misused.status == 2);
  CHECK(misused.err.find("--against goes with -o FILE.html") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(files.scratch.path() / "checks.xml"));
}

TEST_CASE("the exit status is that of the worst run, and the page is written all the same") {
  const Files files;
  const std::string passed = files.write("passed.json", verify_json().dump());
  const std::string failed = files.write("failed.json", failed_verify_json().dump());
  Json nothing = audit_json();
  nothing["checks"] = 0;
  const std::string empty = files.write("empty.json", nothing.dump());
  const struct {
    std::string runs;
    int status;
    const char* word;
  } rows[] = {{passed, 0, ": PASSED\n"}, {passed + " " + empty, 5, ": NOTHING CHECKED\n"}, {failed + " " + empty + " " + passed, 1, ": FAILED\n"}};
  for (const auto& row : rows) {
    const Run run = run_mxact("report " + row.runs + " --force -o " + in_shell(files.page()));
    INFO(row.runs << run.out << run.err);
    CHECK(run.status == row.status);
    CHECK(run.out.find(row.word) != std::string::npos);
    CHECK(content(files.page()).find("</html>") != std::string::npos);
  }
}

TEST_CASE("report: misuse gets one line, and nothing is written") {
  const Files files;
  const std::string run = files.write("run.json", verify_json().dump());
  const std::string other = files.write("other.json", doctor_json().dump());
  const std::string unknown = files.write("unknown.json", "{\"schema\": \"mxact-verfy/1\"}");
  const std::string page = " -o " + in_shell(files.page());
  const struct {
    std::string arguments;
    int status;
    const char* message;
  } rows[] = {
      {page, 2, "RUN is required"},
      {run, 2, "--output is required"},
      {run + " -o report.pdf", 2, "-o takes a file that ends in .html, .svg or .xml, not 'report.pdf'"},
      {run + " " + run + page, 2, "is given twice"},
      {run + " " + other + " -o x.svg", 2, "a picture is that of one run, not of 2"},
      {other + " -o " + in_shell(files.scratch.path() / "x.svg"), 2, "has no picture of its own"},
      {run + " " + unknown + page, 3, "unknown schema 'mxact-verfy' (did you mean mxact-verify?)"},
      {in_shell(files.scratch.path()) + page, 3, "not a regular file"},
      {run + " -o /no/such/place/report.html", 6, "/no/such/place"},
  };
  for (const auto& row : rows) {
    const Run result = run_mxact("report " + row.arguments);
    INFO(row.arguments << "\n" << result.err);
    CHECK(result.status == row.status);
    CHECK(result.out.empty());
    CHECK(result.err.find(row.message) != std::string::npos);
    CHECK(times(result.err, "\n") == 1);
    CHECK_FALSE(std::filesystem::exists(files.page()));
  }
}

TEST_CASE("a report overwrites only with --force") {
  const Files files;
  const std::string run = files.write("run.json", verify_json().dump());
  const std::string page = " -o " + files.write("report.html", "mine");
  CHECK(run_mxact("report " + run + page).status == 3);
  CHECK(content(files.page()) == "mine");
  CHECK(run_mxact("report " + run + page + " --force").status == 0);
  CHECK(content(files.page()).starts_with("<!doctype html>"));
}

TEST_CASE("pictures by the verbs that have the data") {
  const Files files;
  const std::filesystem::path path = files.scratch.path() / "picture.svg";
  const std::string checkpoint = in_shell(std::string(MXACT_SOURCE_DIR) + "/golden/witness/checkpoints/tiny-gpt-oss");
  const struct {
    std::string arguments;
    const char* part;
  } rows[] = {
      {"formats", ">2^-9 to 448</text>"},
      {"formats --format e5m2", "e5m2: every code"},
      {"quantize mxfp4 $(seq 1 32)", ">block 0: scale 0x82 = 8</text>"},
      {"study --rules --format mxfp4", ">from 1.50000012</text>"},
      {"study --line --format e2m1", "relative error of each format"},
      {"vectors --coverage --core", ">Bins of the golden vectors</text>"},
      {"audit --needs --oracle mxfp4", ">MARLIN MarlinExperts</text>"},
      {"verify " + checkpoint + " --platform SM100 --tp 1 --layers 1 --contract f32-sequential", ">FLASHINFER_TRTLLM_MXFP4_BF16</text>"},
  };
  for (const auto& row : rows) {
    std::filesystem::remove(path);
    const Run run = run_mxact(row.arguments + " -o " + in_shell(path));
    INFO(row.arguments << "\n" << run.err);
    CHECK(run.status == 0);
    const std::string svg = content(path);
    CHECK(is_well_formed(svg));
    CHECK(svg.find(row.part) != std::string::npos);
    CHECK(run_mxact(row.arguments + " -o " + in_shell(path)).status == 3);
    CHECK(run_mxact(row.arguments + " -o picture.png").status == 2);
  }
  // A difference ends with 1, and is drawn all the same.
  std::filesystem::remove(path);
  CHECK(run_mxact("layout diff sf_8x4 sf_128x4 --shape 8x8 -o " + in_shell(path)).status == 1);
  CHECK(content(path).find(">b: memory, 1024 addresses of 8 bits</text>") != std::string::npos);
  CHECK(run_mxact("formats --format f32").err.find("f32 has 32 bits: codes are listed for formats of up to 8") != std::string::npos);
  CHECK(run_mxact("formats --profile ocp -o a.svg").status == 2);
}
