#pragma once
// One tensor of a conversion in one direction: its way, and what becomes of its values on it.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kernels/isa.hpp"
#include "kernels/relayout/way.hpp"
#include "model/layout/packed.hpp"

namespace mx::kernels::relayout {

/// A compiled way of a tensor between a checkpoint's memory and a backend's, cast included; the same bytes as layout::kMoveByUnits for any number of
/// threads. Cheap to keep, and good for every tensor of the same two layouts.
class TensorMove {
 public:
  /// Out of a checkpoint's memory into a backend's. Throws Error(usage) when the layouts speak of different tensors.
  static TensorMove place(const layout::Layout& from, const layout::TensorPlan& to, const IsaTier& tier = isa_tier());
  /// The way back. Units that the backend's layout drops become 0, of those that its cast makes equal the smallest is taken.
  static TensorMove take(const layout::TensorPlan& from, const layout::Layout& to, const IsaTier& tier = isa_tier());

  std::int64_t source_bytes() const { return source_need_.bytes; }
  std::int64_t target_bytes() const { return target_need_.bytes; }
  /// In order; one wherever values stay and both layouts are made of digits. A cast is a stage "values".
  std::vector<PlanStage> stages() const;

  /// Writes the whole target, unwritten bytes 0. Throws before anything is written Error(usage) when a buffer has another size than its layout, is
  /// not aligned to its layout's units, or overlaps the other, and when `threads` is not in 1..1024; Error(input) when copies of a unit differ, or
  /// for a value that the cast never makes.
  void run(std::span<const std::uint8_t> source, std::span<std::uint8_t> target, int threads) const;

 private:
  enum class Values { stay, made, taken_back };

  TensorMove(const layout::Layout& from, const layout::Layout& to, const layout::Cast& cast, Values values);

  const layout::Cast* cast_;
  Values values_;
  std::optional<Way> before_;  ///< of values that change: into logical order, where it is not that already
  std::optional<Way> after_;
  BufferNeed source_need_;
  BufferNeed target_need_;
};

/// Through TensorMove, with every thread that OpenMP has.
extern const layout::Mover kMoveByPlans;

}  // namespace mx::kernels::relayout
