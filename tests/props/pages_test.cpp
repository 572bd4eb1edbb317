// docs/faults.md against the tables that it counts.

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "props/faults.hpp"
#include "tests/catch.hpp"
#include "tests/props/fault_runs.hpp"
#include "tests/props/table_mutants.hpp"

namespace {

/// The rows of the Markdown tables under one heading of the page by their first cell; numbers without thousands separators and bold type.
std::map<std::string, std::vector<std::string>> rows_of_page(const std::string& heading) {
  std::ifstream page(std::string(MXACT_SOURCE_DIR) + "/docs/faults.md");
  REQUIRE(page.good());
  std::map<std::string, std::vector<std::string>> rows;
  bool there = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("## ")) there = line == "## " + heading;
    if (!there || !line.starts_with("| ")) continue;
    std::erase_if(line, [](char c) { return c == '*' || c == ',' || c == '`'; });
    std::istringstream cells(line.substr(2));
    std::vector<std::string> row;
    for (std::string cell; std::getline(cells, cell, '|');) {
      const std::size_t end = cell.find_last_not_of(' ');
      const std::size_t begin = std::min(cell.find_first_not_of(' '), cell.size());
      row.push_back(end == std::string::npos ? "" : cell.substr(begin, end + 1 - begin));
    }
    if (!row.empty()) rows.emplace(row.front(), row);
  }
  return rows;
}

/// What the page calls an area.
const std::map<std::string_view, std::string> kAreaNames{{"numerics", "numerics"},
                                                         {"kernels", "kernels"},
                                                         {"layouts", "layouts"},
                                                         {"moe", "routing and the layer"},
                                                         {"simulator", "simulator"},
                                                         {"oracle", "oracle"},
                                                         {"configurations", "configurations"},
                                                         {"checker", "checker of devices"}};

}  // namespace

TEST_CASE("docs/faults.md has as many faults of each area as the table") {
  const auto rows = rows_of_page("Kill matrix");
  std::map<std::string_view, std::size_t> counts;
  for (const mx::props::FaultRow& row : mx::props::all_faults()) ++counts[mx::tests::area_of(row)];
  for (const std::string_view area : mx::tests::areas()) {
    INFO(area);
    REQUIRE(rows.contains(kAreaNames.at(area)));
    CHECK(rows.at(kAreaNames.at(area)).at(1) == std::to_string(counts[area]));
  }
  REQUIRE(rows.contains("all"));
  CHECK(rows.at("all").at(1) == std::to_string(mx::props::all_faults().size()));
}

TEST_CASE("docs/faults.md has as many changes of each table as there are") {
  const auto rows = rows_of_page("Single changes of the other tables");
  std::map<std::string, std::size_t> counts;
  for (const mx::tests::TableMutant& mutant : mx::tests::table_mutants()) ++counts[mutant.table];
  for (const auto& mutants : counts) {
    const std::string& table = mutants.first;
    const std::size_t count = mutants.second;
    INFO(table);
    REQUIRE(rows.contains(table));
    CHECK(rows.at(table).at(1) == std::to_string(count));
    if (rows.at(table).at(2) == "not since") continue;
    const auto number = [&](std::size_t column) { return std::stoul(rows.at(table).at(column)); };
    CHECK(number(2) <= count);
    CHECK(number(2) == number(3) + number(4) + number(5));
  }
}
