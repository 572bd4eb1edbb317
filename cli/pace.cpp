#include "cli/pace.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "model/names.hpp"

namespace mx::cli {
namespace {

constexpr std::array<std::string_view, 3> kWhen{"auto", "always", "never"};
constexpr std::chrono::seconds kBetweenLines{10};

}  // namespace

std::string pace_text(std::uint64_t done, std::uint64_t total, double seconds) {
  if (done == 0 || done > total || seconds <= 0) return {};
  const double rate = static_cast<double>(done) / seconds;
  const auto left = static_cast<std::uint64_t>(std::llround(static_cast<double>(total - done) / rate));
  const std::string speed = rate < 1e6 ? fmt::format("{:.0f} kB/s", rate / 1e3) : fmt::format("{:.{}f} MB/s", rate / 1e6, rate < 1e7 ? 1 : 0);
  return fmt::format("{}, {}:{:02} left", speed, left / 60, left % 60);
}

void add_progress_option(Verb verb, std::string& when) {
  verb.add_flag("--progress{always}", when, "percent, rate and time left on stderr: =auto while it is a terminal (default), =always, =never")
      .check(
          [](const std::string& word) { return std::ranges::find(kWhen, word) == kWhen.end() ? unknown_name("word", word, kWhen) : std::string(); });
}

PaceLine::PaceLine(const std::string& when) : form_(Form::silent) {
  const bool terminal = isatty(STDERR_FILENO) == 1;
  if (when == "never" || (!terminal && when != "always")) return;
  form_ = terminal ? Form::redrawn : Form::lines;
  if (terminal) line_.emplace();
}

void PaceLine::show(const std::string& text, std::uint64_t done, std::uint64_t total) {
  if (form_ == Form::silent) return;
  const auto now = Clock::now();
  if (!begin_) begin_ = now;
  const std::string pace = pace_text(done, total, std::chrono::duration<double>(now - *begin_).count());
  print(pace.empty() ? text : text + "  " + pace, total == 0 ? 0 : static_cast<double>(done) / static_cast<double>(total), now);
}

void PaceLine::print(const std::string& text, double fraction, Clock::time_point now) {
  if (form_ == Form::redrawn) return line_->show(text, fraction);
  if (printed_ && fraction < 1 && now - *printed_ < kBetweenLines) return;
  printed_ = now;
  fmt::print(stderr, "{:3.0f} %  {}\n", fraction * 100, text);
}

}  // namespace mx::cli
