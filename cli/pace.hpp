#pragma once
// Progress of work that is counted in bytes.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "cli/progress_line.hpp"
#include "cli/verb.hpp"

namespace mx::cli {

/// "312 MB/s, 2:05 left" after `seconds` of work; empty while there is nothing to go by.
std::string pace_text(std::uint64_t done, std::uint64_t total, double seconds);

/// --progress of every verb that works on whole checkpoints: bare it means always. `when` keeps its word: "auto", "always" or "never".
void add_progress_option(Verb verb, std::string& when);

/// Bytes a second and the time that is left, by the average since the first call, on stderr: a line that is redrawn in place on a terminal;
/// elsewhere, when it is always asked for, a line at the beginning, every ten seconds and at the end.
class PaceLine {
 public:
  explicit PaceLine(const std::string& when);
  void show(const std::string& text, std::uint64_t done, std::uint64_t total);

 private:
  using Clock = std::chrono::steady_clock;
  void print(const std::string& text, double fraction, Clock::time_point now);

  enum class Form { silent, redrawn, lines };
  Form form_;
  std::optional<ProgressLine> line_;
  std::optional<Clock::time_point> begin_;
  std::optional<Clock::time_point> printed_;
};

}  // namespace mx::cli
