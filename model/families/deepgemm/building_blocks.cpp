// DeepGEMM's scale transforms, and the upcast that vLLM does before them.

#include <array>

#include "model/error.hpp"
#include "model/families/building_block.hpp"
#include "model/families/casts.hpp"
#include "model/families/deepgemm/blocks.hpp"
#include "model/families/deepgemm/family.hpp"
#include "model/families/value_block.hpp"
#include "model/fault.hpp"
#include "model/layout/cast.hpp"
#include "model/layout/grains.hpp"

namespace mx::families {
namespace blocks {
namespace {

/// The tensor memory accelerator's lines of 16 bytes hold 4 words: columns begin at multiples of 4 rows.
constexpr std::int64_t kAlignedRows = 4;
constexpr std::int64_t kBytesPerWord = 4;
/// The exponent of an fp32: bits 23..30.
constexpr std::int64_t kExponentBegin = 23;
constexpr std::int64_t kExponentBits = 8;

/// What lies beyond the rows of a packed column. Several batches whose sizes the kernel cannot address by words go through torch, which starts from
/// zeros; the kernel writes what there is. Source: get_mn_major_tma_aligned_packed_ue8m0_tensor.
layout::PadContent packed_tail(const layout::Layout& layout, std::string_view rows, std::string_view cols) {
  const bool by_torch = layout.view().front().extent > 1 && extent_of(layout, rows) * extent_of(layout, cols) % kBytesPerWord != 0;
  return by_torch ? layout::PadContent::zero : layout::PadContent::unwritten;
}

}  // namespace

layout::Layout& deepgemm_packed_ue8m0(layout::Layout& layout, std::string_view rows, std::string_view cols) {
  const layout::PadContent tail = packed_tail(layout, rows, cols);
  const std::string batch = layout.view().front().name;
  if (layout.grain_bits() == 32) layout.explode(1, "bit").slice("bit", kExponentBegin, kExponentBits).pack();
  pad_to_multiple(layout, cols, kBytesPerWord, layout::PadContent::zero);
  pad_to_multiple(layout, rows, kAlignedRows, tail);
  if (fault::planted(fault::Fault::deepgemm_scales_not_transposed)) return layout;
  split_off(layout, cols, {{"byte", kBytesPerWord}});
  if (fault::planted(fault::Fault::deepgemm_words_row_major)) return layout.permute({batch, rows, cols, "byte"});
  return layout.permute({batch, cols, rows, "byte"});
}

layout::Layout& deepgemm_mn_major(layout::Layout& layout, std::string_view rows, std::string_view cols) {
  const std::string batch = layout.view().front().name;
  pad_to_multiple(layout, rows, kAlignedRows, layout::PadContent::unwritten);
  return layout.permute({batch, cols, rows});
}

}  // namespace blocks

namespace {

layout::Layout matrix(const BlockRequest& request) {
  return layout::Layout({{"batch", request.batch}, {"rows", request.rows}, {"cols", request.cols}}, request.unit_bits);
}

std::vector<BlockNeed> not_exponents(const BlockRequest& request) {
  if (request.unit_bits == 8 || request.unit_bits == 32) return {};
  return {{"dtype", request.unit_bits, 0, "scales are e8m0 bytes or fp32 that are powers of two"}};
}

layout::Layout packed_ue8m0(const BlockRequest& request) {
  layout::Layout layout = matrix(request);
  return blocks::deepgemm_packed_ue8m0(layout, "rows", "cols");
}

layout::Layout mn_major_fp32(const BlockRequest& request) {
  layout::Layout layout = matrix(request);
  return blocks::deepgemm_mn_major(layout, "rows", "cols");
}

constexpr std::array<std::string_view, 1> kDeepGemm{"deepgemm-2026-06"};
constexpr std::array<std::string_view, 1> kVllm{"vllm-2026-08"};
constexpr std::string_view kDeepGemmCommit = "54e22612409371d6364144b69086735beb54e98b";

constexpr std::array<BuildingBlock, 2> kBuildingBlocks{{
    {"deepgemm.sf_packed_ue8m0",
     "scale",
     0,
     "four e8m0 bytes of a row to a word, words column by column; columns to 4 with zero, rows to 4 left unwritten",
     "word (i,p) at p*al(mn,4) + i: byte j <- src[i][4*p + j]",
     kDeepGemm,
     {},
     not_exponents,
     packed_ue8m0,
     {"deepseek-ai/DeepGEMM", "deep_gemm/include/deep_gemm/impls/smxx_layout.cuh", "transpose_and_pack_fp32_into_ue8m0", kDeepGemmCommit}},
    {"deepgemm.sf_mn_major_fp32",
     "scale",
     32,
     "fp32 scales column by column; rows to 4 left unwritten",
     "k*al(mn,4) + i <- src[i][k]",
     kDeepGemm,
     {},
     nullptr,
     mn_major_fp32,
     {"deepseek-ai/DeepGEMM", "deep_gemm/include/deep_gemm/impls/smxx_layout.cuh", "transpose_fp32", kDeepGemmCommit}},
}};

constexpr std::array<std::string_view, 1> kScale{"scale"};

BlockTensors upcast(const BlockTensors& inputs, const BlockParams&) {
  const layout::Cast& cast = cast_named("e8m0_to_f32_shift");
  const BlockTensor& scale = inputs.find("scale")->second;
  if (scale.bits != cast.from_bits) {
    throw Error(ErrorCode::usage, "scale has elements of " + std::to_string(scale.bits) + " bits, e8m0 has 8", "deepgemm.e8m0_to_fp32");
  }
  BlockTensor out{cast.to_bits, scale.shape, std::vector<std::uint8_t>(scale.bytes.size() * 4)};
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(scale.bytes.size()); ++i) {
    layout::set_grain(out.bytes, i, out.bits, cast.make(layout::get_grain(scale.bytes, i, scale.bits)));
  }
  return {{"scale", std::move(out)}};
}

constexpr std::array<ValueBlock, 1> kValueBlocks{{
    {"deepgemm.e8m0_to_fp32",
     "e8m0 to fp32 by moving the exponent: code 0 becomes 0 and 255 infinity, not 2^-127 and NaN",
     "bits = x << 23",
     kScale,
     kScale,
     kVllm,
     {},
     upcast,
     {"vllm-project/vllm", "vllm/model_executor/layers/quantization/utils/fp8_utils.py", "_upcast_e8m0_to_fp32",
      "017e9f4448b700e85ee16023287b025693c72b9e"}},
}};

}  // namespace

constinit const std::span<const BuildingBlock> kDeepgemmBlocks{kBuildingBlocks};
constinit const std::span<const ValueBlock> kDeepgemmValueBlocks{kValueBlocks};

}  // namespace mx::families
