// Runs that hold something against something else: recorded outputs, the oracle's ledger, digests, profiles.

#include <fmt/core.h>

#include <array>
#include <map>

#include "model/audit/findings.hpp"
#include "support/html.hpp"
#include "verbs/report/parts.hpp"

namespace mx::verbs {
namespace {

std::string number(const Node& node) { return std::to_string(node.count()); }

/// The standing that an exit status stands for. Throws Error(input) for one that no verb ends with.
Standing standing_of_code(const Node& code) {
  switch (code.integer()) {
    case 0: return Standing::passed;
    case 1: return Standing::failed;
    case 4: return Standing::refused;
    case 5: return Standing::mistrusted;
    default: code.fail(fmt::format("is {}, which no finished run ends with (0, 1, 4, 5)", code.integer()));
  }
}

}  // namespace

Outcome shown_outcome(const Run&) { return {Standing::shown, "nothing to check: tables and pictures"}; }

Outcome coded_outcome(const Run& run) {
  const std::optional<Node> code = run.root().find("exit_code");
  return code && code->integer() != 0 ? Outcome{standing_of_code(*code), fmt::format("ended with exit status {}", code->integer())}
                                      : shown_outcome(run);
}

Outcome witness_outcome(const Run& run) {
  // The ledger alone compares nothing, and does not mean to.
  if (run.root().find("ledger")) return {Standing::shown, "the ledger of excused values; nothing was compared"};
  const std::vector<Node> sets = run.root()["sets"].items();
  const std::int64_t compared = total(sets, "compared");
  const std::int64_t differing = total(sets, "differing");
  const Node code = run.root()["exit_code"];
  const Standing said = standing_of_code(code);
  if (differing > 0 && said == Standing::passed) code.fail(fmt::format("is 0, but {} values differ", differing));
  return {said == Standing::passed && compared == 0 ? Standing::nothing : said,
          fmt::format("{} sets: {} values compared, {} differ, {} excused, {} entries not modelled", sets.size(), compared, differing,
                      total(sets, "excused"), total(sets, "entries_unmodelled"))};
}

std::string witness_html(const Run& run) {
  if (run.root().find("ledger")) return any_html(run);
  std::vector<support::HtmlRow> rows;
  for (const Node& set : run.root()["sets"].items()) {
    const bool differs = set["differing"].count() > 0;
    const bool empty = set["compared"].count() == 0;
    const std::optional<Node> blind = set.find("entries_mistrusted");
    const bool mistrusted = blind && blind->count() > 0;
    rows.push_back({{set["set"].text(), {}, set["path"].text()},
                    {differs      ? "\u2717 differs"
                     : mistrusted ? "? mistrusted"
                     : empty      ? "nothing compared"
                                  : "\u2713 equal",
                     differs               ? "failed"
                     : empty || mistrusted ? "mistrusted"
                                           : "passed"},
                    {number(set["compared"]), "number"},
                    {number(set["differing"]), "number"},
                    {number(set["excused"]), "number"},
                    {number(set["skipped"]), "number"},
                    {number(set["entries_equal"]), "number"},
                    {number(set["entries_unmodelled"]), "number"}});
  }
  return support::html_table("recorded outputs", {"set", "", "values compared", "differ", "excused", "skipped", "entries equal", "not modelled"},
                             rows);
}

std::string witness_findings(const Run& run) {
  if (run.root().find("ledger")) return "";
  std::vector<support::HtmlRow> rows;
  for (const Node& set : run.root()["sets"].items()) {
    for (const Node& entry : set["entries"].items()) {
      const auto differences = entry.find("differences");
      if (!differences) continue;
      std::string text;
      for (const Node& one : differences->items()) text += (text.empty() ? "" : "; ") + one.text();
      rows.push_back({{set["set"].text() + "/" + entry["id"].text()},
                      {fmt::format("{} of {} differ", entry["differing"].count(), entry["compared"].count()), "failed"},
                      {text, "text"}});
    }
    for (const Node& excuse : set["excuses"].items()) {
      rows.push_back({{set["set"].text()},
                      {fmt::format("{} excused", excuse["count"].count()), "mistrusted"},
                      {fmt::format("{} on {}: {}", excuse["implementation"].text(), excuse["device"].text(), excuse["reason"].text()), "text"}});
    }
  }
  return rows.empty() ? std::string() : support::html_table("differences from recorded outputs", {"where", "what", "why"}, rows);
}

/// Verdicts of `ver`, and how they stand in a report.
constexpr std::array<std::string_view, 3> kDeviceWords = {"PASSED", "FAILED", "MISTRUSTED"};
constexpr std::array kDeviceStandings = {Standing::passed, Standing::failed, Standing::mistrusted};

Outcome device_outcome(const Run& run) {
  const Node root = run.root();
  const Node verdict = root["verdict"];
  const Standing said = kDeviceStandings.at(verdict.word_of("verdict", kDeviceWords));
  const std::int64_t checked = root["checked"].count();
  const std::int64_t mismatched = root["mismatched"].count();
  if (mismatched > 0 && said == Standing::passed) verdict.fail(fmt::format("is PASSED, but {} answers differ", mismatched));
  return {said == Standing::passed && checked == 0 ? Standing::nothing : said,
          fmt::format("{}: {} of {} answers checked, {} differ", root["op"].text(), checked, root["expected"].count(), mismatched)};
}

Outcome merged_outcome(const Run& run) {
  const Node root = run.root();
  const Node verdict = root["verdict"];
  const Standing said = kDeviceStandings.at(verdict.word_of("verdict", kDeviceWords));
  const Node coverage = root["coverage"];
  const std::int64_t missed = coverage["reachable"].count() - coverage["hit"].count();
  if (missed < 0) coverage.fail("has more bins hit than can be");
  std::int64_t checked = 0, wrong = 0;
  for (const Node& one : root["runs"].items()) {
    checked += one["checked"].count();
    wrong += one["wrong"].count();
  }
  if (said == Standing::passed && wrong + missed > 0)
    verdict.fail(fmt::format("is PASSED, but {} answers differ and {} bins are missed", wrong, missed));
  return {said == Standing::passed && checked == 0 ? Standing::nothing : said,
          fmt::format("{} answers of {} runs checked, {} differ; {} of {} reachable bins hit", checked, root["runs"].items().size(), wrong,
                      coverage["hit"].count(), coverage["reachable"].count())};
}

Outcome vectors_outcome(const Run& run) {
  if (has_coverage(run)) return coverage_outcome(run);
  const Node root = run.root();
  const std::int64_t files = root["files"].count();
  const std::optional<Node> missing = root.find("missing");
  if (!missing) return {Standing::shown, fmt::format("{} files written", files)};
  const std::size_t wrong = missing->items().size() + root["different"].items().size() + root["unknown"].items().size();
  const std::string counted = fmt::format("{} files are those of the set, {} missing, different or unknown", files, wrong);
  if (files == 0) return {Standing::nothing, counted};
  return {wrong == 0 ? Standing::passed : Standing::failed, counted};
}

std::string vectors_html(const Run& run) { return has_coverage(run) ? coverage_html(run) : any_html(run); }

Figure vectors_figure(const Run& run) {
  if (!has_coverage(run)) run.root().fail("says nothing of bins (mxact vectors --coverage --json does): there is nothing to draw");
  return coverage_figure(run);
}

/// Differences are faults where the ledger is about the version that was audited.
bool is_held(const Node& audit) { return audit["engine"].text() == deployment::name_of(audit::kLedgerEngine); }

Outcome audit_outcome(const Run& run) {
  const Node root = run.root();
  const bool held = is_held(root);
  const std::size_t differences = root["differences"].items().size();
  const std::int64_t checks = root["checks"].count();
  const std::string counted = fmt::format("{} findings in {} deployments: {} choices, {} needs checked; {} differences from the ledger{}",
                                          root["findings"].items().size(), root["deployments"].count(), root["choices"].count(), checks, differences,
                                          held ? "" : fmt::format(" of {}, which fail nothing", deployment::name_of(audit::kLedgerEngine)));
  if (checks == 0) return {Standing::nothing, counted};
  if (!held) return {Standing::shown, counted};
  return {differences == 0 ? Standing::passed : Standing::failed, counted};
}

std::string audit_html(const Run& run) {
  std::string html;
  const bool held = is_held(run.root());
  const std::string before = held ? "differs from the ledger: " : fmt::format("since {}: ", deployment::name_of(audit::kLedgerEngine));
  for (const Node& difference : run.root()["differences"].items()) html += support::html_paragraph(before + difference.text(), held ? "failed" : "");
  std::map<std::string, std::vector<support::HtmlRow>> by_oracle;
  for (const Node& one : run.root()["findings"].items()) {
    const bool silent = one["effect"].text() == "silent corruption";
    by_oracle[one["oracle"].text()].push_back({{one["backend"].text(), {}, one["kernel_class"].text()},
                                               {one["effect"].text(), silent ? "failed" : "refused"},
                                               {one["statement"].text() + ": " + one["consequence"].text(), "text"},
                                               {one["grounds"].text()},
                                               {number(one["times"]), "number"},
                                               {one["smallest"].text(), "code"},
                                               {source_of_need(one), "text"}});
  }
  const std::vector<std::string> heads{"backend", "effect", "need, and what follows", "grounds", "times", "smallest deployment", "source"};
  for (const auto& [oracle, rows] : by_oracle) {
    html += support::html_details(oracle, fmt::format("{} findings", rows.size()), support::html_table("findings of " + oracle, heads, rows), false);
  }
  return html;
}

Outcome sweep_outcome(const Run& run) {
  const Node root = run.root();
  const std::size_t chunks = root["chunks"].items().size();
  const std::optional<Node> against = root.find("against");
  if (!against) return {Standing::shown, fmt::format("{} digests, held against nothing", chunks)};
  const std::int64_t compared = (*against)["compared"].count();
  const std::size_t differing = (*against)["differing"].items().size();
  const std::string counted = fmt::format("{} of {} chunks of 2^24 inputs differ from {}", differing, compared, (*against)["recorded"].text());
  if (compared == 0) return {Standing::nothing, counted};
  return {differing == 0 ? Standing::passed : Standing::failed, counted};
}

std::string sweep_html(const Run& run) {
  const Node root = run.root();
  std::string title = root["conversion"].json().is_string() ? root["conversion"].text() : "";
  if (const std::optional<Node> format = root.find("format")) title = fmt::format("f32 -> {}, profile {}", format->text(), root["profile"].text());
  std::vector<support::HtmlRow> rows;
  for (const Node& chunk : root["chunks"].items()) {
    rows.push_back({{number(chunk["chunk"])}, {chunk["inputs"].text(), "code"}, {chunk["digest"].text(), "code"}});
  }
  return support::html_paragraph(title) + support::html_details("Digests", fmt::format("{} of 256 chunks", rows.size()),
                                                                support::html_table("digests", {"chunk", "inputs", "digest"}, rows),
                                                                rows.size() <= 16);
}

Outcome compare_outcome(const Run& run) {
  // Two dialects may differ: it is what the comparison is asked for.
  const Node root = run.root();
  const char* const unit = root["kind"].text() == "conversion" ? "inputs" : "blocks";
  const std::optional<Node> total = root.find(unit);
  return {Standing::shown, fmt::format("{} and {} differ on {}{} {}", root["first"]["profile"].text(), root["second"]["profile"].text(),
                                       root["differing"].count(), total ? fmt::format(" of {}", total->count()) : "", unit)};
}

std::string compare_html(const Run& run) {
  const Node root = run.root();
  std::vector<support::HtmlRow> rows;
  for (const Node& one : root["classes"].items()) {
    const std::optional<Node> inputs = one.find("inputs") ? one.find("inputs") : one.find("blocks");
    rows.push_back({{one["class"].text()}, {inputs ? number(*inputs) : "", "number"}, {one["meaning"].text(), "text"}});
  }
  return support::html_paragraph(fmt::format("{} \u2192 {}: {} and {}", root["from"].text(), root["format"].text(), root["first"]["profile"].text(),
                                             root["second"]["profile"].text())) +
         support::html_table("differences by class", {"class", "inputs", "meaning"}, rows);
}

}  // namespace mx::verbs
