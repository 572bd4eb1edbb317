#pragma once
// Runs as lists of single answers: what continuous integration counts, and what two runs are held against each other by.

#include <string>
#include <vector>

#include "verbs/report/run.hpp"

namespace mx::verbs {

/// One answer of a run: a backend on a platform, an entry of a recorded set, what an engine chooses for a deployment.
struct Answer {
  std::string group;    ///< "verify.SM90.tp1"
  std::string name;     ///< within its group: "MARLIN (auto)"
  std::string word;     ///< "PASSED", "differs", "MARLIN (MarlinExperts)"
  std::string why;      ///< in one line, or empty
  bool checked = true;  ///< false: it shows, and nothing could have failed
};

/// In the order of the run; none where its kind has no single answers. Throws Error(input) where something is missing or malformed.
std::vector<Answer> answers_of(const Run& run);

}  // namespace mx::verbs
