#pragma once
// Ctrl-C and SIGTERM: every verb ends within a second, with the exit status of the signal and nothing torn.

#include <condition_variable>
#include <mutex>
#include <thread>

namespace mx::cli {

/// From here on SIGINT and SIGTERM end the program at once, with a line on stderr and the exit status 130 or 143. For main().
void quit_on_signals();

/// While it lives, SIGINT and SIGTERM are noted instead of ending the program: the work ends in good order. What has not ended 0.7 s later is ended,
/// and the temporary files and directories that it was writing are removed (support/leftovers.hpp).
class InterruptWatch {
 public:
  InterruptWatch();
  ~InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

  bool interrupted() const;

 private:
  void keep_time();

  std::mutex mutex_;
  std::condition_variable wake_;
  bool ended_ = false;
  std::thread timekeeper_;
};

/// Exit status of an interrupted run: 130, or 143 where SIGTERM came.
int interrupted_status();

}  // namespace mx::cli
