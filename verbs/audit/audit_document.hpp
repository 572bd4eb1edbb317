#pragma once
// What `mxact audit` says: the engine's choices held against their kernels' needs, and the needs alone.

#include <span>
#include <string_view>

#include "model/audit/findings.hpp"
#include "model/families/needs.hpp"
#include "verbs/document/document.hpp"
#include "verbs/select/engine_notes.hpp"

namespace mx::verbs {

/// Findings, and where they differ from the ledger; a case for each finding and for each row of the ledger that vanished. One that the ledger has is
/// skipped: nothing new, and nothing that is right.
/// What a release of the version differs in is said in notes.
Document audit_document(const audit::AuditReport& report, const AskedEngine& asked, std::span<const std::string_view> oracles,
                        std::span<const audit::Finding> ledger);

/// Needs of every backend and kernel class of these oracles, without those of what surrounds the kernel (exchange, loader), as schema mxact-needs/1.
/// Throws Error(usage) for an oracle that is not known.
Document needs_document(const AskedEngine& asked, std::span<const std::string_view> oracles);

/// Where the release that was asked differs from its version, in any deployment of these oracles, and its libraries.
void note_release(Document& document, const AskedEngine& asked, std::span<const std::string_view> oracles);

/// What a need says of itself: "of", "statement", "effect", "consequence", "grounds", "source", "reference", and "until", the version that mends it,
/// or null. Adds them to an object.
void add_need(Json& json, const families::KernelNeed& need);

}  // namespace mx::verbs
