#include "golden/vectors/files/set_documents.hpp"

#include <fmt/format.h>

#include <map>

#include "golden/vectors/text.hpp"

namespace mx::golden {
namespace {

using Json = nlohmann::ordered_json;

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

Json coverage_json(const std::vector<AxisCoverage>& coverage) {
  Json json = Json::array();
  for (const AxisCoverage& axis : coverage) {
    // Bins by reason: many are out of reach for the same one.
    std::map<std::string, std::vector<std::string>> by_reason;
    for (const auto& [bin, reason] : axis.unreachable) by_reason[reason].push_back(bin);
    Json unreachable = Json::array();
    for (const auto& [reason, bins] : by_reason) unreachable.push_back({{"reason", reason}, {"bins", bins}});
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

std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    switch (c) {
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '&': out += "&amp;"; break;
      default: out += c;
    }
  }
  return out;
}

constexpr std::string_view kStyle =
    "body{font:14px sans-serif;margin:2em;color:#222;background:#fff}table{border-collapse:collapse}td,th{padding:2px 10px;text-align:left;"
    "border-bottom:1px solid #ccc}.full{color:#070}.part{color:#a00}"
    "@media(prefers-color-scheme:dark){body{color:#ddd;background:#111}td,th{border-color:#444}.full{color:#6c6}.part{color:#f66}}";

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
  json["coverage"] = coverage_json(record.coverage);
  json["notes"] = notes_json(op);
  for (const auto& [extension, sum] : sums) json["sha256"][extension] = sum;
  json["status"] = "final";
  return record;
}

std::string manifest_text(const std::vector<TableRecord>& records, const std::vector<Json>& digests) {
  Json json;
  json["schema"] = "mxact-vector-set/1";
  json["set"] = kSetVersion;
  json["generator"] = {{"name", "mxact"}, {"vectors", kVectorsVersion}};
  json["license"] = "Apache-2.0";
  json["documents"] = kDocuments;
  json["tables"] = Json::array();
  for (const TableRecord& record : records) json["tables"].push_back(record.manifest);
  json["digests"] = digests;
  return json.dump(1) + "\n";
}

std::string coverage_text(const std::vector<TableRecord>& records) {
  std::string text;
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

std::string coverage_html(const std::vector<TableRecord>& records) {
  std::string page = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>mxact vectors {0}: "
      "coverage</title><style>{1}</style></head>\n<body>\n<h1>Coverage of the vector set {0}</h1>\n",
      kSetVersion, kStyle);
  page += "<table><tr><th>table</th><th>question</th><th>hit</th><th>reachable</th><th>in all</th><th>out of reach</th></tr>\n";
  for (const TableRecord& record : records) {
    for (const AxisCoverage& axis : record.coverage) {
      page += fmt::format("<tr><td>{}</td><td>{}</td><td class=\"{}\">{}</td><td>{}</td><td>{}</td><td>", escaped(record.stem), escaped(axis.name),
                          axis.hit == axis.reachable ? "full" : "part", axis.hit, axis.reachable, axis.total);
      if (!axis.unreachable.empty()) {
        page += fmt::format("<details><summary>{}</summary>", axis.unreachable.size());
        for (const auto& [bin, reason] : axis.unreachable) page += fmt::format("{}: {}<br>", escaped(bin), escaped(reason));
        page += "</details>";
      }
      page += "</td></tr>\n";
    }
  }
  return page + "</table>\n</body></html>\n";
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
