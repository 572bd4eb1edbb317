#pragma once
// One task beside the work of this thread.

#include <future>
#include <utility>

namespace mx::support {

/// Runs tasks one after the other in a thread of their own: whoever brings the next waits for the one before, so that no more than one is ever held.
/// What a task throws comes out at the next call.
class OneBehind {
 public:
  template <class Task>
  void run(Task task) {
    wait();
    pending_ = std::async(std::launch::async, std::move(task));
  }
  void wait() {
    if (pending_.valid()) pending_.get();
  }

 private:
  std::future<void> pending_;  // its destructor waits for the task
};

}  // namespace mx::support
