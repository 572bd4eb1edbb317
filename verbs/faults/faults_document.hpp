#pragma once
// What `mxact faults` says of the answers of the program that has the faults (tests/props/program.cpp).

#include "verbs/document/document.hpp"

namespace mx::verbs {

/// Which laws noticed each fault. The exit code: 1 a fault that no law noticed, 5 one that was not tried.
Document faults_document(const Json& run);

/// Which public tolerances would have let an output with a fault pass, schema mxact-blindness/1. The exit code is 5 when no output shows any of the
/// faults to which rules apply: such data say nothing about the rules.
Document blindness_document(const Json& run);

/// Who noticed each change of a table, schema mxact-table-changes/1. The exit code: 1 when a change that alters an output is noticed by nobody, 5
/// when none alters an output.
Document table_changes_document(const Json& run);

}  // namespace mx::verbs
