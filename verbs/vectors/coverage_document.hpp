#pragma once
// Which bins of an operation the vectors of a device's runs met, how many of them were wrong, and several runs as one.

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "golden/vectors/checker.hpp"
#include "verbs/document/document.hpp"

namespace mx::verbs {

/// Bins of one axis.
struct MetAxis {
  struct Bin {
    std::string name;
    std::int64_t checked;  ///< vectors of it
    std::int64_t wrong;    ///< of them
  };
  std::string name;
  std::vector<Bin> bins;                                         ///< those that can be met
  std::vector<std::pair<std::string, std::string>> unreachable;  ///< the others, with the reason
};

/// The bins that one or more runs of `ver` met.
struct MetBins {
  std::string op;
  std::string edition;
  Json settings;  ///< an object, every choice of the operation
  std::int64_t runs;
  std::vector<MetAxis> axes;
};

MetBins met_bins(const golden::VectorOp& op, const golden::CheckReport& report);

/// What `ver --coverage-out` wrote, or a merge of such. Throws Error(input): what golden::read_run throws, another schema, a count that cannot be.
MetBins read_met_bins(const std::filesystem::path& path);

/// The sum of runs of one operation. Throws Error(input) that names the file whose operation, edition, choices or bins are not those of the first.
MetBins merged(std::span<const std::filesystem::path> paths);

/// A case a bin: passed, failed where an answer was wrong, skipped where no vector came. The exit code is 1 where one was wrong, else 0 without a
/// verdict: bins that nobody met are shown.
Document coverage_document(const MetBins& met);

}  // namespace mx::verbs
