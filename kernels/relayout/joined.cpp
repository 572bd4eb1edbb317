#include "kernels/relayout/joined.hpp"

#include <algorithm>

#include "kernels/relayout/loops.hpp"

namespace mx::kernels::relayout {
namespace {

constexpr std::int32_t kRegister = 64;
constexpr std::int32_t kHalf = 32;
constexpr std::int64_t kLine = 64;
constexpr std::int32_t kNowhere = -1;

/// Where the halves of registers begin that a line's bytes lie in, each once.
std::vector<std::int32_t> halves_of(const JoinedLine& line) {
  std::vector<std::int32_t> found;
  for (const std::int32_t place : line) {
    const std::int32_t begin = place / kHalf * kHalf;
    if (std::ranges::find(found, begin) == found.end()) found.push_back(begin);
  }
  return found;
}

/// Whether padding is nearer to some stages than to others: their tiles would have other forms than those of the first one.
bool pads_differ(const Tiles& tiles) {
  for (std::size_t l = 0; l < tiles.limits.size(); ++l) {
    const bool varies = std::ranges::any_of(tiles.outer, [&](const OuterDigit& digit) { return !digit.is_staged && digit.weights[l] != 0; });
    if (varies && tiles.limits[l].stage_span == 0) return true;
  }
  return false;
}

/// The tiles of the first stage, those of a form together.
std::vector<StageTile> stage_of(const Tiles& tiles) {
  std::vector<StageTile> stage{{0, 0, std::vector<std::int64_t>(tiles.limits.size(), 0), 0}};
  for (const OuterDigit& digit : tiles.outer) {
    if (!digit.is_staged) continue;
    std::vector<StageTile> more;
    for (const StageTile& tile : stage) {
      for (std::int64_t value = 0; value < digit.radix; ++value) {
        more.push_back(tile);
        more.back().source += value * digit.source_step;
        more.back().target += value * digit.target_step;
        for (std::size_t l = 0; l < digit.weights.size(); ++l) more.back().sums[l] += value * digit.weights[l];
      }
    }
    stage = std::move(more);
  }
  for (StageTile& tile : stage) {
    tile.form = form_number(tiles, [&](std::size_t l) { return tiles.limits[l].limit - tile.sums[l]; });
  }
  // Fewer changes of form.
  std::ranges::stable_sort(stage, {}, &StageTile::form);
  return stage;
}

/// The lines of the stage's run; none when some of their bytes are written by no tile, or lie too far apart.
std::vector<JoinedLine> lines_of(const Tiles& tiles, const std::vector<StageTile>& stage) {
  JoinedLine nowhere;
  nowhere.fill(kNowhere);
  std::vector<JoinedLine> lines(static_cast<std::size_t>(tiles.stage.run / kLine), nowhere);
  for (std::size_t t = 0; t < stage.size(); ++t) {
    const auto begin = static_cast<std::int32_t>(t) * tiles.bytes;
    for (const Piece& piece : tiles.forms[stage[t].form].stores) {
      for (std::int32_t i = 0; i < piece.length; ++i) {
        const std::int64_t at = stage[t].target + piece.offset + i;
        if (at < 0 || at >= tiles.stage.run) return {};
        lines[static_cast<std::size_t>(at / kLine)][static_cast<std::size_t>(at % kLine)] = begin + piece.in_tile + i;
      }
    }
  }
  const bool fit = std::ranges::all_of(lines, [](const JoinedLine& line) {
    return std::ranges::find(line, kNowhere) == line.end() && halves_of(line).size() <= static_cast<std::size_t>(kMxHalves);
  });
  return fit ? lines : std::vector<JoinedLine>{};
}

}  // namespace

std::optional<Joined> joined_tiles(const SharedDigits& digits, const TileGoals& goals) {
  if (goals.joined == 0) return std::nullopt;
  TileGoals small = goals;
  small.stage = goals.joined;
  std::optional<Tiles> tiles = tiles_of(digits, small);
  if (!tiles || tiles->stage.bytes == 0 || tiles->stage.runs.size() != 1 || tiles->stage.run % kLine != 0) return std::nullopt;
  if (tiles->is_copy || tiles->bytes % kRegister != 0 || pads_differ(*tiles)) return std::nullopt;
  order_loops(*tiles, true);
  std::vector<OuterDigit>& outer = tiles->outer;
  if (outer.front().is_staged) outer.insert(outer.begin(), {1, 0, 0, false, 0, std::vector<std::int64_t>(tiles->limits.size(), 0)});
  tiles->block = static_cast<std::size_t>(std::ranges::count_if(outer, &OuterDigit::is_staged));
  std::vector<StageTile> stage = stage_of(*tiles);
  std::vector<JoinedLine> lines = lines_of(*tiles, stage);
  tiles->stage.bytes = static_cast<std::int64_t>(stage.size()) * tiles->bytes;
  if (lines.empty() || tiles->stage.bytes > goals.joined) return std::nullopt;
  for (TileForm& form : tiles->forms) form.staged = {{0, 0, tiles->bytes}};
  return Joined{std::move(*tiles), std::move(stage), std::move(lines)};
}

Join join_of(const JoinedLine& line) {
  const std::vector<std::int32_t> halves = halves_of(line);
  Join join;
  for (std::size_t h = 0; h < halves.size(); ++h) join.halves[h] = static_cast<std::uint32_t>(halves[h]);
  for (std::size_t i = 0; i < line.size(); ++i) {
    const auto h = std::ranges::find(halves, line[i] / kHalf * kHalf) - halves.begin();
    join.index[i] = static_cast<std::uint8_t>(h * kHalf + line[i] % kHalf);
  }
  return join;
}

}  // namespace mx::kernels::relayout
