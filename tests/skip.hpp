#pragma once
// A test case that cannot run here says so in one line: ctest counts it as skipped, ./harness names it.

#include <iostream>
#include <string>

#include "tests/catch.hpp"

namespace mx::tests {

/// `what` is "tool: NAME" or "processor feature: NAME", kinds that ./harness knows. The test case has checked nothing before and returns right after:
/// whatever it found would count as skipped.
inline void skip_without(const std::string& what) {
  std::cout << "SKIPPED: no " << what << std::endl;
  SUCCEED();
}

}  // namespace mx::tests
