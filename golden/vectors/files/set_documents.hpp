#pragma once
// What stands beside the tables of a set: manifest, coverage, notes, checksums.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "golden/vectors/coverage.hpp"
#include "golden/vectors/files/set_rows.hpp"
#include "golden/vectors/files/views.hpp"

namespace mx::golden {

/// What a table of the set has to say of itself, besides its bytes.
struct TableRecord {
  std::string stem;
  nlohmann::ordered_json manifest;  ///< its entry
  std::vector<AxisCoverage> coverage;
};

/// The entry of a table whose views have these SHA-256 sums, by extension.
TableRecord record_of(const SetRow& row, const VectorOp& op, const VectorTable& table, const std::vector<std::pair<std::string, std::string>>& sums);

/// manifest.json: schema, generator, every table's entry, the digests' entries.
std::string manifest_text(const std::vector<TableRecord>& records, const std::vector<nlohmann::ordered_json>& digests);
/// Bins hit and reachable, by table, then every unreachable one with its reason.
std::string coverage_text(const std::vector<TableRecord>& records);
/// The same as one page without scripts or network, for light and dark.
std::string coverage_html(const std::vector<TableRecord>& records);
/// One anchor for each note.
std::string notes_text();

}  // namespace mx::golden
