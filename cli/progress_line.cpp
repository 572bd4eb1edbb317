#include "cli/progress_line.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include "model/error.hpp"
#include "model/names.hpp"

namespace mx::cli {
namespace {

constexpr std::array<std::string_view, 3> kWhen{"auto", "always", "never"};
constexpr std::chrono::seconds kBetweenLines{10};
constexpr std::chrono::seconds kBetweenDrawings{1};

/// "312 MB/s"
std::string rate_text(double bytes_a_second) {
  if (bytes_a_second < 1e6) return fmt::format("{:.0f} kB/s", bytes_a_second / 1e3);
  return fmt::format("{:.{}f} MB/s", bytes_a_second / 1e6, bytes_a_second < 1e7 ? 1 : 0);
}

std::string minutes_text(double seconds) {
  const auto whole = static_cast<std::uint64_t>(std::llround(seconds));
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

/// What every verb is told that was told nothing.
std::string variable() {
  constexpr const char* kName = "MXACT_PROGRESS";
  const char* const value = std::getenv(kName);  // NOLINT(concurrency-mt-unsafe): nobody sets variables
  const std::string word = value == nullptr ? "auto" : value;
  if (std::ranges::find(kWhen, word) == kWhen.end()) throw Error(ErrorCode::usage, unknown_name("word", word, kWhen), kName);
  return word;
}

}  // namespace

void add_progress_option(Verb verb, std::string& when) {
  verb.add_flag("--progress{always}", when,
                "percent, rate and time left on stderr: =auto on a terminal, and every ten seconds elsewhere (default), =always, =never")
      .check(
          [](const std::string& word) { return std::ranges::find(kWhen, word) == kWhen.end() ? unknown_name("word", word, kWhen) : std::string(); });
}

ProgressLine::ProgressLine(const std::string& option) {
  const std::string when = option.empty() ? variable() : option;
  always_ = when == "always";
  if (when == "never") return;
  form_ = isatty(STDERR_FILENO) == 1 ? Form::redrawn : Form::lines;
  try {
    teller_ = std::thread([this] { keep_saying(); });
  } catch (const std::system_error&) {
    // No thread to be had: what show() says has to do.
  }
}

ProgressLine::~ProgressLine() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  wake_.notify_all();
  if (teller_.joinable()) teller_.join();
  if (form_ == Form::redrawn && printed_) fmt::print(stderr, "\r\033[K");
}

void ProgressLine::show(const std::string& text, double share) { note(text, share, 0); }
void ProgressLine::show(const std::string& text) { note(text, std::nullopt, 0); }
void ProgressLine::show(const std::string& text, std::uint64_t done, std::uint64_t total) {
  note(text, total == 0 ? 0 : static_cast<double>(done) / static_cast<double>(total), done);
}

void ProgressLine::note(const std::string& text, std::optional<double> share, std::uint64_t bytes) {
  if (form_ == Form::silent) return;
  const std::lock_guard lock(mutex_);
  text_ = text;
  share_ = share;
  bytes_ = bytes;
  const auto now = Clock::now();
  const bool ends = share.value_or(0) >= 1 && (always_ || printed_);
  if (form_ == Form::redrawn || ends || (always_ && !printed_) || is_due(now)) print(now);
}

bool ProgressLine::is_due(Clock::time_point now) const {
  const auto between = form_ == Form::redrawn ? kBetweenDrawings : kBetweenLines;
  return now - printed_.value_or(begin_) >= between;
}

void ProgressLine::keep_saying() {
  std::unique_lock lock(mutex_);
  while (!ended_) {
    wake_.wait_for(lock, std::chrono::milliseconds(250));
    const auto now = Clock::now();
    if (!ended_ && is_due(now)) print(now);
  }
}

/// "312 MB/s, 2:05 left" behind what the verb is at.
std::string ProgressLine::line(Clock::time_point now) const {
  const double seconds = std::chrono::duration<double>(now - begin_).count();
  if (!share_) return fmt::format("{}  {}", text_, minutes_text(seconds));
  const std::string begin = fmt::format("{:3.0f} %  {:.100}", *share_ * 100, text_);
  if (*share_ <= 0 || *share_ > 1 || seconds <= 0) return begin;
  const std::string rate = bytes_ == 0 ? "" : rate_text(static_cast<double>(bytes_) / seconds) + ", ";
  return fmt::format("{}  {}{} left", begin, rate, minutes_text(seconds * (1 - *share_) / *share_));
}

void ProgressLine::print(Clock::time_point now) {
  printed_ = now;
  if (form_ == Form::lines) {
    fmt::print(stderr, "{}\n", line(now));
    return;
  }
  fmt::print(stderr, "\r\033[K{}", line(now));
  static_cast<void>(std::fflush(stderr));
}

}  // namespace mx::cli
