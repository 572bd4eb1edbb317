#pragma once
// `mxact verify`: which backend on which platform, and what became of it.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "verbs/report/run.hpp"

namespace mx::verbs {

/// How a verdict looks: colours are blue-green and orange, and a mark says the same.
struct VerdictRow {
  std::string_view word;         ///< as the run says it
  std::string_view mark;         ///< for small cells
  std::string_view style;        ///< a class; text on it has "on-" before
  std::string_view asked_style;  ///< of a backend that the engine takes only when it is asked for
  std::string_view meaning;
};
std::span<const VerdictRow> verdict_rows();

/// One backend on one platform; of several requests that lead to it the worst, and whether the engine chooses it by itself.
struct VerdictCell {
  std::size_t verdict;  ///< row of verdict_rows()
  bool chosen = false;
  std::string hover;
};
/// All cells of one tensor parallel size; cells without a request are empty.
struct VerdictGrid {
  std::int64_t tp = 1;
  std::vector<std::string> platforms;
  std::vector<std::string> backends;              ///< the last may be "no backend": the engine refuses
  std::vector<std::optional<VerdictCell>> cells;  ///< [backend][platform]

  const std::optional<VerdictCell>& at(std::size_t backend, std::size_t platform) const { return cells[backend * platforms.size() + platform]; }
};
std::vector<VerdictGrid> verdict_grids(const Run& run);

/// Throws Error(input) when totals, cells and exit code of the run contradict each other.
Outcome verify_outcome(const Run& run);
std::string verify_verdicts(const Run& run);
std::string verify_findings(const Run& run);
Figure verify_figure(const Run& run);

}  // namespace mx::verbs
