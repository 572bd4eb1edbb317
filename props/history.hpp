#pragma once
// What went wrong in real implementations, and the planted faults that do the same to the model: a law that notices the fault would have caught the
// bug.

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mx::props {

struct HistoryRow {
  int number;                  ///< 1, 2, ...
  std::string_view reference;  ///< issues and pull requests, comma separated
  std::string_view wrong;      ///< what went wrong there
  std::string_view property;   ///< numbers of the catalogue that speak of it, space separated
  std::string_view faults;     ///< ids of planted faults, space separated: each is the bug, or a part of it
};

std::span<const HistoryRow> all_history();

/// The laws of the row's property that one of its faults is named to break; none for a fault that does not exist.
std::vector<std::string> laws_that_notice(const HistoryRow& row, std::string_view fault);

/// The table of the bugs in Markdown, which the site draws beside docs/history.md.
std::string history_markdown();

}  // namespace mx::props
