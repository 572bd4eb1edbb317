#pragma once
// What the verbs that convert checkpoints say: convert, restore, and conversions in jobs.

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/convert.hpp"
#include "checkpoint/jobs.hpp"
#include "verbs/document/document.hpp"

namespace mx::verbs {

/// `fail_on_warning`: exit 1 where a number of the checkpoint is none, or such as no sound quantizer writes, or where values are destroyed.
Document convert_document(const checkpoint::ConvertReport& report, const std::string& checkpoint, const std::string& output, int rank,
                          bool fail_on_warning = false);
Document restore_document(const checkpoint::RestoreReport& report, const std::vector<std::string>& directories, const std::string& output);
Document plan_document(const checkpoint::JobPlan& plan);

/// One job of a plan, and what became of it.
struct JobDone {
  int job;
  checkpoint::JobResult result;
  checkpoint::JobOutcome outcome;
};
Document run_document(const checkpoint::JobPlan& plan, const std::vector<JobDone>& jobs);

/// "values": what is wrong with a checkpoint's numbers, in the text a line each.
void add_values(Document& document, const std::vector<checkpoint::LayerValues>& values);

/// A layer's sizes with what they were rounded up to, and every choice of its conversion.
Json setting_json(const families::Setting& setting);

/// Layer groups of a checkpoint, and which of them a verb is about.
Json layer_groups_json(const std::vector<checkpoint::LayerGroup>& layer_groups, std::span<const int> chosen);

/// "families": layers of each form, and which of them the verb is about; in the text a line for each that is left as it is.
void add_layer_groups(Document& document, const std::vector<checkpoint::LayerGroup>& layer_groups, int chosen, const std::string& left);

/// A conversion put together of its jobs.
Document merge_document(const checkpoint::ConvertReport& report, const checkpoint::JobPlan& plan);

}  // namespace mx::verbs
