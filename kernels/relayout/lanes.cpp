#include "kernels/relayout/lanes.hpp"

#include <algorithm>

namespace mx::kernels::relayout {
namespace {

constexpr std::int64_t kRegister = 64;
constexpr std::int64_t kLine = 64;

std::uint64_t first_bits(std::int32_t count) { return ~std::uint64_t{0} >> (64 - count); }

}  // namespace

Lanes lanes_of(const std::vector<Piece>& pieces, std::int32_t bytes) {
  for (const std::int32_t width : {64, 32, 16}) {
    if (bytes % width != 0) continue;
    Lanes lanes{std::vector<MxTileLane>(static_cast<std::size_t>(bytes / width)), width, 1};
    bool fits = true;
    for (const Piece& piece : pieces) {
      for (std::int32_t at = piece.in_tile, end = at + piece.length; fits && at < end;) {
        MxTileLane& lane = lanes.lanes[static_cast<std::size_t>(at / width)];
        const std::int32_t first = at % width;
        const std::int32_t count = std::min(width - first, end - at);
        const std::int64_t offset = piece.offset + at - piece.in_tile - first;
        fits = lane.there == 0 || lane.offset == offset;
        lane = {offset, lane.there | first_bits(count) << first};
        at += count;
      }
    }
    if (!fits) continue;
    lanes.whole = std::ranges::all_of(lanes.lanes, [&](const MxTileLane& lane) { return lane.there == first_bits(width); }) ? 1 : 0;
    return lanes;
  }
  return {};
}

Lanes in_order(const Lanes& lanes, std::span<const std::uint32_t> places) {
  if (lanes.width < kRegister / 2) return lanes;
  Lanes result{{}, lanes.width, lanes.whole};
  for (const std::uint32_t place : places) {
    const auto first = lanes.lanes.begin() + place / lanes.width;
    result.lanes.insert(result.lanes.end(), first, first + kRegister / lanes.width);
  }
  return result;
}

bool are_lines(const Lanes& lanes) {
  return lanes.width == kLine && std::ranges::all_of(lanes.lanes, [](const MxTileLane& lane) { return lane.offset % kLine == 0; });
}

}  // namespace mx::kernels::relayout
