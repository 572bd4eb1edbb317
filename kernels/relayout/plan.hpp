#pragma once
// Layout conversion in one pass: a pair of view programs compiled into a gather plan, both ways, with the same bytes as mx::layout::apply.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/isa.hpp"
#include "model/layout/backend.hpp"
#include "model/layout/layout.hpp"

namespace mx::kernels::relayout {

class Move;

/// How one direction of a plan is done.
struct PlanStage {
  std::string_view kind;    ///< "runs": whole runs of bytes; "bytes", "bits": what moves inside a tile; "address map": grain by grain
  std::string_view kernel;  ///< row of the tile kernels
  std::size_t memory;       ///< bytes that the plan keeps for it
};

/// A compiled conversion. Cheap to keep: of programs made of digits it holds a tile, whatever the size of the tensor.
class Plan {
 public:
  Plan(const layout::Layout& from, const layout::Layout& to, const IsaTier& tier);
  ~Plan();
  Plan(Plan&&) noexcept;
  Plan& operator=(Plan&&) noexcept;

  std::int64_t from_bytes() const { return forward_.source_bytes; }
  std::int64_t to_bytes() const { return forward_.target_bytes; }
  std::vector<PlanStage> stages() const;       ///< of apply, in order; one wherever both layouts are made of digits
  std::vector<PlanStage> undo_stages() const;  ///< of undo

  friend void apply(const Plan& plan, std::span<const std::uint8_t> source, std::span<std::uint8_t> target, int threads);
  friend std::vector<std::uint8_t> moved(const layout::Layout& from, std::span<const std::uint8_t> source, const layout::Layout& to);
  friend void undo(const Plan& plan, std::span<const std::uint8_t> source, std::span<std::uint8_t> target, int threads);

 private:
  /// One direction: moves with the size of what lies between them.
  struct Way {
    std::vector<std::unique_ptr<Move>> moves;
    std::int64_t source_bytes;
    std::int64_t between_bytes;
    std::int64_t target_bytes;
    std::string refusal;  ///< why it cannot be gone; empty: it can
    std::size_t source_align;
    std::size_t target_align;
    void run(std::span<const std::uint8_t> source, std::span<std::uint8_t> target, int threads) const;
  };
  /// The two layouts in the same units.
  static std::pair<layout::Layout, layout::Layout> matched(const layout::Layout& from, const layout::Layout& to);
  static Way way(const layout::Layout& from, const layout::Layout& to, const IsaTier& tier);

  Way forward_;
  Way backward_;
};

/// A plan from one layout to another of the same tensor, for the instruction sets in use. Throws Error(usage) when they speak of different tensors.
Plan plan(const layout::Layout& from, const layout::Layout& to);
/// From the row-major tensor.
Plan plan(const layout::Layout& to);
/// The same for a backend's tensor from its checkpoint form. Throws Error(unsupported) naming the transform when values change on the way.
Plan plan(const layout::Layout& from, const layout::TensorPlan& to);

/// `source` in the layout `from` -> `target` in the layout `to`, padding included, unwritten bytes 0; the same bytes for any number of threads.
/// Throws Error(usage) before anything is written when a buffer has another size than its layout, is not aligned to its layout's units, or overlaps
/// the other, when `threads` is not in 1..1024, and when `from` does not hold every element.
void apply(const Plan& plan, std::span<const std::uint8_t> source, std::span<std::uint8_t> target, int threads);
/// The way back: `source` in the layout `to`, `target` in the layout `from`. Besides, throws Error(input) when copies of an element differ.
void undo(const Plan& plan, std::span<const std::uint8_t> source, std::span<std::uint8_t> target, int threads);

/// The whole of it as the model's converters take it (layout::Mover), with every thread that OpenMP has; throws as plan() and apply() do.
std::vector<std::uint8_t> moved(const layout::Layout& from, std::span<const std::uint8_t> source, const layout::Layout& to);

}  // namespace mx::kernels::relayout
