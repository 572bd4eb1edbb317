#pragma once
// Runs held against earlier ones: which single answers are others now.

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "verbs/report/run.hpp"

namespace mx::verbs {

/// An answer that is another one now, is gone, or is new.
struct Change {
  std::string about;  ///< "verify.SM90.tp1: MARLIN (auto)"
  std::optional<std::string> was;
  std::optional<std::string> is;
  std::string why;  ///< of what is now; of what was, where it is gone
};

struct Comparison {
  std::vector<std::string> before;  ///< names of the earlier runs
  std::size_t same = 0;
  std::vector<Change> changes;  ///< in the order of the runs, what is gone last
};

/// Throws Error(usage) where the runs of either side have no single answers (verify, witness and matrix have), and Error(input) as outcomes_of does.
Comparison compare_runs(std::span<const Run> now, std::span<const Run> before);

/// "12 answers are the same, 2 others, 1 gone, 3 new"
std::string counted(const Comparison& comparison);
/// The part of a page: what is counted, and the changes as a table of at most a thousand rows.
std::string comparison_html(const Comparison& comparison);

}  // namespace mx::verbs
