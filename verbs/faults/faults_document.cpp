#include "verbs/faults/faults_document.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace mx::verbs {
namespace {

constexpr int kMistrusted = 5;

/// Who noticed a change of a table: words of the helper.
constexpr std::array<std::string_view, 6> kJudgements{"law", "restated", "record", "crash", "equivalent", "survives"};

/// "N2" of "N2/e4m3fn", "S2" of "S2-table/deepseek-v4".
std::string number_of(const std::string& law) { return law.substr(0, law.find_first_of("/-")); }

/// Numbers of the catalogue in its order: numerics, layouts, semantics, oracle, tests about tests.
std::vector<std::string> numbers_of(const Json& laws) {
  std::vector<std::string> numbers;
  for (const Json& law : laws) {
    const std::string number = number_of(law["id"].text());
    if (std::ranges::find(numbers, number) == numbers.end()) numbers.push_back(number);
  }
  std::ranges::sort(numbers, {},
                    [](const std::string& number) { return std::pair(std::string_view("NLSOT").find(number[0]), std::stoi(number.substr(1))); });
  return numbers;
}

bool contains(const Json& list, const std::string& text) { return std::ranges::find(list, Json(text)) != list.end(); }

/// Whether the first line of the first failure leads to the fault: it begins with a law whose number is one of those that the fault's row names.
bool named_rightly(const Json& fault) {
  if (fault["laws"].empty()) return false;
  const Json& first = fault["laws"][0];
  const auto law = first["law"].get<std::string>();
  const bool named = std::ranges::any_of(fault["named"], [&](const Json& id) { return number_of(id.text()) == number_of(law); });
  return named && first["fate"] == "broken" && first["first_line"].get<std::string>().starts_with(law);
}

/// Counts of each area, in the order in which areas come.
Json areas_of(const Json& faults) {
  Json areas = Json::array();
  for (const Json& fault : faults) {
    auto area = std::ranges::find_if(areas, [&](const Json& known) { return known["area"] == fault["area"]; });
    if (area == areas.end()) {
      areas.push_back({{"area", fault["area"]}, {"faults", 0}, {"killed", 0}, {"named_rightly", 0}});
      area = std::prev(areas.end());
    }
    (*area)["faults"] = (*area)["faults"].get<int>() + 1;
    (*area)["killed"] = (*area)["killed"].get<int>() + (fault["killed"].get<bool>() ? 1 : 0);
    (*area)["named_rightly"] = (*area)["named_rightly"].get<int>() + (named_rightly(fault) ? 1 : 0);
  }
  return areas;
}

/// One letter for a fault and a number of the catalogue.
char mark(const Json& fault, const std::string& number) {
  char mark = '.';
  for (const Json& law : fault["laws"]) {
    if (number_of(law["law"].text()) != number) continue;
    if (law["fate"] != "broken") return '!';
    mark = contains(fault["named"], law["law"].text()) ? '#' : mark == '#' ? '#' : '+';
  }
  return mark;
}

/// Of a fault: how many runs show it in some bit, and how many of those each rule accepts.
struct Overlooked {
  int shown = 0;
  std::vector<int> accepted;
};
Overlooked overlooked(const Json& fault, const Json& tolerances) {
  Overlooked counts{0, std::vector<int>(tolerances.size())};
  for (const Json& run : fault["runs"]) {
    if (run["differ"] == 0) continue;
    ++counts.shown;
    for (std::size_t i = 0; i < tolerances.size(); ++i) counts.accepted[i] += contains(run["accepted"], tolerances[i]["suite"].text()) ? 1 : 0;
  }
  return counts;
}

/// Counts of each table by who noticed, in the order in which tables come.
Json tables_of(const Json& changes) {
  Json tables = Json::array();
  for (const Json& change : changes) {
    auto table = std::ranges::find_if(tables, [&](const Json& known) { return known["table"] == change["table"]; });
    if (table == tables.end()) {
      tables.push_back({{"table", change["table"]}, {"changes", 0}});
      for (const std::string_view judgement : kJudgements) tables.back()[std::string(judgement)] = 0;
      table = std::prev(tables.end());
    }
    for (const std::string& count : {std::string("changes"), change["judgement"].get<std::string>()})
      (*table)[count] = (*table)[count].get<int>() + 1;
  }
  return tables;
}

/// A document that says what the program answered.
Document begun(const char* verb, const Json& run) {
  Document document{verb};
  for (const support::JsonMember& member : run.items()) document.value(member.key, member.value);
  return document;
}

Table matrix_of(const Json& run, const std::vector<std::string>& numbers) {
  Table table{{}, {in_text("fault")}};
  for (const std::string& number : numbers) table.columns.push_back(in_text(number));
  for (const Json& fault : run["faults"]) {
    std::vector<Cell> row{fault["id"]};
    for (const std::string& number : numbers) row.emplace_back(std::string(1, mark(fault, number)));
    table.add(std::move(row));
  }
  return table;
}

Table scores_of(const Json& areas, bool first) {
  Table table{{}, {{"area", "area"}, {"faults", "faults"}, {"killed", "killed"}, in_text("score")}};
  if (first) table.columns.push_back(in_text("right law first"));
  for (const Json& area : areas) {
    const int faults = area["faults"].get<int>();
    table.add({area["area"], faults, area["killed"], fmt::format("{:.1f} %", 100.0 * area["killed"].get<int>() / faults)});
    if (first) table.rows.back().emplace_back(fmt::format("{} of {}", area["named_rightly"].get<int>(), faults));
  }
  return table;
}

}  // namespace

Document faults_document(const Json& run) {
  const std::vector<std::string> numbers = numbers_of(run["laws"]);
  const Json areas = areas_of(run["faults"]);
  const bool first = run["extent"] != "named";
  Document document = begun("faults", run);
  document.value("numbers", numbers);
  document.value("areas", areas);
  document.table(matrix_of(run, numbers));
  document.line("\n# broken, as the fault's row says; + broken too; ! the model threw, crashed or hung; . held or not run\n");
  document.table(scores_of(areas, first));
  for (const Json& fault : run["faults"]) {
    if (!fault["killed"].flag())
      document.line(fmt::format("SURVIVES {} ({}): {}", fault["id"].text(), fault["place"].text(), fault["breaks"].text()));
    if (first && fault["killed"].flag() && !named_rightly(fault))
      document.line(fmt::format("{}: the first to notice is {}", fault["id"].text(), fault["laws"][0]["first_line"].text()));
  }
  const bool survivor = std::ranges::any_of(run["faults"], [](const Json& fault) { return !fault["killed"].flag(); });
  const bool untried = std::ranges::any_of(run["faults"], [](const Json& fault) { return fault["tried"] == 0; });
  document.ended(survivor ? 1 : untried ? kMistrusted : 0);
  return document;
}

Document blindness_document(const Json& run) {
  Document document = begun("blindness", run);
  const Json& tolerances = run["tolerances"];
  Table table{{}, {in_text("fault"), in_text("shown")}};
  for (std::size_t i = 0; i < tolerances.size(); ++i) {
    document.line(
        fmt::format("{:>2}  {}: {} ({})", i + 1, tolerances[i]["suite"].text(), tolerances[i]["rule"].text(), tolerances[i]["source"].text()));
    table.columns.push_back(in_text(std::to_string(i + 1)));
  }
  std::vector<int> overlooked_by_rule(tolerances.size());
  int shown = 0;
  for (const Json& fault : run["faults"]) {
    const Overlooked counts = overlooked(fault, tolerances);
    if (counts.shown == 0) continue;
    ++shown;
    table.add({fault["id"], counts.shown});
    for (std::size_t i = 0; i < counts.accepted.size(); ++i) {
      table.rows.back().emplace_back(counts.accepted[i] == 0 ? "." : std::to_string(counts.accepted[i]));
      overlooked_by_rule[i] += counts.accepted[i] > 0 ? 1 : 0;
    }
  }
  table.add({"overlooked somewhere", shown});
  for (const int count : overlooked_by_rule) table.rows.back().emplace_back(count);
  document.line("\nshown: runs (backend x data) whose output differs in some bit; below each rule: how many of them it lets pass\n");
  document.table(std::move(table));
  document.line(fmt::format("\n{} of {} faults show in some output", shown, run["faults"].size()));
  for (const Json& fault : run["faults"]) {
    const std::string& why = fault["no_numbers"].text();
    if (!why.empty()) document.line(fmt::format("no rule applies to {}: {}", fault["id"].text(), why));
    if (why.empty() && overlooked(fault, tolerances).shown == 0)
      document.line(fmt::format("not shown: {}{}", fault["id"].text(), fault["threw"] == 0 ? "" : ", and some outputs throw"));
  }
  document.exit_code = shown > 0 ? 0 : kMistrusted;
  return document;
}

Document table_changes_document(const Json& run) {
  Document document = begun("table-changes", run);
  const Json tables = tables_of(run["changes"]);
  document.value("tables", tables);
  Table table{{}, {in_text("table"), in_text("changes")}};
  for (const std::string_view judgement : kJudgements) table.columns.push_back(in_text(std::string(judgement)));
  table.columns.push_back(in_text("score"));
  for (const Json& one : tables) {
    table.add({one["table"], one["changes"]});
    for (const std::string_view judgement : kJudgements) table.rows.back().emplace_back(one[judgement]);
    const int told = one["changes"].get<int>() - one["equivalent"].get<int>();
    table.rows.back().emplace_back(told == 0 ? "" : fmt::format("{:.1f} %", 100.0 * (told - one["survives"].get<int>()) / told));
  }
  document.table(std::move(table));
  bool survivor = false;
  for (const Json& change : run["changes"]) {
    if (change["judgement"] != "survives") continue;
    survivor = true;
    document.line(fmt::format("SURVIVES {} {} {}: {}", change["table"].text(), change["row"].text(), change["change"].text(), change["text"].text()));
  }
  const bool blind = std::ranges::all_of(run["changes"], [](const Json& change) { return change["judgement"] == "equivalent"; });
  document.ended(survivor ? 1 : blind ? kMistrusted : 0);
  return document;
}

}  // namespace mx::verbs
