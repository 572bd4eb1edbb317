// DeepGEMM's scale transforms. Source: spec layouts 4.

#include <array>

#include "props/families/block_formula.hpp"
#include "props/families/deepgemm/family.hpp"
#include "props/layout/generators.hpp"

namespace mx::props {
namespace {

using layout::Layout;
using families::BlockRequest;

/// Word (i, p) of a batch at p*A + i holds the exponents of 4 scales of row i. An fp32's exponent is its bits 23 to 30.
Memory packed(const BlockRequest& r) {
  const std::int64_t a = round_up(r.rows, 4);
  const std::int64_t words = (r.cols + 3) / 4 * a;
  // The torch path, which several batches of sizes that words do not divide take, starts from zeros.
  const bool by_torch = r.batch > 1 && r.rows * r.cols % 4 != 0;
  const std::int64_t tail = by_torch ? Layout::kPadZero : Layout::kPadUnwritten;
  const bool from_f32 = r.unit_bits == 32;
  const int grain = from_f32 ? 1 : 8;
  const std::int64_t grains = 8 / grain;  // of a byte
  Memory memory = gathered(r, grain, words * 4 * grains, Layout::kPadZero, [&](std::int64_t g) {
    const std::int64_t word = g / grains / 4;
    return Spot{word % a, 4 * (word / a) + g / grains % 4, from_f32 ? 23 + g % grains : 0};
  });
  for (std::size_t g = 0; g < memory.sources.size(); ++g) {
    if (static_cast<std::int64_t>(g) / grains / 4 % words % a >= r.rows) memory.sources[g] = tail;
  }
  return memory;
}

constexpr std::array<BlockFormula, 2> kFormulas{{
    {"deepgemm.sf_packed_ue8m0",
     [](BlockRequest& r) {
       r.unit_bits = static_cast<int>(pick_of({8, 32}));
       r.rows = pick_near(1, 32);
       r.cols = pick_near(1, 4);
     },
     [](const BlockRequest& r) { return r.unit_bits == 8 || r.unit_bits == 32; }, packed},
    {"deepgemm.sf_mn_major_fp32",
     [](BlockRequest& r) {
       r.unit_bits = 32;
       r.rows = pick_near(1, 32);
       r.cols = pick(1, 9);
     },
     [](const BlockRequest&) { return true; },
     [](const BlockRequest& r) {
       const std::int64_t a = round_up(r.rows, 4);
       return gathered(r, 32, r.cols * a, Layout::kPadUnwritten, [&](std::int64_t p) { return Spot{p % a, p / a}; });
     }},
}};

}  // namespace

constinit const std::span<const BlockFormula> kDeepgemmBlocks{kFormulas};

}  // namespace mx::props
