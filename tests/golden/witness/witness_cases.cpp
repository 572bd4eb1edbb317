// Files of oracle cases: joined by id, every line accounted for.

#include <functional>
#include <sstream>

#include "golden/witness/recording.hpp"
#include "model/error.hpp"
#include "tests/catch.hpp"
#include "tests/golden/witness/scratch.hpp"
#include "tests/json_text.hpp"

namespace mx::tests::witness {
namespace {

std::vector<std::string> first_lines(const std::string& file, std::size_t count) {
  const auto bytes = golden::read_recording(recorded("oracle") / file, kTestLimits.bytes);
  std::istringstream stream(std::string(bytes.begin(), bytes.end()));
  std::vector<std::string> lines;
  for (std::string line; lines.size() < count && std::getline(stream, line);) lines.push_back(line);
  return lines;
}

struct Files {
  std::vector<std::string> cases;
  std::vector<std::string> support;
};

struct Broken {
  std::string name;
  std::function<void(Files&)> change;
  int exit;
  std::string text;
};

void replace(std::string& text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  text.replace(at, from.size(), to);
}

std::string with_id(const std::string& line, const std::string& id) {
  Json json = parsed(line);
  json["id"] = id;
  return json.dump();
}

TEST_CASE("a file of cases that breaks its form is refused, one that disagrees is reported", "[witness]") {
  const Broken rows[] = {
      {"as recorded", [](Files&) {}, 0, "equal"},
      {"two cases with one id", [](Files& files) { files.cases.push_back(files.cases[0]); }, 3, "two cases have the id"},
      {"two verdicts with one id", [](Files& files) { files.support.push_back(files.support[0]); }, 3, "two lines have the id"},
      {"verdicts without their case", [](Files& files) { files.support.push_back(with_id(files.support[0], "ffffffffffff")); }, 3,
       "no case has the id 'ffffffffffff'"},
      {"half a line", [](Files& files) { files.cases.back().resize(files.cases.back().size() / 2); }, 3, "cases.jsonl:3"},
      {"no result",
       [](Files& files) {
         Json json = parsed(files.cases[1]);
         json.erase("result");
         files.cases[1] = json.dump();
       },
       3, "result"},
      {"another oracle",
       [](Files& files) {
         replace(files.cases[0], "\"oracle\":\"mxfp4\"", "\"oracle\":\"crystal\"");
         files.support.clear();
       },
       4, "crystal"},
      {"another verdict", [](Files& files) { replace(files.support[0], "[false,\"device\"]", "[true,null]"); }, 1, "verdicts"},
  };
  for (const Broken& row : rows) {
    INFO(row.name);
    Files files{first_lines("selections.jsonl", 3), {}};
    std::vector<std::string> ids;
    for (const std::string& line : files.cases) ids.push_back(parsed(line)["id"].text());
    for (const std::string& line : first_lines("selections_support.jsonl", 100000)) {
      const std::string id = parsed(line)["id"].text();
      if (std::find(ids.begin(), ids.end(), id) != ids.end()) files.support.push_back(line);
    }
    REQUIRE(!files.support.empty());
    row.change(files);
    const Scratch scratch("cases");
    const auto joined = [](const std::vector<std::string>& lines) {
      std::string text;
      for (const std::string& line : lines) text += line + "\n";
      return text;
    };
    write_text(scratch.path() / "cases.jsonl", joined(files.cases));
    write_text(scratch.path() / "cases_support.jsonl", joined(files.support));
    const Outcome outcome = run(scratch.path());
    INFO(outcome.text);
    CHECK(outcome.exit == row.exit);
    CHECK(outcome.text.find(row.text) != std::string::npos);
    // The pair may be named by either file.
    CHECK(run(scratch.path() / "cases_support.jsonl").exit == row.exit);
  }
}

TEST_CASE("verdicts without the file of their cases are refused", "[witness]") {
  const Scratch scratch("alone");
  write_text(scratch.path() / "cases_support.jsonl", "{}\n");
  const Outcome outcome = run(scratch.path());
  CHECK(outcome.exit == 3);
  CHECK(outcome.text.find("no cases.jsonl beside it") != std::string::npos);
}

TEST_CASE("compressed cases are those of their lines, by either name, and what is no whole gzip member is refused", "[witness]") {
  const auto packed = support::read_file(recorded("oracle") / "functions.jsonl.gz", kTestLimits.bytes);
  const std::string text(packed.begin(), packed.end());
  const Scratch scratch("compressed");
  const auto file = scratch.path() / "cases.jsonl.gz";
  write_text(file, text);
  const Outcome whole = run(scratch.path());
  CHECK(whole.exit == 0);
  CHECK(whole.text.find("cases.jsonl") != std::string::npos);
  CHECK(run(file).text == whole.text);
  CHECK(run(scratch.path() / "cases.jsonl").text == whole.text);

  std::string flipped = text;
  flipped[flipped.size() - 8] = static_cast<char>(flipped[flipped.size() - 8] ^ 1);  // RFC 1952, 2.3.1: CRC32, then ISIZE
  const std::pair<std::string, const char*> rows[] = {
      {text.substr(0, text.size() / 2), "amid its gzip data"}, {text.substr(0, text.size() - 1), "amid its gzip data"},
      {text + "x", "has 1 bytes behind its gzip data"},        {flipped, "breaks the gzip form at byte"},
      {"no gzip at all", "breaks the gzip form at byte"},      {"", "amid its gzip data"},
  };
  for (const auto& [bytes, words] : rows) {
    write_text(file, bytes);
    const Outcome outcome = run(file);
    INFO(words << ": " << outcome.text);
    CHECK(outcome.exit == 3);
    CHECK(outcome.text.find(words) != std::string::npos);
    CHECK(outcome.text.find("cases.jsonl.gz") != std::string::npos);
  }
  write_text(file, text);
  CHECK_THROWS_AS(golden::read_recording(file.parent_path() / "cases.jsonl", 1000), mx::Error);
  CHECK_THROWS_AS(golden::read_recording(file.parent_path() / "cases.jsonl", text.size() + 1000), mx::Error);  // inflates to more
}

TEST_CASE("a path that holds no set is an error", "[witness]") {
  const Scratch scratch("none");
  CHECK(run(scratch.path()).exit == 3);
  CHECK(run(scratch.path() / "absent").text.find("no such file or directory") != std::string::npos);
  write_text(scratch.path() / "notes.txt", "nothing");
  CHECK(run(scratch.path() / "notes.txt").exit == 3);
}

}  // namespace
}  // namespace mx::tests::witness
