// Every bug of the history is a planted fault, and a law of the property that speaks of it is named to notice. That named laws do notice is tested
// in faults_test.cpp.

#include "props/history.hpp"

#include <fstream>
#include <sstream>
#include <string>

#include "tests/catch.hpp"

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

TEST_CASE("docs/history.md has the table of history") {
  const std::ifstream file(MXACT_SOURCE_DIR "/docs/history.md");
  std::ostringstream text;
  text << file.rdbuf();
  INFO("`mxact faults --history` prints it");
  CHECK(text.str().find(mx::props::history_markdown()) != std::string::npos);
}
