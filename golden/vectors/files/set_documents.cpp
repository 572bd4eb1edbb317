#include "golden/vectors/files/set_documents.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "golden/vectors/text.hpp"
#include "support/html.hpp"
#include "support/json.hpp"

namespace mx::golden {
namespace {

/// The release that wrote the set first: later ones write the same bytes.
constexpr std::string_view kSetGenerator = "0.1.0";

using support::Json;

/// What the vectors rely on; the source of a row of the model stands beside that row.
constexpr std::string_view kDocuments[] = {"OCP Microscaling Formats (MX) Specification 1.0", "OCP 8-bit Floating Point Specification (OFP8) 1.0",
                                           "NVIDIA PTX ISA, cvt", "IEEE 754-2019"};

Json columns_json(const std::vector<Column>& columns) {
  Json json = Json::array();
  for (const Column& column : columns) {
    json.push_back({{"name", column.name},
                    {"lanes", column.lanes},
                    {"bits", column.bits},
                    {"format", column.format == nullptr ? "number" : column.format->name}});
  }
  return json;
}

/// Bins out of reach by reason: many are for the same one.
std::map<std::string, std::vector<std::string>> bins_by_reason(const AxisCoverage& axis) {
  std::map<std::string, std::vector<std::string>> by_reason;
  for (const auto& [bin, reason] : axis.unreachable) by_reason[reason].push_back(bin);
  return by_reason;
}

Json axes_json(const std::vector<AxisCoverage>& coverage) {
  Json json = Json::array();
  for (const AxisCoverage& axis : coverage) {
    Json unreachable = Json::array();
    for (const auto& [reason, bins] : bins_by_reason(axis)) unreachable.push_back({{"reason", reason}, {"bins", bins}});
    json.push_back({{"axis", axis.name}, {"hit", axis.hit}, {"reachable", axis.reachable}, {"total", axis.total}, {"unreachable", unreachable}});
  }
  return json;
}

Json notes_json(const VectorOp& op) {
  Json json = Json::array();
  for (const SetNote& note : all_set_notes()) {
    if (op.name().find(note.applies_to) != std::string::npos) json.push_back(note.name);
  }
  return json;
}

Json all_notes_json() {
  Json json = Json::array();
  for (const SetNote& note : all_set_notes()) {
    Json entry = {{"name", note.name}, {"text", note.text}};
    if (!note.link.empty()) entry["link"] = note.link;
    json.push_back(std::move(entry));
  }
  return json;
}

/// Unreachable bins of an axis by reason, in a part that opens.
std::string unreachable_html(const TableRecord& record, const AxisCoverage& axis) {
  std::vector<std::pair<std::string, std::string>> terms;
  for (const auto& [reason, bins] : bins_by_reason(axis)) terms.emplace_back(reason, fmt::format("{}", fmt::join(bins, "; ")));
  return support::html_details(fmt::format("{}: {}", record.stem, axis.name), fmt::format("{} bins", axis.unreachable.size()),
                               support::html_terms(terms), false);
}

}  // namespace

TableRecord record_of(const SetRow& row, const VectorOp& op, const VectorTable& table, const std::vector<std::pair<std::string, std::string>>& sums) {
  Coverage met(op);
  const std::size_t axes = op.axes().size();
  std::vector<std::uint8_t> bins(axes);
  for (std::size_t i = 0; i < table.rows(); ++i) {
    const auto end = table.lanes.begin() + static_cast<std::ptrdiff_t>((i + 1) * table.row_lanes());
    std::transform(end - static_cast<std::ptrdiff_t>(axes), end, bins.begin(), [](std::uint32_t lane) { return static_cast<std::uint8_t>(lane); });
    met.add(bins);
  }
  TableRecord record{stem_of(row, op), Json::object(), coverage_report(op, met, row.choice.kind == SetKind::directed ? met : directed_coverage(op))};
  Json& json = record.manifest;
  json["file"] = record.stem;
  json["op"] = op.name();
  json["family"] = op.family();
  for (const OpSetting& setting : op.settings()) json["settings"][setting.key] = setting.value;
  json["set"] = {{"kind", name_of(row.choice.kind)}};
  if (row.choice.kind == SetKind::random) json["set"]["seed"] = row.choice.seed;
  json["count"] = table.rows();
  json["columns"] = columns_json(table.columns);
  json["order"] = "lane 0 in the least significant bits";
  json["coverage"] = axes_json(record.coverage);
  json["notes"] = notes_json(op);
  for (const auto& [extension, sum] : sums) json["sha256"][extension] = sum;
  json["status"] = "final";
  return record;
}

Json decisions_record(const OracleFiles& made, const std::string& file, const std::vector<std::pair<std::string, std::string>>& sums) {
  Json json = {{"file", file}, {"family", "oracle"}, {"form", "golden/witness/ORACLE.md"}, {"count", made.count}, {"refusals", made.refusals}};
  for (const auto& [name, sum] : sums) json["sha256"][name] = sum;
  json["status"] = "final";
  return json;
}

Json digest_record(const DigestRow& row, const std::string& file, const std::string& sum) {
  return {{"file", file}, {"op", fmt::format("f32_to_{}", row.to)}, {"profile", row.profile}, {"sha256", sum}, {"status", "final"}};
}

std::string manifest_text(const SetDocuments& documents) {
  Json json;
  json["schema"] = "mxact-vector-set/1";
  json["set"] = name_of(documents.edition);
  json["generator"] = {{"name", "mxact"}, {"version", kSetGenerator}, {"vectors", header_version(documents.edition)}};
  json["license"] = "Apache-2.0";
  json["documents"] = kDocuments;
  json["notes"] = all_notes_json();
  json["tables"] = Json::array();
  for (const TableRecord& record : documents.tables) json["tables"].push_back(record.manifest);
  json["decisions"] = documents.decisions;
  json["digests"] = documents.digests;
  return json.dump(1) + "\n";
}

CoverageTotals totals_of(const std::vector<TableRecord>& records) {
  CoverageTotals totals{records.size(), 0, 0, 0};
  for (const TableRecord& record : records) {
    for (const AxisCoverage& axis : record.coverage) {
      totals.hit += axis.hit;
      totals.reachable += axis.reachable;
      totals.total += axis.total;
    }
  }
  return totals;
}

bool misses_bins(const std::vector<TableRecord>& records) {
  return std::ranges::any_of(records, [](const TableRecord& record) {
    const bool is_random = record.manifest.at("set").at("kind") == name_of(SetKind::random);
    return !is_random && std::ranges::any_of(record.coverage, [](const AxisCoverage& axis) { return axis.hit < axis.reachable; });
  });
}

std::string coverage_text(const std::vector<TableRecord>& records) {
  const CoverageTotals totals = totals_of(records);
  std::string text = fmt::format("{} tables: {} of {} reachable bins, {} in all\n", totals.tables, totals.hit, totals.reachable, totals.total);
  for (const TableRecord& record : records) {
    text += record.stem + "\n";
    for (const AxisCoverage& axis : record.coverage)
      text += fmt::format("  {}: {} of {} reachable bins, {} in all\n", axis.name, axis.hit, axis.reachable, axis.total);
    for (const AxisCoverage& axis : record.coverage) {
      for (const std::string& bin : axis.missed) text += fmt::format("  missed: {}: {}\n", axis.name, bin);
      for (const auto& [bin, reason] : axis.unreachable) text += fmt::format("  unreachable: {}: {}: {}\n", axis.name, bin, reason);
    }
  }
  return text;
}

Json coverage_json(const std::vector<TableRecord>& records) {
  const CoverageTotals totals = totals_of(records);
  Json json = {{"tables", Json::array()}, {"hit", totals.hit}, {"reachable", totals.reachable}, {"total", totals.total}};
  for (const TableRecord& record : records) json["tables"].push_back({{"table", record.stem}, {"axes", axes_json(record.coverage)}});
  return json;
}

std::string coverage_html(std::string_view title, std::string_view heading, const std::vector<TableRecord>& records) {
  const CoverageTotals totals = totals_of(records);
  std::vector<support::HtmlRow> rows;
  std::string unreachable;
  for (const TableRecord& record : records) {
    for (const AxisCoverage& axis : record.coverage) {
      const auto number = [](std::size_t count) { return support::HtmlCell{std::to_string(count), "number"}; };
      const support::HtmlCell hit{std::to_string(axis.hit), axis.hit == axis.reachable ? "passed" : "failed",
                                  fmt::format("{}", fmt::join(axis.missed, "; "))};
      rows.push_back({{record.stem}, {axis.name}, hit, number(axis.reachable), number(axis.total)});
      if (!axis.unreachable.empty()) unreachable += unreachable_html(record, axis);
    }
  }
  const std::string body = fmt::format("<h1>{}</h1>\n", heading) +
                           support::html_paragraph(fmt::format("{} tables: {} of {} reachable bins, {} in all.", totals.tables, totals.hit,
                                                               totals.reachable, totals.total)) +
                           support::html_table("bins by table", {"table", "question", "hit", "reachable", "in all"}, rows) +
                           "<h2>Bins that nothing reaches, and why</h2>\n" + unreachable;
  return support::html_page(title, {}, body);
}

std::string coverage_html(Edition edition, const std::vector<TableRecord>& records) {
  return coverage_html(fmt::format("mxact vectors {}: coverage", name_of(edition)), fmt::format("Coverage of the vector set {}", name_of(edition)),
                       records);
}

std::string notes_text() {
  std::string text = "# Why these vectors are there\n";
  for (const SetNote& note : all_set_notes()) {
    text += fmt::format("\n## {}\n\n{}\n", note.name, note.text);
    if (!note.link.empty()) text += fmt::format("\n{}\n", note.link);
  }
  return text;
}

}  // namespace mx::golden
