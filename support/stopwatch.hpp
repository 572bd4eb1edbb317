#pragma once
// How long something takes.

#include <chrono>

namespace mx::support {

/// Runs from its beginning on.
class Stopwatch {
 public:
  /// Since then.
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace mx::support
