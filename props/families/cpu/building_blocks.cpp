// The CPU kernels' packing. Source: spec layouts 8.1.

#include <array>

#include "props/families/block_formula.hpp"
#include "props/families/cpu/family.hpp"
#include "props/layout/generators.hpp"

namespace mx::props {
namespace {

using layout::Layout;
using families::BlockRequest;

/// Nibbles of a block of 32 rows: u[2r], u[2r+1] are the low and the high nibble of row r; byte i of a column has u[i] low and u[i+32] high. A last
/// block of 16 rows has 16 bytes a column, whose high nibbles nothing was written to.
Memory nibbles(const BlockRequest& r) {
  return gathered(r, 4, 2 * r.rows * r.cols, Layout::kPadUnwritten, [&](std::int64_t p) {
    const std::int64_t n0 = p / (64 * r.cols) * 32;
    const std::int64_t in_block = p / 2 - n0 * r.cols;
    const std::int64_t height = r.rows - n0 < 32 ? 16 : 32;
    const std::int64_t u = in_block % height + 32 * (p % 2);
    return Spot{n0 + u / 2, in_block / height, u % 2};
  });
}

Memory vnni2(const BlockRequest& r) {
  return gathered(r, r.unit_bits, r.rows * r.cols, Layout::kPadZero, [&](std::int64_t p) {
    const std::int64_t n0 = p / (32 * r.cols) * 32;
    const std::int64_t in_block = p - n0 * r.cols;
    const std::int64_t height = r.rows - n0 < 32 ? 16 : 32;
    return Spot{n0 + in_block / 2 % height, 2 * (in_block / (2 * height)) + in_block % 2};
  });
}

constexpr std::array<BlockFormula, 3> kFormulas{{
    {"cpu.convert_weight_packed.uint8",
     [](BlockRequest& r) {
       r.unit_bits = 8;
       r.rows = pick_near(16, 32);
       r.cols = pick_near(16, 32);
     },
     [](const BlockRequest& r) { return r.rows % 16 == 0 && 2 * r.cols % 32 == 0; }, nibbles},
    {"cpu.convert_weight_packed.vnni2",
     [](BlockRequest& r) {
       r.unit_bits = static_cast<int>(pick_of({8, 16}));
       r.rows = pick_near(16, 32);
       r.cols = pick_near(32, 64);
     },
     [](const BlockRequest& r) { return r.rows % 16 == 0 && r.cols % 32 == 0; }, vnni2},
    {"cpu.convert_scale_packed",
     [](BlockRequest& r) {
       r.unit_bits = 8;
       r.rows = pick_near(32, 64);
       r.cols = pick(1, 9);
     },
     [](const BlockRequest& r) { return r.rows % 32 == 0; },
     [](const BlockRequest& r) {
       return gathered(r, 8, r.rows * r.cols, Layout::kPadZero, [&](std::int64_t p) {
         return Spot{p / (32 * r.cols) * 32 + p % 32, p / 32 % r.cols};
       });
     }},
}};

}  // namespace

constinit const std::span<const BlockFormula> kCpuBlocks{kFormulas};

}  // namespace mx::props
