#include "sim/ranks/loaded_tensor.hpp"

#include <algorithm>
#include <utility>

#include "model/layout/grains.hpp"

namespace mx::sim {
namespace {

using layout::Role;

/// I of [E, half, I, ...], K or its groups of [E, N, K]; scales and biases that are whole on every rank have fewer axes.
constexpr std::size_t kCutAxis = 2;

/// Squares of the part in a square of the whole, along a side.
std::int64_t times_finer(const layout::CanonicalLayer& whole, const layout::CanonicalLayer& part, Role role) {
  if (!layout::is_scale(role) || !layout::has_squares(whole.form.format)) return 1;
  return layout::block_side(whole.sizes.group) / layout::block_side(part.sizes.group);
}

}  // namespace

LoadedTensor::Tensor::Tensor(const layout::CanonicalLayer& layer, Role role)
    : axes(layout::logical_axes(role, layer.sizes, layer.form)), memory(layout::canonical(role, layer.sizes, layer.form)), bytes(layer[role]) {}

LoadedTensor::LoadedTensor(const layout::CanonicalLayer& whole, const layout::CanonicalLayer& part, const RankPlan& plan, Role role)
    : plan_(plan),
      whole_(whole, role),
      part_(part, role),
      role_(role),
      times_(times_finer(whole, part, role)),
      // Where experts are the only axis, each is a row of its own.
      length_(part_.axes.size() > 1 && times_ == 1 ? part_.axes.back().extent : 1),
      rows_(part_.memory.size() / length_) {
  if (whole_.axes.size() <= kCutAxis) return;
  const std::int64_t extent = whole_.extent(kCutAxis);
  unit_ = times_ > 1 ? layout::block_side(part.sizes.group) : (whole.sizes.intermediate + extent - 1) / extent;
}

std::optional<std::string> LoadedTensor::difference(std::int64_t row) const {
  std::vector<std::int64_t> coord(part_.axes.size());
  std::int64_t rest = row;
  const bool by_lines = part_.axes.size() > 1 && times_ == 1;
  for (std::size_t axis = part_.axes.size() - (by_lines ? 1 : 0); axis-- > 0;) {
    coord[axis] = rest % part_.axes[axis].extent;
    rest /= part_.axes[axis].extent;
  }
  const Line got = line(part_, coord, length_);
  const std::optional<Line> want = expected(coord);
  const std::int64_t loaded = want ? std::min(want->count, length_) : 0;
  const bool same_head = want && same(got, *want, loaded);
  for (std::int64_t k = same_head ? loaded : 0; k < length_; ++k) {
    if (got.unit(k) == (k < loaded ? want->unit(k) : 0)) continue;
    if (by_lines) coord.back() = k;
    return std::string(layout::name_of(role_)) + " [" + layout::coord_text(part_.axes, coord) + "]";
  }
  return std::nullopt;
}

std::optional<LoadedTensor::Line> LoadedTensor::expected(std::vector<std::int64_t> coord) const {
  const std::int64_t expert = plan_.loaded[static_cast<std::size_t>(coord[0])];
  if (expert < 0 || (role_ == Role::w2_bias && plan_.shard != 0)) return std::nullopt;
  coord[0] = expert;
  const std::size_t last = coord.size() - 1;
  std::int64_t count = last > 0 ? whole_.extent(last) : 1;
  if (last >= kCutAxis) {
    const Interval& part = plan_.intermediate;
    const std::int64_t of_part = (part.count + unit_ - 1) / unit_;
    if (coord[kCutAxis] >= of_part) return std::nullopt;
    coord[kCutAxis] += part.first / unit_;
    if (last == kCutAxis) count = std::min(of_part, count - coord[last]);
  }
  if (times_ > 1) {
    coord[last - 1] /= times_;
    coord[last] /= times_;
    count = 1;
  }
  for (std::size_t axis = 1; axis <= last; ++axis) {
    if (coord[axis] >= whole_.extent(axis)) return std::nullopt;
  }
  return line(whole_, std::move(coord), count);
}

LoadedTensor::Line LoadedTensor::line(const Tensor& tensor, std::vector<std::int64_t> coord, std::int64_t count) {
  const std::int64_t first = *tensor.memory.at(coord);
  if (count == 1) return {&tensor, first, 1, count};
  ++coord.back();
  return {&tensor, first, *tensor.memory.at(coord) - first, count};
}

std::uint64_t LoadedTensor::Line::unit(std::int64_t k) const {
  return layout::get_grain(tensor->bytes, first + k * stride, tensor->memory.unit_bits());
}

std::optional<std::span<const std::uint8_t>> LoadedTensor::Line::run(std::int64_t length) const {
  const std::int64_t bits = tensor->memory.unit_bits();
  if (stride != 1 || first * bits % 8 != 0 || length * bits % 8 != 0) return std::nullopt;
  return tensor->bytes.subspan(static_cast<std::size_t>(first * bits / 8), static_cast<std::size_t>(length * bits / 8));
}

bool LoadedTensor::same(const Line& a, const Line& b, std::int64_t count) {
  const auto run_a = a.run(count);
  const auto run_b = b.run(count);
  return run_a && run_b && std::ranges::equal(*run_a, *run_b);
}

}  // namespace mx::sim
