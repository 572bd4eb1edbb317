// The rows of CuteDSL's gated weights. Source: spec layouts 10.

#include <array>

#include "props/families/block_formula.hpp"
#include "props/families/cutedsl/family.hpp"
#include "props/layout/generators.hpp"

namespace mx::props {
namespace {

using families::BlockRequest;

constexpr std::array<BlockFormula, 1> kFormulas{{
    {"nvfp4_moe.FLASHINFER_CUTEDSL",
     [](BlockRequest& r) {
       r.unit_bits = static_cast<int>(pick_of({4, 8}));
       r.params["group_rows"] = pick_of({64, 1, 16, 3});
       r.rows = pick_near(2 * r.param("group_rows"), 128);
       r.cols = pick(1, 9);
     },
     [](const BlockRequest& r) { return r.rows % (2 * r.param("group_rows")) == 0; },
     [](const BlockRequest& r) {
       const std::int64_t g = r.param("group_rows");
       return gathered(r, r.unit_bits, r.rows * r.cols, layout::Layout::kPadZero, [&](std::int64_t p) {
         const std::int64_t row = p / r.cols;
         return Spot{row % (2 * g) / g * (r.rows / 2) + g * (row / (2 * g)) + row % g, p % r.cols};
       });
     }},
}};

}  // namespace

constinit const std::span<const BlockFormula> kCutedslBlocks{kFormulas};

}  // namespace mx::props
