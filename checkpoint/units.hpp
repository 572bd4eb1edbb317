#pragma once
// The units of a planned conversion: done one by one, in any order, by any number of processes, and put together.

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "checkpoint/unit_plan.hpp"

namespace mx::checkpoint {

/// Where a plan's units are put unless another directory is named: "OUTPUT.units".
std::filesystem::path units_directory(const UnitPlan& plan);

enum class UnitOutcome : std::uint8_t {
  written,
  there_already,  ///< done by an earlier run of the same plan: nothing to do
  left,           ///< not done yet
  stopped,        ///< nothing was written
};

/// What became of each unit of a plan in a directory, which need not be there. Throws Error(input) when it holds units of another plan.
struct UnitStatus {
  int unit;
  UnitOutcome outcome;  ///< there_already or left
  UnitResult result = {};
};
std::vector<UnitStatus> status_of(const UnitPlan& plan, const std::filesystem::path& directory);

struct UnitOptions {
  std::filesystem::path directory;  ///< where units are put
  std::string program;              ///< must be the plan's
  bool again = false;               ///< also what is there already is done again
  support::Progress progress = {};           ///< of the unit in hand
  support::Stop stop = {};
};

/// Does units of one plan. The file of a unit, then its record: whoever looks sees both whole, or the record is not there.
class UnitRunner {
 public:
  /// Opens the checkpoint of the plan. Throws as ConversionJob and check_plan do, and Error(input) when the directory holds units of another plan.
  UnitRunner(const UnitPlan& plan, const UnitOptions& options);

  /// Throws Error(usage) when the plan has no such unit, Error(input) when the directory holds that unit of another plan or the checkpoint changes
  /// while it is read, Error(resource) when the system refuses.
  UnitOutcome run(int unit);
  /// Of the last unit run.
  const UnitResult& result() const { return result_; }

 private:
  const UnitPlan& plan_;
  const UnitOptions options_;
  const ConversionJob job_;
  UnitResult result_;
};

struct MergeOptions {
  std::vector<std::filesystem::path> directories;  ///< that hold the units, all of them together
  std::string program;                             ///< must be the plan's
  bool force = false;                              ///< files of the same names in the output directory are replaced
  support::Progress progress = {};
  support::Stop stop = {};
};

/// Puts the units of a plan in place, as `convert` would have written them, byte for byte, and removes the records and files that it took, with
/// what killed writers of them left. Every unit must be there once, and every file must still have the digest that its record says. Throws
/// Error(input) for a unit that is missing, there twice, of another plan or not as it was written; Error as UnitRunner and StagedDirectory do.
/// Whatever stops it before the end leaves the units as they are.
ConvertReport merge_units(const UnitPlan& plan, const MergeOptions& options);

}  // namespace mx::checkpoint
