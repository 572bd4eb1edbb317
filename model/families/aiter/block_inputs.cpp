// Numbers of axes and dtypes that this family's blocks take.

#include "model/families/aiter/family.hpp"
#include "model/families/block_input_rows.hpp"

namespace mx::families {
namespace {

constexpr layout::Source aiter(std::string_view symbol) {
  return {"ROCm/aiter", "aiter/ops/shuffle.py", symbol, "e4048607a535ace3a2b51ded31b1c8c2d45c0879"};
}

constexpr BlockInput kInputs[] = {
    {"aiter.e8m0_shuffle", "", kMatrix, {}, "the scales of all experts are stacked", aiter("shuffle_scale")},
    {"aiter.shuffle_scale_a16w4", "", kMatrix, {}, "the scales of all experts are stacked", aiter("shuffle_scale_a16w4")},
};

}  // namespace

constinit const std::span<const BlockInput> kAiterInputs{kInputs};

}  // namespace mx::families
