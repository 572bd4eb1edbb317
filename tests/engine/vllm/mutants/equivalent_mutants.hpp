#pragma once
// Changes of the tables that change no answer, and why.

#include <span>
#include <string_view>

namespace mx::tests {

struct EquivalentChanges {
  std::string_view ids;  ///< a regular expression for the whole id
  std::string_view reason;
};
std::span<const EquivalentChanges> equivalent_changes();

}  // namespace mx::tests
