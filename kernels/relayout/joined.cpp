#include "kernels/relayout/joined.hpp"

#include <algorithm>
#include <set>

#include "kernels/relayout/loops.hpp"

namespace mx::kernels::relayout {
namespace {

constexpr std::int32_t kRegister = 64;
constexpr std::int32_t kHalf = 32;
constexpr std::int64_t kLine = 64;
constexpr std::int32_t kNowhere = -1;

/// A source is asked for so many bytes ahead, which need not be a whole stage.
constexpr std::int64_t kBytesAhead = 6144;

/// Tiles whose source lies in pieces shorter than two lines come by groups of so many bytes of the target, in the order in which the source is read
/// in the longest runs, and a whole group ahead: pieces of many rows come late from memory.
constexpr std::int64_t kShortPiece = 128;
constexpr std::int64_t kGroup = 16384;

/// Where the halves of registers begin that a line's bytes lie in, each once.
std::vector<std::int32_t> halves_of(const JoinedLine& line) {
  std::vector<std::int32_t> found;
  for (const std::int32_t place : line.places) {
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

bool has_short_pieces(const Tiles& tiles) {
  return std::ranges::any_of(tiles.forms.back().loads, [](const Piece& piece) { return piece.length < kShortPiece; });
}

/// The tiles of the first stage, those that complete its first lines first, as far as they come in groups.
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
  const std::int64_t together = has_short_pieces(tiles) ? kGroup : 1;
  std::ranges::stable_sort(stage, {}, [&](const StageTile& tile) { return tile.target / together; });
  return stage;
}

std::size_t tiles_ahead(const Tiles& tiles, const std::vector<StageTile>& stage) {
  if (!has_short_pieces(tiles)) return static_cast<std::size_t>(std::max<std::int64_t>(1, kBytesAhead / tiles.bytes));
  return static_cast<std::size_t>(std::ranges::count_if(stage, [](const StageTile& tile) { return tile.target < kGroup; }));
}

/// The lines of the stage's run; none when some of their bytes are written by no tile, or lie too far apart.
std::vector<JoinedLine> lines_of(const Tiles& tiles, const std::vector<StageTile>& stage) {
  std::vector<JoinedLine> lines(static_cast<std::size_t>(tiles.stage.run / kLine));
  for (std::size_t l = 0; l < lines.size(); ++l) {
    lines[l].target = static_cast<std::int64_t>(l) * kLine;
    lines[l].places.fill(kNowhere);
  }
  for (std::size_t t = 0; t < stage.size(); ++t) {
    const auto begin = static_cast<std::int32_t>(t) * tiles.bytes;
    for (const Piece& piece : tiles.forms[stage[t].form].stores) {
      for (std::int32_t i = 0; i < piece.length; ++i) {
        const std::int64_t at = stage[t].target + piece.offset + i;
        if (at < 0 || at >= tiles.stage.run) return {};
        lines[static_cast<std::size_t>(at / kLine)].places[static_cast<std::size_t>(at % kLine)] = begin + piece.in_tile + i;
      }
    }
  }
  const bool fit = std::ranges::all_of(lines, [](const JoinedLine& line) {
    return std::ranges::find(line.places, kNowhere) == line.places.end() && halves_of(line).size() <= static_cast<std::size_t>(kMxHalves);
  });
  return fit ? lines : std::vector<JoinedLine>{};
}

/// The tile of the stage that has a line's last byte, of the places that lines_of() gives.
std::size_t completed_by(const JoinedLine& line, std::int32_t tile_bytes) {
  return static_cast<std::size_t>(std::ranges::max(line.places) / tile_bytes);
}

/// Puts the lines in the order in which the stage's tiles complete them, after which they are joined at once.
void schedule(std::vector<StageTile>& stage, std::vector<JoinedLine>& lines, std::int32_t tile_bytes) {
  std::ranges::stable_sort(lines, {}, [&](const JoinedLine& line) { return completed_by(line, tile_bytes); });
  for (const JoinedLine& line : lines) ++stage[completed_by(line, tile_bytes)].joins;
}

/// Gives each tile the first place whose tile is no longer needed, so that the stage stays small; returns the stage's bytes.
std::int64_t place(std::vector<StageTile>& stage, std::vector<JoinedLine>& lines, std::int32_t tile_bytes) {
  std::vector<std::size_t> needed_until(stage.size());
  for (std::size_t t = 0; t < stage.size(); ++t) needed_until[t] = t;
  for (const JoinedLine& line : lines) {
    for (const std::int32_t byte : line.places) {
      std::size_t& until = needed_until[static_cast<std::size_t>(byte / tile_bytes)];
      until = std::max(until, completed_by(line, tile_bytes));
    }
  }
  std::vector<std::size_t> free_from;  // of each place, the first tile that may use it
  for (std::size_t t = 0; t < stage.size(); ++t) {
    auto found = std::ranges::find_if(free_from, [&](std::size_t from) { return from <= t; });
    if (found == free_from.end()) found = free_from.insert(found, 0);
    *found = needed_until[t] + 1;
    stage[t].place = (found - free_from.begin()) * tile_bytes;
  }
  for (JoinedLine& line : lines) {
    for (std::int32_t& byte : line.places) {
      byte = static_cast<std::int32_t>(stage[static_cast<std::size_t>(byte / tile_bytes)].place) + byte % tile_bytes;
    }
  }
  return static_cast<std::int64_t>(free_from.size()) * tile_bytes;
}

/// Whether a stage's tiles have no more forms than MxTileStrip takes.
bool has_few_forms(const std::vector<StageTile>& stage) {
  std::set<std::size_t> forms;
  for (const StageTile& tile : stage) forms.insert(tile.form);
  return forms.size() <= static_cast<std::size_t>(kMxStageForms);
}

/// Tiles whose stages have at most so many bytes of the target. Half a register of the source is enough for one pass where a whole one takes two.
std::optional<Joined> joined_within(const SharedDigits& digits, TileGoals goals, std::int64_t stage_bytes) {
  goals.stage = stage_bytes;
  goals.staged_source_run = kHalf;
  std::optional<Tiles> tiles = tiles_of(digits, goals);
  if (!tiles || tiles->stage.bytes == 0 || tiles->stage.runs.size() != 1 || tiles->stage.run % kLine != 0) return std::nullopt;
  if (tiles->is_copy || tiles->bytes % kRegister != 0 || pads_differ(*tiles)) return std::nullopt;
  // A long stage's tiles whose source lies in many pieces had rather not wait for single lines.
  if (stage_bytes > goals.joined && tiles->forms.back().loads.size() != 1) return std::nullopt;
  order_loops(*tiles, true);
  std::vector<OuterDigit>& outer = tiles->outer;
  if (outer.front().is_staged) outer.insert(outer.begin(), {1, 0, 0, false, 0, std::vector<std::int64_t>(tiles->limits.size(), 0)});
  tiles->block = static_cast<std::size_t>(std::ranges::count_if(outer, &OuterDigit::is_staged));
  std::vector<StageTile> stage = stage_of(*tiles);
  std::vector<JoinedLine> lines = lines_of(*tiles, stage);
  if (lines.empty() || !has_few_forms(stage)) return std::nullopt;
  schedule(stage, lines, tiles->bytes);
  tiles->stage.bytes = place(stage, lines, tiles->bytes);
  if (tiles->stage.bytes > goals.joined) return std::nullopt;
  for (TileForm& form : tiles->forms) form.staged = {{0, 0, tiles->bytes}};
  const std::size_t ahead = tiles_ahead(*tiles, stage);
  return Joined{std::move(*tiles), std::move(stage), ahead, std::move(lines)};
}

}  // namespace

std::optional<Joined> joined_tiles(const SharedDigits& digits, const TileGoals& goals) {
  if (goals.joined == 0) return std::nullopt;
  std::optional<Joined> joined = joined_within(digits, goals, goals.joined);
  return joined ? std::move(joined) : joined_within(digits, goals, goals.stage);
}

Join join_of(const JoinedLine& line) {
  const std::vector<std::int32_t> halves = halves_of(line);
  Join join;
  for (std::size_t h = 0; h < halves.size(); ++h) join.halves[h] = static_cast<std::uint32_t>(halves[h]);
  for (std::size_t i = 0; i < line.places.size(); ++i) {
    const auto h = std::ranges::find(halves, line.places[i] / kHalf * kHalf) - halves.begin();
    join.index[i] = static_cast<std::uint8_t>(h * kHalf + line.places[i] % kHalf);
  }
  return join;
}

}  // namespace mx::kernels::relayout
