#pragma once
// The ledger as a document.

#include <string>

namespace mx::oracle {

/// Markdown: every finding, grouped by the need that is broken; the places known beforehand and where they are; what is not known. The oracles' part
/// of docs/findings.md is this text.
std::string findings_markdown();

}  // namespace mx::oracle
