#pragma once
// A compiled move from one memory to another: by tiles where both are digits, else along the address map.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "kernels/isa.hpp"
#include "kernels/relayout/code.hpp"
#include "model/layout/address_map.hpp"
#include "model/layout/layout.hpp"

namespace mx::kernels::relayout {

/// One pass over a target's memory. Sizes and overlaps are checked by the caller.
class Move {
 public:
  virtual ~Move() = default;
  /// Writes the whole target. `threads` >= 1.
  virtual void run(std::span<const std::uint8_t> source, std::span<std::uint8_t> target, int threads) const = 0;
  virtual std::string_view kind() const = 0;    ///< "runs", "bytes", "bits" or "address map"
  virtual std::string_view kernel() const = 0;  ///< of the instruction set
  virtual std::size_t memory() const = 0;       ///< bytes that the move keeps
};

/// A move in tiles; null when the two layouts share no digits.
std::unique_ptr<Move> tile_move(const layout::Layout& from, const layout::Layout& to, const IsaTier& tier);

/// From the row-major tensor into a layout, and back, along the layout's address map. The way back writes 0 where the layout drops elements; throws
/// Error(input) when copies of an element differ, before anything is written.
std::unique_ptr<Move> map_move(const layout::Layout& to);
std::unique_ptr<Move> map_move_back(const layout::Layout& from);

}  // namespace mx::kernels::relayout
