// Planted faults and the laws that notice them.

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "support/html.hpp"
#include "verbs/report/parts.hpp"

namespace mx::verbs {
namespace {

constexpr int kMargin = 24;
constexpr int kNameWidth = 250;
constexpr int kCell = 26;
constexpr int kLine = 16;
constexpr int kDrop = 12;
constexpr int kNarrowest = 620;

/// What happened to the laws of one number under one fault.
struct Mark {
  std::string_view letter;
  std::string_view style;
  std::string_view meaning;
};
constexpr std::array<Mark, 4> kMarks{{
    {"", "blank", "held, or not run"},
    {"+", "refused", "broken too"},
    {"!", "mistrusted", "the model threw, crashed or hung"},
    {"#", "passed", "broken, as the fault's row says"},
}};
constexpr std::array<std::string_view, 5> kFates{"held", "broken", "error", "crash", "hang"};
constexpr std::size_t kBroken = 1;

std::string number_of(const std::string& law) { return law.substr(0, law.find_first_of("/-")); }

bool names(const Node& fault, const std::string& law) {
  const std::vector<Node> named = fault["named"].items();
  return std::ranges::any_of(named, [&](const Node& id) { return id.text() == law; });
}

std::size_t mark_of(const Node& fault, const std::string& number, std::string& laws) {
  std::size_t mark = 0;
  for (const Node& law : fault["laws"].items()) {
    const std::string& id = law["law"].text();
    if (number_of(id) != number) continue;
    const bool asserted = law["fate"].word_of("fate", kFates) == kBroken;
    mark = std::max<std::size_t>(mark, asserted ? names(fault, id) ? 3 : 1 : 2);
    laws += (laws.empty() ? "" : " ") + id;
  }
  return mark;
}

std::vector<std::string> numbers_of(const Run& run) {
  std::vector<std::string> numbers;
  for (const Node& number : run.root()["numbers"].items()) numbers.push_back(number.text());
  return numbers;
}

}  // namespace

Outcome faults_outcome(const Run& run) {
  const std::vector<Node> faults = run.root()["faults"].items();
  const auto killed = std::ranges::count_if(faults, [](const Node& fault) { return fault["killed"].flag(); });
  const std::string counted = fmt::format("{} planted faults, {} noticed by a law", faults.size(), killed);
  if (faults.empty()) return {Standing::nothing, counted};
  return {static_cast<std::size_t>(killed) == faults.size() ? Standing::passed : Standing::failed, counted};
}

Figure faults_figure(const Run& run) {
  const std::vector<std::string> numbers = numbers_of(run);
  const auto column = [](std::size_t i) { return kMargin + kNameWidth + static_cast<int>(i) * kCell; };
  support::Svg svg;
  int y = kMargin + 8;
  svg.text(kMargin, y, "title", "Planted faults and the laws that notice");
  svg.text(kMargin, y += 20, "soft", faults_outcome(run).counted);
  y += 10;
  for (const Mark& mark : kMarks) {
    svg.rect({kMargin, y, kCell - 2, kLine - 2}, mark.style);
    svg.text(kMargin + kCell / 2 - 1, y + kDrop - 1, fmt::format("on-{}", mark.style), mark.letter);
    svg.text(kMargin + kCell + 8, y + kDrop, "soft", mark.meaning);
    y += kLine;
  }
  std::string area;
  for (const Node& fault : run.root()["faults"].items()) {
    if (fault["area"].text() != area) {
      area = fault["area"].text();
      svg.text(kMargin, y += 26, "head", area);
      for (std::size_t i = 0; i < numbers.size(); ++i) svg.text(column(i) + kCell / 2, y, "soft middle", numbers[i]);
      y += 6;
    }
    svg.text(kMargin, y + kDrop, "code", support::shortened(fault["id"].text(), 36));
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      std::string laws;
      const Mark& mark = kMarks[mark_of(fault, numbers[i], laws)];
      svg.rect({column(i), y, kCell - 2, kLine - 2}, mark.style, {}, laws.empty() ? laws : fmt::format("{}: {}", fault["breaks"].text(), laws));
      if (!mark.letter.empty()) svg.text(column(i) + kCell / 2 - 1, y + kDrop - 1, fmt::format("on-{}", mark.style), mark.letter);
    }
    y += kLine;
  }
  return {std::move(svg), std::max(kNarrowest, column(numbers.size()) + kMargin),  y + kMargin,
          "mxact faults", "fault x law: broken as named, broken too, error, held", &kChartLook};
}

std::string faults_html(const Run& run) {
  std::vector<support::HtmlRow> rows;
  for (const Node& area : run.root()["areas"].items()) {
    const std::int64_t faults = area["faults"].count();
    const std::int64_t killed = area["killed"].count();
    rows.push_back({{area["area"].text()},
                    {std::to_string(faults), "number"},
                    {std::to_string(killed), killed == faults ? "passed" : "failed"},
                    {std::to_string(area["named_rightly"].count()), "number"}});
  }
  std::vector<support::HtmlRow> survivors;
  for (const Node& fault : run.root()["faults"].items()) {
    if (!fault["killed"].flag()) survivors.push_back({{fault["id"].text()}, {fault["place"].text(), "text"}, {fault["breaks"].text(), "text"}});
  }
  std::string html = support::html_table("planted faults", {"area", "faults", "noticed", "right law first"}, rows);
  if (!survivors.empty()) html += support::html_table("survivors", {"fault", "place", "what goes wrong"}, survivors);
  return html + support::html_wide("faults and laws", as_part(faults_figure(run)));
}

Outcome changes_outcome(const Run& run) {
  constexpr std::string_view kSurvives = "survives";
  const std::vector<Node> changes = run.root()["changes"].items();
  const auto survivors = std::ranges::count_if(changes, [&](const Node& change) { return change["judgement"].text() == kSurvives; });
  const std::string counted = fmt::format("{} single changes of the tables, {} that nobody notices", changes.size(), survivors);
  if (changes.empty()) return {Standing::nothing, counted};
  return {survivors == 0 ? Standing::passed : Standing::failed, counted};
}

std::string changes_html(const Run& run) {
  std::vector<support::HtmlRow> survivors;
  for (const Node& change : run.root()["changes"].items()) {
    if (change["judgement"].text() != "survives") continue;
    survivors.push_back(
        {{change["table"].text()}, {change["row"].text(), "text"}, {change["change"].text(), "text"}, {change["text"].text(), "text"}});
  }
  std::vector<std::string> heads;
  std::vector<support::HtmlRow> rows;
  for (const Node& table : run.root()["tables"].items()) {
    heads.clear();
    rows.emplace_back();
    for (const auto& [key, value] : table.members()) {
      heads.push_back(key);
      rows.back().push_back(key == "table" ? support::HtmlCell{value.text()} : support::HtmlCell{std::to_string(value.count()), "number"});
    }
  }
  const std::string html = support::html_table("changes by table", heads, rows);
  return survivors.empty() ? html : html + support::html_table("survivors", {"table", "row", "change", "what it means"}, survivors);
}

}  // namespace mx::verbs
