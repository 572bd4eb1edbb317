#include "cli/interrupt.hpp"

#include <csignal>
#include <ctime>

namespace mx::cli {
namespace {

// One wish can arrive as several signals: timeout(1) and some shells signal the process and then its whole group.
constexpr long long kOneWishNanoseconds = 500'000'000;

volatile std::sig_atomic_t signalled = 0;
timespec first_signal{};

void note(int signal) {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (signalled == 0) {
    first_signal = now;
    signalled = 1;
    return;
  }
  const long long elapsed = (now.tv_sec - first_signal.tv_sec) * 1'000'000'000LL + (now.tv_nsec - first_signal.tv_nsec);
  if (elapsed < kOneWishNanoseconds) return;
  static_cast<void>(std::signal(signal, SIG_DFL));
  static_cast<void>(std::raise(signal));
}

}  // namespace

InterruptWatch::InterruptWatch() {
  signalled = 0;
  static_cast<void>(std::signal(SIGINT, note));
  static_cast<void>(std::signal(SIGTERM, note));
}

InterruptWatch::~InterruptWatch() {
  static_cast<void>(std::signal(SIGINT, SIG_DFL));
  static_cast<void>(std::signal(SIGTERM, SIG_DFL));
}

bool InterruptWatch::interrupted() const { return signalled != 0; }

}  // namespace mx::cli
