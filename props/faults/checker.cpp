// Faults of the checker of devices' streams.

#include <array>

#include "props/faults/tables.hpp"

namespace mx::props {
namespace {

using fault::Fault;

constexpr std::array kFaults{
    FaultRow{Fault::checker_first_lane_alone, "checker_first_lane_alone", "golden/vectors/checker.cpp compare",
             "answers behind the first are not looked at", "T1/checker-answers"},
    FaultRow{Fault::checker_ignores_mask, "checker_ignores_mask", "golden/vectors/checker.cpp compare", "payloads that may be anything are compared",
             "T1/checker-answers T1/checker-free"},
    FaultRow{Fault::checker_passes_missing, "checker_passes_missing", "golden/vectors/checker.cpp why_mistrusted", "a stream that ends early passes",
             "T1/checker-set"},
    FaultRow{Fault::checker_passes_replaced, "checker_passes_replaced", "golden/vectors/checker.cpp why_mistrusted",
             "vectors that are doubled in others' place pass", "T1/checker-set"},
    FaultRow{Fault::checker_hashes_first_lane, "checker_hashes_first_lane", "golden/vectors/checker.cpp hash_of",
             "operands behind the first may be others", "T1/checker-set"},
    FaultRow{Fault::checker_wants_order, "checker_wants_order", "golden/vectors/checker.cpp why_mistrusted",
             "another order of the same vectors is mistrusted", "T1/checker-set"},
    FaultRow{Fault::checker_takes_extra, "checker_takes_extra", "golden/vectors/checker.cpp take_vector",
             "vectors behind the last of the set are taken", "T1/checker-set"},
    FaultRow{Fault::checker_drops_last_line, "checker_drops_last_line", "golden/vectors/checker.cpp finish", "a last line without its end is lost",
             "T1/checker-lines"},
    FaultRow{Fault::checker_takes_cut_line, "checker_takes_cut_line", "golden/vectors/checker.cpp parse", "a stream may end within a number",
             "T1/checker-lines"},
    FaultRow{Fault::checker_takes_undriven, "checker_takes_undriven", "golden/vectors/text.cpp parse_field", "digits x and z are 0",
             "T1/checker-lines"},
    FaultRow{Fault::checker_takes_too_large, "checker_takes_too_large", "golden/vectors/text.cpp parse_field", "bits above a column's are dropped",
             "T1/checker-lines"},
    FaultRow{Fault::checker_ignores_facts, "checker_ignores_facts", "golden/vectors/checker.cpp take_facts",
             "a stream of another operation is taken for this one's", "T1/checker-lines"},
    FaultRow{Fault::checker_ignores_version, "checker_ignores_version", "golden/vectors/checker.cpp take_comment", "vectors of any version are taken",
             "T1/checker-lines"},
    FaultRow{Fault::checker_passes_over_lines, "checker_passes_over_lines", "golden/vectors/checker.cpp parse",
             "lines with too many or too few fields are chatter", "T1/checker-lines"},
    FaultRow{Fault::checker_trusts_columns, "checker_trusts_columns", "golden/vectors/checker.cpp check_own_columns",
             "what a file expects is not held against the model", "T1/checker-lines"},
    FaultRow{Fault::checker_forgets_mismatch, "checker_forgets_mismatch", "golden/vectors/checker.cpp finish",
             "wrong answers are forgotten when vectors are missing too", "T1/checker-answers"},
    FaultRow{Fault::checker_passes_constants, "checker_passes_constants", "golden/vectors/checker.cpp why_mistrusted",
             "sets that any device with the one right answer passes are trusted", "T1/checker-constant"},
    FaultRow{Fault::coverage_counts_missed, "coverage_counts_missed", "golden/vectors/coverage.cpp coverage_report",
             "bins count as covered that nothing met", "T1/checker-coverage"},
};

}  // namespace

std::span<const FaultRow> checker_faults() { return kFaults; }

}  // namespace mx::props
