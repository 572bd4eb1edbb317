#include "cli/interrupt.hpp"

#include <csignal>

namespace mx::cli {
namespace {

volatile std::sig_atomic_t signalled = 0;

void note(int signal) {
  signalled = 1;
  std::signal(signal, SIG_DFL);
}

}  // namespace

InterruptWatch::InterruptWatch() {
  signalled = 0;
  std::signal(SIGINT, note);
  std::signal(SIGTERM, note);
}

InterruptWatch::~InterruptWatch() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

bool InterruptWatch::interrupted() const { return signalled != 0; }

}  // namespace mx::cli
