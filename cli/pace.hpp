#pragma once
// Progress of work that is counted in bytes.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "cli/output.hpp"

namespace mx::cli {

/// "312 MB/s, 2:05 left" after `seconds` of work; empty while there is nothing to go by.
std::string pace_text(std::uint64_t done, std::uint64_t total, double seconds);

/// A ProgressLine with bytes a second and the time that is left, by the average since the first call.
class PaceLine {
 public:
  void show(const std::string& text, std::uint64_t done, std::uint64_t total);

 private:
  ProgressLine line_;
  std::optional<std::chrono::steady_clock::time_point> begin_;
};

}  // namespace mx::cli
