#pragma once
// Coverage of runs of `ver` as files, and of several together: a device is rarely tried on one set alone.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "golden/vectors/checker.hpp"
#include "golden/vectors/files/set_documents.hpp"
#include "golden/vectors/options.hpp"
#include "support/json.hpp"

namespace mx::golden {

/// One run: the set that was asked for, and what came of it.
struct CoverageRun {
  std::string set;  ///< "directed", "random, seed 7, 1000 vectors"
  std::uint64_t checked;
  std::uint64_t wrong;
  CheckVerdict verdict;
};

/// Vectors of one bin.
struct BinCount {
  std::uint64_t checked = 0;
  std::uint64_t wrong = 0;
};

/// Runs of one operation under the same choices.
struct CoveredOp {
  std::vector<OpSetting> options;  ///< that were given, the edition left out
  std::shared_ptr<const VectorOp> op;
  std::vector<CoverageRun> runs;
  std::vector<std::vector<BinCount>> bins;  ///< by axis and bin

  /// As it would be asked for: "f32_to_e4m3fn --profile ocp-rz".
  std::string name() const;
};

/// Runs of one edition of the vectors.
struct CoverageRecord {
  Edition edition;
  std::vector<CoveredOp> ops;
};

/// What one run covered. `options` are those the operation was made from.
CoverageRecord coverage_of(std::shared_ptr<const VectorOp> op, const OpOptions& options, const SetChoice& set, const CheckReport& report);

/// As a file holds it; bins that no vector met are left out.
std::string coverage_file_text(const CoverageRecord& record);
/// Throws Error(input) that names the file and the member: no such file, another schema, an operation, choice, setting or bin that this version does
/// not have, counts that do not fit each other.
CoverageRecord read_coverage_file(const std::filesystem::path& path);

/// Files as one record: runs of one operation under the same choices are counted together. Throws Error(input) naming both files where their
/// editions differ, and Error(usage) where a file is named twice, or vectors are in two of them: the same set, of random ones the same seed.
CoverageRecord merge_coverage_files(const std::vector<std::filesystem::path>& paths);

/// For coverage_text, coverage_json and coverage_html: bins hit out of those that the directed set reaches.
std::vector<TableRecord> table_records(const CoverageRecord& record);

}  // namespace mx::golden
