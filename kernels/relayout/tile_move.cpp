// The loops around tiles: their order, and which thread moves which.

#include <omp.h>

#include <algorithm>
#include <cstdlib>

#include "kernels/relayout/move.hpp"
#include "kernels/relayout/walk.hpp"

namespace mx::kernels::relayout {
namespace {

constexpr std::size_t kScratchAlign = 64;
constexpr std::int64_t kLine = 64;

/// Kernels may store up to a register more than they need.
constexpr std::size_t kScratchSpare = 64;

/// More pieces of work than threads, so that none waits long for the last.
constexpr std::int64_t kShares = 4;

/// Rows of as many tiles are long enough to be moved one by one; of shorter ones go together what stays in the first cache.
constexpr std::int64_t kLongRow = 16;
constexpr std::int64_t kBlock = 24576;

/// Whether only bytes move, or their parts as well.
std::string_view kind_of(const Tiles& tiles) {
  if (tiles.is_copy) return "runs";
  const bool bytes = std::ranges::all_of(tiles.parts, [](const std::vector<BytePart>& parts) { return parts.size() == 1; });
  return bytes ? "bytes" : "bits";
}

/// A digit of so many steps of another one.
OuterDigit times(OuterDigit digit, std::int64_t steps) {
  digit.source_step *= steps;
  digit.target_step *= steps;
  digit.stage_step *= steps;
  for (std::int64_t& weight : digit.weights) weight *= steps;
  return digit;
}

/// Whether one loop goes on where another one ends.
bool follows(const OuterDigit& high, const OuterDigit& low) {
  const auto times = [&](std::int64_t step) { return step * low.radix; };
  bool same = high.source_step == times(low.source_step) && high.target_step == times(low.target_step) && high.is_staged == low.is_staged &&
              high.stage_step == times(low.stage_step);
  for (std::size_t l = 0; l < low.weights.size(); ++l) same = same && high.weights[l] == times(low.weights[l]);
  return same;
}

/// Whether tiles are written in whole lines, so that no line is seen twice.
bool writes_lines(const Tiles& tiles) {
  if (tiles.stage.bytes != 0) return true;
  const auto whole = [](std::int64_t bytes) { return bytes % kLine == 0; };
  return whole(tiles.target_base) && std::ranges::all_of(tiles.outer, whole, &OuterDigit::target_step) &&
         std::ranges::all_of(tiles.forms.back().stores, [&](const Piece& piece) { return whole(piece.offset) && whole(piece.length); });
}

/// Tiles one behind the other of which none lies at an edge, nearly.
std::int64_t strip_length(const OuterDigit& digit) {
  const bool has_edge = std::ranges::any_of(digit.weights, [](std::int64_t weight) { return weight != 0; });
  return digit.radix - (has_edge ? 1 : 0);
}

/// A stage stays in the caches: the order of its tiles is free.
void put_longest_last(std::vector<OuterDigit>& outer) {
  const auto staged = std::ranges::find_if(outer, &OuterDigit::is_staged);
  const auto longest =
      std::max_element(staged, outer.end(), [](const OuterDigit& a, const OuterDigit& b) { return strip_length(a) < strip_length(b); });
  if (longest != outer.end()) std::rotate(longest, longest + 1, outer.end());
}

/// Where lines are written whole a source is read one run behind the other; else what is left of a line is written soon. Loops are as long as they
/// can be; those that fill a stage are the innermost ones, and there is at least one of them. `quick`: a tile takes no longer than what a row takes by
/// itself.
void order_loops(Tiles& tiles, bool quick) {
  std::vector<OuterDigit>& outer = tiles.outer;
  const auto step = writes_lines(tiles) ? &OuterDigit::source_step : &OuterDigit::target_step;
  std::ranges::stable_sort(outer, std::ranges::greater{}, [&](const OuterDigit& digit) { return std::abs(digit.*step); });
  std::ranges::stable_sort(outer, {}, &OuterDigit::is_staged);
  if (quick && tiles.stage.runs.size() == 1) put_longest_last(outer);
  for (std::size_t i = outer.size(); i-- > 1;) {
    if (!follows(outer[i - 1], outer[i])) continue;
    outer[i].radix *= outer[i - 1].radix;
    outer.erase(outer.begin() + static_cast<std::ptrdiff_t>(i) - 1);
  }
  const bool has_stage = tiles.stage.bytes != 0;
  if (outer.empty() || outer.back().is_staged != has_stage) {
    outer.push_back({1, 0, 0, has_stage, 0, std::vector<std::int64_t>(tiles.limits.size(), 0)});
  }
}

/// Rows of few tiles are moved together: what a row takes by itself would take as long as its tiles.
void choose_block(Tiles& tiles) {
  std::vector<OuterDigit>& outer = tiles.outer;
  if (tiles.is_copy || !writes_lines(tiles) || tiles.stage.runs.size() > 1 || outer.back().radix >= kLongRow) return;
  std::int64_t room = kBlock / (tiles.bytes * outer.back().radix);
  for (std::size_t d = outer.size() - 1; d-- > 0 && outer[d].is_staged == outer.back().is_staged;) {
    std::int64_t radix = std::min(room, outer[d].radix);
    while (radix > 1 && outer[d].radix % radix != 0) --radix;
    if (radix <= 1) return;
    ++tiles.block;
    room /= radix;
    if (radix == outer[d].radix) continue;
    OuterDigit low = outer[d];
    low.radix = radix;
    outer[d] = times(outer[d], radix);
    outer[d].radix /= radix;
    outer.insert(outer.begin() + static_cast<std::ptrdiff_t>(d) + 1, std::move(low));
    return;
  }
}

class TileMove final : public Move {
 public:
  TileMove(Tiles tiles, const TileKernel& kernel)
      : tiles_(std::move(tiles)), kernel_(kernel), program_(tiles_, kernel.width), kind_(kind_of(tiles_)) {
    tiles_.parts.clear();
    tiles_.parts.shrink_to_fit();
    tiles_.forms.clear();
    tiles_.forms.shrink_to_fit();
  }

  void run(std::span<const std::uint8_t> source, std::span<std::uint8_t> target, int threads) const override {
    std::int64_t blocks = 1;
    std::int64_t stage_blocks = 1;
    for (std::size_t d = 0; d + 1 + tiles_.block < tiles_.outer.size(); ++d) {
      (tiles_.outer[d].is_staged ? stage_blocks : blocks) *= tiles_.outer[d].radix;
    }
    const std::int64_t length = tiles_.outer.back().radix;
    const std::int64_t cuts = has_stage() ? 1 : std::clamp<std::int64_t>((kShares * threads + blocks - 1) / blocks, 1, length);
    const auto lines = [](std::size_t bytes) { return (bytes + kScratchSpare + kScratchAlign - 1) / kScratchAlign * kScratchAlign; };
    const std::size_t scratch_bytes = lines(program_.scratch_bytes());
    const std::size_t stage_bytes = has_stage() ? lines(static_cast<std::size_t>(tiles_.stage.bytes)) : 0;
    const std::size_t thread_bytes = scratch_bytes + 2 * stage_bytes;
    std::vector<std::uint8_t> memory(thread_bytes * static_cast<std::size_t>(threads) + kScratchAlign);
    const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
    std::uint8_t* aligned = memory.data() + (kScratchAlign - address % kScratchAlign) % kScratchAlign;
#pragma omp parallel num_threads(threads)
    {
      // The runtime may give fewer threads than asked for.
      std::uint8_t* const own = aligned + static_cast<std::size_t>(omp_get_thread_num()) * thread_bytes;
      Walk walk(tiles_, kernel_, program_, source.data(), target.data(), {own, {own + scratch_bytes, own + scratch_bytes + stage_bytes}});
#pragma omp for schedule(static)
      for (std::int64_t item = 0; item < blocks * cuts; ++item) {
        if (has_stage()) {
          walk.go_staged(item, stage_blocks);
          continue;
        }
        const std::int64_t cut = item % cuts;
        walk.go(item / cuts, length * cut / cuts, length * (cut + 1) / cuts);
      }
      walk.end();
    }
  }

  std::string_view kind() const override { return kind_; }
  std::string_view kernel() const override { return kernel_.row.name; }
  std::size_t memory() const override { return program_.memory() + sizeof(OuterDigit) * tiles_.outer.size(); }

 private:
  bool has_stage() const { return tiles_.stage.bytes != 0; }

  Tiles tiles_;
  const TileKernel& kernel_;
  TileProgram program_;
  std::string_view kind_;
};

constexpr TileGoals goals(std::int64_t tile) {
  return {.source_run = 64,
          .shortest_source = 16,
          .target_run = 128,
          .tile = tile,
          .longest_run = 1024,
          .shortest_copy = 64,
          .copy_run = 8192,
          .staged_tile = 1024,
          .staged_run = 1024,
          .stage = 131072};
}

}  // namespace

std::unique_ptr<Move> tile_move(const layout::Layout& from, const layout::Layout& to, const IsaTier& tier) {
  const std::optional<Side> source = side_of(from);
  const std::optional<Side> target = side_of(to);
  if (!source || !target) return nullptr;
  const std::optional<SharedDigits> digits = shared_digits(*source, *target);
  if (!digits) return nullptr;
  const TileKernel& kernel = tile_kernel(tier);
  std::optional<Tiles> tiles = tiles_of(*digits, goals(kernel.tile));
  if (!tiles) return nullptr;
  // Where tiles take long the way to them does not matter.
  const bool quick = kernel.streams;
  order_loops(*tiles, quick);
  if (quick) choose_block(*tiles);
  return std::make_unique<TileMove>(std::move(*tiles), kernel);
}

}  // namespace mx::kernels::relayout
