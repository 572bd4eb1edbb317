#include "cli/interrupt.hpp"

#include <sys/time.h>
#include <unistd.h>

#include <csignal>
#include <ctime>
#include <string_view>

namespace mx::cli {
namespace {

// One wish can arrive as several signals: timeout(1) and some shells signal the process and then its whole group.
constexpr long long kOneWishNanoseconds = 500'000'000;
constexpr long kMomentMicroseconds = 700'000;
constexpr int kSignalled = 128;  // of a shell's exit status

volatile std::sig_atomic_t signalled = 0;
volatile std::sig_atomic_t has_deadline = 0;
timespec first_signal{};

[[noreturn]] void quit(int signal) {
  constexpr std::string_view kText = "mxact: interrupted\n";
  static_cast<void>(!write(STDERR_FILENO, kText.data(), kText.size()));
  _exit(kSignalled + signal);
}

void quit_in_time(int) { quit(signalled); }

void note(int signal) {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (signalled == 0) {
    first_signal = now;
    signalled = signal;
    const itimerval moment{{0, 0}, {0, kMomentMicroseconds}};
    if (has_deadline != 0) static_cast<void>(setitimer(ITIMER_REAL, &moment, nullptr));
    return;
  }
  const long long elapsed = (now.tv_sec - first_signal.tv_sec) * 1'000'000'000LL + (now.tv_nsec - first_signal.tv_nsec);
  if (elapsed >= kOneWishNanoseconds) quit(signal);
}

void handle(void (*handler)(int)) {
  static_cast<void>(std::signal(SIGINT, handler));
  static_cast<void>(std::signal(SIGTERM, handler));
}

}  // namespace

void quit_on_signals() { handle(quit); }

InterruptWatch::InterruptWatch(EndBy end) {
  signalled = 0;
  has_deadline = end == EndBy::a_moment ? 1 : 0;
  static_cast<void>(std::signal(SIGALRM, quit_in_time));
  handle(note);
}

InterruptWatch::~InterruptWatch() {
  // What is left to do is said in good order: nothing cuts it off in the middle of a line.
  const itimerval none{};
  static_cast<void>(setitimer(ITIMER_REAL, &none, nullptr));
  handle(quit);
}

bool InterruptWatch::interrupted() const { return signalled != 0; }

int interrupted_status() { return kSignalled + (signalled == 0 ? SIGINT : signalled); }

}  // namespace mx::cli
