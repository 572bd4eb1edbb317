#include "checkpoint/part_moves.hpp"

#include <omp.h>

#include "kernels/pieces.hpp"
#include "kernels/zeros.hpp"

namespace mx::checkpoint {

using layout::Layout;

std::int64_t parts_of(std::initializer_list<const Layout*> layouts) {
  const bool apart = std::ranges::all_of(layouts, [](const Layout* layout) { return layout->part_of_stack(1).has_value(); });
  return apart ? (*layouts.begin())->logical().front().extent : 1;
}

Layout part_of(const Layout& layout, std::int64_t parts) { return parts == 1 ? layout : *layout.part_of_stack(1); }

std::span<std::uint8_t> room(std::vector<std::uint8_t>& memory, std::uint64_t size) {
  if (memory.size() < size) memory = kernels::zeros(static_cast<std::size_t>(size));
  return std::span(memory).first(static_cast<std::size_t>(size));
}

void move_parts(const kernels::relayout::TensorMove& move, std::span<const std::uint8_t> source, std::span<std::uint8_t> target) {
  const int threads = std::max(1, omp_get_max_threads() - 1);
  const auto from = static_cast<std::size_t>(move.source_bytes()), to = static_cast<std::size_t>(move.target_bytes());
  if (source.size() == from) return move.run(source, target, threads);
  kernels::for_each_piece(source.size() / from, threads,
                          [&](std::size_t i) { move.run(source.subspan(i * from, from), target.subspan(i * to, to), 1); });
}

}  // namespace mx::checkpoint
