// What each kernel needs, as a matrix: backend and kernel class x constraint.

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <set>

#include "model/grounds.hpp"
#include "support/html.hpp"
#include "verbs/report/parts.hpp"

namespace mx::verbs {
namespace {

constexpr int kMargin = 24;
constexpr int kNameWidth = 470;
constexpr int kHeadHeight = 96;  // of the slanted names above the columns
constexpr int kHeadRoom = 130;   // at the right, for the last of them
constexpr int kCell = 26;
constexpr int kLine = 18;
constexpr int kDrop = 13;
constexpr int kNarrowest = 760;

struct Mark {
  std::string_view letter;
  std::string_view style;
  std::string_view meaning;
};
/// By the words of an effect, then needs that are assumed.
constexpr std::array<Mark, 4> kMarks{{
    {"!", "mistrusted", "where it is broken, an exception or a crash"},
    {"\u2717", "failed", "where it is broken, wrong numbers without one"},
    {"~", "refused", "where it is broken, the right numbers more slowly"},
    {"?", "unmodelled", "not to be had from public text: stated, never checked"},
}};
constexpr std::array<std::string_view, 3> kEffects{"error", "silent corruption", "slow path"};
constexpr std::size_t kUnknown = 3;

const Mark& mark_of(const Node& need) {
  const std::size_t effect = need["effect"].word_of("effect", kEffects);
  return kMarks.at(need["grounds"].text() == name_of(Grounds::assumed) ? kUnknown : effect);
}

/// The needs of one oracle, each id once, in the order in which they come.
std::vector<std::string> columns_of(const Node& oracle) {
  std::vector<std::string> ids;
  for (const Node& row : oracle["rows"].items()) {
    for (const Node& need : row["needs"].items()) {
      if (std::ranges::find(ids, need["id"].text()) == ids.end()) ids.push_back(need["id"].text());
    }
  }
  return ids;
}

std::string name_of_row(const Node& row) {
  const std::string& of_class = row["kernel_class"].text();
  return row["backend"].text() + (of_class.empty() ? "" : " " + of_class);
}

class NeedSheet {
 public:
  explicit NeedSheet(const Run& run) : run_(run) {}

  Figure draw() {
    svg_.text(kMargin, y_ += 8, "title", "What each kernel needs");
    svg_.text(kMargin, y_ += 20, "soft", needs_outcome(run_).counted + "; point at a mark for the condition");
    y_ += 10;
    for (const Mark& mark : kMarks) {
      draw_mark(kMargin, mark, {});
      svg_.text(kMargin + kCell + 8, y_ + kDrop, "text", mark.meaning);
      y_ += kLine;
    }
    for (const Node& oracle : run_.root()["oracles"].items()) draw_oracle(oracle);
    return {std::move(svg_), width_, y_ + kMargin, "mxact audit --needs", "backend and kernel class x what it needs", &kChartLook};
  }

 private:
  static int column(std::size_t i) { return kMargin + kNameWidth + static_cast<int>(i) * kCell; }

  void draw_mark(int x, const Mark& mark, std::string_view hover) {
    svg_.rect({x, y_, kCell - 2, kLine - 2}, mark.style, {}, hover);
    svg_.text(x + kCell / 2 - 1, y_ + kDrop - 1, fmt::format("on-{}", mark.style), mark.letter);
  }

  void draw_oracle(const Node& oracle) {
    const std::vector<std::string> ids = columns_of(oracle);
    y_ += kHeadHeight + 16;
    svg_.text(kMargin, y_, "head", oracle["oracle"].text());
    for (std::size_t i = 0; i < ids.size(); ++i) svg_.slanted(column(i) + kCell / 2, y_ - 4, "soft", support::shortened(ids[i], 22));
    y_ += 6;
    for (const Node& row : oracle["rows"].items()) {
      svg_.text(kMargin, y_ + kDrop, "code", support::shortened(name_of_row(row), 66));
      for (std::size_t i = 0; i < ids.size(); ++i) svg_.rect({column(i), y_, kCell - 2, kLine - 2}, "blank");
      for (const Node& need : row["needs"].items()) {
        const auto at = std::ranges::find(ids, need["id"].text());
        draw_mark(column(static_cast<std::size_t>(at - ids.begin())), mark_of(need),
                  need["statement"].text() + "; otherwise: " + need["consequence"].text());
      }
      y_ += kLine;
    }
    width_ = std::max(width_, column(ids.size()) + kHeadRoom);
  }

  const Run& run_;
  support::Svg svg_;
  int y_ = kMargin;
  int width_ = kNarrowest;
};

}  // namespace

std::string source_of_need(const Node& need) {
  std::string source = need["source"].text();
  if (!need["reference"].text().empty()) source += "; " + need["reference"].text();
  if (const auto until = need.find("until")) source += "; until " + until->text();
  return source;
}

Outcome needs_outcome(const Run& run) {
  std::size_t rows = 0, needs = 0;
  std::set<std::string> ids;
  for (const Node& oracle : run.root()["oracles"].items()) {
    for (const Node& row : oracle["rows"].items()) {
      ++rows;
      for (const Node& need : row["needs"].items()) {
        ++needs;
        ids.insert(need["id"].text());
      }
    }
  }
  return {rows == 0 ? Standing::nothing : Standing::shown,
          fmt::format("{} kernels of backends, {} kinds of constraints, {} needs", rows, ids.size(), needs)};
}

Figure needs_figure(const Run& run) {
  if (needs_outcome(run).standing == Standing::nothing) run.root()["oracles"].fail("has no kernel: there is nothing to draw");
  return NeedSheet(run).draw();
}

std::string needs_html(const Run& run) {
  std::string html = support::html_wide("constraint matrix", as_part(needs_figure(run)));
  for (const Node& oracle : run.root()["oracles"].items()) {
    std::vector<support::HtmlRow> rows;
    for (const Node& row : oracle["rows"].items()) {
      for (const Node& need : row["needs"].items()) {
        const Mark& mark = mark_of(need);
        rows.push_back({{row["backend"].text(), {}, row["kernel_class"].text()},
                        {need["id"].text()},
                        {need["effect"].text(), mark.style},
                        {need["statement"].text(), "text"},
                        {need["consequence"].text(), "text"},
                        {need["grounds"].text()},
                        {source_of_need(need), "text"}});
      }
    }
    const std::string count = std::to_string(rows.size());
    html += support::html_details("Needs of " + oracle["oracle"].text(), count,
                                  support::html_table("needs of " + oracle["oracle"].text(),
                                                      {"backend", "constraint", "", "what must hold", "otherwise", "grounds", "source"}, rows),
                                  false);
  }
  return html;
}

}  // namespace mx::verbs
