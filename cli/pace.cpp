#include "cli/pace.hpp"

#include <fmt/core.h>

namespace mx::cli {

std::string pace_text(std::uint64_t done, std::uint64_t total, double seconds) {
  if (done == 0 || done > total || seconds <= 0) return {};
  const double rate = static_cast<double>(done) / seconds;
  const auto left = static_cast<std::uint64_t>(static_cast<double>(total - done) / rate + 0.5);
  return fmt::format("{:.0f} MB/s, {}:{:02} left", rate / 1e6, left / 60, left % 60);
}

void PaceLine::show(const std::string& text, std::uint64_t done, std::uint64_t total) {
  const auto now = std::chrono::steady_clock::now();
  if (!begin_) begin_ = now;
  const std::string pace = pace_text(done, total, std::chrono::duration<double>(now - *begin_).count());
  line_.show(pace.empty() ? text : text + "  " + pace, total == 0 ? 0 : static_cast<double>(done) / static_cast<double>(total));
}

}  // namespace mx::cli
