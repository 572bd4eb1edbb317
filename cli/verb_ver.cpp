// mxact ver: a device's answers held against an operation.

#include <fmt/core.h>

#include <array>
#include <cstdio>
#include <memory>

#include "cli/numbers.hpp"
#include "cli/output.hpp"
#include "cli/vector_options.hpp"
#include "cli/verbs.hpp"
#include "golden/vectors/checker.hpp"
#include "golden/vectors/describe.hpp"
#include "model/error.hpp"

namespace mx::cli {
namespace {

struct VerOptions {
  VectorOptions vectors;
  std::uint64_t show = 20;
  bool coverage = false;
  bool json = false;
};

constexpr std::size_t kExplanations = 5;

golden::CheckReport check_stdin(golden::StreamChecker& checker) {
  std::array<char, std::size_t{1} << 16> buffer{};
  for (std::size_t n = 0; (n = std::fread(buffer.data(), 1, buffer.size(), stdin)) > 0;) checker.take({buffer.data(), n});
  if (std::ferror(stdin) != 0) throw Error(ErrorCode::resource, "cannot be read", "standard input");
  return checker.finish();
}

void print_mismatches(const golden::VectorOp& op, const golden::CheckReport& report) {
  for (const golden::Mismatch& mismatch : report.first) {
    fmt::print("line {}:\n", mismatch.line);
    for (const std::string& line : golden::describe(op, mismatch)) fmt::print("  {}\n", line);
  }
  if (report.mismatched > report.first.size()) fmt::print("... and {} mismatches more\n", report.mismatched - report.first.size());
  std::vector<std::vector<std::string>> rows{{"mismatches", "about"}};
  for (const auto& [kind, count] : report.kinds) rows.push_back({std::to_string(count), kind});
  if (rows.size() > 1) print_table(rows);
}

void print_explanations(const golden::CheckReport& report) {
  if (report.mismatched == 0) return;
  if (report.explanations.empty()) fmt::print("no rule that is known here gives any of the wrong answers\n");
  for (std::size_t i = 0; i < std::min(kExplanations, report.explanations.size()); ++i) fmt::print("{}\n", golden::describe(report.explanations[i]));
}

void print_coverage(const golden::CheckReport& report, bool all) {
  for (const golden::AxisCoverage& axis : report.coverage) {
    fmt::print("coverage {}: {} of {} reachable bins ({} in all)\n", axis.name, axis.hit, axis.reachable, axis.total);
    if (!all) continue;
    for (const std::string& bin : axis.missed) fmt::print("  missed: {}\n", bin);
    for (const auto& [bin, reason] : axis.unreachable) fmt::print("  unreachable: {}: {}\n", bin, reason);
  }
}

void print_text(const VerOptions& options, const golden::VectorOp& op, const golden::CheckReport& report) {
  print_mismatches(op, report);
  print_explanations(report);
  print_coverage(report, options.coverage);
  if (report.reordered_from) fmt::print("the order of the set was left at line {}; every vector came\n", *report.reordered_from);
  fmt::print("{}: {} of {} vectors checked, {} wrong{}{}\n", golden::name_of(report.verdict), report.checked, report.expected, report.mismatched,
             report.why_mistrusted.empty() ? "" : "; ", report.why_mistrusted);
  if (report.verdict != golden::CheckVerdict::passed) fmt::print("again: mxact gen {0} | DEVICE | mxact ver {0}\n", typed(options.vectors));
}

Json coverage_json(const golden::CheckReport& report) {
  Json axes = Json::array();
  for (const golden::AxisCoverage& axis : report.coverage) {
    Json unreachable = Json::array();
    for (const auto& [bin, reason] : axis.unreachable) unreachable.push_back({{"bin", bin}, {"reason", reason}});
    axes.push_back({{"axis", axis.name},
                    {"hit", axis.hit},
                    {"reachable", axis.reachable},
                    {"total", axis.total},
                    {"missed", axis.missed},
                    {"unreachable", unreachable}});
  }
  return axes;
}

void print_as_json(const VerOptions& options, const golden::VectorOp& op, const golden::CheckReport& report) {
  Json json = json_head("ver");
  json["op"] = op.name();
  for (const golden::OpSetting& setting : op.settings()) json["settings"][setting.key] = setting.value;
  json["verdict"] = golden::name_of(report.verdict);
  json["expected"] = report.expected;
  json["checked"] = report.checked;
  json["mismatched"] = report.mismatched;
  json["why_mistrusted"] = report.why_mistrusted;
  json["reordered_from"] = report.reordered_from ? Json(*report.reordered_from) : Json();
  json["mismatches"] = Json::array();
  for (const golden::Mismatch& mismatch : report.first)
    json["mismatches"].push_back({{"line", mismatch.line}, {"text", golden::describe(op, mismatch)}});
  json["kinds"] = Json::object();
  for (const auto& [kind, count] : report.kinds) json["kinds"][kind] = count;
  json["explanations"] = Json::array();
  for (const golden::Explanation& e : report.explanations) {
    json["explanations"].push_back({{"class", golden::name_of(e.cls)},
                                    {"rule", e.name},
                                    {"explained", e.explained},
                                    {"mismatches", e.mismatches},
                                    {"contradicted", e.contradicted},
                                    {"matches", e.matches}});
  }
  json["coverage"] = coverage_json(report);
  json["again"] = fmt::format("mxact gen {0} | DEVICE | mxact ver {0}", typed(options.vectors));
  print_json(json);
}

int verify_stream(const VerOptions& options) {
  constexpr int kFailed = 1;
  constexpr int kMistrusted = 5;
  const std::unique_ptr<golden::VectorOp> op = op_of(options.vectors);
  golden::StreamChecker checker(*op, golden::VectorSet(*op, set_of(options.vectors)), options.show, options.vectors.with_expected);
  const golden::CheckReport report = check_stdin(checker);
  options.json ? print_as_json(options, *op, report) : print_text(options, *op, report);
  if (report.verdict == golden::CheckVerdict::failed) return kFailed;
  return report.verdict == golden::CheckVerdict::mistrusted ? kMistrusted : 0;
}

}  // namespace

void add_ver(Verb app, Action& action) {
  const Verb verb = app.add_verb("ver", "check a device's answers on standard input: mxact gen OP | DEVICE | mxact ver OP");
  const auto options = std::make_shared<VerOptions>();
  add_vector_options(verb, options->vectors);
  constexpr std::int64_t kMostShown = 1000;
  verb.add_option("--show", options->show, "mismatches to print (default 20)").check(whole_number_in(0, kMostShown));
  verb.add_flag("--coverage", options->coverage, "name missed and unreachable bins");
  verb.add_flag("--json", options->json, "machine-readable output");
  verb.callback([&action, options] { action = [options] { return verify_stream(*options); }; });
}

}  // namespace mx::cli
