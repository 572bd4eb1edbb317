#pragma once
// Which bins of an operation's coverage were met, out of those that can be.

#include <string>
#include <vector>

#include "golden/vectors/op.hpp"

namespace mx::golden {

/// Hits of every bin, by axis.
class Coverage {
 public:
  explicit Coverage(const VectorOp& op);

  void add(std::span<const std::uint8_t> bins);
  bool is_hit(std::size_t axis, std::size_t bin) const { return hits_[axis][bin] != 0; }
  std::uint64_t hits(std::size_t axis, std::size_t bin) const { return hits_[axis][bin]; }
  std::size_t hit_count(std::size_t axis) const;

 private:
  std::vector<std::vector<std::uint64_t>> hits_;
};

/// What the directed set meets: the bins that can be met.
Coverage directed_coverage(const VectorOp& op);

/// One axis of a report.
struct AxisCoverage {
  std::string name;
  std::size_t hit;  ///< of the reachable ones
  std::size_t reachable;
  std::size_t total;
  std::vector<std::string> missed;                               ///< reachable, but not met
  std::vector<std::pair<std::string, std::string>> unreachable;  ///< with the reason
};
std::vector<AxisCoverage> coverage_report(const VectorOp& op, const Coverage& met, const Coverage& reachable);

}  // namespace mx::golden
