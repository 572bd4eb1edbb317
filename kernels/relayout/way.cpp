#include "kernels/relayout/way.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "kernels/relayout/move.hpp"
#include "kernels/relayout/side.hpp"
#include "kernels/threads.hpp"
#include "kernels/zeros.hpp"
#include "model/error.hpp"
#include "model/layout/address_map.hpp"
#include "model/layout/one_line.hpp"

namespace mx::kernels::relayout {
namespace {

using layout::Layout;

constexpr std::string_view kPlace = "layout conversion";
[[noreturn]] void refuse(const std::string& message) { throw Error(ErrorCode::usage, message, std::string(kPlace)); }

/// A unit of whole bytes, up to 8.
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

void check_buffer(const void* data, std::size_t size, const BufferNeed& need, const char* what) {
  if (static_cast<std::int64_t>(size) != need.bytes) {
    refuse(std::string("the ") + what + " has " + std::to_string(size) + " bytes where its layout has " + std::to_string(need.bytes));
  }
  if (reinterpret_cast<std::uintptr_t>(data) % need.align != 0) {
    refuse(std::string("the ") + what + " is not aligned to its units of " + std::to_string(need.align) + " bytes");
  }
}

bool overlap(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b) {
  const std::less<const std::uint8_t*> before;
  return !a.empty() && !b.empty() && before(a.data(), b.data() + b.size()) && before(b.data(), a.data() + a.size());
}

/// The two layouts in the same units.
std::pair<Layout, Layout> matched(const Layout& from, const Layout& to) {
  const Layout source = exploded_like(from, to).value_or(from);
  const Layout target = exploded_like(to, from).value_or(to);
  if (source.logical() != target.logical() || source.grain_bits() != target.grain_bits()) {
    refuse("the layouts speak of different tensors: " + layout::one_line(from) + ", and " + layout::one_line(to));
  }
  return {source, target};
}

bool is_row_major(const Layout& layout) {
  return std::ranges::all_of(layout.steps(), [](const layout::Step& step) { return std::holds_alternative<layout::Explode>(step); });
}

}  // namespace

BufferNeed buffer_need(const Layout& layout) { return {layout.bytes(), alignment_of(layout)}; }

void check_buffers(std::span<const std::uint8_t> source, const BufferNeed& source_need, std::span<std::uint8_t> target, const BufferNeed& target_need,
                   int threads) {
  require_threads(threads, kPlace);
  check_buffer(source.data(), source.size(), source_need, "source");
  check_buffer(target.data(), target.size(), target_need, "target");
  if (overlap(source, target)) refuse("the source and the target overlap");
}

Way::Way(const Layout& given_from, const Layout& given_to, const IsaTier& tier, Dropped dropped)
    : source_need_(buffer_need(given_from)), target_need_(buffer_need(given_to)) {
  require_runs_here(tier, "layout conversion");
  const auto [from, to] = matched(given_from, given_to);
  if (dropped == Dropped::refused) refusal_ = missing_elements(from);
  if (!refusal_.empty()) return;
  if (std::unique_ptr<Move> direct = tile_move(from, to, tier)) {
    moves_.push_back(std::move(direct));
    return;
  }
  const Layout row_major(to.logical(), to.grain_bits());
  if (!is_row_major(from)) {
    std::unique_ptr<Move> tiles = tile_move(from, row_major, tier);
    moves_.push_back(tiles ? std::move(tiles) : map_move_back(from));
  }
  if (!is_row_major(to) || moves_.empty()) {
    std::unique_ptr<Move> tiles = tile_move(row_major, to, tier);
    moves_.push_back(tiles ? std::move(tiles) : map_move(to));
  }
  between_bytes_ = (row_major.size() * row_major.grain_bits() + 7) / 8;
}

Way::~Way() = default;
Way::Way(Way&&) noexcept = default;
Way& Way::operator=(Way&&) noexcept = default;

std::vector<PlanStage> Way::stages() const {
  std::vector<PlanStage> out;
  for (const auto& move : moves_) out.push_back({move->kind(), move->kernel(), move->memory()});
  return out;
}

void Way::run(std::span<const std::uint8_t> source, std::span<std::uint8_t> target, int threads) const {
  if (!refusal_.empty()) refuse(refusal_);
  check_buffers(source, source_need_, target, target_need_, threads);
  if (moves_.size() == 1) return moves_.front()->run(source, target, threads);
  std::vector<std::uint8_t> between = zeros(static_cast<std::size_t>(between_bytes_));
  moves_.front()->run(source, between, threads);
  moves_.back()->run(between, target, threads);
}

}  // namespace mx::kernels::relayout
