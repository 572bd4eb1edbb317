#pragma once
// Devices for tests: what a design under test does with a stream, right or wrong on purpose.

#include <functional>
#include <string>
#include <vector>

#include "golden/vectors/checker.hpp"
#include "golden/vectors/families.hpp"
#include "golden/vectors/text.hpp"

namespace mx::tests {

/// An operation with choices.
inline std::unique_ptr<golden::VectorOp> op_with(std::string_view name, std::vector<golden::OpSetting> options) {
  return golden::op_named(name, golden::OpOptions(std::move(options)));
}

/// Gives its results for operands.
using Device = std::function<void(golden::Lanes operands, golden::MutableLanes results)>;

/// The stream of a device that was fed with a set: header, operands and answers.
inline std::string stream_of(const golden::VectorOp& op, const golden::SetChoice& choice, const Device& device) {
  golden::VectorSet set(op, choice);
  std::string text = golden::header_text(op, set, op.operands());
  std::vector<std::uint32_t> operands(golden::lane_count(op.operands()));
  std::vector<std::uint32_t> results(golden::lane_count(op.results()));
  while (set.next(operands)) {
    device(operands, results);
    golden::append_fields(text, op.operands(), operands, ' ');
    golden::append_fields(text, op.results(), results, ' ');
    text += '\n';
  }
  return text;
}

/// The device that answers what the operation says.
inline Device right_device(const golden::VectorOp& op) {
  return [&op](golden::Lanes operands, golden::MutableLanes results) { op.evaluate(operands, results); };
}

inline golden::CheckReport check(const golden::VectorOp& op, const golden::SetChoice& choice, const std::string& stream, bool with_expected = false) {
  golden::StreamChecker checker(op, golden::VectorSet(op, choice), 20, with_expected);
  checker.take(stream);
  return checker.finish();
}

inline constexpr golden::SetChoice kDirected{golden::SetKind::directed};

/// The bins that a set meets.
inline golden::Coverage coverage_of(const golden::VectorOp& op, const golden::SetChoice& choice) {
  golden::Coverage coverage(op);
  golden::VectorSet set(op, choice);
  std::vector<std::uint32_t> operands(golden::lane_count(op.operands()));
  std::vector<std::uint32_t> results(golden::lane_count(op.results()));
  std::vector<std::uint8_t> bins(op.axes().size());
  while (set.next(operands)) {
    op.evaluate(operands, results);
    op.bins(operands, results, bins);
    coverage.add(bins);
  }
  return coverage;
}

/// Bins that a set of all inputs meets and the directed one does not.
inline std::string missed(const golden::VectorOp& op, const golden::Coverage& all, const golden::Coverage& directed) {
  std::string text;
  for (std::size_t axis = 0; axis < op.axes().size(); ++axis) {
    for (std::size_t bin = 0; bin < op.axes()[axis].bins.size(); ++bin) {
      if (all.is_hit(axis, bin) && !directed.is_hit(axis, bin)) text += op.axes()[axis].name + " " + op.axes()[axis].bins[bin] + "; ";
    }
  }
  return text;
}

}  // namespace mx::tests
