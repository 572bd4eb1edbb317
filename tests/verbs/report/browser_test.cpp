// The page in a browser: at the width of a desk and of a phone, light and dark, nothing is clipped, missing, unreadable, fetched or in error.

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "support/json.hpp"
#include "tests/cli/run.hpp"
#include "tests/json_text.hpp"
#include "tests/skip.hpp"
#include "tests/verbs/report/sample_runs.hpp"

namespace {

using namespace mx::tests;
using mx::verbs::report_html;

/// The first browser of these that is installed, or "".
std::string browser() {
  for (const char* name : {"chromium", "chromium-browser", "google-chrome"}) {
    const Run run = run_program("command", std::string("-v ") + name);
    if (run.status == 0) return name;
  }
  return "";
}

std::string content(const std::filesystem::path& path) {
  std::ifstream stream(path);
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

/// The page with a script of the test, measure.js or use.js, let in beside its own by its policy.
std::string with_script(const std::string& html, const std::string& name) {
  const std::string script = content(std::string(MXACT_SOURCE_DIR) + "/tests/verbs/report/" + name);
  const std::string nonce = replaced(html, "script-src 'sha256-", "script-src 'nonce-test' 'sha256-");
  return replaced(nonce, "</body>", "<script nonce=\"test\">" + script + "</script></body>");
}

/// A page with one frame of each width, which writes what they measured into itself.
const char* const kFrames =
    "<!doctype html><title>frames</title><pre id=\"results\"></pre><script>"
    "const results = [];"
    "addEventListener('message', (event) => { results.push(event.data);"
    "  document.getElementById('results').textContent = JSON.stringify(results); });"
    "</script><iframe src=\"page.html\" width=\"1280\" height=\"900\" style=\"border:0\"></iframe>"
    "<iframe src=\"page.html\" width=\"390\" height=\"844\" style=\"border:0\"></iframe>";

struct Measured {
  Json frames;
  std::string console;  ///< lines of the console
};

Measured measure(const std::string& program, const std::string& html, bool dark, const std::string& script = "measure.js") {
  const ScratchDirectory scratch;
  std::ofstream(scratch.path() / "page.html") << with_script(html, script);
  std::ofstream(scratch.path() / "frames.html") << kFrames;
  // Root is given no sandbox, and a container little shared memory.
  const std::string options =
      "--headless --no-sandbox --disable-dev-shm-usage --disable-gpu --disable-quic --no-first-run --disable-background-networking "
      "--disable-component-update --disable-sync --enable-logging=stderr --virtual-time-budget=30000 --dump-dom";
  const Run run = run_program("timeout 120 " + program, options + " --user-data-dir='" + (scratch.path() / "profile").string() +
                                                            "' --host-resolver-rules='MAP * ~NOTFOUND' --blink-settings=preferredColorScheme=" +
                                                            (dark ? "0" : "1") + " 'file://" + (scratch.path() / "frames.html").string() + "'");
  INFO(run.err);
  REQUIRE(run.status == 0);
  const std::string mark = "<pre id=\"results\">";
  const std::size_t begin = run.out.find(mark);
  REQUIRE(begin != std::string::npos);
  std::string json = run.out.substr(begin + mark.size(), run.out.find("</pre>", begin) - begin - mark.size());
  for (const auto& [entity, text] : {std::pair{"&lt;", "<"}, std::pair{"&gt;", ">"}, std::pair{"&amp;", "&"}}) {
    for (std::size_t at = json.find(entity); at != std::string::npos; at = json.find(entity, at + 1))
      json.replace(at, std::string(entity).size(), text);
  }
  Measured result{mx::tests::parsed(json.empty() ? "[]" : json), ""};
  std::istringstream lines(run.err);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("CONSOLE") != std::string::npos) result.console += line + "\n";
  }
  return result;
}

/// Texts that no column expects: long words, many of them, none.
Json long_words() {
  Json json = failed_verify_json();
  const std::string word(200, 'w');
  json["checkpoint"]["path"] = "/" + word + "/" + word;
  json["conversions"][0]["backend"] = json["cells"][0]["backend"] = json["cells"][2]["backend"] = "FLASHINFER_" + word;
  json["conversions"][0]["detail"] = word + " " + word;
  json["cells"][3]["refusal"]["text"] = word;
  json["mxact"]["command"] = "mxact verify '" + word + "'";
  return json;
}

}  // namespace

TEST_CASE("a report in a browser: nothing clipped, missing, unreadable, fetched or in error") {
  const std::string program = browser();
  if (program.empty()) {
    skip_without("tool: chromium");
    return;
  }
  std::vector<ReportRun> runs = every_run();
  runs.push_back(named(std::string(150, 'n') + ".json", long_words()));
  const std::string html = report_html(runs);
  for (const bool dark : {false, true}) {
    const Measured result = measure(program, html, dark);
    CHECK(result.console == "");
    REQUIRE(result.frames.size() == 2);
    for (const auto& frame : result.frames) {
      INFO(frame.dump(1));
      CHECK(frame["wrong"] == Json::array());
      CHECK(frame["dark"] == dark);
      // A page that shows little could hide little.
      CHECK(frame["texts"].get<int>() > 200);
      CHECK(frame["shapes"].get<int>() > 500);
    }
    CHECK(result.frames[0]["width"] != result.frames[1]["width"]);
  }
}

TEST_CASE("a page's script searches, filters, sorts, says reasons and follows links") {
  const std::string program = browser();
  if (program.empty()) {
    skip_without("tool: chromium");
    return;
  }
  std::vector<ReportRun> runs = every_run();
  runs.push_back(named("failed.json", failed_verify_json()));
  const Measured result = measure(program, report_html(runs), false, "use.js");
  CHECK(result.console == "");
  REQUIRE(result.frames.size() == 2);
  for (const auto& frame : result.frames) {
    INFO(frame.dump(1));
    CHECK(frame["wrong"] == Json::array());
    CHECK(frame["total"].get<int>() > 50);
  }
}

TEST_CASE("the measuring script sees what is wrong") {
  const std::string program = browser();
  if (program.empty()) {
    skip_without("tool: chromium");
    return;
  }
  const std::vector<ReportRun> runs{named("run.json", verify_json())};
  const std::string html = report_html(runs);
  const struct {
    const char* planted;
    const char* found;
  } rows[] = {
      {"<p style=\"width:3000px\">too wide</p>", "sticks out of the page: too wide"},
      {"<p style=\"overflow:hidden;width:60px;white-space:nowrap\">more than there is room for</p>", "is clipped: more than"},
      {"<p style=\"color:#888;background:#777\">gray</p>", "has a contrast of 1."},
      {"<p style=\"position:absolute;width:0;overflow:hidden\">gone</p>", "has no size: gone"},
      {"<svg class=\"chart\" viewBox=\"0 0 50 50\" width=\"50\" height=\"50\"><text x=\"40\" y=\"40\">outside</text></svg>",
       "lies outside its picture of 50 x 50: outside"},
      {"<svg class=\"chart\" viewBox=\"0 0 50 50\"><rect fill=\"url(#none)\" width=\"5\" height=\"5\"/></svg>", "has a fill that is not there"},
      {"<a href=\"#nowhere\">link</a>", "leads nowhere: link"},
      {"<p id=\"summary\">twin</p>", "an id is there twice"},
  };
  std::string all = html;
  for (const auto& row : rows) all = replaced(all, "</body>", std::string(row.planted) + "\n</body>");
  const Measured result = measure(program, all, false);
  REQUIRE(result.frames.size() == 2);
  for (const auto& row : rows) {
    INFO(row.found << "\n" << result.frames.dump(1));
    CHECK(result.frames[0]["wrong"].dump().find(row.found) != std::string::npos);
    CHECK(result.frames[1]["wrong"].dump().find(row.found) != std::string::npos);
  }
}
