#pragma once
// A report: runs as one page that needs nothing else, or the picture of one run.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/junit.hpp"
#include "verbs/report/against.hpp"
#include "verbs/report/run.hpp"

namespace mx::verbs {

/// Each run's outcome, in their order. Throws Error(input) when a run contradicts itself.
std::vector<Outcome> outcomes_of(std::span<const Run> runs);
/// The worst of them; `nothing` when there is no run.
Standing worst(std::span<const Outcome> outcomes);

/// The page: summary, then what changed where there are earlier runs, then each part that some run has data for, then how to run it again. Throws
/// Error(input) as outcomes_of does, and when something that a part needs is missing or malformed.
std::string report_html(std::span<const Run> runs, const std::optional<Comparison>& comparison = std::nullopt);

/// Every single check of the runs (a backend on a platform, an entry of a set), then each run as a whole: one that checked nothing has failed. Throws
/// Error(input) as outcomes_of does.
std::vector<support::JunitCase> checks_of(std::span<const Run> runs);

/// The picture of a run, or of several that its kind has the one of that name. Throws Error(usage) when runs of its kind have none, naming the kinds
/// that do, and for an unknown name.
Figure picture_of(const Run& run, std::string_view name = {});

}  // namespace mx::verbs
