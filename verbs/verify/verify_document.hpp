#pragma once
// What `mxact verify` says of a run.

#include <string>

#include "sim/verify/verify_parts.hpp"
#include "verbs/document/document.hpp"

namespace mx::verbs {

/// Cells, the conversions behind them, recorded outputs, sums; a case for each cell and recorded layer.
Document verify_document(const sim::VerifyReport& report, const sim::VerifyRequest& asked);

/// What a share of a run did, written to `file`: no verdict stands before all of them are merged.
Document verify_part_document(const sim::VerifyPart& part, const std::string& file);

}  // namespace mx::verbs
