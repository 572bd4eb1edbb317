#pragma once
// One direction between two layouts of a tensor, compiled: a single move wherever both are made of digits, else two with row-major memory between.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/isa.hpp"
#include "model/layout/layout.hpp"

namespace mx::kernels::relayout {

class Move;

/// How a part of a way is done.
struct PlanStage {
  std::string_view kind;    ///< "runs": whole runs of bytes; "bytes", "bits": what moves inside a tile; "address map": grain by grain
  std::string_view kernel;  ///< row of the tile kernels
  std::size_t memory;       ///< bytes that the plan keeps for it
};

/// What a buffer has to be.
struct BufferNeed {
  std::int64_t bytes;
  std::size_t align;
};
BufferNeed buffer_need(const layout::Layout& layout);

/// Throws Error(usage) when a buffer has another size, is not aligned, or overlaps the other, or when `threads` is not in 1..1024.
void check_buffers(std::span<const std::uint8_t> source, const BufferNeed& source_need, std::span<std::uint8_t> target, const BufferNeed& target_need,
                   int threads);

/// What becomes of units that the source dropped.
enum class Dropped { refused, zero };

class Way {
 public:
  /// Throws Error(usage) when the layouts speak of different tensors, Error(unsupported) for a tier that this processor cannot run.
  Way(const layout::Layout& from, const layout::Layout& to, const IsaTier& tier, Dropped dropped);
  ~Way();
  Way(Way&&) noexcept;
  Way& operator=(Way&&) noexcept;

  const BufferNeed& source_need() const { return source_need_; }
  const BufferNeed& target_need() const { return target_need_; }
  std::vector<PlanStage> stages() const;

  /// Writes the whole target, unwritten bytes 0. Throws before as check_buffers does, Error(usage) when units were dropped and that is refused,
  /// Error(input) when copies of a unit differ.
  void run(std::span<const std::uint8_t> source, std::span<std::uint8_t> target, int threads) const;

 private:
  std::vector<std::unique_ptr<Move>> moves_;
  BufferNeed source_need_;
  BufferNeed target_need_;
  std::int64_t between_bytes_ = 0;
  std::string refusal_;  ///< why it cannot be gone; empty: it can
};

}  // namespace mx::kernels::relayout
