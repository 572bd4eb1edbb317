// What continuous integration reads: JUnit's XML, annotations, the script for engines.

#include <string>

#include "support/json.hpp"
#include "support/junit.hpp"
#include "tests/cli/run_program.hpp"

namespace {

using mx::support::Json;
using mx::tests::quoted;
using mx::tests::Run;
using mx::tests::run_mxact;
using mx::tests::run_program;
using mx::tests::ScratchDirectory;

const std::string kSource = MXACT_SOURCE_DIR;

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::size_t count_of(const std::string& text, const std::string& word) {
  std::size_t count = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

/// A set of golden/witness with one recorded byte turned, as a folder.
void copy_with_a_fault(const std::filesystem::path& from, const std::filesystem::path& to) {
  std::filesystem::copy(from, to, std::filesystem::copy_options::recursive);
  std::filesystem::path data;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(to)) {
    if (entry.path().extension() == ".npy" || entry.path().extension() == ".bin") data = std::max(data, entry.path());
  }
  REQUIRE(!data.empty());
  std::string bytes = text_of(data);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  std::ofstream(data) << bytes;
}

}  // namespace

TEST_CASE("text of any kind is well-formed in XML and in annotations") {
  CHECK(mx::support::xml_text("a<b>&\"c\"\n\x01") == "a&lt;b&gt;&amp;&quot;c&quot;&#10;\xEF\xBF\xBD");
  // What is no UTF-8 (a byte alone, one too many for its code, half a surrogate pair) and what XML forbids (U+FFFE); what is neither stays.
  CHECK(mx::support::xml_text("\xFFz\xC0\xAF") == "\xEF\xBF\xBDz\xEF\xBF\xBD\xEF\xBF\xBD");
  CHECK(mx::support::xml_text("\xED\xA0\x80").find('\xED') == std::string::npos);
  CHECK(mx::support::xml_text("\xEF\xBF\xBE").find("\xEF\xBF\xBE") == std::string::npos);
  CHECK(mx::support::xml_text("\xC3\xA9 \xE2\x88\x9E \xF0\x9F\x99\x82") == "\xC3\xA9 \xE2\x88\x9E \xF0\x9F\x99\x82");
  const std::vector<mx::support::JunitCase> cases{{"g", "a", mx::support::CheckEnd::passed, "not shown"},
                                                  {"g,h", "b:c", mx::support::CheckEnd::failed, "100 %\nnext"},
                                                  {"g", "d", mx::support::CheckEnd::skipped, "why"}};
  CHECK(mx::support::github_annotations(cases) == "::error title=g%2Ch b%3Ac::100 %25%0Anext\n");
  const std::string xml = mx::support::junit_xml({"s"}, cases);
  CHECK(xml.find("tests=\"3\" failures=\"1\" errors=\"0\" skipped=\"1\"") != std::string::npos);
  CHECK(xml.find("<failure message=\"100 %&#10;next\" type=\"FAILED\"/>") != std::string::npos);
  CHECK(xml.find("<skipped message=\"why\"/>") != std::string::npos);
  CHECK(xml.find("not shown") == std::string::npos);
}

TEST_CASE("every cell of a run is a check, and a failed one is annotated") {
  const ScratchDirectory scratch;
  Json run = mx::tests::run_json("verify --platform SM100 --tp 1");
  const auto report = [&](const std::string& options, int status) {
    std::ofstream(scratch.path() / "run.json") << run.dump();
    const Run made = run_mxact("report " + quoted(scratch.path() / "run.json") + " -o " + quoted(scratch.path() / "run.xml") + " --force " + options);
    CHECK(made.status == status);
    return made.out;
  };
  report("", 0);
  const std::string good = text_of(scratch.path() / "run.xml");
  CHECK(count_of(good, "<testcase") == run["cells"].size() + 1);
  CHECK(count_of(good, "<failure") == 0);
  CHECK(report("--annotate github", 0).empty());

  // What was only refused still ends the verb with status 4: the run is no green check.
  const Json passed = run;
  run["cells"][0]["verdict"] = run["conversions"][0]["verdict"] = "REFUSED";
  run["totals"]["passed"] = run["totals"]["passed"].get<int>() - 1;
  run["totals"]["refused"] = run["totals"]["refused"].get<int>() + 1;
  run["exit_code"] = 4;
  CHECK(report("--annotate github", 4).find("::error title=mxact-verify ") == 0);
  CHECK(count_of(text_of(scratch.path() / "run.xml"), "<failure") == 1);
  run = passed;

  run["cells"][0]["verdict"] = run["conversions"][0]["verdict"] = "FAILED";
  run["conversions"][0]["detail"] = "w13_weight: \"first\" difference";
  run["totals"]["passed"] = run["totals"]["passed"].get<int>() - 1;
  run["totals"]["failed"] = 1;
  run["exit_code"] = 1;
  const std::string lines = report("--annotate github", 1);
  CHECK(lines.find("::error title=mxact.verify.SM100.tp1 ") == 0);
  CHECK(lines.find("FAILED: w13_weight: \"first\" difference") != std::string::npos);
  CHECK(count_of(text_of(scratch.path() / "run.xml"), "<failure") == 2);
}

TEST_CASE("the script for engines passes right outputs, fails wrong ones, and refuses to do nothing") {
  const ScratchDirectory scratch;
  const std::string script = "MXACT=" MXACT_PROGRAM " '" + kSource + "/docs/examples/ci.sh'";
  const std::filesystem::path out = scratch.path() / "out";
  const std::filesystem::path set = kSource + "/golden/witness/numerics/decode";
  CHECK(run_program(script, "").status == 2);
  CHECK(run_program(script, quoted(out) + " --").status == 2);
  const Run right = run_program(script, quoted(out) + " " + quoted(set));
  INFO(right.out << right.err);
  CHECK(right.status == 0);
  CHECK(count_of(text_of(out / "checks.xml"), "<testcase") > 1);
  CHECK(text_of(out / "report.html").find("</html>") != std::string::npos);

  copy_with_a_fault(set, scratch.path() / "wrong");
  const Run wrong = run_program("GITHUB_ACTIONS=true " + script, quoted(out) + " " + quoted(scratch.path() / "wrong"));
  CHECK(wrong.status == 1);
  CHECK(wrong.out.find("::error title=mxact.witness.") != std::string::npos);
  CHECK(count_of(text_of(out / "checks.xml"), "<failure") >= 2);
  std::filesystem::create_directory(scratch.path() / "empty");
  CHECK(run_program(script, quoted(out) + " " + quoted(scratch.path() / "empty")).status != 0);
}
