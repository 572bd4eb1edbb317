// Numbers of axes and dtypes that this family's blocks take.

#include "model/families/block_input_rows.hpp"
#include "model/families/marlin/family.hpp"

namespace mx::families {
namespace {

constexpr std::string_view kRepack = "csrc/libtorch_stable/quantization/marlin/gptq_marlin_repack.cu";

constexpr BlockInput kInputs[] = {
    {"marlin.repack.w4a16", "", kMatrix, kWords, kPackedWords, vllm_source(kRepack, "gptq_marlin_repack")},
    {"marlin.repack.w4a8", "", kMatrix, kWords, kPackedWords, vllm_source(kRepack, "gptq_marlin_repack")},
    {"marlin.repack.w8a16", "", kMatrix, kWords, kPackedWords, vllm_source(kRepack, "gptq_marlin_repack")},
    {"marlin.repack.w8a8", "", kMatrix, kWords, kPackedWords, vllm_source(kRepack, "gptq_marlin_repack")},
};

}  // namespace

constinit const std::span<const BlockInput> kMarlinInputs{kInputs};

}  // namespace mx::families
