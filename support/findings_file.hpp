#pragma once
// The ledger of findings as INFO files: oracle, backend, class and need as blocks within each other, in the order of the audit.
//
//   fp8 {
//     any {                           ; around the kernel: no class
//       exchange { platform SM80  layer { ... } }
//     }
//     MARLIN {
//       MarlinExperts {
//         sizes { platform SM75  layer { ... } }
//       }
//     }
//   }
//
// What stands in a need is the smallest deployment that shows the finding, as in a deployment file of that oracle. The places known beforehand:
//
//   place-1 {
//     what "FLASHINFER_B12X with expert parallelism"
//     shown { nvfp4 { FLASHINFER_B12X { FlashInferB12xExperts { one_rank { } } } } }  ; findings in the same blocks, or
//     unseen "why the audit cannot see it"
//   }

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/audit/findings.hpp"
#include "model/audit/known_places.hpp"

namespace mx::support {

/// The ledger that is built in, model/audit/findings_*.info: every finding, in the order of the audit. Read at the first call.
std::span<const audit::Finding> known_findings();

/// The places that are built in, model/audit/known_places.info, numbered from 1. Read at the first call.
std::span<const audit::KnownPlace> known_places();

/// A part of the ledger. Names are spelt as in the tables. Throws Error(input) naming file, line, value and rule: what InfoNode and deployment files
/// refuse, an oracle, backend, class or need that the tables have not, a block without a row.
std::vector<audit::Finding> parse_findings(std::string_view text, const std::string& where);

/// The same for places: their numbers go up from 1, each is shown or says why it is not.
std::vector<audit::KnownPlace> parse_known_places(std::string_view text, const std::string& where);

}  // namespace mx::support
