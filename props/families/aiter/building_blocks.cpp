// AITER's shuffles. Source: spec layouts 7.1 to 7.4 and 7.6.

#include <array>

#include "props/families/aiter/family.hpp"
#include "props/families/block_formula.hpp"
#include "props/layout/generators.hpp"

namespace mx::props {
namespace {

using layout::Layout;
using families::BlockRequest;

/// Columns of a tile of 7.1, in units: 32 elements, of packed 4-bit elements 32 bytes.
std::int64_t tile_columns(const BlockRequest& r) { return r.unit_bits == 4 ? 64 : 32; }

bool takes_weight(const BlockRequest& r) { return r.rows % 16 == 0 && r.cols % tile_columns(r) == 0; }

bool interleaves(const BlockRequest& r) { return r.param("is_guinterleave") == 1 && r.param("gate_up") == 1; }

/// [nb][kb][j][r][x] <- src[16nb + r][32kb + c*j + x], c units in 16 bytes; rows first through `row`.
template <class Row>
Memory weight_of(const BlockRequest& r, Row row) {
  const std::int64_t width = tile_columns(r);
  const std::int64_t c = 128 / r.unit_bits;
  return gathered(r, r.unit_bits, r.rows * r.cols, Layout::kPadZero, [&](std::int64_t p) {
    const std::int64_t x = p % c;
    const std::int64_t in_tile = p / c % 16;
    const std::int64_t j = p / (16 * c) % (width / c);
    const std::int64_t kb = p / (16 * width) % (r.cols / width);
    const std::int64_t nb = p / (16 * r.cols);
    return Spot{row(16 * nb + in_tile), width * kb + c * j + x};
  });
}

std::int64_t same(std::int64_t row) { return row; }

Memory weight(const BlockRequest& r) { return weight_of(r, same); }

template <int... bits>
void draw_weight(BlockRequest& r) {
  r.unit_bits = static_cast<int>(pick_of({bits...}));
  r.rows = pick_near(16, 64);
  r.cols = pick_near(tile_columns(r), 64);
}

void draw_interleave(BlockRequest& r) {
  r.params["is_guinterleave"] = pick(0, 1);
  r.params["gate_up"] = pick(0, 1);
}

Memory weight_a16w4(const BlockRequest& r) {
  const bool gate_up = r.param("gate_up") == 1;
  return gathered(r, 8, r.rows * r.cols, Layout::kPadZero, [&](std::int64_t p) {
    const std::int64_t kp = p % 16;
    const std::int64_t nl = p / 16 % 16;
    const std::int64_t kl = p / 256 % 4;
    const std::int64_t k0 = p / 1024 % (r.cols / 64);
    const std::int64_t tile = p / (16 * r.cols);
    const std::int64_t row = gate_up ? tile % 2 * (r.rows / 2) + 16 * (tile / 2) + nl : 16 * tile + nl;
    return Spot{row, 64 * k0 + 16 * kl + kp};
  });
}

Memory scale_a16w4(const BlockRequest& r) {
  const bool gate_up = r.param("gate_up") == 1;
  const std::int64_t cols = round_up(r.cols, 8);
  return gathered(r, 8, r.rows * cols, Layout::kPadNeutral, [&](std::int64_t at) {
    const std::int64_t p = at % 2;
    const std::int64_t kp = at / 2 % 2;
    const std::int64_t nl = at / 4 % 16;
    const std::int64_t kl = at / 64 % 4;
    const std::int64_t k1 = at / 256 % (cols / 8);
    const std::int64_t n1 = at / (32 * cols);
    return Spot{gate_up ? p * (r.rows / 2) + 16 * n1 + nl : 32 * n1 + 16 * p + nl, 8 * k1 + 4 * kp + kl};
  });
}

/// The matrices of the batch as one.
Memory e8m0_shuffle(const BlockRequest& r) {
  BlockRequest stacked = r;
  stacked.batch = 1;
  stacked.rows = r.batch * r.rows;
  return cdna4_scales(stacked, round_up(stacked.rows, 256), round_up(r.cols, 8), Layout::kPadUnwritten);
}

/// [M/a][C/b][a][b] <- src[a*i + r][b*j + x].
template <class Row>
Memory tiles_of(const BlockRequest& r, std::int64_t a, std::int64_t b, std::int64_t outside, Row row) {
  return gathered(r, r.unit_bits, round_up(r.rows, a) * r.cols, outside, [&](std::int64_t p) {
    return Spot{row(a * (p / (a * r.cols)) + p / b % a), b * (p / (a * b) % (r.cols / b)) + p % b};
  });
}

template <std::int64_t a, std::int64_t b>
constexpr BlockFormula tile_formula(std::string_view name) {
  return {name,
          [](BlockRequest& r) {
            r.unit_bits = 8;
            r.rows = pick_near(a, 64);
            r.cols = pick_near(b, 64);
          },
          [](const BlockRequest& r) { return r.rows % a == 0 && r.cols % b == 0; },
          [](const BlockRequest& r) { return tiles_of(r, a, b, Layout::kPadZero, same); }};
}

constexpr std::array<BlockFormula, 11> kFormulas{{
    {"aiter.shuffle_weight", draw_weight<4, 8, 16>, takes_weight, weight},
    {"aiter.shuffle_weight_a16w4",
     [](BlockRequest& r) {
       r.unit_bits = 8;
       r.params["gate_up"] = pick(0, 1);
       r.rows = pick_near(r.param("gate_up") == 1 ? 32 : 16, 64);
       r.cols = pick_near(64, 64);
     },
     [](const BlockRequest& r) { return r.rows % (r.param("gate_up") == 1 ? 32 : 16) == 0 && r.cols % 64 == 0; }, weight_a16w4},
    {"aiter.shuffle_scale_a16w4",
     [](BlockRequest& r) {
       r.unit_bits = 8;
       r.params["gate_up"] = pick(0, 1);
       r.rows = pick_near(32, 64);
       r.cols = pick_near(1, 8);
     },
     [](const BlockRequest& r) { return r.rows % 32 == 0 && r.param("experts_given") == 1; }, scale_a16w4},
    {"aiter.e8m0_shuffle",
     [](BlockRequest& r) {
       r.unit_bits = 8;
       r.rows = pick(0, 2) == 0 ? pick_near(1, 256) : pick_near(1, 32);
       r.cols = pick_near(1, 8);
     },
     [](const BlockRequest&) { return true; }, e8m0_shuffle},
    {"aiter.shuffle_weight_gfx1250",
     [](BlockRequest& r) {
       r.batch = 1;
       draw_weight<4, 8, 16>(r);
     },
     [](const BlockRequest& r) { return r.batch == 1 && takes_weight(r); }, weight},
    {"aiter.moe_shuffle_weight.gfx1250",
     [](BlockRequest& r) {
       draw_interleave(r);
       draw_weight<4, 8, 16>(r);
     },
     takes_weight,
     [](const BlockRequest& r) { return weight_of(r, [&](std::int64_t row) { return interleaves(r) ? row % 2 * (r.rows / 2) + row / 2 : row; }); }},
    {"aiter.shuffle_scale_n32k4",
     [](BlockRequest& r) {
       r.unit_bits = 8;
       draw_interleave(r);
       r.rows = pick_near(32, 64);
       r.cols = pick_near(4, 8);
     },
     [](const BlockRequest& r) { return r.rows % 32 == 0 && r.cols % 4 == 0; },
     [](const BlockRequest& r) {
       return tiles_of(r, 32, 4, Layout::kPadZero, [&](std::int64_t row) { return interleaves(r) ? row % 2 * (r.rows / 2) + row / 2 : row; });
     }},
    tile_formula<2, 128>("aiter.tiles.mxfp8_activation"),
    tile_formula<16, 16>("aiter.tiles.weight"),
    {"aiter.tiles.mx_scale",
     [](BlockRequest& r) {
       r.unit_bits = 8;
       r.rows = pick_near(1, 32);
       r.cols = pick_near(4, 8);
     },
     [](const BlockRequest& r) { return r.cols % 4 == 0; }, [](const BlockRequest& r) { return tiles_of(r, 32, 4, Layout::kPadNeutral, same); }},
    tile_formula<32, 8>("aiter.tiles.nvfp4_scale"),
}};

}  // namespace

constinit const std::span<const BlockFormula> kAiterBlocks{kFormulas};

}  // namespace mx::props
