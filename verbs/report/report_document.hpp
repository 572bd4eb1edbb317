#pragma once
// What `mxact report` says of the file that it wrote.

#include <optional>
#include <span>
#include <string>

#include "verbs/document/document.hpp"
#include "verbs/report/report.hpp"

namespace mx::verbs {

/// The verdict of each run, and what changed where there are earlier runs; the verdict and the exit code are those of the worst run.
Document report_document(std::span<const Run> runs, std::span<const Outcome> outcomes, const std::optional<Comparison>& comparison,
                         const std::string& file, std::size_t bytes);

}  // namespace mx::verbs
