// The storage of triton_kernels' tensor layouts. Source: spec layouts 5.1 to 5.7.

#include <array>
#include <numeric>

#include "props/families/block_formula.hpp"
#include "props/families/triton_kernels/family.hpp"
#include "props/layout/generators.hpp"

namespace mx::props {
namespace {

using layout::Layout;
using families::BlockRequest;

bool is_3_5(const BlockRequest& r) { return r.version == "triton_kernels-3.5"; }

/// Releases after 3.5 bring weights into a form with pairs of rows first.
bool takes_pairs(const BlockRequest& r) { return is_3_5(r) || r.rows % 2 == 0; }

template <std::int64_t row_tile, std::int64_t col_tile>
void draw_weight(BlockRequest& r) {
  r.unit_bits = 8;
  r.rows = pick_near(is_3_5(r) ? 1 : 2, row_tile);
  r.cols = pick_near(1, col_tile);
}

template <std::int64_t row_tile, std::int64_t col_tile>
void draw_scale(BlockRequest& r) {
  r.unit_bits = 8;
  r.rows = pick_near(1, row_tile);
  r.cols = pick_near(1, col_tile);
}

bool takes_all(const BlockRequest&) { return true; }

Memory strided(const BlockRequest& r) {
  if (is_3_5(r)) return gathered(r, 8, r.rows * r.cols, Layout::kPadZero, [&](std::int64_t p) { return Spot{p / r.cols, p % r.cols}; });
  // Nibble (k, n) <- element k of row n.
  return gathered(r, 4, 2 * r.rows * r.cols, Layout::kPadZero, [&](std::int64_t p) {
    const std::int64_t k = p / r.rows;
    return Spot{p % r.rows, k / 2, k % 2};
  });
}

void draw_hopper_value(BlockRequest& r) {
  r.unit_bits = 8;
  r.params["mma_version"] = pick_of({2, 3});
  const bool widest = r.version == "triton_kernels-2026-08";
  r.rows = is_3_5(r) ? pick_near(1, 16) : widest && pick(0, 3) == 0 ? pick_near(2, 256) : pick_near(2, 64);
  r.cols = pick_near(1, is_3_5(r) ? 32 : 64);
}

Memory hopper_value(const BlockRequest& r) {
  const std::int64_t rows = round_up(r.rows, is_3_5(r) ? 16 : r.version == "triton_kernels-3.7" ? 64 : 256);
  const std::int64_t bytes = round_up(r.cols, is_3_5(r) ? 32 : 64);
  return gathered(r, 1, rows * bytes * 8, Layout::kPadZero, [&](std::int64_t p) {
    const std::int64_t line = p / 32 / bytes;
    const std::int64_t q = p / 32 % bytes;
    const std::int64_t from = scattered_bit(p % 32);
    const std::int64_t j = from / 8;
    const std::int64_t y = q % 4;
    const std::int64_t t1 = q / 4 % 4;
    const bool wgmma = r.param("mma_version") == 3;
    const std::int64_t w0 = wgmma ? j % 2 : y % 2;
    const std::int64_t w1 = wgmma ? j / 2 : y / 2;
    const std::int64_t col = 32 * (q / 32) + (wgmma ? 8 * y + 4 * w1 + t1 : 16 * w1 + 4 * t1 + j);
    return Spot{16 * (line / 4) + 8 * w0 + 2 * (line % 4) + q / 16 % 2, col, from % 8};
  });
}

bool is_power_of_two(std::int64_t number) {
  while (number > 1 && number % 2 == 0) number /= 2;
  return number == 1;
}

Memory hopper_scale(const BlockRequest& r) {
  const std::int64_t warps = r.param("num_warps");
  const std::int64_t groups = round_up(r.cols, 2);
  const std::int64_t line = 32 * groups;
  return gathered(r, 8, round_up(r.rows, 32 * warps) / 32 * line, Layout::kPadZero, [&](std::int64_t p) {
    const std::int64_t q = p / line / warps;
    const std::int64_t w = p / line % warps;
    const std::int64_t c = p % line;
    return Spot{32 * warps * q + 16 * warps * (c / 32 % 2) + 16 * w + 8 * (c % 2) + c / 4 % 8, 2 * (c / 64) + c / 2 % 2};
  });
}

Memory blackwell_value(const BlockRequest& r) {
  const std::int64_t bytes = round_up(r.cols, 128);
  const std::int64_t outside = is_3_5(r) ? Layout::kPadZero : Layout::kPadUnwritten;
  return gathered(r, 8, r.rows * bytes, outside, [&](std::int64_t p) { return Spot{p / bytes, p % bytes}; });
}

void draw_shuffled(BlockRequest& r) {
  r.params["block_k"] = pick_of({128, 64, 192, 256, 2});
  r.params["block_n"] = pick_of({256, 64, 1, 96});
  draw_weight<64, 128>(r);
}

Memory blackwell_value_shuffled(const BlockRequest& r) {
  const std::int64_t tk = r.param("block_k") / 2;
  const std::int64_t tn = r.param("block_n");
  const std::int64_t bytes = round_up(r.cols, std::lcm<std::int64_t>(128, tk));
  const std::int64_t rows = round_up(r.rows, tn);
  return gathered(r, 8, rows * bytes, Layout::kPadZero, [&](std::int64_t p) {
    const std::int64_t tile = p / (tn * tk);
    return Spot{tile % (rows / tn) * tn + p / tk % tn, tile / (rows / tn) * tk + p % tk};
  });
}

void draw_cdna4(BlockRequest& r) {
  r.unit_bits = 8;
  r.rows = pick_near(is_3_5(r) ? 32 : 1, 32);
  r.cols = pick_near(is_3_5(r) ? 8 : 1, 8);
}

Memory gfx1250_scale(const BlockRequest& r) {
  const std::int64_t a = r.cols > 4 ? 4 : r.cols;
  const std::int64_t groups = round_up(r.cols, a);
  return gathered(r, 8, round_up(r.rows, 128) * groups, Layout::kPadZero, [&](std::int64_t p) {
    const std::int64_t c = p % (128 * groups);
    return Spot{128 * (p / (128 * groups)) + 32 * (c / a % 4) + c / (4 * a) % 32, a * (c / (128 * a)) + c % a};
  });
}

constexpr std::array<BlockFormula, 8> kFormulas{{
    {"triton.StridedLayout", draw_weight<16, 32>, takes_pairs, strided},
    {"triton.HopperMXValueLayout", draw_hopper_value, takes_pairs, hopper_value},
    {"triton.HopperMXScaleLayout",
     [](BlockRequest& r) {
       r.unit_bits = 8;
       r.params["num_warps"] = pick_of({8, 4, 2, 1, 16});
       r.rows = pick_near(1, 32 * pick_of({1, r.param("num_warps")}));
       r.cols = pick_near(1, 4);
     },
     [](const BlockRequest& r) { return is_power_of_two(r.param("num_warps")); }, hopper_scale},
    {"triton.BlackwellMXScaleLayout", draw_scale<128, 8>, takes_all, [](const BlockRequest& r) { return tiled_scales(r, 8); }},
    {"triton.BlackwellMXValueLayout", draw_weight<16, 128>, takes_pairs, blackwell_value},
    {"triton.BlackwellMX4ValueShuffledLayout", draw_shuffled, [](const BlockRequest& r) { return takes_pairs(r) && r.param("block_k") % 2 == 0; },
     blackwell_value_shuffled},
    {"triton.CDNA4MXScaleLayout", draw_cdna4, [](const BlockRequest& r) { return !is_3_5(r) || (r.rows % 32 == 0 && r.cols % 8 == 0); },
     [](const BlockRequest& r) { return cdna4_scales(r, round_up(r.rows, 32), round_up(r.cols, 8), Layout::kPadZero); }},
    {"triton.GFX1250MXScaleLayout", draw_scale<128, 4>, takes_all, gfx1250_scale},
}};

}  // namespace

Memory cdna4_scales(const BlockRequest& r, std::int64_t rows, std::int64_t cols, std::int64_t outside) {
  return gathered(r, 8, rows * cols, outside, [&](std::int64_t p) {
    const std::int64_t c = p % (32 * cols);
    return Spot{32 * (p / (32 * cols)) + 16 * (c % 2) + c / 4 % 16, 8 * (c / 256) + 4 * (c / 2 % 2) + c / 64 % 4};
  });
}

constinit const std::span<const BlockFormula> kTritonKernelsBlocks{kFormulas};

}  // namespace mx::props
