#pragma once
// What the verbs that convert checkpoints say: convert, restore, and conversions in units.

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/convert.hpp"
#include "checkpoint/units.hpp"
#include "verbs/document/document.hpp"

namespace mx::verbs {

/// `fail_on_warning`: exit 1 where a number of the checkpoint is none, or such as no sound quantizer writes.
Document convert_document(const checkpoint::ConvertReport& report, const std::string& checkpoint, const std::string& output, int rank,
                          bool fail_on_warning = false);
Document restore_document(const checkpoint::RestoreReport& report, const std::vector<std::string>& directories, const std::string& output);
Document plan_document(const checkpoint::UnitPlan& plan);

/// One unit of a plan, and what became of it.
struct UnitDone {
  int unit;
  checkpoint::UnitResult result;
  checkpoint::UnitOutcome outcome;
};
Document run_document(const checkpoint::UnitPlan& plan, const std::vector<UnitDone>& units);

/// "values": what is wrong with a checkpoint's numbers, in the text a line each.
void add_values(Document& document, const std::vector<checkpoint::LayerValues>& values);

/// Families of a checkpoint, and which of them a verb is about.
Json families_json(const std::vector<checkpoint::Family>& families, std::span<const int> chosen);

/// "families": layers of each form, and which of them the verb is about; in the text a line for each that is left as it is.
void add_families(Document& document, const std::vector<checkpoint::Family>& families, int chosen, const std::string& left);

/// A conversion put together of its units.
Document merge_document(const checkpoint::ConvertReport& report, const checkpoint::UnitPlan& plan);

}  // namespace mx::verbs
