#include "kernels/relayout/loops.hpp"

#include <algorithm>
#include <cstdlib>

namespace mx::kernels::relayout {
namespace {

constexpr std::int64_t kLine = 64;

/// Rows of as many tiles are long enough to be moved one by one; of shorter ones go together what stays in the first cache.
constexpr std::int64_t kLongRow = 16;
constexpr std::int64_t kBlock = 24576;

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

}  // namespace

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

}  // namespace mx::kernels::relayout
