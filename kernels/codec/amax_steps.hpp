#pragma once
// The scaling of a group as a step function of its largest magnitude: worked out once from the model's own rule, then looked up.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "model/numerics/block.hpp"

namespace mx::kernels {

/// A rule whose answer is the same over long stretches of amax: scales that are powers of two, or E4M3 codes.
class AmaxSteps {
 public:
  /// The model's rule: fp32 bits of an amax to its scaling. Within 16 binades an answer that changed never returns.
  using Rule = std::function<BlockScaling(std::uint32_t)>;
  /// Whether the kernels take a group of this amax under this scaling. The largest of up to 16 binades with one scaling is asked for all of them.
  using Takes = std::function<bool(std::uint32_t, const BlockScaling&)>;

  /// None where the steps lie too close for a table.
  static std::optional<AmaxSteps> of(const Rule& rule, const Takes& takes);

  /// The scaling for an amax; a factor of 0 stands for groups that are left to the model.
  BlockScaling at(std::uint32_t amax) const {
    const Bucket& bucket = buckets_[amax >> shift_];
    return bucket.scaling[amax < bucket.from ? 0 : 1];
  }

 private:
  struct Bucket {
    BlockScaling scaling[2];  ///< below `from`, and from it on
    std::uint32_t from;
  };

  /// A scaling from an amax on, until that of the next one.
  struct Step {
    std::uint32_t from;
    BlockScaling scaling;
  };
  static std::vector<Step> steps_of(const Rule& rule, const Takes& takes);
  bool fill(std::span<const Step> steps, unsigned shift);

  unsigned shift_ = 0;
  std::vector<Bucket> buckets_;  ///< one for each amax >> shift_, of the patterns above infinity too
};

}  // namespace mx::kernels
