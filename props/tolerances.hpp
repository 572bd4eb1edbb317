#pragma once
// How public test suites compare outputs: one row per rule. A rule that accepts the output of a broken implementation is blind to what broke it.

#include <span>
#include <string_view>

namespace mx::props {

struct Tolerance {
  std::string_view suite;
  std::string_view rule;  ///< in words
  /// Whether the rule lets `actual` pass as `expected`. Equal lengths, not empty. A NaN is near nothing, as torch.isclose has it.
  bool (*accepts)(std::span<const float> expected, std::span<const float> actual);
  std::string_view source;
};

std::span<const Tolerance> all_tolerances();

}  // namespace mx::props
