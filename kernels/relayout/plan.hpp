#pragma once
// Layout conversion in one pass: a pair of view programs compiled into a gather plan, both ways, with the same bytes as mx::layout::apply.

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/isa.hpp"
#include "kernels/relayout/way.hpp"
#include "model/families/memory.hpp"
#include "model/layout/layout.hpp"

namespace mx::kernels::relayout {

/// A compiled conversion. Cheap to keep: of programs made of digits it holds a tile, whatever the size of the tensor.
class Plan {
 public:
  /// Throws Error(usage) when the layouts speak of different tensors, Error(unsupported) for a tier that this processor cannot run.
  Plan(const layout::Layout& from, const layout::Layout& to, const IsaTier& tier)
      : forward_(from, to, tier, Dropped::refused), backward_(to, from, tier, Dropped::refused) {}

  std::int64_t from_bytes() const { return forward_.source_need().bytes; }
  std::int64_t to_bytes() const { return forward_.target_need().bytes; }
  std::vector<PlanStage> stages() const { return forward_.stages(); }        ///< of apply, in order; one wherever both layouts are made of digits
  std::vector<PlanStage> undo_stages() const { return backward_.stages(); }  ///< of undo

  friend void apply(const Plan& plan, std::span<const std::uint8_t> source, std::span<std::uint8_t> target, int threads);
  friend void undo(const Plan& plan, std::span<const std::uint8_t> source, std::span<std::uint8_t> target, int threads);

 private:
  Way forward_;
  Way backward_;
};

/// A plan from one layout to another of the same tensor, for the instruction sets in use. Throws Error(usage) when they speak of different tensors.
Plan plan(const layout::Layout& from, const layout::Layout& to);
/// From the row-major tensor.
Plan plan(const layout::Layout& to);
/// The same for a backend's tensor from its checkpoint form. Throws Error(unsupported) naming the transform when values change on the way: TensorMove
/// (tensor.hpp) does both.
Plan plan(const layout::Layout& from, const layout::TensorPlan& to);

/// `source` in the layout `from` -> `target` in the layout `to`, padding included, unwritten bytes 0; the same bytes for any number of threads.
/// Throws Error(usage) before anything is written when a buffer has another size than its layout, is not aligned to its layout's units, or overlaps
/// the other, when `threads` is not in 1..1024, and when `from` does not hold every element.
void apply(const Plan& plan, std::span<const std::uint8_t> source, std::span<std::uint8_t> target, int threads);
/// The way back: `source` in the layout `to`, `target` in the layout `from`. Besides, throws Error(input) when copies of an element differ.
void undo(const Plan& plan, std::span<const std::uint8_t> source, std::span<std::uint8_t> target, int threads);

}  // namespace mx::kernels::relayout
