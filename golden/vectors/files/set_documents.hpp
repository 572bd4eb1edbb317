#pragma once
// What stands beside the tables of a set: manifest, coverage, notes, checksums.

#include <string>
#include <vector>

#include "golden/vectors/coverage.hpp"
#include "golden/vectors/files/oracle_cases.hpp"
#include "golden/vectors/files/set_rows.hpp"
#include "golden/vectors/files/views.hpp"
#include "support/json.hpp"

namespace mx::golden {

/// What a table of the set has to say of itself, besides its bytes.
// NOLINTNEXTLINE(bugprone-exception-escape): moving JSON throws nothing.
struct TableRecord {
  std::string stem;
  support::Json manifest;  ///< its entry
  std::vector<AxisCoverage> coverage;
};

/// The entry of a table whose views have these SHA-256 sums, by extension.
TableRecord record_of(const SetRow& row, const VectorOp& op, const VectorTable& table, const std::vector<std::pair<std::string, std::string>>& sums);

/// Entries of a set of decisions, given the SHA-256 sums of its files by name, and of a file of digests.
support::Json decisions_record(const OracleFiles& made, const std::string& file, const std::vector<std::pair<std::string, std::string>>& sums);
support::Json digest_record(const DigestRow& row, const std::string& file, const std::string& sum);

/// Everything that a manifest lists.
struct SetDocuments {
  Edition edition;
  const std::vector<TableRecord>& tables;
  std::vector<support::Json> decisions;
  std::vector<support::Json> digests;
};
/// manifest.json: schema, generator, documents, notes, then every entry.
std::string manifest_text(const SetDocuments& documents);

/// Bins of all tables together.
struct CoverageTotals {
  std::size_t tables, hit, reachable, total;
};
CoverageTotals totals_of(const std::vector<TableRecord>& records);
/// True when a table misses a bin that it should hit: every reachable one, unless its vectors are random.
bool misses_bins(const std::vector<TableRecord>& records);
/// Totals; bins hit and reachable, by table; every unreachable one with its reason.
std::string coverage_text(const std::vector<TableRecord>& records);
/// The same as an object.
support::Json coverage_json(const std::vector<TableRecord>& records);
/// The same as one page without scripts or network, for light and dark; title and heading are text.
std::string coverage_html(std::string_view title, std::string_view heading, const std::vector<TableRecord>& records);
/// The page of a set.
std::string coverage_html(Edition edition, const std::vector<TableRecord>& records);
/// One anchor for each note.
std::string notes_text();

}  // namespace mx::golden
