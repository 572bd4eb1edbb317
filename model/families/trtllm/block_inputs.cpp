// Numbers of axes and dtypes that this family's blocks take.

#include "model/families/block_input_rows.hpp"
#include "model/families/trtllm/family.hpp"

namespace mx::families {
namespace {

constexpr BlockInput kInputs[] = {
    {"sf_128x4",
     "vllm-2026-08",
     {},
     kE4m3,
     "the dtype is asserted",
     vllm_source("vllm/model_executor/layers/quantization/utils/nvfp4_utils.py", "swizzle_blockscale")},
    {"sf_128x4",
     "vllm-2026-08",
     kEither,
     {},
     "one matrix or all experts",
     vllm_source("vllm/model_executor/layers/quantization/utils/nvfp4_utils.py", "swizzle_blockscale")},
    {"sf_128x4",
     "flashinfer-2026-08",
     {},
     kBytesOrHalves,
     "the dtype is asserted",
     flashinfer_source("flashinfer/quantization/fp4_quantization.py", "block_scale_interleave")},
    {"trtllm.shuffle_matrix_a",
     "",
     kMatrix,
     {},
     "row indices are made for a matrix",
     flashinfer_source("flashinfer/quantization/fp4_quantization.py", "shuffle_matrix_a")},
    {"trtllm.shuffle_matrix_sf_a", "", kMatrix, kBytes, "row indices are made for a matrix of bytes",
     flashinfer_source("flashinfer/quantization/fp4_quantization.py", "shuffle_matrix_sf_a")},
};

}  // namespace

constinit const std::span<const BlockInput> kTrtllmInputs{kInputs};

}  // namespace mx::families
