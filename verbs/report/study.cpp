// How far results are from exact ones: formats and scale rules on distributions, and deployments rank by rank.

#include <fmt/core.h>

#include <algorithm>

#include "support/html.hpp"
#include "verbs/report/heat_map.hpp"
#include "verbs/report/parts.hpp"

namespace mx::verbs {
namespace {

constexpr std::string_view kNote = "signal to quantization noise in dB: more is better; blank: nothing was lost, or no number came out";

std::string percent(const Node& count, double values) { return fmt::format("{:.3g} %", 100 * static_cast<double>(count.count()) / values); }

HeatMap study_map(const Run& run) {
  HeatMap map("Error of quantized blocks", std::string(kNote));
  const Node values = run.root()["values"];
  if (values.count() == 0) values.fail("is 0: a study of nothing");
  const auto all = static_cast<double>(values.count());
  for (const Node& row : run.root()["rows"].items()) {
    const std::string name = fmt::format("{} {} ({})", row["format"].text(), row["profile"].text(), row["rule"].text());
    for (const Node& cell : row["cells"].items()) {
      // JSON has no infinity: what is exact has no number.
      const std::optional<Node> sqnr = cell.find("sqnr_db");
      if (!sqnr) continue;
      const std::string& data = cell["distribution"].text();
      map.add(name, data, sqnr->number(),
              fmt::format("{}, {}: SQNR {:.2f} dB, largest error {:g}, saturated {}, flushed {}", name, data, sqnr->number(),
                          cell["max_error"].number(), percent(cell["saturated"], all), percent(cell["flushed"], all)));
    }
  }
  return map;
}

/// A cell of `sim --compare`: a backend in one way of spreading.
struct Executed {
  std::optional<Node> result;  ///< none: refused
  bool broken = false;
};

Executed executed(const Node& cell) {
  const std::optional<Node> result = cell.find("result");
  return {result, result && result->find("broken")};
}

/// Links of a deployment that were held against a single rank: values compared.
std::int64_t compared(const Node& result) { return total(result["links"].items(), "compared"); }

Outcome comparison_outcome(const std::vector<Node>& cells) {
  std::size_t ran = 0;
  std::size_t broken = 0;
  bool failed = false;
  std::int64_t values = 0;
  for (const Node& cell : cells) {
    const Executed one = executed(cell);
    if (one.result) {
      ++ran;
      values = std::max(values, compared(*one.result));
    }
    broken += one.broken ? 1 : 0;
    failed = failed || (cell["answer"].text() == "chosen" && (!one.result || one.broken));
  }
  const std::string counted = fmt::format("{} cell{}: {} executed, {} of them broken, {} refused", cells.size(), cells.size() == 1 ? "" : "s", ran,
                                          broken, cells.size() - ran);
  const auto blind = [](const Node& cell) {
    const std::optional<Node> result = cell.find("result");
    return cell["answer"].text() == "chosen" && result && result->find("mistrusted");
  };
  if (!failed && std::ranges::any_of(cells, blind)) return {Standing::mistrusted, counted};
  if (failed) return {Standing::failed, counted + "; the engine chooses one that is refused or broken"};
  return {values == 0 ? Standing::nothing : Standing::passed, counted};
}

std::string cells_table(std::string_view label, const std::vector<Node>& cells) {
  std::vector<support::HtmlRow> rows;
  for (const Node& cell : cells) {
    const Executed one = executed(cell);
    const std::optional<Node> why = cell.find("why");
    const std::optional<Node> reported = cell.find("reported");
    rows.push_back({{cell["backend"].text()},
                    {cell["spread"].text()},
                    {cell["answer"].text()},
                    {cell["verdict"].text(), one.broken   ? "failed"
                                             : one.result ? "passed"
                                                          : "refused"},
                    {why ? why->text() : "", why ? "text" : "empty"},
                    {reported ? (*reported)["what"].text() : "", reported ? "text" : "empty"}});
  }
  return support::html_table(label, {"backend", "spread", "engine", "verdict", "why", "reported"}, rows);
}

/// One deployment, link by link.
std::string links_table(const Node& result) {
  std::vector<support::HtmlRow> rows;
  for (const Node& link : result["links"].items()) {
    const std::string& state = link["state"].text();
    const std::optional<Node> text = link.find("text");
    rows.push_back({{link["link"].text()},
                    {state, state == "BROKEN"    ? "failed"
                            : state == "skipped" ? "refused"
                                                 : "passed"},
                    {std::to_string(link["compared"].count()), "number"},
                    {text ? text->text() : "", text ? "text" : "empty"}});
  }
  return support::html_table("links of the deployment", {"link", "", "values compared", "what differs"}, rows);
}

HeatMap sim_map(const Run& run) {
  HeatMap map("Deployments against exact execution", std::string(kNote));
  const std::optional<Node> cells = run.root().find("cells");
  if (!cells) return map;
  for (const Node& cell : cells->items()) {
    const std::optional<Node> result = cell.find("result");
    const std::optional<Node> sqnr = result ? (*result)["deployment"].find("sqnr_db") : std::nullopt;
    if (!sqnr) continue;
    map.add(cell["backend"].text(), cell["spread"].text(), sqnr->number(),
            fmt::format("{}, {}: {}, SQNR {:.2f} dB", cell["backend"].text(), cell["spread"].text(), cell["verdict"].text(), sqnr->number()));
  }
  return map;
}

}  // namespace

Outcome study_outcome(const Run& run) {
  const HeatMap map = study_map(run);
  const std::string counted = fmt::format("{} recipes on {} distributions", map.rows(), map.columns());
  return {map.empty() ? Standing::nothing : Standing::shown, counted};
}

Figure study_figure(const Run& run) {
  const HeatMap map = study_map(run);
  if (map.empty()) run.root()["rows"].fail("has no number: there is nothing to draw");
  return map.figure();
}

std::string study_html(const Run& run) {
  const HeatMap map = study_map(run);
  return map.empty() ? std::string() : support::html_wide("error heat map", as_part(map.figure()));
}

Outcome sim_outcome(const Run& run) {
  const Node root = run.root();
  if (const std::optional<Node> cells = root.find("cells")) return comparison_outcome(cells->items());
  if (const std::optional<Node> refusal = root.find("refusal")) return {Standing::refused, refusal->text()};
  const Node result = root["result"];
  const std::string counted =
      fmt::format("{}: {} ranks, {} values compared with a single rank", root["backend"].text(), result["ranks"].count(), compared(result));
  if (const std::optional<Node> broken = result.find("broken")) return {Standing::failed, counted + "; broken: " + broken->text()};
  if (const std::optional<Node> why = result.find("mistrusted")) return {Standing::mistrusted, counted + "; " + why->text()};
  return {compared(result) == 0 ? Standing::nothing : Standing::passed, counted};
}

std::string sim_html(const Run& run) {
  const Node root = run.root();
  if (const std::optional<Node> cells = root.find("cells")) return cells_table("deployments", cells->items());
  const std::optional<Node> result = root.find("result");
  return result ? links_table(*result) + support::html_details("Every value", "", any_html(run), false) : any_html(run);
}

std::string sim_findings(const Run& run) {
  const std::optional<Node> cells = run.root().find("cells");
  if (!cells) return "";
  std::vector<Node> found = cells->items();
  std::erase_if(found, [](const Node& cell) { return !executed(cell).broken; });
  return found.empty() ? std::string() : cells_table("broken deployments", found);
}

std::string sim_errors(const Run& run) {
  const HeatMap map = sim_map(run);
  return map.empty() ? std::string() : support::html_wide("deployments against exact execution", as_part(map.figure()));
}

Figure sim_figure(const Run& run) {
  const HeatMap map = sim_map(run);
  if (map.empty()) run.root().fail("is no comparison of executed deployments (mxact sim --compare): there is nothing to draw");
  return map.figure();
}

}  // namespace mx::verbs
