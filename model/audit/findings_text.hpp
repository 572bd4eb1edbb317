#pragma once
// The ledger as a document.

#include <span>
#include <string>

#include "model/audit/findings.hpp"
#include "model/audit/known_places.hpp"

namespace mx::audit {

/// Markdown: every finding, grouped by the need that is broken; the places known beforehand and where they are; what is not known. The site draws its
/// page of the ledger from this text.
std::string findings_markdown(std::span<const Finding> ledger, std::span<const KnownPlace> places);

}  // namespace mx::audit
