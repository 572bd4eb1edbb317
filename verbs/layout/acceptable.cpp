#include "verbs/layout/acceptable.hpp"

#include <algorithm>

namespace mx::verbs {
namespace {

using Sizes = std::array<std::int64_t, 2>;

constexpr int kMostRules = 16;
constexpr int kMostSteps = 1024;

bool has(const std::vector<std::string>& quantities, const std::string& quantity) {
  return std::ranges::find(quantities, quantity) != quantities.end();
}

/// The nearest sizes, one of them raised, that mend the rule on `quantity`.
std::optional<Sizes> mended(const Sizes& sizes, std::int64_t step, const std::string& quantity, const BrokenQuantities& broken) {
  for (int raised = 1; raised <= kMostSteps; ++raised) {
    for (std::size_t which = 0; which < sizes.size(); ++which) {
      Sizes larger = sizes;
      larger[which] += raised * step;
      if (!has(broken(larger), quantity)) return larger;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Sizes> next_acceptable(Sizes sizes, std::int64_t step, const BrokenQuantities& broken) {
  for (int rule = 0; rule < kMostRules; ++rule) {
    const std::vector<std::string> quantities = broken(sizes);
    if (quantities.empty()) return sizes;
    const std::optional<Sizes> larger = mended(sizes, step, quantities.front(), broken);
    if (!larger) return std::nullopt;
    sizes = *larger;
  }
  return std::nullopt;
}

}  // namespace mx::verbs
