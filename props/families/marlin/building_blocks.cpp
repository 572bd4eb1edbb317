// Marlin's repack by its tables, and its orders of scales and biases. Source: spec layouts 6.1 and 6.2.

#include <array>

#include "props/families/block_formula.hpp"
#include "props/families/marlin/family.hpp"
#include "props/layout/generators.hpp"

namespace mx::props {
namespace {

using layout::Layout;
using families::BlockRequest;

/// A row of the table: the tile, and which of a lane's eight values v0..v7 each unit of its words holds, low unit first.
struct Variant {
  std::int64_t tile_k;
  std::int64_t tile_n;
  std::int64_t words;  // of 32 bits for each lane and wp
  std::array<std::int64_t, 8> order;
};
constexpr Variant kW4A16{16, 64, 1, {0, 2, 4, 6, 1, 3, 5, 7}};
constexpr Variant kW4A8{32, 32, 1, {0, 4, 1, 5, 2, 6, 3, 7}};
constexpr Variant kW8A16{16, 64, 2, {0, 2, 1, 3, 4, 6, 5, 7}};
constexpr Variant kW8A8{32, 32, 2, {0, 1, 2, 3, 4, 5, 6, 7}};

/// Value i of lane th and part wp inside a tile: where it lies in the matrix.
Spot value_of(const Variant& v, std::int64_t th, std::int64_t wp, std::int64_t i) {
  if (v.tile_k == 16) {
    constexpr std::array<std::int64_t, 4> kColumns{0, 1, 8, 9};
    return {16 * wp + th / 4 + 8 * (i / 4), 2 * (th % 4) + kColumns[static_cast<std::size_t>(i % 4)]};
  }
  return {16 * (wp / 2) + 8 * (wp % 2) + th / 4, 4 * (th % 4) + i % 4 + 16 * (i / 4)};
}

template <const Variant& v>
Memory repack(const BlockRequest& r) {
  const std::int64_t tiles = r.cols / v.tile_k;  // half a tile at the end is not read
  const std::int64_t tile_units = v.tile_k * v.tile_n;
  const std::int64_t row_tiles = r.rows / v.tile_n;
  return gathered(r, r.unit_bits, r.rows * r.cols, Layout::kPadUnwritten, [&](std::int64_t p) {
    const std::int64_t tile = p / tile_units;
    if (tile / row_tiles >= tiles) return Spot{r.rows, r.cols};
    // Within a tile th*4 + wp, or th*8 + 2wp + s, counts words; each pair (th, wp) has eight units.
    const std::int64_t u = p % tile_units;
    const Spot value = value_of(v, u / 32, u / 8 % 4, v.order[static_cast<std::size_t>(u % 8)]);
    return Spot{v.tile_n * (tile % row_tiles) + value.row, v.tile_k * (tile / row_tiles) + value.col};
  });
}

template <int bits>
void draw_repack(BlockRequest& r) {
  r.unit_bits = bits;
  r.rows = pick_near(64, 64);
  r.cols = pick_near(16, 32);
}

// The host's checks, the same for every variant.
bool takes_repack(const BlockRequest& r) { return r.cols % 16 == 0 && r.rows % 64 == 0; }

/// [groups, N] as one list, in blocks.
Memory in_blocks(const BlockRequest& r, std::int64_t (*source)(std::int64_t)) {
  return gathered(r, r.unit_bits, r.rows * r.cols, Layout::kPadZero, [&](std::int64_t p) { return Spot{source(p) / r.cols, source(p) % r.cols}; });
}

bool is_grouped(const BlockRequest& r) {
  const std::int64_t group = r.param("group_size");
  const std::int64_t k = r.param("size_k") == 0 ? group * r.rows : r.param("size_k");
  return group < k && group != -1 && r.param("is_a_8bit") == 0;
}

void draw_list(BlockRequest& r) {
  r.unit_bits = static_cast<int>(pick_of({8, 16, 32}));
  r.rows = pick(1, 5);
  r.cols = pick_near(64, 64);
  // Rows that are no whole blocks run on into the next.
  if (pick(0, 3) == 0) {
    r.rows = 4;
    r.cols = 16 * pick(1, 9);
  }
}

constexpr std::array<BlockFormula, 6> kFormulas{{
    {"marlin.repack.w4a16", draw_repack<4>, takes_repack, repack<kW4A16>},
    {"marlin.repack.w4a8", draw_repack<4>, takes_repack, repack<kW4A8>},
    {"marlin.repack.w8a16", draw_repack<8>, takes_repack, repack<kW8A16>},
    {"marlin.repack.w8a8", draw_repack<8>, takes_repack, repack<kW8A8>},
    {"marlin.permute_scales",
     [](BlockRequest& r) {
       draw_list(r);
       r.params["group_size"] = pick_of({32, 16, 128, -1});
       r.params["size_k"] = pick_of({0, 32, 64, 4096});
       r.params["is_a_8bit"] = pick(0, 1);
     },
     [](const BlockRequest& r) { return r.rows * r.cols % (is_grouped(r) ? 64 : 32) == 0; },
     [](const BlockRequest& r) { return in_blocks(r, is_grouped(r) ? block_of_64 : block_of_32); }},
    {"marlin.permute_bias", draw_list, [](const BlockRequest& r) { return r.rows * r.cols % 32 == 0; },
     [](const BlockRequest& r) { return in_blocks(r, block_of_32); }},
}};

}  // namespace

constinit const std::span<const BlockFormula> kMarlinBlocks{kFormulas};

}  // namespace mx::props
