#include "kernels/relayout/tensor.hpp"

#include <omp.h>

#include "kernels/relayout/cast_units.hpp"
#include "kernels/zeros.hpp"

namespace mx::kernels::relayout {
namespace {

using layout::Cast;
using layout::Layout;
using layout::TensorPlan;

/// The tensor's units in logical order, before its cast.
Layout units_of(const TensorPlan& plan) { return {plan.layout.axes_before(0), plan.cast->from_bits}; }
/// After it.
Layout values_of(const TensorPlan& plan) { return {plan.layout.axes_before(0), plan.cast->to_bits}; }

/// Whether a layout is the row-major one of the same tensor.
bool is(const Layout& layout, const Layout& row_major) {
  return layout.steps().empty() && layout.logical() == row_major.logical() && layout.unit_bits() == row_major.unit_bits();
}

std::vector<std::uint8_t> whole(const TensorMove& move, std::span<const std::uint8_t> source) {
  std::vector<std::uint8_t> target = zeros(static_cast<std::size_t>(move.target_bytes()));
  // Waking threads, and letting them wait for each other, takes longer than moving few bytes.
  constexpr std::size_t kWorthThreads = std::size_t{1} << 20;
  move.run(source, target, source.size() < kWorthThreads ? 1 : omp_get_max_threads());
  return target;
}

std::vector<std::uint8_t> place_whole(const Layout& from, std::span<const std::uint8_t> source, const TensorPlan& to) {
  return whole(TensorMove::place(from, to), source);
}

std::vector<std::uint8_t> take_whole(const TensorPlan& from, std::span<const std::uint8_t> memory, const Layout& to) {
  return whole(TensorMove::take(from, to), memory);
}

}  // namespace

const layout::Mover kMoveByPlans{"plans", place_whole, take_whole};

TensorMove::TensorMove(const Layout& from, const Layout& to, const Cast& cast, Values values)
    : cast_(&cast), values_(values), source_need_(buffer_need(from)), target_need_(buffer_need(to)) {}

TensorMove TensorMove::place(const Layout& from, const TensorPlan& to, const IsaTier& tier) {
  TensorMove move(from, to.layout, *to.cast, to.cast->keeps() ? Values::stay : Values::made);
  if (to.cast->keeps()) {
    move.after_.emplace(from, to.layout, tier, Dropped::refused);
    return move;
  }
  if (!is(from, units_of(to))) move.before_.emplace(from, units_of(to), tier, Dropped::refused);
  move.after_.emplace(values_of(to), to.layout, tier, Dropped::refused);
  return move;
}

TensorMove TensorMove::take(const TensorPlan& from, const Layout& to, const IsaTier& tier) {
  TensorMove move(from.layout, to, *from.cast, from.cast->keeps() ? Values::stay : Values::taken_back);
  if (from.cast->keeps()) {
    move.after_.emplace(from.layout, to, tier, Dropped::zero);
    return move;
  }
  if (!is(from.layout, values_of(from))) move.before_.emplace(from.layout, values_of(from), tier, Dropped::zero);
  // Through memory of its own, also where the order stays: nothing is written before every value is known to be one of the cast's.
  move.after_.emplace(units_of(from), to, tier, Dropped::refused);
  return move;
}

std::vector<PlanStage> TensorMove::stages() const {
  std::vector<PlanStage> out;
  const auto add = [&](const std::optional<Way>& way) {
    if (!way) return;
    for (const PlanStage& stage : way->stages()) out.push_back(stage);
  };
  add(before_);
  if (values_ != Values::stay) out.push_back({"values", "portable", 0});
  add(after_);
  return out;
}

void TensorMove::run(std::span<const std::uint8_t> source, std::span<std::uint8_t> target, int threads) const {
  check_buffers(source, source_need_, target, target_need_, threads);
  if (values_ == Values::stay) return after_->run(source, target, threads);
  std::vector<std::uint8_t> ordered(before_ ? static_cast<std::size_t>(before_->target_need().bytes) : 0);
  if (before_) before_->run(source, ordered, threads);
  const std::span<const std::uint8_t> in = before_ ? std::span<const std::uint8_t>(ordered) : source;
  std::vector<std::uint8_t> out(static_cast<std::size_t>(after_->source_need().bytes));
  (values_ == Values::made ? make_values : take_values_back)(*cast_, in, out, threads);
  after_->run(out, target, threads);
}

}  // namespace mx::kernels::relayout
