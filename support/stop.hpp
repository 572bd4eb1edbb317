#pragma once
// A wish to end early, asked for at every step of long work.

#include <functional>
#include <mutex>
#include <utility>

namespace mx::support {

/// Asked at each step: true ends the work in good order.
using Stop = std::function<bool()>;

/// Leaves the work that was asked to end; who began it catches it.
struct Stopped {};

/// The question for all threads of one piece of work: one at a time, and after a yes there is no other answer.
class StopPoint {
 public:
  explicit StopPoint(Stop ask = {}) : ask_(std::move(ask)) {}

  /// Throws Stopped after a yes.
  void check() const {
    const std::lock_guard lock(mutex_);
    stopped_ = stopped_ || (ask_ && ask_());
    if (stopped_) throw Stopped{};
  }

 private:
  Stop ask_;
  mutable std::mutex mutex_;
  mutable bool stopped_ = false;
};

}  // namespace mx::support
