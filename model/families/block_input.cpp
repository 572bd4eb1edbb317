#include "model/families/block_input.hpp"

#include <algorithm>
#include <array>

namespace mx::families {
namespace {

constexpr std::array<std::int64_t, 1> kMatrix{2};
constexpr std::array<std::int64_t, 1> kExperts{3};
constexpr std::array<std::int64_t, 2> kEither{2, 3};
constexpr std::array<std::string_view, 1> kBytes{"uint8"};
constexpr std::array<std::string_view, 2> kBytesOrHalves{"uint8", "bfloat16"};
constexpr std::array<std::string_view, 1> kE4m3{"float8_e4m3fn"};
constexpr std::array<std::string_view, 2> kWords{"int32", "uint8"};
constexpr std::array<std::string_view, 5> kCpuWeights{"bfloat16", "float16", "int8", "float8_e4m3fn", "uint8"};

constexpr std::string_view kSm90 = "packed weights of all experts, on the GPU";
constexpr std::string_view kPacked = "eight 4-bit elements a word; bytes stand for the same memory";
constexpr std::string_view kGemm = "csrc/cpu/sgl-kernels/gemm.cpp";
constexpr std::string_view kRepack = "csrc/libtorch_stable/quantization/marlin/gptq_marlin_repack.cu";
constexpr std::string_view kGrouped = "csrc/libtorch_stable/quantization/cutlass_w4a8/w4a8_grouped_mm_entry.cu";
constexpr std::string_view kMixed = "csrc/nv_internal/tensorrt_llm/kernels/cutlass_kernels/moe_gemm/moe_gemm_mixed_utils.cu";

constexpr layout::Source vllm(std::string_view path, std::string_view symbol) {
  return {"vllm-project/vllm", path, symbol, "017e9f4448b700e85ee16023287b025693c72b9e"};
}
constexpr layout::Source flashinfer(std::string_view path, std::string_view symbol) {
  return {"flashinfer-ai/flashinfer", path, symbol, "fb28d7242b3506a2348265962041acc1fb56cca4"};
}
constexpr layout::Source aiter(std::string_view symbol) { return {"ROCm/aiter", "aiter/ops/shuffle.py", symbol, "e4048607a535ace3a2b51ded31b1c8c2d45c0879"}; }

constexpr BlockInput kInputs[] = {
    {"sf_128x4",
     "vllm-2026-08",
     {},
     kE4m3,
     "the dtype is asserted",
     vllm("vllm/model_executor/layers/quantization/utils/nvfp4_utils.py", "swizzle_blockscale")},
    {"sf_128x4",
     "vllm-2026-08",
     kEither,
     {},
     "one matrix or all experts",
     vllm("vllm/model_executor/layers/quantization/utils/nvfp4_utils.py", "swizzle_blockscale")},
    {"sf_128x4",
     "flashinfer-2026-08",
     {},
     kBytesOrHalves,
     "the dtype is asserted",
     flashinfer("flashinfer/quantization/fp4_quantization.py", "block_scale_interleave")},
    {"trtllm.shuffle_matrix_a",
     "",
     kMatrix,
     {},
     "row indices are made for a matrix",
     flashinfer("flashinfer/quantization/fp4_quantization.py", "shuffle_matrix_a")},
    {"trtllm.shuffle_matrix_sf_a", "", kMatrix, kBytes, "row indices are made for a matrix of bytes",
     flashinfer("flashinfer/quantization/fp4_quantization.py", "shuffle_matrix_sf_a")},
    {"cutlass_sm90_mixed.weight.fp4", "", kExperts, kBytes, kSm90, flashinfer(kMixed, "interleave_fp4_weights_for_sm90_mixed_gemm")},
    {"cutlass_sm90_mixed.weight.fp4_nibbles", "", kExperts, kBytes, kSm90, flashinfer(kMixed, "interleave_fp4_weights_for_sm90_mixed_gemm")},
    {"cutlass_sm90_mixed.weight.int4", "", kExperts, kBytes, kSm90, flashinfer(kMixed, "interleave_int4_weights_for_sm90_mixed_gemm")},
    {"cutlass_sm90_mixed.weight.fp4_fp8", "", kExperts, kBytes, kSm90, flashinfer(kMixed, "interleave_fp4_fp8_weights_for_sm90_mixed_gemm")},
    {"cutlass_sm90_mixed.scale",
     "",
     kExperts,
     {},
     "scales of all experts",
     flashinfer("flashinfer/fused_moe/prepare.py", "interleave_moe_scales_for_sm90_mixed_gemm")},
    {"aiter.e8m0_shuffle", "", kMatrix, {}, "the scales of all experts are stacked", aiter("shuffle_scale")},
    {"aiter.shuffle_scale_a16w4", "", kMatrix, {}, "the scales of all experts are stacked", aiter("shuffle_scale_a16w4")},
    {"cpu.convert_weight_packed.uint8", "", kEither, kCpuWeights, "one matrix or all experts", vllm(kGemm, "convert_weight_packed")},
    {"cpu.convert_weight_packed.vnni2", "", kEither, kCpuWeights, "one matrix or all experts", vllm(kGemm, "convert_weight_packed")},
    {"cpu.convert_scale_packed", "", kEither, kBytes, "e8m0 scales of one matrix or all experts", vllm(kGemm, "convert_scale_packed")},
    {"marlin.repack.w4a16", "", kMatrix, kWords, kPacked, vllm(kRepack, "gptq_marlin_repack")},
    {"marlin.repack.w4a8", "", kMatrix, kWords, kPacked, vllm(kRepack, "gptq_marlin_repack")},
    {"marlin.repack.w8a16", "", kMatrix, kWords, kPacked, vllm(kRepack, "gptq_marlin_repack")},
    {"marlin.repack.w8a8", "", kMatrix, kWords, kPacked, vllm(kRepack, "gptq_marlin_repack")},
    {"cutlass_w4a8.reorder", "", kExperts, kWords, kPacked, vllm(kGrouped, "encode_and_reorder_int4b")},
    {"cutlass_w4a8.encode_and_reorder", "", kExperts, kWords, kPacked, vllm(kGrouped, "encode_and_reorder_int4b")},
    {"cutlass_w4a8.pack_scale_fp8",
     "",
     {},
     kE4m3,
     "scales are e4m3 already",
     vllm("csrc/libtorch_stable/quantization/cutlass_w4a8/w4a8_mm_entry.cu", "pack_scale_fp8")},
};

}  // namespace

std::span<const BlockInput> all_block_inputs() { return kInputs; }

std::vector<BlockNeed> broken_inputs(std::string_view block, std::string_view version, std::int64_t rank, std::string_view dtype) {
  std::vector<BlockNeed> broken;
  for (const BlockInput& row : kInputs) {
    if (row.block != block || (!row.version.empty() && row.version != version)) continue;
    if (!row.ranks.empty() && std::ranges::find(row.ranks, rank) == row.ranks.end()) broken.push_back({"rank", rank, 0, row.why});
    if (!row.dtypes.empty() && std::ranges::find(row.dtypes, dtype) == row.dtypes.end()) broken.push_back({"dtype", 0, 0, row.why});
  }
  return broken;
}

}  // namespace mx::families
