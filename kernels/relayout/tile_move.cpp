// The loops around tiles: their order, and which thread moves which.

#include <omp.h>

#include <algorithm>

#include "kernels/relayout/loops.hpp"
#include "kernels/relayout/move.hpp"
#include "kernels/relayout/thread_memory.hpp"
#include "kernels/relayout/walk.hpp"

namespace mx::kernels::relayout {
namespace {

/// More pieces of work than threads, so that none waits long for the last.
constexpr std::int64_t kShares = 4;

/// Whether only bytes move, or their parts as well.
std::string_view kind_of(const Tiles& tiles) {
  if (tiles.is_copy) return "runs";
  const bool bytes = std::ranges::all_of(tiles.parts, [](const std::vector<BytePart>& parts) { return parts.size() == 1; });
  return bytes ? "bytes" : "bits";
}

/// What a program holds of tiles is no longer needed.
void drop_contents(Tiles& tiles) {
  tiles.parts = {};
  tiles.forms = {};
}

std::int64_t divided_up(std::int64_t n, std::int64_t by) { return (n + by - 1) / by; }

class TileMove final : public Move {
 public:
  TileMove(Tiles tiles, const TileKernel& kernel)
      : tiles_(std::move(tiles)), kernel_(kernel), program_(tiles_, kernel.width), kind_(kind_of(tiles_)) {
    drop_contents(tiles_);
  }

  void run(std::span<const std::uint8_t> source, std::span<std::uint8_t> target, int threads) const override {
    std::int64_t blocks = 1;
    std::int64_t stage_blocks = 1;
    for (std::size_t d = 0; d + 1 + tiles_.block < tiles_.outer.size(); ++d) {
      (tiles_.outer[d].is_staged ? stage_blocks : blocks) *= tiles_.outer[d].radix;
    }
    const std::int64_t length = tiles_.outer.back().radix;
    const std::int64_t cuts = has_stage() ? 1 : std::clamp<std::int64_t>(divided_up(kShares * threads, blocks), 1, length);
    const std::size_t scratch_bytes = ThreadMemory::lines(program_.scratch_bytes());
    const std::size_t stage_bytes = has_stage() ? ThreadMemory::lines(static_cast<std::size_t>(tiles_.stage.bytes)) : 0;
    ThreadMemory memory(scratch_bytes + 2 * stage_bytes, threads);
#pragma omp parallel num_threads(threads)
    {
      // The runtime may give fewer threads than asked for.
      std::uint8_t* const own = memory.of(omp_get_thread_num());
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

TileGoals goals(const TileKernel& kernel) {
  return {.source_run = 64,
          .staged_source_run = 64,
          .shortest_source = 16,
          .target_run = 128,
          .tile = kernel.tile,
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
  std::optional<Tiles> tiles = tiles_of(*digits, goals(kernel));
  if (!tiles) return nullptr;
  // Where tiles take long the way to them does not matter.
  const bool quick = kernel.streams;
  order_loops(*tiles, quick);
  if (quick) choose_block(*tiles);
  return std::make_unique<TileMove>(std::move(*tiles), kernel);
}

}  // namespace mx::kernels::relayout
