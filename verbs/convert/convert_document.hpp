#pragma once
// What the verbs that convert checkpoints say: convert, restore, and conversions in units.

#include <string>
#include <utility>
#include <vector>

#include "sim/checkpoint/convert.hpp"
#include "sim/checkpoint/units.hpp"
#include "verbs/document/document.hpp"

namespace mx::verbs {

Document convert_document(const sim::ConvertReport& report, const std::string& checkpoint, const std::string& output, int rank);
Document restore_document(const sim::RestoreReport& report, const std::vector<std::string>& directories, const std::string& output);
Document plan_document(const sim::UnitPlan& plan);

/// One unit of a plan, and what became of it.
struct UnitDone {
  int unit;
  sim::UnitResult result;
  sim::UnitOutcome outcome;
};
Document run_document(const sim::UnitPlan& plan, const std::vector<UnitDone>& units);

/// A conversion put together of its units.
Document merge_document(const sim::ConvertReport& report, const sim::UnitPlan& plan);

}  // namespace mx::verbs
