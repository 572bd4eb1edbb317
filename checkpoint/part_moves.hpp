#pragma once
// Tensors in equal parts, expert by expert where their layouts let them: moved by compiled plans, in memory that is used again.

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "kernels/relayout/tensor.hpp"
#include "model/layout/layout.hpp"
#include "support/stop.hpp"

namespace mx::checkpoint {

/// Into how many parts all these layouts of one tensor fall: its experts, or 1 where one of them mixes experts.
std::int64_t parts_of(std::initializer_list<const layout::Layout*> layouts);
/// One of so many parts.
layout::Layout part_of(const layout::Layout& layout, std::int64_t parts);

/// Memory of turns.
struct PartMemory {
  std::vector<std::uint8_t> read;
  std::vector<std::uint8_t> held;
  std::array<std::vector<std::uint8_t>, 2> made;  ///< one is written while the other one is filled
};
/// So many bytes of it; what was there is gone when it has to grow.
std::span<std::uint8_t> room(std::vector<std::uint8_t>& memory, std::uint64_t size);

/// Moves parts, one behind the other in both memories, and leaves a thread to whoever reads or writes beside. Throws as TensorMove::run does.
void move_parts(const kernels::relayout::TensorMove& move, std::span<const std::uint8_t> source, std::span<std::uint8_t> target);

/// Calls visit(first, count) for all parts in order: a few megabytes a turn, or one part. Throws Stopped between two turns.
template <class Visit>
void for_each_turn(std::uint64_t parts, std::uint64_t part_bytes, const support::StopPoint& stop, const Visit& visit) {
  constexpr std::uint64_t kTurn = std::uint64_t{4} << 20;
  const std::uint64_t turn = std::clamp<std::uint64_t>(kTurn / part_bytes, 1, parts);
  for (std::uint64_t first = 0; first < parts; first += turn) {
    stop.check();
    visit(first, std::min(turn, parts - first));
  }
}

}  // namespace mx::checkpoint
