#include "cli/interrupt.hpp"

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <string_view>
#include <system_error>

#include "support/leftovers.hpp"

namespace mx::cli {
namespace {

constexpr std::chrono::milliseconds kMoment{700};
constexpr std::chrono::milliseconds kLook{20};
constexpr int kSignalled = 128;  // of a shell's exit status

volatile std::sig_atomic_t signalled = 0;

[[noreturn]] void quit(int signal) {
  constexpr std::string_view kText = "mxact: interrupted\n";
  static_cast<void>(!write(STDERR_FILENO, kText.data(), kText.size()));
  _exit(kSignalled + signal);
}

/// One wish can arrive as several signals: timeout(1) and some shells signal the process and then its whole group.
void note(int signal) {
  if (signalled == 0) signalled = signal;
}

void handle(void (*handler)(int)) {
  static_cast<void>(std::signal(SIGINT, handler));
  static_cast<void>(std::signal(SIGTERM, handler));
}

}  // namespace

void quit_on_signals() {
  handle(quit);
  // A file over the limit of its size is an error of who writes it, which takes away what it has written.
  static_cast<void>(std::signal(SIGXFSZ, SIG_IGN));
}

InterruptWatch::InterruptWatch() {
  signalled = 0;
  handle(note);
  try {
    timekeeper_ = std::thread([this] { keep_time(); });
  } catch (const std::system_error&) {
    // No thread to be had: the work itself has to ask.
  }
}

InterruptWatch::~InterruptWatch() {
  // What is left to do is said in good order: nothing cuts it off in the middle of a line.
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  wake_.notify_all();
  if (timekeeper_.joinable()) timekeeper_.join();
  handle(quit);
}

/// Ends the program a moment after it was asked to end, unless the work has ended.
void InterruptWatch::keep_time() {
  std::unique_lock lock(mutex_);
  while (signalled == 0) {
    if (wake_.wait_for(lock, kLook, [this] { return ended_; })) return;
  }
  if (wake_.wait_for(lock, kMoment, [this] { return ended_; })) return;
  support::abandon_leftovers();
  quit(signalled);
}

bool InterruptWatch::interrupted() const { return signalled != 0; }

int interrupted_status() { return kSignalled + (signalled == 0 ? SIGINT : signalled); }

}  // namespace mx::cli
