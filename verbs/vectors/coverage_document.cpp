#include "verbs/vectors/coverage_document.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace mx::verbs {
namespace {

using golden::CheckVerdict;
using golden::CoveredOp;
using support::CheckEnd;

constexpr int kFailed = 1;
constexpr int kMistrusted = 5;

void add_runs(Document& document, const golden::CoverageRecord& record) {
  Table runs{"runs", {{"op", "operation"}, {"set", "set"}, {"checked", "checked"}, {"wrong", "wrong"}, {"verdict", "verdict"}}};
  for (const CoveredOp& one : record.ops) {
    for (const golden::CoverageRun& run : one.runs) runs.add({one.name(), run.set, run.checked, run.wrong, golden::name_of(run.verdict)});
  }
  document.table(std::move(runs));
}

/// Bins with wrong answers, all runs together.
void add_wrong(Document& document, const golden::CoverageRecord& record) {
  Table wrong{"wrong_bins", {in_json("op"), in_json("axis"), in_json("bin"), in_json("checked"), in_json("wrong")}};
  for (const CoveredOp& one : record.ops) {
    for (std::size_t axis = 0; axis < one.bins.size(); ++axis) {
      const golden::CoverageAxis& row = one.op->axes()[axis];
      for (std::size_t bin = 0; bin < one.bins[axis].size(); ++bin) {
        const golden::BinCount& count = one.bins[axis][bin];
        if (count.wrong == 0) continue;
        wrong.add({one.name(), row.name, row.bins[bin], count.checked, count.wrong});
        document.line(fmt::format("wrong: {}: {}: {}: {} of {} vectors", one.name(), row.name, row.bins[bin], count.wrong, count.checked));
      }
    }
  }
  document.value(wrong.key, wrong.json());
}

/// Bins hit and missed; those that nothing reaches stand in JSON and on the page.
void add_bins(Document& document, const std::vector<golden::TableRecord>& records) {
  document.value("coverage", golden::coverage_json(records));
  for (const golden::TableRecord& record : records) {
    document.line(record.stem);
    for (const golden::AxisCoverage& axis : record.coverage) {
      document.line(fmt::format("  coverage {}: {} of {} reachable bins ({} in all)", axis.name, axis.hit, axis.reachable, axis.total));
      for (const std::string& bin : axis.missed) document.line("  missed: " + bin);
    }
  }
  const golden::CoverageTotals totals = golden::totals_of(records);
  document.line(fmt::format("{} operation{}: {} of {} reachable bins, {} in all", totals.tables, totals.tables == 1 ? "" : "s", totals.hit,
                            totals.reachable, totals.total));
}

/// One case for each question of each operation.
void add_cases(Document& document, const std::vector<golden::TableRecord>& records) {
  for (const golden::TableRecord& record : records) {
    for (const golden::AxisCoverage& axis : record.coverage) {
      support::JunitCase one{"mxact.coverage." + record.stem, axis.name, axis.missed.empty() ? CheckEnd::passed : CheckEnd::failed,
                             fmt::format("{} of {} reachable bins", axis.hit, axis.reachable)};
      if (!axis.missed.empty()) one.place = "missed: " + axis.missed.front();
      document.cases.push_back(std::move(one));
    }
  }
}

template <typename Property>
bool any_run(const golden::CoverageRecord& record, Property property) {
  return std::ranges::any_of(record.ops, [&](const CoveredOp& one) { return std::ranges::any_of(one.runs, property); });
}

}  // namespace

Document merged_coverage_document(const golden::CoverageRecord& record, const std::vector<std::string>& files) {
  const std::vector<golden::TableRecord> records = golden::table_records(record);
  Document document{"coverage"};
  document.value("set", golden::name_of(record.edition));
  document.value("files", files);
  add_runs(document, record);
  add_wrong(document, record);
  add_bins(document, records);
  add_cases(document, records);
  const bool wrong = any_run(record, [](const golden::CoverageRun& run) { return run.verdict == CheckVerdict::failed; });
  const bool mistrusted = any_run(record, [](const golden::CoverageRun& run) { return run.verdict == CheckVerdict::mistrusted; });
  document.ended(wrong || golden::misses_bins(records) ? kFailed : mistrusted ? kMistrusted : 0);
  return document;
}

std::string merged_coverage_page(const golden::CoverageRecord& record) {
  return golden::coverage_html("mxact coverage", fmt::format("Coverage of several runs, vectors {}", golden::name_of(record.edition)),
                               golden::table_records(record));
}

}  // namespace mx::verbs
