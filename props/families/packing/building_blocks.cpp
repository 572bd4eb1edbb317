// Codes of 6 and 4 bits in bytes. Source: PTX ISA 9.2, alternate floating-point data formats; facts on tensor cores 1.

#include <array>

#include "props/families/block_formula.hpp"
#include "props/families/packing/family.hpp"
#include "props/layout/generators.hpp"

namespace mx::props {
namespace {

using families::BlockRequest;
using layout::Layout;

/// The pair of bits `pair` of code `k` of a matrix of a code a byte.
Spot pair_of(const BlockRequest& r, std::int64_t k, std::int64_t pair) { return {k / r.cols, k % r.cols, pair}; }
Spot nowhere(const BlockRequest& r) { return {r.rows, 0}; }

Memory dense(const BlockRequest& r) {
  return gathered(r, 2, 3 * r.rows * r.cols, Layout::kPadZero, [&](std::int64_t p) { return pair_of(r, p / 3, p % 3); });
}

/// Bit i of the four codes as 24 bits, the first code and its top bit first, in bytes that are written the same way.
Memory first_high(const BlockRequest& r) {
  return gathered(r, 1, 6 * r.rows * r.cols, Layout::kPadZero, [&](std::int64_t p) {
    const std::int64_t from_top = p / 8 % 3 * 8 + 7 - p % 8, code = p / 24 * 4 + from_top / 6;
    return Spot{code / r.cols, code % r.cols, 5 - from_top % 6};
  });
}

Memory sixteens(const BlockRequest& r) {
  return gathered(r, 2, 4 * r.rows * r.cols, Layout::kPadUnwritten,
                  [&](std::int64_t p) { return p % 64 >= 48 ? nowhere(r) : pair_of(r, p / 64 * 16 + p % 64 / 3, p % 64 % 3); });
}

/// Codes of `pairs` pairs, each from pair `low` of its byte on.
Memory in_bytes(const BlockRequest& r, std::int64_t pairs, std::int64_t low, bool packed) {
  const std::int64_t codes = (packed ? 2 : 1) * r.rows * r.cols;
  return gathered(r, 2, 4 * codes, Layout::kPadZero, [&](std::int64_t p) {
    const std::int64_t pair = p % 4 - low, code = p / 4;
    if (pair < 0 || pair >= pairs) return nowhere(r);
    return packed ? pair_of(r, code / 2, code % 2 * 2 + pair) : pair_of(r, code, pair);
  });
}

void draw(BlockRequest& r, int bits, std::int64_t step) {
  r.unit_bits = bits;
  r.rows = pick(1, 9);
  r.cols = step * pick(1, 6);
}

bool takes_all(const BlockRequest&) { return true; }
bool takes_fours(const BlockRequest& r) { return r.cols % 4 == 0; }

constexpr std::array<BlockFormula, 6> kFormulas{{
    {"packing.fp6_four_in_three", [](BlockRequest& r) { draw(r, 8, 4); }, takes_fours, dense},
    {"packing.fp6_first_code_high", [](BlockRequest& r) { draw(r, 8, 4); }, takes_fours, first_high},
    {"packing.fp6_sixteen_in_sixteen", [](BlockRequest& r) { draw(r, 8, 16); }, [](const BlockRequest& r) { return r.cols % 16 == 0; }, sixteens},
    {"packing.fp6_one_in_a_byte", [](BlockRequest& r) { draw(r, 6, 4); }, takes_fours, [](const BlockRequest& r) { return in_bytes(r, 3, 0, false); }},
    {"packing.fp6_shifted", [](BlockRequest& r) { draw(r, 8, 1); }, takes_all, [](const BlockRequest& r) { return in_bytes(r, 3, 1, false); }},
    {"packing.fp4_in_a_byte", [](BlockRequest& r) { draw(r, 8, 1); }, takes_all, [](const BlockRequest& r) { return in_bytes(r, 2, 1, true); }},
}};

constinit const std::span<const BlockFormula> kBlocks{kFormulas};

}  // namespace

constinit const FamilyFormulas kPackingFormulas{.name = "packing", .backends = {}, .blocks = &kBlocks};

}  // namespace mx::props
