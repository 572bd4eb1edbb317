#pragma once
// What `mxact report` says of the file that it wrote.

#include <span>
#include <string>

#include "verbs/document/document.hpp"
#include "verbs/report/report.hpp"

namespace mx::verbs {

/// The verdict of each run; the verdict and the exit code are those of the worst.
Document report_document(std::span<const Run> runs, std::span<const Outcome> outcomes, const std::string& file, std::size_t bytes);

}  // namespace mx::verbs
