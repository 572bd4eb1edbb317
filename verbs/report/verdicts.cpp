#include "verbs/report/verdicts.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>

#include "support/html.hpp"

namespace mx::verbs {
namespace {

// From harmless to grave: of several requests for one cell the last of these is shown.
constexpr std::array<VerdictRow, 6> kVerdicts{{
    {"PASSED", "\u2713", "passed", "passed asked", "converted, restored and executed; every bit equal"},
    {"KNOWN TO DIFFER", "\u2260", "passed", "passed asked", "equal as PASSED is, but a real kernel was seen to contradict what was executed"},
    {"NOT YET MODELLED", "\u00b7", "unmodelled", "unmodelled asked", "the converter is not in mxact yet"},
    {"REFUSED", "\u2013", "refused", "refused asked", "the engine or the converter does not take these sizes"},
    {"MISTRUSTED", "?", "mistrusted", "mistrusted asked", "nothing differed, but the data could not have told right from wrong"},
    {"FAILED", "\u2717", "failed", "failed asked", "a difference was found"},
}};
constexpr std::size_t kPassed = 0;
constexpr std::size_t kKnownToDiffer = 1;
constexpr std::size_t kNotModelled = 2;
constexpr std::size_t kRefused = 3;
constexpr std::size_t kMistrusted = 4;
constexpr std::size_t kFailed = 5;
constexpr std::array<std::string_view, 6> kTotals = {"passed", "known_to_differ", "not_modelled", "refused", "mistrusted", "failed"};
constexpr std::string_view kNoBackend = "no backend";

std::size_t verdict_of(const Node& node) {
  std::vector<std::string_view> words;
  for (const VerdictRow& row : kVerdicts) words.push_back(row.word);
  return node["verdict"].word_of("verdict", words);
}

/// The conversion behind a cell; none when the oracle refuses.
std::optional<Node> conversion_of(const Node& cell, const std::vector<Node>& conversions) {
  const std::optional<Node> index = cell.find("conversion");
  if (!index) return std::nullopt;
  const auto i = static_cast<std::size_t>(index->count());
  if (i >= conversions.size()) index->fail(fmt::format("is {}, but there are {} conversions", i, conversions.size()));
  return conversions[i];
}

std::string sizes_text(const Node& conversion, std::string_view key) {
  const std::int64_t from = conversion[key].count();
  const std::int64_t to = conversion[fmt::format("rounded_{}", key)].count();
  return from == to ? std::to_string(from) : fmt::format("{} \u2192 {}", from, to);
}

std::string compared_text(const Node& conversion) {
  const std::int64_t units = conversion["units_compared"].count();
  const std::int64_t outputs = conversion["outputs_compared"].count();
  if (units == 0 && outputs == 0) return "";
  return fmt::format("{} units, {} differ; {} outputs, {} differ", units, conversion["units_differing"].count(), outputs,
                     conversion["outputs_differing"].count());
}

std::string hover_of(const Node& cell, const std::optional<Node>& conversion) {
  std::string text = fmt::format("{} TP={}: {}", cell["platform"].text(), cell["tp"].count(), cell["verdict"].text());
  if (!conversion) {
    const Node refusal = cell["refusal"];
    return fmt::format("{}; {}: {}", text, refusal["error_type"].text(), refusal["text"].text());
  }
  if (const std::string compared = compared_text(*conversion); !compared.empty()) text += "; " + compared;
  if (const std::string& detail = (*conversion)["detail"].text(); !detail.empty()) text += "; " + detail;
  return text;
}

/// Appends a name that is not there yet; returns its place.
std::size_t place_of(std::vector<std::string>& names, const std::string& name) {
  const auto at = std::ranges::find(names, name);
  if (at != names.end()) return static_cast<std::size_t>(at - names.begin());
  names.push_back(name);
  return names.size() - 1;
}

struct Entry {
  std::size_t backend;
  std::size_t platform;
  VerdictCell cell;
};

VerdictGrid grid_of(std::int64_t tp, std::vector<std::string> platforms, std::vector<std::string> backends, const std::vector<Entry>& entries) {
  VerdictGrid grid{tp, std::move(platforms), std::move(backends), {}};
  grid.cells.resize(grid.backends.size() * grid.platforms.size());
  for (const Entry& entry : entries) {
    std::optional<VerdictCell>& cell = grid.cells[entry.backend * grid.platforms.size() + entry.platform];
    const bool chosen = entry.cell.chosen || (cell && cell->chosen);
    if (!cell || entry.cell.verdict > cell->verdict) cell = entry.cell;
    cell->chosen = chosen;
  }
  return grid;
}

std::string cell_text(const VerdictCell& cell) {
  const VerdictRow& row = kVerdicts.at(cell.verdict);
  return fmt::format("{} {}", row.mark, cell.chosen ? "chosen" : "possible");
}

/// Neighbouring platforms whose columns look the same.
std::vector<std::vector<std::size_t>> equal_columns(const VerdictGrid& grid) {
  const auto same = [&](std::size_t a, std::size_t b) {
    for (std::size_t row = 0; row < grid.backends.size(); ++row) {
      const auto& first = grid.at(row, a);
      const auto& second = grid.at(row, b);
      if (first.has_value() != second.has_value()) return false;
      if (first && (first->verdict != second->verdict || first->chosen != second->chosen)) return false;
    }
    return true;
  };
  std::vector<std::vector<std::size_t>> groups;
  for (std::size_t platform = 0; platform < grid.platforms.size(); ++platform) {
    if (groups.empty() || !same(groups.back().front(), platform)) groups.emplace_back();
    groups.back().push_back(platform);
  }
  return groups;
}

std::string grid_table(const VerdictGrid& grid) {
  const std::vector<std::vector<std::size_t>> groups = equal_columns(grid);
  std::vector<std::string> heads{""};
  for (const auto& group : groups) {
    std::string names;
    for (std::size_t platform : group) names += (names.empty() ? "" : " ") + grid.platforms[platform];
    heads.push_back(names);
  }
  std::vector<support::HtmlRow> rows;
  for (std::size_t backend = 0; backend < grid.backends.size(); ++backend) {
    rows.push_back({{grid.backends[backend]}});
    for (const auto& group : groups) {
      const std::optional<VerdictCell>& cell = grid.at(backend, group.front());
      if (!cell) {
        rows.back().push_back({"", "empty"});
        continue;
      }
      const VerdictRow& verdict = kVerdicts.at(cell->verdict);
      rows.back().push_back({cell_text(*cell), cell->chosen ? verdict.style : verdict.asked_style, cell->hover});
    }
  }
  return support::html_table(fmt::format("verdicts with {} tensor parallel ranks", grid.tp), heads, rows);
}

std::string conversions_table(const Run& run) {
  std::vector<support::HtmlRow> rows;
  for (const Node& one : run.root()["conversions"].items()) {
    const VerdictRow& verdict = kVerdicts.at(verdict_of(one));
    rows.push_back({{one["backend"].text()},
                    {std::to_string(one["tp"].count()), "number"},
                    {sizes_text(one, "hidden"), "number"},
                    {sizes_text(one, "intermediate"), "number"},
                    {std::string(verdict.word), verdict.style},
                    {std::to_string(one["units_compared"].count()), "number"},
                    {std::to_string(one["units_differing"].count()), "number"},
                    {std::to_string(one["outputs_compared"].count()), "number"},
                    {std::to_string(one["outputs_differing"].count()), "number"},
                    {one["detail"].text(), "text"}});
  }
  const std::vector<std::string> heads{"backend",        "TP",     "hidden",           "intermediate", "verdict",
                                       "units compared", "differ", "outputs compared", "differ",       "detail"};
  return support::html_details("Every conversion", fmt::format("{} backends and sizes", rows.size()), support::html_table("conversions", heads, rows),
                               false);
}

std::string expected_table(const Run& run) {
  std::vector<support::HtmlRow> rows;
  for (const Node& one : run.root()["expected"].items()) {
    const VerdictRow& verdict = kVerdicts.at(verdict_of(one));
    rows.push_back({{fmt::format("layer {}", one["layer"].count())},
                    {std::string(verdict.word), verdict.style},
                    {std::to_string(one["values"].count()), "number"},
                    {fmt::format("{:.3f}", one["worst_ulp"].number()), "number"},
                    {fmt::format("{:g}", one["limit_ulp"].number()), "number"}});
  }
  if (rows.empty()) return "";
  return "<h3>Exact execution against the recorded float64 output</h3>\n" +
         support::html_table("exact execution against the recorded output", {"", "verdict", "values", "worst ulp", "limit"}, rows);
}

std::string about(const Run& run) {
  const Node checkpoint = run.root()["checkpoint"];
  const Node tokens = run.root()["tokens"];
  std::string contracts;
  for (const Node& contract : run.root()["contracts"].items()) contracts += (contracts.empty() ? "" : ", ") + contract.text();
  return support::html_terms(
      {{"checkpoint", fmt::format("{} ({})", checkpoint["path"].text(), checkpoint["form"].text())},
       {"layers", fmt::format("{} of {} verified: {} experts, hidden {}, intermediate {}, top {}", checkpoint["layers_verified"].count(),
                              checkpoint["layers"].count(), checkpoint["experts"].count(), checkpoint["hidden"].count(),
                              checkpoint["intermediate"].count(), checkpoint["top_k"].count())},
       {"tokens", fmt::format("{} a layer, {}; router: {}", tokens["count"].count(), tokens["source"].text(), tokens["router"].text())},
       {"contracts", contracts}});
}

/// Cells by verdict, counted from the cells themselves; a run whose totals say otherwise is refused.
std::array<std::int64_t, kVerdicts.size()> counts_of(const Run& run) {
  std::array<std::int64_t, kVerdicts.size()> counts{};
  const std::vector<Node> conversions = run.root()["conversions"].items();
  for (const Node& cell : run.root()["cells"].items()) {
    const std::size_t verdict = verdict_of(cell);
    const std::optional<Node> conversion = conversion_of(cell, conversions);
    if (conversion && verdict_of(*conversion) != verdict) cell["verdict"].fail("is not the verdict of its conversion");
    ++counts.at(verdict);
  }
  const Node totals = run.root()["totals"];
  for (std::size_t i = 0; i < kTotals.size(); ++i) {
    // Runs of older programs do not count it.
    if (i == kKnownToDiffer && counts.at(i) == 0 && !totals.find(kTotals.at(i))) continue;
    const Node total = totals[kTotals.at(i)];
    if (total.count() != counts.at(i)) total.fail(fmt::format("is {}, but {} cells are {}", total.count(), counts.at(i), kVerdicts.at(i).word));
  }
  return counts;
}

bool any_expected(const Run& run, std::size_t verdict) {
  return std::ranges::any_of(run.root()["expected"].items(), [&](const Node& one) { return verdict_of(one) == verdict; });
}

bool is_broken_choice(const Node& cell) { return cell["request"].text() == "auto" && cell.find("conversion") && verdict_of(cell) == kRefused; }

/// Units that were compared at all.
std::int64_t compared(const Run& run) { return total(run.root()["conversions"].items(), "units_compared"); }

Standing standing_of(const Run& run, const std::array<std::int64_t, kVerdicts.size()>& counts) {
  const std::vector<Node> cells = run.root()["cells"].items();
  if (counts[kFailed] > 0 || any_expected(run, kFailed)) return Standing::failed;
  if (std::ranges::any_of(cells, is_broken_choice)) return Standing::refused;
  if (counts[kMistrusted] > 0 || any_expected(run, kMistrusted)) return Standing::mistrusted;
  return counts[kPassed] + counts[kKnownToDiffer] == 0 ? Standing::nothing : Standing::passed;
}

}  // namespace

std::span<const VerdictRow> verdict_rows() { return kVerdicts; }

std::vector<VerdictGrid> verdict_grids(const Run& run) {
  const std::vector<Node> conversions = run.root()["conversions"].items();
  std::vector<std::string> platforms;
  std::map<std::int64_t, std::pair<std::vector<std::string>, std::vector<Entry>>> by_tp;
  for (const Node& cell : run.root()["cells"].items()) {
    auto& [backends, entries] = by_tp[cell["tp"].count()];
    const std::optional<Node> conversion = conversion_of(cell, conversions);
    const std::string backend = conversion ? cell["backend"].text() : std::string(kNoBackend);
    const VerdictCell shown{verdict_of(cell), cell["request"].text() == "auto", hover_of(cell, conversion)};
    entries.push_back({place_of(backends, backend), place_of(platforms, cell["platform"].text()), shown});
  }
  std::vector<VerdictGrid> grids;
  for (const auto& [tp, part] : by_tp) grids.push_back(grid_of(tp, platforms, part.first, part.second));
  return grids;
}

Outcome verify_outcome(const Run& run) {
  const auto counts = counts_of(run);
  const Standing standing = standing_of(run, counts);
  const Node code = run.root()["exit_code"];
  if (code.integer() != exit_code(standing)) code.fail(fmt::format("is {}, but its cells say {}", code.integer(), word_of(standing)));
  // Cells that passed without a single comparison prove nothing, whatever they call themselves.
  const bool empty = standing == Standing::passed && compared(run) == 0;
  const std::int64_t cells = static_cast<std::int64_t>(run.root()["cells"].items().size());
  return {empty ? Standing::nothing : standing,
          fmt::format("{} cell{}: {} passed, {} known to differ, {} failed, {} mistrusted, {} refused, {} not yet modelled; {} units compared", cells,
                      cells == 1 ? "" : "s", counts[kPassed], counts[kKnownToDiffer], counts[kFailed], counts[kMistrusted], counts[kRefused],
                      counts[kNotModelled], compared(run))};
}

std::string verify_verdicts(const Run& run) {
  std::string html = about(run);
  std::vector<std::pair<std::string, std::string>> legend;
  for (const VerdictRow& row : kVerdicts) legend.emplace_back(fmt::format("{} {}", row.mark, row.word), row.meaning);
  legend.emplace_back("chosen", "the engine's own choice; possible: when it is asked for");
  html += support::html_terms(legend);
  for (const VerdictGrid& grid : verdict_grids(run)) {
    html += fmt::format("<h3>{} tensor parallel rank{}</h3>\n", grid.tp, grid.tp == 1 ? "" : "s") + grid_table(grid);
  }
  return html + expected_table(run) + conversions_table(run);
}

std::string verify_findings(const Run& run) {
  const std::vector<Node> conversions = run.root()["conversions"].items();
  std::vector<support::HtmlRow> rows;
  for (const Node& one : conversions) {
    if (verdict_of(one) != kFailed && verdict_of(one) != kMistrusted) continue;
    const VerdictRow& verdict = kVerdicts.at(verdict_of(one));
    rows.push_back({{fmt::format("{} TP={}", one["backend"].text(), one["tp"].count())},
                    {std::string(verdict.word), verdict.style},
                    {one["detail"].text(), "text"}});
  }
  for (const Node& cell : run.root()["cells"].items()) {
    if (!is_broken_choice(cell)) continue;
    rows.push_back({{fmt::format("{} on {} TP={}", cell["backend"].text(), cell["platform"].text(), cell["tp"].count())},
                    {"broken choice", "refused"},
                    {(*conversion_of(cell, conversions))["detail"].text(), "text"}});
  }
  return rows.empty() ? std::string() : support::html_table("findings of verify", {"where", "what", "why"}, rows);
}

}  // namespace mx::verbs
