#pragma once
// A rank's tensor as its loader left it, beside the checkpoint's.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/ranks/plan.hpp"

namespace mx::sim {

/// Entry `cut` of the axis that tensor parallelism cuts is entry first + cut of the whole one's; what no entry of the whole one belongs to is zero.
class LoadedTensor {
 public:
  /// Both layers must outlive this.
  LoadedTensor(const layout::CanonicalLayer& whole, const layout::CanonicalLayer& part, const RankPlan& plan, layout::Role role);

  /// Rows along the last axis, and their length.
  std::int64_t rows() const { return rows_; }
  std::int64_t length() const { return length_; }
  /// The first wrong entry of a row, as "role [coordinates]", or none.
  std::optional<std::string> difference(std::int64_t row) const;

 private:
  /// A tensor in its own memory.
  struct Tensor {
    Tensor(const layout::CanonicalLayer& layer, layout::Role role);
    std::int64_t extent(std::size_t axis) const { return axis < axes.size() ? axes[axis].extent : 1; }

    std::vector<layout::Axis> axes;
    layout::Layout memory;
    std::span<const std::uint8_t> bytes;
  };
  /// Units at equal distances.
  struct Line {
    const Tensor* tensor;
    std::int64_t first;
    std::int64_t stride;
    std::int64_t count;

    std::uint64_t unit(std::int64_t k) const;
    /// The bytes of the first `length` of them, where they lie together in whole ones.
    std::optional<std::span<const std::uint8_t>> run(std::int64_t length) const;
  };
  static Line line(const Tensor& tensor, std::vector<std::int64_t> coord, std::int64_t count);
  /// Whether the first `count` of both are known to be the same bytes.
  static bool same(const Line& a, const Line& b, std::int64_t count);
  /// What the whole tensor has for a row of the part, as far as it has anything.
  std::optional<Line> expected(std::vector<std::int64_t> coord) const;

  const RankPlan& plan_;
  Tensor whole_;
  Tensor part_;
  layout::Role role_;
  std::int64_t unit_ = 1;   ///< entries of the intermediate size to one of the axis
  std::int64_t times_ = 1;  ///< finer squares of the part in a square of the whole, along a side; above 1 each unit is a row of its own
  std::int64_t length_;
  std::int64_t rows_;
};

}  // namespace mx::sim
