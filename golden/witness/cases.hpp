#pragma once
// Oracle cases: one JSON object a line in X.jsonl, and the verdicts on every candidate in X_support.jsonl beside it.

#include <filesystem>

#include "golden/witness/witness.hpp"

namespace mx::golden {

/// Runs X.jsonl and, when it exists, X_support.jsonl; one entry per oracle, and one for the cases of an oracle that have no model.
/// Throws Error(input) naming file and line: bad JSON, a duplicate id, a support line without its case.
SetResult run_cases(const std::filesystem::path& file, const WitnessOptions& options);

/// X.jsonl for X_support.jsonl, otherwise the path itself. Throws Error(input) when the sibling does not exist.
std::filesystem::path cases_file(const std::filesystem::path& file);

}  // namespace mx::golden
