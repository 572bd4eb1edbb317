#include "checkpoint/inspect/chance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace mx::checkpoint {

double chance_of_alike(const ScaleCounts& pool, std::int64_t count) {
  std::int64_t all = 1, most = 0;
  for (const auto& [number, of] : pool) {
    all += of;
    most = std::max(most, of);
  }
  return static_cast<double>(count) * std::log10(static_cast<double>(most + 1) / static_cast<double>(all));
}

double chance_of_equal(const ScaleCounts& pool, std::int64_t count) {
  double all = 0, squares = 0;
  for (const auto& [number, of] : pool) {
    all += static_cast<double>(of);
    squares += static_cast<double>(of) * static_cast<double>(of);
  }
  return all == 0 ? 0 : static_cast<double>(count) * std::log10(squares / (all * all));
}

std::string chance_text(double power) {
  constexpr double kLeast = -300;
  return power < kLeast ? fmt::format("below 1e{:.0f}", kLeast) : fmt::format("about 1e{:.0f}", std::floor(power));
}

}  // namespace mx::checkpoint
