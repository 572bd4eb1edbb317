#include "golden/vectors/coverage.hpp"

#include <algorithm>

#include "model/fault.hpp"

namespace mx::golden {

Coverage::Coverage(const VectorOp& op) {
  for (const CoverageAxis& axis : op.axes()) hits_.emplace_back(axis.bins.size(), 0);
}

void Coverage::add(std::span<const std::uint8_t> bins) {
  for (std::size_t axis = 0; axis < bins.size(); ++axis) {
    if (bins[axis] != 0) ++hits_[axis][bins[axis] - 1U];
  }
}

std::size_t Coverage::hit_count(std::size_t axis) const {
  return static_cast<std::size_t>(std::ranges::count_if(hits_[axis], [](std::uint64_t hits) { return hits != 0; }));
}

Coverage directed_coverage(const VectorOp& op) {
  Coverage coverage(op);
  std::vector<std::uint32_t> results(lane_count(op.results()));
  std::vector<std::uint8_t> bins(op.axes().size());
  op.directed([&](Lanes operands) {
    op.evaluate(operands, results);
    op.bins(operands, results, bins);
    coverage.add(bins);
  });
  return coverage;
}

std::vector<AxisCoverage> coverage_report(const VectorOp& op, const Coverage& met, const Coverage& reachable) {
  std::vector<AxisCoverage> report;
  for (std::size_t axis = 0; axis < op.axes().size(); ++axis) {
    const CoverageAxis& row = op.axes()[axis];
    AxisCoverage entry{row.name, 0, reachable.hit_count(axis), row.bins.size(), {}, {}};
    for (std::size_t bin = 0; bin < row.bins.size(); ++bin) {
      if (!reachable.is_hit(axis, bin)) {
        entry.unreachable.emplace_back(row.bins[bin], op.why_unreachable(axis, bin));
      } else if (met.is_hit(axis, bin) || fault::planted(fault::Fault::coverage_counts_missed)) {
        ++entry.hit;
      } else {
        entry.missed.push_back(row.bins[bin]);
      }
    }
    report.push_back(std::move(entry));
  }
  return report;
}

}  // namespace mx::golden
