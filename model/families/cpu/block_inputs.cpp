// Numbers of axes and dtypes that this family's blocks take.

#include "model/families/block_input_rows.hpp"
#include "model/families/cpu/family.hpp"

namespace mx::families {
namespace {

constexpr std::string_view kGemm = "csrc/cpu/sgl-kernels/gemm.cpp";

constexpr BlockInput kInputs[] = {
    {"cpu.convert_weight_packed.uint8", "", kEither, kCpuWeights, "one matrix or all experts", vllm_source(kGemm, "convert_weight_packed")},
    {"cpu.convert_weight_packed.vnni2", "", kEither, kCpuWeights, "one matrix or all experts", vllm_source(kGemm, "convert_weight_packed")},
    {"cpu.convert_scale_packed", "", kEither, kBytes, "e8m0 scales of one matrix or all experts", vllm_source(kGemm, "convert_scale_packed")},
};

}  // namespace

constinit const std::span<const BlockInput> kCpuInputs{kInputs};

}  // namespace mx::families
