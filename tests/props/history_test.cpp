// Every bug of the history is a planted fault, and a law of the property that speaks of it is named to notice. That named laws do notice is tested
// in faults_test.cpp.

#include "props/history.hpp"

#include <fstream>
#include <sstream>
#include <string>

#include "support/json.hpp"
#include "tests/catch.hpp"
#include "tests/json_text.hpp"

TEST_CASE("each of 51 historic bugs is replayed by a planted fault that a law of its property is named to notice") {
  int number = 0;
  for (const mx::props::HistoryRow& row : mx::props::all_history()) {
    INFO(row.number << " " << row.reference << ": " << row.wrong);
    CHECK(row.number == ++number);
    REQUIRE_FALSE(row.faults.empty());
    std::istringstream faults{std::string(row.faults)};
    for (std::string fault; faults >> fault;) {
      INFO(fault);
      CHECK_FALSE(mx::props::laws_that_notice(row, fault).empty());
    }
  }
  CHECK(number == 51);
}

TEST_CASE("docs/history.md counts the bugs, and its document has the table of history") {
  const std::string docs = MXACT_SOURCE_DIR "/docs/";
  const std::ifstream file(docs + "history.md");
  std::ostringstream text;
  text << file.rdbuf();
  CHECK(text.str().find("\n" + std::to_string(mx::props::all_history().size()) + " bugs that real implementations") != std::string::npos);
  const mx::support::Json document = mx::tests::parsed_file(docs + "measured/history.json");
  REQUIRE(document["tables"].size() == 1);
  const mx::support::Json& table = document["tables"][0];
  const auto line = [](const mx::support::Json& cells) {
    std::string row = "|";
    for (const mx::support::Json& cell : cells) row += " " + cell.text() + " |";
    return row + "\n";
  };
  std::string markdown = line(table["columns"]) + "| --- | --- | --- | --- | --- |\n";
  for (const mx::support::Json& row : table["rows"]) markdown += line(row);
  INFO("`mxact faults --history` prints it");
  CHECK(markdown == mx::props::history_markdown());
}
