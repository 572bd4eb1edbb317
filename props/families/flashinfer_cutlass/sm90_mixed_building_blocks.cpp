// The orders of CUTLASS' mixed-input GEMM on Hopper. Source: spec layouts 3.2 and 3.3.

#include <array>

#include "props/families/block_formula.hpp"
#include "props/families/flashinfer_cutlass/family.hpp"
#include "props/layout/generators.hpp"

namespace mx::props {
namespace {

using layout::Layout;
using families::BlockRequest;

void draw_weight(BlockRequest& r) {
  r.unit_bits = 8;
  r.rows = pick_near(16, 32);
  r.cols = pick_near(32, 64);
}

bool takes_weight(const BlockRequest& r) { return r.rows % 16 == 0 && 2 * r.cols % 64 == 0; }

/// Bytes B0 to B3 of the word at row n, word column w.
Spot fp4_byte(std::int64_t n, std::int64_t w, std::int64_t byte) {
  const std::int64_t v = w % 8;
  const std::int64_t row = 16 * (n / 16) + n % 8;
  const std::int64_t col = 32 * (w / 8) + 16 * (v / 4) + 8 * (n % 16 / 8) + v % 4;
  return {row + (byte % 2 == 0 ? 0 : 8), col + (byte < 2 ? 0 : 4)};
}

Memory fp4(const BlockRequest& r) {
  return gathered(r, 1, r.rows * r.cols * 8, Layout::kPadZero, [&](std::int64_t p) {
    const std::int64_t word = p / 32;
    const std::int64_t from = scattered_bit(p % 32);
    Spot spot = fp4_byte(word / (r.cols / 4), word % (r.cols / 4), from / 8);
    spot.part = from % 8;
    return spot;
  });
}

/// 3.2a, scattered: elements 2l and 2l+1 of a row's 64, of rows r and r+8.
Memory fp4_nibbles(const BlockRequest& r) {
  Memory memory{4, std::vector<std::int64_t>(static_cast<std::size_t>(r.batch * r.rows * r.cols * 2))};
  for (std::int64_t row = 0; row < r.batch * r.rows; ++row) {
    for (std::int64_t k = 0; k < 2 * r.cols; ++k) {
      const std::int64_t l = k % 64 / 2;
      const std::int64_t upper = row / 16 * 16 + row % 8;
      const std::int64_t byte = k / 64 * 32 + 16 * (l / 16) + 4 * (l % 4) + 2 * (l % 8 / 4) + k % 2;
      const std::int64_t to = ((upper + 8 * (l / 8 % 2)) * r.cols + byte) * 2 + row / 8 % 2;
      memory.sources[static_cast<std::size_t>(to)] = row * 2 * r.cols + k;
    }
  }
  return memory;
}

Memory scale_lines(const BlockRequest& r) {
  const std::int64_t q = 128 / r.param("group_size");
  return gathered(r, r.unit_bits, r.rows * r.cols, Layout::kPadZero, [&](std::int64_t p) {
    return Spot{p % (q * r.rows) / q, p / (q * r.rows) * q + p % q};
  });
}

bool takes_lines(const BlockRequest& r) { return 128 % r.param("group_size") == 0 && r.cols % (128 / r.param("group_size")) == 0; }

void draw_lines(BlockRequest& r) {
  r.unit_bits = static_cast<int>(pick_of({8, 16}));
  r.params["group_size"] = pick_of({32, 16, 64, 128});
  r.rows = pick_near(16, 64);
  r.cols = pick_near(128 / r.param("group_size"), 8);
}

/// The byte at row n, byte column b: units of two bytes.
Spot int4_byte(std::int64_t n, std::int64_t b) {
  const std::int64_t v = b / 2 % 16;
  const std::int64_t unit = 16 * (b / 2 / 16) + 8 * (v / 8) + 4 * (n % 16 / 8) + v % 8 / 2;
  return {16 * (n / 16) + n % 8 + 8 * (v % 2), 2 * unit + b % 2};
}

Memory int4(const BlockRequest& r) {
  return gathered(r, 8, r.rows * r.cols, Layout::kPadZero, [&](std::int64_t p) { return int4_byte(p / r.cols, p % r.cols); });
}

Memory fp4_fp8(const BlockRequest& r) {
  return gathered(r, 1, r.rows * r.cols * 8, Layout::kPadZero, [&](std::int64_t p) {
    std::int64_t bit = p % 32;
    // The element's sign bit that arrives at each of the bits 3, 7, .. 31; others stay.
    constexpr std::array<std::int64_t, 8> kSigns{19, 3, 23, 7, 27, 11, 31, 15};
    if (bit % 4 == 3) bit = kSigns[static_cast<std::size_t>(bit / 4)];
    const std::int64_t byte = p / 32 * 4 + bit / 8;
    Spot spot = int4_byte(byte / r.cols, byte % r.cols);
    spot.part = bit % 8;
    return spot;
  });
}

bool takes_scale(const BlockRequest& r) {
  const std::int64_t group = r.param("group_size");
  if (128 % group != 0 || r.unit_bits % 8 != 0 || 128 % r.unit_bits != 0) return false;
  const std::int64_t per_line = 128 / group;
  return 128 / r.unit_bits % per_line == 0 && r.rows % 64 == 0 && r.cols % per_line == 0;
}

void draw_scale(BlockRequest& r) {
  r.unit_bits = static_cast<int>(pick_of({8, 16}));
  r.params["group_size"] = r.unit_bits == 8 ? pick_of({32, 16, 8, 64, 128}) : pick_of({16, 32, 64, 128});
  r.rows = pick_near(64, 128);
  r.cols = pick_near(128 / r.param("group_size"), 8);
}

Memory scale(const BlockRequest& r) {
  const std::int64_t q = 128 / r.param("group_size");
  const std::int64_t pc = 128 / r.unit_bits;
  const std::int64_t f_count = 64 / (pc / q);
  return gathered(r, r.unit_bits, r.rows * r.cols, Layout::kPadZero, [&](std::int64_t p) {
    const std::int64_t x = p % pc;
    const std::int64_t f = p / pc % f_count;
    const std::int64_t kb = p / (pc * f_count) % (r.cols / q);
    const std::int64_t rb = p / (pc * f_count) / (r.cols / q);
    return Spot{64 * rb + x / q * f_count + f, kb * q + x % q};
  });
}

constexpr std::array<BlockFormula, 6> kFormulas{{
    {"cutlass_sm90_mixed.weight.fp4_nibbles", draw_weight, takes_weight, fp4_nibbles},
    {"cutlass_sm90_mixed.scale_lines", draw_lines, takes_lines, scale_lines},
    {"cutlass_sm90_mixed.weight.fp4", draw_weight, takes_weight, fp4},
    {"cutlass_sm90_mixed.weight.int4", draw_weight, takes_weight, int4},
    {"cutlass_sm90_mixed.weight.fp4_fp8", draw_weight, takes_weight, fp4_fp8},
    {"cutlass_sm90_mixed.scale", draw_scale, takes_scale, scale},
}};

}  // namespace

constinit const std::span<const BlockFormula> kFlashinferCutlassBlocks{kFormulas};

}  // namespace mx::props
