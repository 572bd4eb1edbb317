#pragma once
// What `mxact sweep` and `mxact sweep merge` say.

#include <optional>
#include <string>
#include <vector>

#include "model/numerics/profile.hpp"
#include "sim/sweep/state.hpp"
#include "verbs/document/document.hpp"
#include "verbs/sweep/recorded.hpp"

namespace mx::verbs {

/// Digests, and what they are held against.
struct Swept {
  sim::Digests digests;
  sim::Shard shard = {};
  std::optional<RecordedSweep> recorded = {};
};

/// The exit code of both: 1 where a digest differs from the record.
Document sweep_document(const sim::SweepSubject& subject, const Profile& profile, const Swept& swept);
/// `states` are the files that were merged.
Document sweep_merge_document(const sim::SweepRecord& merged, const std::vector<std::string>& states, const Swept& swept);

}  // namespace mx::verbs
