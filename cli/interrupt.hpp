#pragma once
// Ctrl-C and SIGTERM: every verb ends within a second, with the exit status of the signal and nothing torn.

namespace mx::cli {

/// From here on SIGINT and SIGTERM end the program at once, with a line on stderr and the exit status 130 or 143. For main().
void quit_on_signals();

/// How long a verb that was asked to end may take.
enum class EndBy {
  a_moment,    ///< what it has is not worth more: after 0.7 s the program ends at once
  good_order,  ///< it writes: it ends when its files are whole or gone
};

/// While it lives, SIGINT and SIGTERM are noted instead of ending the program. Who asks again half a second later or more does not want to wait:
/// that signal ends the program at once.
class InterruptWatch {
 public:
  explicit InterruptWatch(EndBy end);
  ~InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

  bool interrupted() const;
};

/// Exit status of an interrupted run: 130, or 143 where SIGTERM came.
int interrupted_status();

}  // namespace mx::cli
