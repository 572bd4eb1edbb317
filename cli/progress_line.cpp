#include "cli/progress_line.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>

namespace mx::cli {

ProgressLine::ProgressLine() : enabled_(isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() {
  if (drawn_) fmt::print(stderr, "\r\033[K");
}

void ProgressLine::show(const std::string& text, double fraction) {
  if (!enabled_) return;
  fmt::print(stderr, "\r\033[K{:3.0f} %  {:.100}", fraction * 100, text);
  static_cast<void>(std::fflush(stderr));
  drawn_ = true;
}

}  // namespace mx::cli
