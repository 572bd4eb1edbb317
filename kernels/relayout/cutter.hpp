#pragma once
// The digits of a move cut into those inside a tile, those inside a stage, and those outside.

#include <cstdint>
#include <vector>

#include "kernels/relayout/digits.hpp"

namespace mx::kernels::relayout {

/// Stride on a side, without its sign.
std::int64_t stride_of(const SharedDigit& digit, bool source);

class Cutter {
 public:
  explicit Cutter(const SharedDigits& digits) : outside_(digits.digits), limits_(digits.limits), unit_bits_(digits.unit_bits) {}

  /// Takes digits until `units` neighbours of one side are in the tile, or as many as there are without a gap. Where blocks do not
  /// fill a digit they may be smaller, down to `least` units, to waste less.
  void take_run(bool source, std::int64_t units, std::int64_t least);

  /// Of digits that lie alike on both sides: neighbours of both that go together.
  void take_common_run(std::int64_t units);

  /// Whether tiles are written in whole lines, as far as the digits say.
  bool writes_lines() const;

  /// Puts digits into the stage, a copy of a part of the target that is filled by several tiles and then written run by run: until runs have at least
  /// `shortest` units and whole lines, or until the stage would have more than `most` units. Returns the units of a run, 0 when there are no runs of
  /// `shortest` units. `all`: units of the target. Call it last.
  std::int64_t take_stage(std::int64_t shortest, std::int64_t most, std::int64_t all);

  std::int64_t tile_units() const;
  std::int64_t all_units() const;  ///< of all tiles, with what they have beyond the tensor's edges

  const std::vector<SharedDigit>& inside() const { return inside_; }
  const std::vector<SharedDigit>& staged() const { return staged_; }
  const std::vector<SharedDigit>& outside() const { return outside_; }
  const std::vector<Limit>& limits() const { return limits_; }

 private:
  void take(std::vector<SharedDigit>::iterator digit, std::int64_t block, std::vector<SharedDigit>& into);

  std::vector<SharedDigit> outside_;
  std::vector<SharedDigit> inside_;
  std::vector<SharedDigit> staged_;
  std::vector<Limit> limits_;
  int unit_bits_;
};

}  // namespace mx::kernels::relayout
