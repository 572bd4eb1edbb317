#include "kernels/relayout/plan.hpp"

#include <omp.h>

#include <algorithm>
#include <functional>
#include <string>

#include "kernels/relayout/move.hpp"
#include "kernels/relayout/side.hpp"
#include "model/error.hpp"

namespace mx::kernels::relayout {
namespace {

using layout::Layout;

constexpr int kMostThreads = 1024;

[[noreturn]] void refuse(const std::string& message) { throw Error(ErrorCode::usage, message, "layout conversion"); }

/// What the buffers of a layout are aligned to: a unit of whole bytes, up to 8.
std::size_t alignment_of(const Layout& layout) {
  const auto bytes = static_cast<std::size_t>(layout.unit_bits()) / 8;
  return bytes >= 8 && bytes % 8 == 0 ? 8 : bytes % 4 == 0 && bytes > 0 ? 4 : bytes % 2 == 0 && bytes > 0 ? 2 : 1;
}

/// Why a layout cannot be read back into its tensor; empty: it can.
std::string missing_elements(const Layout& layout) {
  const bool slices = std::ranges::any_of(layout.steps(), [](const layout::Step& step) { return std::holds_alternative<layout::Slice>(step); });
  if (!slices) return {};
  std::vector<bool> held(static_cast<std::size_t>(layout.size()));
  layout::for_each_address(layout, [&](std::int64_t, std::int64_t entry) {
    if (entry >= 0) held[static_cast<std::size_t>(entry)] = true;
  });
  const auto count = std::ranges::count(held, true);
  if (count == layout.size()) return {};
  return "the layout holds " + std::to_string(count) + " of " + std::to_string(layout.size()) + " elements";
}

void check_buffer(const void* data, std::size_t size, std::int64_t wanted, std::size_t align, const char* what) {
  if (static_cast<std::int64_t>(size) != wanted) {
    refuse(std::string("the ") + what + " has " + std::to_string(size) + " bytes where its layout has " + std::to_string(wanted));
  }
  if (reinterpret_cast<std::uintptr_t>(data) % align != 0) {
    refuse(std::string("the ") + what + " is not aligned to its units of " + std::to_string(align) + " bytes");
  }
}

bool overlap(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b) {
  const std::less<const std::uint8_t*> before;
  return !a.empty() && !b.empty() && before(a.data(), b.data() + b.size()) && before(b.data(), a.data() + a.size());
}

std::vector<PlanStage> stages_of(const std::vector<std::unique_ptr<Move>>& moves) {
  std::vector<PlanStage> out;
  for (const auto& move : moves) out.push_back({move->kind(), move->kernel(), move->memory()});
  return out;
}

}  // namespace

std::pair<Layout, Layout> Plan::matched(const Layout& from, const Layout& to) {
  const Layout source = exploded_like(from, to).value_or(from);
  const Layout target = exploded_like(to, from).value_or(to);
  if (source.logical() != target.logical() || source.grain_bits() != target.grain_bits()) {
    refuse("the layouts speak of different tensors:\n" + from.describe() + "\nand\n" + to.describe());
  }
  return {source, target};
}

Plan::Plan(const Layout& from, const Layout& to, const IsaTier& tier) {
  const auto [source, target] = matched(from, to);
  forward_ = way(source, target, tier);
  backward_ = way(target, source, tier);
}

Plan::~Plan() = default;
Plan::Plan(Plan&&) noexcept = default;
Plan& Plan::operator=(Plan&&) noexcept = default;

Plan::Way Plan::way(const Layout& from, const Layout& to, const IsaTier& tier) {
  Way way{{}, from.bytes(), 0, to.bytes(), missing_elements(from), alignment_of(from), alignment_of(to)};
  if (!way.refusal.empty()) return way;
  if (std::unique_ptr<Move> direct = tile_move(from, to, tier)) {
    way.moves.push_back(std::move(direct));
    return way;
  }
  const Layout row_major(to.logical(), to.grain_bits());
  const auto is_row_major = [](const Layout& layout) {
    return std::ranges::all_of(layout.steps(), [](const layout::Step& step) { return std::holds_alternative<layout::Explode>(step); });
  };
  if (!is_row_major(from)) {
    std::unique_ptr<Move> tiles = tile_move(from, row_major, tier);
    way.moves.push_back(tiles ? std::move(tiles) : map_move_back(from));
  }
  if (!is_row_major(to) || way.moves.empty()) {
    std::unique_ptr<Move> tiles = tile_move(row_major, to, tier);
    way.moves.push_back(tiles ? std::move(tiles) : map_move(to));
  }
  way.between_bytes = (row_major.size() * row_major.grain_bits() + 7) / 8;
  return way;
}

void Plan::Way::run(std::span<const std::uint8_t> source, std::span<std::uint8_t> target, int threads) const {
  if (!refusal.empty()) refuse(refusal);
  if (threads < 1 || threads > kMostThreads) refuse(std::to_string(threads) + " threads, allowed are 1 to " + std::to_string(kMostThreads));
  check_buffer(source.data(), source.size(), source_bytes, source_align, "source");
  check_buffer(target.data(), target.size(), target_bytes, target_align, "target");
  if (overlap(source, target)) refuse("the source and the target overlap");
  if (moves.size() == 1) {
    moves.front()->run(source, target, threads);
    return;
  }
  std::vector<std::uint8_t> between(static_cast<std::size_t>(between_bytes));
  moves.front()->run(source, between, threads);
  moves.back()->run(between, target, threads);
}

std::vector<PlanStage> Plan::stages() const { return stages_of(forward_.moves); }
std::vector<PlanStage> Plan::undo_stages() const { return stages_of(backward_.moves); }

Plan plan(const Layout& from, const Layout& to) { return {from, to, isa_tier()}; }

Plan plan(const Layout& to) { return plan(Layout(to.axes_before(0), to.unit_bits()), to); }

Plan plan(const Layout& from, const layout::TensorPlan& to) {
  if (!to.cast->keeps()) {
    throw Error(ErrorCode::unsupported, "values change on the way: " + std::string(to.cast->name), "layout conversion");
  }
  return plan(from, to.layout);
}

void apply(const Plan& plan, std::span<const std::uint8_t> source, std::span<std::uint8_t> target, int threads) {
  plan.forward_.run(source, target, threads);
}

void undo(const Plan& plan, std::span<const std::uint8_t> source, std::span<std::uint8_t> target, int threads) {
  plan.backward_.run(source, target, threads);
}

std::vector<std::uint8_t> moved(const Layout& from, std::span<const std::uint8_t> source, const Layout& to) {
  const auto [fine_from, fine_to] = Plan::matched(from, to);
  const Plan::Way way = Plan::way(fine_from, fine_to, isa_tier());
  std::vector<std::uint8_t> target(static_cast<std::size_t>(way.target_bytes));
  way.run(source, target, omp_get_max_threads());
  return target;
}

}  // namespace mx::kernels::relayout
