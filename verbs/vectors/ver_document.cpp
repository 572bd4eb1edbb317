#include "verbs/vectors/ver_document.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "golden/vectors/describe.hpp"

namespace mx::verbs {
namespace {

using golden::CheckReport;
using golden::CheckVerdict;
using golden::VectorOp;
using support::CheckEnd;

void add_mismatches(Document& document, const VectorOp& op, const CheckReport& report) {
  Table mismatches{"mismatches", {in_json("line"), in_json("text")}};
  for (const golden::Mismatch& mismatch : report.first) {
    const std::vector<std::string> lines = golden::describe(op, mismatch);
    mismatches.add({mismatch.line, lines});
    document.line(fmt::format("line {}:", mismatch.line));
    for (const std::string& line : lines) document.line("  " + line);
  }
  document.value(mismatches.key, mismatches.json());
  if (report.mismatched > report.first.size()) document.line(fmt::format("... and {} mismatches more", report.mismatched - report.first.size()));
  Table kinds{{}, {in_text("mismatches"), in_text("about")}};
  Json counts = Json::object();
  for (const auto& [kind, count] : report.kinds) {
    kinds.add({count, kind});
    counts[kind] = count;
  }
  document.value("kinds", std::move(counts));
  document.table(std::move(kinds));
}

void add_explanations(Document& document, const CheckReport& report) {
  Table table{"explanations",
              {in_json("class"), in_json("rule"), in_json("fit"), in_json("explained"), in_json("mismatches"), in_json("contradicted"),
               in_json("matches"), in_json("beside"), in_json("wrong_one_in"), in_json("right_one_in")}};
  for (const golden::Explanation& e : report.explanations) {
    table.add({golden::name_of(e.cls), e.name, golden::name_of(e.fit()), e.explained, e.mismatches, e.contradicted, e.matches,
               e.beside.empty() ? Cell::none() : Cell(e.beside), e.wrong_stride, e.right_stride});
  }
  document.value(table.key, table.json());
  Table fitting{"compositions", {in_json("operation"), in_json("choices"), in_json("mismatches"), in_json("matches")}};
  for (const golden::FittingComposition& one : report.compositions) fitting.add({one.name, one.choices, one.mismatches, one.matches});
  document.value(fitting.key, fitting.json());
  if (report.mismatched == 0) return;
  for (const std::string& line : golden::describe(report.explanations, report.compositions)) document.line(line);
}

/// How NaN answers are compared, where the operation leaves a choice.
std::string nan_line(const VectorOp& op) {
  const auto setting = [&](std::string_view key) {
    const auto found = std::ranges::find(op.settings(), key, &golden::OpSetting::key);
    return found == op.settings().end() ? std::string() : found->value;
  };
  const std::string compared = setting("nan-compare"), codes = setting("nan");
  if (compared == "free") return "a NaN is right whatever its sign and payload (--nan free)";
  if (compared != "exact") return {};
  const std::size_t comma = codes.find(',');
  const std::string positive = codes.substr(0, comma), negative = comma == std::string::npos ? positive : codes.substr(comma + 1);
  const std::string right = !positive.starts_with("0x") ? "its own bits alone"
                            : positive == negative      ? fmt::format("the code {} alone", positive)
                                                        : fmt::format("the codes {} and, where it is negative, {} alone", positive, negative);
  return fmt::format("a NaN is right with {} (--nan exact, the default; --nan free leaves sign and payload open)", right);
}

void add_coverage(Document& document, const CheckReport& report, bool all_bins) {
  Table table{"coverage", {in_json("axis"), in_json("hit"), in_json("reachable"), in_json("total"), in_json("missed"), in_json("unreachable")}};
  for (const golden::AxisCoverage& axis : report.coverage) {
    Table unreachable{{}, {in_json("bin"), in_json("reason")}};
    for (const auto& [bin, reason] : axis.unreachable) unreachable.add({bin, reason});
    table.add({axis.name, axis.hit, axis.reachable, axis.total, axis.missed, unreachable.json()});
    document.line(fmt::format("coverage {}: {} of {} reachable bins ({} in all)", axis.name, axis.hit, axis.reachable, axis.total));
    if (!all_bins) continue;
    for (const std::string& bin : axis.missed) document.line("  missed: " + bin);
    for (const auto& [bin, reason] : axis.unreachable) document.line(fmt::format("  unreachable: {}: {}", bin, reason));
  }
  document.value(table.key, table.json());
}

std::string summary_of(const CheckReport& report) {
  return golden::verdict_text(report.verdict, report.checked, report.expected, report.mismatched, report.why_mistrusted);
}

void add_cases(Document& document, const VectorOp& op, const CheckReport& report, const std::string& again) {
  const std::string suite = "mxact.ver." + op.name();
  const CheckEnd end = report.verdict == CheckVerdict::passed   ? CheckEnd::passed
                       : report.verdict == CheckVerdict::failed ? CheckEnd::failed
                                                                : CheckEnd::mistrusted;
  support::JunitCase all{suite, "every answer", end, summary_of(report), {}, again};
  if (!report.first.empty()) {
    all.place = fmt::format("line {}", report.first.front().line);
    for (const std::string& line : golden::describe(op, report.first.front())) all.place += "\n  " + line;
  }
  document.cases.push_back(std::move(all));
  for (const golden::BinCheck& bin : report.bins) {
    support::JunitCase one{suite + "." + bin.axis,
                           bin.bin,
                           bin.wrong > 0     ? CheckEnd::failed
                           : bin.checked > 0 ? CheckEnd::passed
                                             : CheckEnd::skipped,
                           {}};
    one.message = bin.checked == 0 ? "no vector of this bin came" : fmt::format("{} of {} vectors wrong", bin.wrong, bin.checked);
    if (bin.wrong > 0) one.place = fmt::format("line {}", bin.first_wrong);
    if (bin.wrong > 0) one.replay = again;
    document.cases.push_back(std::move(one));
  }
}

}  // namespace

Document ver_document(const VectorOp& op, const CheckReport& report, const std::string& again, bool all_bins) {
  const std::string command = fmt::format("mxact gen {0} | DEVICE | mxact ver {0}", again);
  Document document{"ver"};
  document.value("op", op.name());
  if (!op.settings().empty()) {
    Json settings;
    for (const golden::OpSetting& setting : op.settings()) settings[setting.key] = setting.value;
    document.value("settings", std::move(settings));
  }
  document.value("expected", report.expected);
  document.value("checked", report.checked);
  document.value("mismatched", report.mismatched);
  document.value("why_mistrusted", report.why_mistrusted);
  document.value("reordered_from", report.reordered_from ? Json(*report.reordered_from) : Json());
  if (const std::string nan = nan_line(op); !nan.empty() && report.mismatched > 0) document.line(nan);
  add_mismatches(document, op, report);
  add_explanations(document, report);
  add_coverage(document, report, all_bins);
  document.value("again", command);
  if (report.reordered_from) document.line(fmt::format("the order of the set was left at line {}; every vector came", *report.reordered_from));
  document.line(summary_of(report));
  if (report.verdict != CheckVerdict::passed) document.line("again: " + command);
  add_cases(document, op, report, command);
  constexpr int kFailed = 1;
  constexpr int kMistrusted = 5;
  document.ended(report.verdict == CheckVerdict::failed ? kFailed : report.verdict == CheckVerdict::mistrusted ? kMistrusted : 0);
  return document;
}

}  // namespace mx::verbs
