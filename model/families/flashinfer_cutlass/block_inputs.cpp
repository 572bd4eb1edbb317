// Numbers of axes and dtypes that this family's blocks take.

#include "model/families/block_input_rows.hpp"
#include "model/families/flashinfer_cutlass/family.hpp"

namespace mx::families {
namespace {

constexpr std::string_view kSm90 = "packed weights of all experts, on the GPU";
constexpr std::string_view kMixed = "csrc/nv_internal/tensorrt_llm/kernels/cutlass_kernels/moe_gemm/moe_gemm_mixed_utils.cu";

constexpr BlockInput kInputs[] = {
    {"cutlass_sm90_mixed.weight.fp4", "", kExperts, kBytes, kSm90, flashinfer_source(kMixed, "interleave_fp4_weights_for_sm90_mixed_gemm")},
    {"cutlass_sm90_mixed.weight.fp4_nibbles", "", kExperts, kBytes, kSm90, flashinfer_source(kMixed, "interleave_fp4_weights_for_sm90_mixed_gemm")},
    {"cutlass_sm90_mixed.weight.int4", "", kExperts, kBytes, kSm90, flashinfer_source(kMixed, "interleave_int4_weights_for_sm90_mixed_gemm")},
    {"cutlass_sm90_mixed.weight.fp4_fp8", "", kExperts, kBytes, kSm90, flashinfer_source(kMixed, "interleave_fp4_fp8_weights_for_sm90_mixed_gemm")},
    {"cutlass_sm90_mixed.scale",
     "",
     kExperts,
     {},
     "scales of all experts",
     flashinfer_source("flashinfer/fused_moe/prepare.py", "interleave_moe_scales_for_sm90_mixed_gemm")},
};

}  // namespace

constinit const std::span<const BlockInput> kFlashinferCutlassInputs{kInputs};

}  // namespace mx::families
