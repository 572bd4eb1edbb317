// The loops around tiles: which tile lies where, which of them are at an edge, who moves which.

#include <omp.h>

#include <algorithm>
#include <cstdlib>

#include "kernels/relayout/move.hpp"

namespace mx::kernels::relayout {
namespace {

constexpr std::size_t kScratchAlign = 64;
constexpr std::int64_t kLine = 64;

/// Kernels may store up to a register more than they need.
constexpr std::size_t kScratchSpare = 64;

/// Innermost loops of more tiles than this look ahead along themselves, by so many tiles.
constexpr std::int64_t kLongLoop = 64;
constexpr std::int64_t kTilesAhead = 16;

/// More pieces of work than threads, so that none waits long for the last.
constexpr std::int64_t kShares = 4;

/// Whether only bytes move, or their parts as well.
std::string_view kind_of(const Tiles& tiles) {
  if (tiles.is_copy) return "runs";
  const bool bytes = std::ranges::all_of(tiles.parts, [](const std::vector<BytePart>& parts) { return parts.size() == 1; });
  return bytes ? "bytes" : "bits";
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

/// Where lines are written whole a source is read one run behind the other; else what is left of a line is written soon. Loops are as long as they
/// can be; those that fill a stage are the innermost ones, and there is at least one of them.
void order_loops(Tiles& tiles) {
  std::vector<OuterDigit>& outer = tiles.outer;
  const auto step = writes_lines(tiles) ? &OuterDigit::source_step : &OuterDigit::target_step;
  std::ranges::stable_sort(outer, std::ranges::greater{}, [&](const OuterDigit& digit) { return std::abs(digit.*step); });
  std::ranges::stable_sort(outer, {}, &OuterDigit::is_staged);
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
    std::int64_t rows = 1;
    std::int64_t stage_rows = 1;
    for (std::size_t d = 0; d + 1 < tiles_.outer.size(); ++d) (tiles_.outer[d].is_staged ? stage_rows : rows) *= tiles_.outer[d].radix;
    const std::int64_t length = tiles_.outer.back().radix;
    const std::int64_t cuts = has_stage() ? 1 : std::clamp<std::int64_t>((kShares * threads + rows - 1) / rows, 1, length);
    const auto lines = [](std::size_t bytes) { return (bytes + kScratchAlign - 1) / kScratchAlign * kScratchAlign; };
    const std::size_t stage_at = lines(program_.scratch_bytes() + kScratchSpare);
    const std::size_t scratch_bytes = stage_at + lines(static_cast<std::size_t>(tiles_.stage.bytes) + kScratchSpare);
    std::vector<std::uint8_t> scratch(scratch_bytes * static_cast<std::size_t>(threads) + kScratchAlign);
    const auto address = reinterpret_cast<std::uintptr_t>(scratch.data());
    std::uint8_t* aligned = scratch.data() + (kScratchAlign - address % kScratchAlign) % kScratchAlign;
#pragma omp parallel num_threads(threads)
    {
      // The runtime may give fewer threads than asked for.
      const auto thread = static_cast<std::size_t>(omp_get_thread_num());
      std::uint8_t* const own = aligned + thread * scratch_bytes;
      Walk walk(*this, source.data(), target.data(), own, own + stage_at);
#pragma omp for schedule(static)
      for (std::int64_t item = 0; item < rows * cuts; ++item) {
        if (has_stage()) {
          walk.go_staged(item, stage_rows);
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

  /// One thread's way through the tiles.
  class Walk {
   public:
    Walk(const TileMove& move, const std::uint8_t* source, std::uint8_t* target, std::uint8_t* scratch, std::uint8_t* stage)
        : move_(move), tiles_(move.tiles_), source_(source), target_(target), scratch_(scratch), stage_(stage), sums_(tiles_.limits.size()) {}

    /// Tiles begin..end of the innermost loop at one combination of the others.
    void go(std::int64_t row, std::int64_t begin, std::int64_t end) {
      const Place here = place(row);
      add_sums(row);
      const OuterDigit& inner = tiles_.outer.back();
      // Short loops look ahead to where the next one reads, long ones along their own way.
      ahead_ = inner.radix > kLongLoop ? kTilesAhead * inner.source_step : place(row + 1).source - here.source;
      std::int64_t whole = end;
      for (std::size_t l = 0; l < sums_.size(); ++l) whole = std::min(whole, first_cut(l, inner.weights[l], end));
      whole = std::max(whole, begin);
      if (whole > begin) strip(move_.program_.form_count() - 1, here, begin, whole - begin);
      for (std::int64_t n = whole; n < end;) {
        const std::size_t form = form_at(n);
        const std::int64_t first = n;
        while (++n < end && form_at(n) == form) continue;
        strip(form, here, first, n - first);
      }
    }

    /// All tiles of a stage, `rows` runs of the innermost loop: by way of the stage, but where elements are absent straight to the target.
    void go_staged(std::int64_t item, std::int64_t rows) {
      add_sums(item * rows);
      in_stage_ = true;
      for (std::size_t l = 0; l < sums_.size(); ++l) {
        const TileLimit& limit = tiles_.limits[l];
        if (limit.stage_span != 0 && limit.limit - sums_[l] < limit.stage_span) in_stage_ = false;
      }
      for (std::int64_t row = item * rows; row < (item + 1) * rows; ++row) go(row, 0, tiles_.outer.back().radix);
      if (!in_stage_) return;
      in_stage_ = false;
      const MxTileStrip runs{stage_, target_ + place(item * rows).target, 1, 0, 0, 0};
      move_.kernel_.row.run(&move_.program_.code(), &move_.program_.stage_form(), &runs, scratch_);
    }

    void end() {
      const MxTileStrip nothing{source_, target_, 0, 0, 0, 0};
      move_.kernel_.row.run(&move_.program_.code(), &move_.program_.form(0), &nothing, scratch_);
    }

   private:
    /// Offsets of the first tile of the innermost loop, in the stage where that is written.
    struct Place {
      std::int64_t source;
      std::int64_t target;
    };

    std::int64_t step_out(const OuterDigit& digit) const { return in_stage_ ? digit.stage_step : digit.target_step; }

    Place place(std::int64_t row) const {
      Place out{tiles_.source_base, in_stage_ ? 0 : tiles_.target_base};
      for (std::size_t d = tiles_.outer.size() - 1; d-- > 0; row /= tiles_.outer[d].radix) {
        const OuterDigit& digit = tiles_.outer[d];
        out.source += row % digit.radix * digit.source_step;
        out.target += row % digit.radix * step_out(digit);
      }
      return out;
    }

    /// What the limits' sums are there.
    void add_sums(std::int64_t row) {
      if (sums_.empty()) return;
      std::ranges::fill(sums_, 0);
      for (std::size_t d = tiles_.outer.size() - 1; d-- > 0; row /= tiles_.outer[d].radix) {
        for (std::size_t l = 0; l < sums_.size(); ++l) sums_[l] += row % tiles_.outer[d].radix * tiles_.outer[d].weights[l];
      }
    }

    /// The first tile of the innermost loop that a limit cuts.
    std::int64_t first_cut(std::size_t l, std::int64_t weight, std::int64_t end) const {
      const TileLimit& limit = tiles_.limits[l];
      const std::int64_t room = limit.limit - limit.span - sums_[l];
      if (room < 0) return 0;
      return weight == 0 ? end : std::min(end, room / weight + 1);
    }

    std::size_t form_at(std::int64_t n) const {
      std::size_t index = 0;
      for (std::size_t l = 0; l < sums_.size(); ++l) {
        const TileLimit& limit = tiles_.limits[l];
        const std::int64_t reach = std::clamp<std::int64_t>(limit.limit - sums_[l] - n * tiles_.outer.back().weights[l], 0, limit.span);
        index = index * limit.reaches.size() + static_cast<std::size_t>(std::ranges::lower_bound(limit.reaches, reach) - limit.reaches.begin());
      }
      return index;
    }

    void strip(std::size_t form, const Place& at, std::int64_t first, std::int64_t count) {
      const OuterDigit& inner = tiles_.outer.back();
      const TileProgram& program = move_.program_;
      const MxTileStrip strip{source_ + at.source + first * inner.source_step,
                              (in_stage_ ? stage_ : target_) + at.target + first * step_out(inner),
                              count,
                              inner.source_step,
                              step_out(inner),
                              ahead_};
      move_.kernel_.row.run(&program.code(), in_stage_ ? &program.staged_form(form) : &program.form(form), &strip, scratch_);
    }

    const TileMove& move_;
    const Tiles& tiles_;
    const std::uint8_t* source_;
    std::uint8_t* target_;
    std::uint8_t* scratch_;
    std::uint8_t* stage_;
    bool in_stage_ = false;
    std::vector<std::int64_t> sums_;
    std::int64_t ahead_ = 0;
  };

  Tiles tiles_;
  const TileKernel& kernel_;
  TileProgram program_;
  std::string_view kind_;
};

constexpr TileGoals kGoals{.source_run = 64,
                           .shortest_source = 16,
                           .target_run = 128,
                           .tile = 1024,
                           .longest_target_run = 1024,
                           .shortest_copy = 64,
                           .copy_run = 8192,
                           .staged_run = 1024,
                           .stage = 131072};

}  // namespace

std::unique_ptr<Move> tile_move(const layout::Layout& from, const layout::Layout& to, const IsaTier& tier) {
  const std::optional<Side> source = side_of(from);
  const std::optional<Side> target = side_of(to);
  if (!source || !target) return nullptr;
  const std::optional<SharedDigits> digits = shared_digits(*source, *target);
  if (!digits) return nullptr;
  std::optional<Tiles> tiles = tiles_of(*digits, kGoals);
  if (!tiles) return nullptr;
  order_loops(*tiles);
  return std::make_unique<TileMove>(std::move(*tiles), tile_kernel(tier));
}

}  // namespace mx::kernels::relayout
