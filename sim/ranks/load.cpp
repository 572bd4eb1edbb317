// A rank's tensors: slices of the checkpoint's, copied to the front of zero-filled buffers of the rounded sizes.

#include <algorithm>
#include <cstring>

#include "model/fault.hpp"
#include "model/layout/grains.hpp"
#include "sim/ranks/plan.hpp"

namespace mx::sim {
namespace {

using layout::Axis;
using layout::Role;

/// A tensor's memory within one expert: rows of columns, gate and up as the checkpoint orders them.
struct Grid {
  std::int64_t halves;
  std::int64_t rows;  ///< of one half
  std::int64_t columns;
  bool is_cut;        ///< by tensor parallelism: rows of w13, columns of w2
  std::int64_t unit;  ///< entries of the intermediate size to one of those
  bool interleaved;

  std::int64_t row_index(std::int64_t half, std::int64_t row) const { return interleaved ? row * halves + half : half * rows + row; }
  std::int64_t size() const { return halves * rows * columns; }
};

Grid grid_of(Role role, const layout::Sizes& sizes, const layout::Form& form) {
  const std::vector<Axis> axes = layout::logical_axes(role, sizes, form);
  Grid grid{1, 1, 1, axes.size() > 2, 1, form.order == layout::SourceOrder::gpt_oss};
  const std::size_t first = layout::is_w13(role) ? 2 : 1;
  if (first == 2 && axes.size() > 1) grid.halves = axes[1].extent;
  if (axes.size() > first) grid.rows = axes[first].extent;
  if (axes.size() > first + 1) grid.columns = axes[first + 1].extent;
  const std::int64_t cut = layout::is_w13(role) ? grid.rows : grid.columns;
  if (grid.is_cut) grid.unit = (sizes.intermediate + cut - 1) / cut;
  return grid;
}

void copy_units(std::span<const std::uint8_t> from, std::int64_t source, std::span<std::uint8_t> to, std::int64_t target, std::int64_t count,
                int bits) {
  if (source * bits % 8 == 0 && target * bits % 8 == 0 && count * bits % 8 == 0) {
    std::memcpy(to.data() + target * bits / 8, from.data() + source * bits / 8, static_cast<std::size_t>(count * bits / 8));
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) layout::set_grain(to, target + i, bits, layout::get_grain(from, source + i, bits));
}

/// What of a tensor the rank's interval covers, in units of the tensor.
Interval share_of(Role role, const Grid& whole, const Interval& intermediate) {
  if (!whole.is_cut) return {0, layout::is_w13(role) ? whole.rows : whole.columns};
  const std::int64_t last = (intermediate.first + intermediate.count + whole.unit - 1) / whole.unit;
  const std::int64_t first = intermediate.first / whole.unit;
  return {first, intermediate.count == 0 ? 0 : last - first};
}

/// The checkpoint's squares are those of the rank so many times, in rows and in columns; 1 of what has no squares.
std::int64_t times_finer(Role role, const layout::CanonicalLayer& from, const layout::CanonicalLayer& to) {
  if (!layout::is_scale(role) || !layout::has_squares(from.form.format)) return 1;
  return layout::block_side(from.sizes.group) / layout::block_side(to.sizes.group);
}

/// Scales of finer squares: each is that of the checkpoint's square that holds it.
void copy_finer(Role role, const layout::CanonicalLayer& from, std::int64_t source, layout::CanonicalLayer& to, std::int64_t target,
                const Interval& intermediate) {
  const Grid whole = grid_of(role, from.sizes, from.form), part = grid_of(role, to.sizes, to.form);
  const int bits = layout::unit_bits(role, from.form.format);
  const std::int64_t side = layout::block_side(from.sizes.group), own = layout::block_side(to.sizes.group);
  const bool by_rows = layout::is_w13(role);
  const std::int64_t cut = (intermediate.count + own - 1) / own;
  for (std::int64_t half = 0; half < whole.halves; ++half) {
    for (std::int64_t row = 0; row < (by_rows ? cut : part.rows); ++row) {
      for (std::int64_t column = 0; column < (by_rows ? part.columns : cut); ++column) {
        const std::int64_t source_row = ((by_rows ? intermediate.first : 0) + row * own) / side;
        const std::int64_t source_column = ((by_rows ? 0 : intermediate.first) + column * own) / side;
        copy_units(from[role], source * whole.size() + whole.row_index(half, source_row) * whole.columns + source_column, to[role],
                   target * part.size() + part.row_index(half, row) * part.columns + column, 1, bits);
      }
    }
  }
}

void copy_expert(Role role, const layout::CanonicalLayer& from, std::int64_t source, layout::CanonicalLayer& to, std::int64_t target,
                 const Interval& intermediate) {
  if (times_finer(role, from, to) > 1) return copy_finer(role, from, source, to, target, intermediate);
  const Grid whole = grid_of(role, from.sizes, from.form);
  const Grid part = grid_of(role, to.sizes, to.form);
  const int bits = layout::unit_bits(role, from.form.format);
  const Interval share = share_of(role, whole, intermediate);
  const bool by_rows = layout::is_w13(role);
  const std::int64_t columns = by_rows ? whole.columns : share.count;
  const std::int64_t first_column = by_rows ? 0 : share.first;
  for (std::int64_t half = 0; half < whole.halves; ++half) {
    for (std::int64_t row = 0; row < (by_rows ? share.count : whole.rows); ++row) {
      const std::int64_t source_row = whole.row_index(half, by_rows ? share.first + row : row);
      const bool global_scales = fault::planted(fault::Fault::sim_scales_of_first_experts) && layout::is_scale(role);
      copy_units(from[role], (global_scales ? target : source) * whole.size() + source_row * whole.columns + first_column, to[role],
                 target * part.size() + part.row_index(half, row) * part.columns, columns, bits);
    }
  }
}

}  // namespace

layout::CanonicalLayer loaded_layer(const layout::CanonicalLayer& whole, const Plan& plan, const RankPlan& rank) {
  layout::CanonicalLayer part{plan.allocated, whole.form, {}};
  part.sizes.experts = static_cast<std::int64_t>(rank.loaded.size());
  for (Role role : layout::kAllRoles) {
    if (whole[role].empty()) continue;
    part[role].resize(static_cast<std::size_t>(layout::canonical(role, part.sizes, part.form).bytes()));
    if (role == Role::w2_bias && !rank.loads_w2_bias) continue;
    for (std::size_t local = 0; local < rank.loaded.size(); ++local) {
      if (rank.loaded[local] >= 0) copy_expert(role, whole, rank.loaded[local], part, static_cast<std::int64_t>(local), rank.intermediate);
    }
  }
  return part;
}

}  // namespace mx::sim
