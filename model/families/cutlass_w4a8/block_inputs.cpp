// Numbers of axes and dtypes that this family's blocks take.

#include "model/families/block_input_rows.hpp"
#include "model/families/cutlass_w4a8/family.hpp"

namespace mx::families {
namespace {

constexpr std::string_view kGrouped = "csrc/libtorch_stable/quantization/cutlass_w4a8/w4a8_grouped_mm_entry.cu";

constexpr BlockInput kInputs[] = {
    {"cutlass_w4a8.reorder", "", kExperts, kWords, kPackedWords, vllm_source(kGrouped, "encode_and_reorder_int4b")},
    {"cutlass_w4a8.encode_and_reorder", "", kExperts, kWords, kPackedWords, vllm_source(kGrouped, "encode_and_reorder_int4b")},
    {"cutlass_w4a8.pack_scale_fp8",
     "",
     {},
     kE4m3,
     "scales are e4m3 already",
     vllm_source("csrc/libtorch_stable/quantization/cutlass_w4a8/w4a8_mm_entry.cu", "pack_scale_fp8")},
};

}  // namespace

constinit const std::span<const BlockInput> kCutlassW4a8Inputs{kInputs};

}  // namespace mx::families
