#pragma once
// How far a verb is, on stderr.

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "cli/verb.hpp"

namespace mx::cli {

/// --progress of the verbs that work on whole checkpoints: bare it means always. `when` keeps its word: "auto", "always" or "never".
void add_progress_option(Verb verb, std::string& when);

/// What a verb is at, its share and the time that is left by the average so far; of work that is counted in bytes the rate too. On a terminal a line
/// that is redrawn in place; elsewhere a line every ten seconds, however seldom show() is called, the first after ten, so that what is quick says
/// nothing. "always": also a line at the beginning and at the end. "never": nothing. Without a word the variable MXACT_PROGRESS has it, else "auto".
class ProgressLine {
 public:
  explicit ProgressLine(const std::string& option = {});
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// Of any thread.
  void show(const std::string& text, double share);
  void show(const std::string& text, std::uint64_t done, std::uint64_t total);
  /// Work whose end nobody knows.
  void show(const std::string& text);

 private:
  using Clock = std::chrono::steady_clock;
  enum class Form { silent, redrawn, lines };
  void note(const std::string& text, std::optional<double> share, std::uint64_t bytes);
  void print(Clock::time_point now);
  bool is_due(Clock::time_point now) const;
  std::string line(Clock::time_point now) const;
  void keep_saying();

  Form form_ = Form::silent;
  bool always_ = false;
  const Clock::time_point begin_ = Clock::now();
  std::optional<Clock::time_point> printed_;
  std::string text_;
  std::optional<double> share_ = 0.0;
  std::uint64_t bytes_ = 0;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool ended_ = false;
  std::thread teller_;
};

}  // namespace mx::cli
