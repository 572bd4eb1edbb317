// The order of W4A8's int4 weights. Source: spec layouts 12.

#include <array>

#include "props/families/block_formula.hpp"
#include "props/families/cutlass_w4a8/family.hpp"
#include "props/layout/generators.hpp"

namespace mx::props {
namespace {

using families::BlockRequest;

/// Forward, as the document has it: nibble (n, k) goes to off(n, k).
Memory reordered(const BlockRequest& r) {
  const std::int64_t k_count = r.cols * r.unit_bits / 4;
  Memory memory{4, std::vector<std::int64_t>(static_cast<std::size_t>(r.batch * r.rows * k_count), -99)};
  for (std::int64_t b = 0; b < r.batch; ++b) {
    for (std::int64_t n = 0; n < r.rows; ++n) {
      for (std::int64_t k = 0; k < k_count; ++k) {
        const std::int64_t off =
            n / 16 * 512 + k / 32 * (512 * (r.rows / 16)) + n % 8 * 64 + n % 16 / 8 * 4 + k % 4 + k / 4 % 4 * 16 + k % 32 / 16 * 8;
        memory.sources[static_cast<std::size_t>(b * r.rows * k_count + off)] = (b * r.rows + n) * k_count + k;
      }
    }
  }
  return memory;
}

constexpr std::array<BlockFormula, 1> kFormulas{{
    {"cutlass_w4a8.reorder",
     [](BlockRequest& r) {
       r.unit_bits = static_cast<int>(pick_of({4, 8}));
       r.rows = pick_near(16, 32);
       r.cols = 256 * pick(1, 3) * 4 / r.unit_bits;
     },
     [](const BlockRequest& r) { return (r.unit_bits == 4 || r.unit_bits == 8) && r.cols * r.unit_bits / 4 % 256 == 0 && r.rows % 16 == 0; },
     reordered},
}};

}  // namespace

constinit const std::span<const BlockFormula> kCutlassW4a8Blocks{kFormulas};

}  // namespace mx::props
