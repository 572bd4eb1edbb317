#pragma once
// Ctrl-C as a question: long verbs end in good order instead of being cut off.

namespace mx::cli {

/// While it lives, SIGINT and SIGTERM are noted instead of ending the program. Who asks again half a second later or more does not want to wait:
/// that signal ends the program at once.
class InterruptWatch {
 public:
  InterruptWatch();
  ~InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

  bool interrupted() const;
};

/// Exit status of an interrupted run.
inline constexpr int kInterrupted = 130;

}  // namespace mx::cli
