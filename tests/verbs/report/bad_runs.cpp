// What reports refuse to read: files that are no runs, and runs that contradict themselves.

#include <fstream>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/layout/errors.hpp"
#include "tests/sim/verify/scratch.hpp"
#include "tests/verbs/report/sample_runs.hpp"

namespace {

using namespace mx::tests;
using mx::ErrorCode;
using mx::tests::refuses;
using mx::tests::thrown_by;
using mx::verbs::outcomes_of;
using mx::verbs::read_run;
using mx::verbs::report_html;

/// Reads a file with this content.
void read(const std::string& text) {
  const ScratchDirectory scratch;
  const auto path = scratch.path() / "run.json";
  std::ofstream(path, std::ios::binary) << text;
  read_run(path);
}

void outcome(Json json) {
  const std::vector<ReportRun> runs{named("run.json", std::move(json))};
  outcomes_of(runs);
}

}  // namespace

TEST_CASE("a file that is no run is refused in one line that says why") {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  const struct {
    std::string text;
    const char* message;
  } rows[] = {
      {"", "is empty: no JSON"},
      {" \n\t", "is empty: no JSON"},
      {"not JSON", "not valid JSON"},
      {"{\"schema\": \"mxact-verify/1\"", "not valid JSON"},
      {"[1]", "the top level must be an object, not array"},
      {"{}", "has no \"schema\""},
      {"{\"context\": {}}", "has no \"schema\""},
      {"{\"schema\": 7}", "the schema must be text, not number"},
      {"{\"schema\": \"mxact-verify\"}", "the schema 'mxact-verify' has no version"},
      {"{\"schema\": \"mxact-verfy/1\"}", "unknown schema 'mxact-verfy' (did you mean mxact-verify?)"},
      {"{\"schema\": \"pytest-report/1\"}", "unknown schema 'pytest-report'"},
      {"{\"schema\": \"mxact-verify/2\"}", "the schema 'mxact-verify/2' is of another version: reports read mxact-verify/1"},
      {"{\"schema\": \"mxact-verify/1x\"}", "of another version"},
      {"{\"schema\": \"mxact-verify/\"}", "of another version"},
      {"{\"schema\": \"mxact-verify/99999999999999999999\"}", "of another version"},
      {"{\"schema\": \"mxact-verify/1\", \"schema\": \"mxact-audit/1\"}", "the key 'schema' appears twice"},
      {deep, "nested deeper than 16 levels"},
      {"{\"schema\": \"mxact-verify/1\"} {}", "not valid JSON"},
      {"{\"schema\": \"mxact-\xff/1\"}", "not valid JSON"},
      {"{\"schema\": \"\\u001b[2J\\n/1\"}", "unknown schema '\\x1b[2J\\x0a'"},
  };
  for (const auto& row : rows) {
    INFO(row.message << ": " << row.text.substr(0, 100));
    const auto thrown = thrown_by([&] { read(row.text); });
    REQUIRE(thrown.has_value());
    CHECK(thrown->code == ErrorCode::input);
    CHECK(thrown->text.find(row.message) != std::string::npos);
    CHECK(thrown->text.find('\n') == std::string::npos);
  }
  CHECK(refuses(ErrorCode::input, "no-such-run.json", [] { read_run("no-such-run.json"); }));
}

TEST_CASE("a run that is cut off anywhere is refused") {
  const std::string text = verify_json().dump();
  for (std::size_t length = 0; length < text.size(); length += 7) {
    INFO(length);
    CHECK(thrown_by([&] { read(text.substr(0, length)); }).has_value());
  }
}

TEST_CASE("a run that contradicts itself is refused") {
  const struct {
    const char* path;
    Json value;
    const char* message;
  } rows[] = {
      {"/totals/passed", 4, "is 4, but 3 cells are PASSED"},
      {"/totals/failed", 1, "is 1, but 0 cells are FAILED"},
      {"/exit_code", 1, "is 1, but its cells say PASSED"},
      {"/exit_code", 130, "is 130, but its cells say PASSED"},
      {"/cells/0/verdict", "FAILED", "is not the verdict of its conversion"},
      {"/cells/0/verdict", "PASED", "unknown verdict 'PASED' (did you mean PASSED?)"},
      {"/cells/0/conversion", 2, "is 2, but there are 2 conversions"},
      {"/cells/0/conversion", -1, "must be a count, not -1"},
      {"/conversions/0/units_compared", 1e30, "must be a whole number below 2^63"},
  };
  for (const auto& row : rows) {
    const Json json = with(verify_json(), row.path, row.value);
    INFO(row.path << " " << row.message);
    CHECK(refuses(ErrorCode::input, row.message, [&] { outcome(json); }));
  }
  Json witness = witness_json();
  witness["sets"][0]["differing"] = 1;
  CHECK(refuses(ErrorCode::input, "is 0, but 1 values differ", [&] { outcome(witness); }));
}

TEST_CASE("whatever one value of a run becomes, the report is written or the file is refused") {
  const std::vector<Json> values{nullptr,
                                 -1,
                                 18446744073709551615U,
                                 1e300,
                                 true,
                                 "x",
                                 Json::array(),
                                 Json::object(),
                                 Json{{"a", 1}},
                                 Json::array({1}),
                                 std::string(3000, '<'),
                                 "a,=,shape=9x9x9x9"};
  int refused = 0;
  int written = 0;
  for (const ReportRun& original : every_run()) {
    for (const std::string& path : paths_in(original.json)) {
      for (const Json& value : values) {
        const Json json = with(original.json, path, value);
        INFO(original.name << path << " = " << value.dump().substr(0, 40));
        // Anything but mx::Error fails the test.
        const auto thrown = thrown_by([&] {
          const std::vector<ReportRun> runs{named("run.json", json)};
          report_html(runs);
        });
        if (thrown) CHECK(thrown->code == ErrorCode::input);
        ++(thrown ? refused : written);
      }
    }
  }
  CHECK(refused > 1000);
  CHECK(written > 200);
}

TEST_CASE("a run without one of its members is read without it or refused") {
  for (const ReportRun& original : every_run()) {
    for (const auto& [key, ignored] : original.json.items()) {
      Json json = original.json;
      json.erase(key);
      INFO(original.name << " without " << key);
      const auto thrown = thrown_by([&] {
        const std::vector<ReportRun> runs{named("run.json", json)};
        report_html(runs);
      });
      if (thrown) CHECK(thrown->code == ErrorCode::input);
    }
  }
  Json json = verify_json();
  json.erase("cells");
  CHECK(refuses(ErrorCode::input, "has no 'cells': truncated", [&] { outcome(json); }));
}
