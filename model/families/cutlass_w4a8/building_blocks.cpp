// Building blocks of the W4A8 weight preparation (CUTLASS on sm90): one that moves nibbles, the others change values.

#include <algorithm>
#include <array>

#include "model/error.hpp"
#include "model/families/building_block.hpp"
#include "model/families/cutlass_w4a8/family.hpp"
#include "model/families/cutlass_w4a8/values.hpp"
#include "model/families/value_block.hpp"
#include "model/layout/grains.hpp"

namespace mx::families {
namespace {

using Broken = std::vector<BlockNeed>;
using Words = std::string_view;

Broken broken_reorder(const BlockRequest& request) {
  Broken broken;
  if (request.unit_bits != 4 && request.unit_bits != 8) broken.push_back({"dtype", request.unit_bits, 0, "units are int4 or bytes of two"});
  need_multiple(broken, "K", request.cols * request.unit_bits / 4, 256, "the atoms of the layout cover 256 columns");
  need_multiple(broken, "rows", request.rows, 16, "a block has 16 rows");
  return broken;
}

layout::Layout reorder(const BlockRequest& request) {
  layout::Layout layout({{"batch", request.batch}, {"rows", request.rows}, {"cols", request.cols}}, request.unit_bits);
  if (request.unit_bits == 8) layout.explode(4, "nibble").merge({"cols", "nibble"}, "cols");
  return blocks::w4a8_reorder(layout, "rows", "cols");
}

/// A tensor of the same shape with every nibble changed.
template <std::uint8_t (*change)(std::uint8_t)>
BlockTensor with_nibbles(const BlockTensor& tensor) {
  BlockTensor out = tensor;
  for (std::uint8_t& byte : out.bytes) byte = static_cast<std::uint8_t>(change(byte & 0xFU) | change(byte >> 4) << 4);
  return out;
}

BlockTensors to_int4(const BlockTensors& inputs, const BlockParams&) { return {{"w", with_nibbles<uint4b8_to_int4>(inputs.at("w"))}}; }

BlockTensors encode(const BlockTensors& inputs, const BlockParams&) {
  const std::size_t size = inputs.at("w").bytes.size();
  if (size % 16 != 0) {
    throw Error(ErrorCode::usage, std::to_string(size) + " bytes are not a multiple of 16: codes are read 32 at a time", "cutlass_w4a8.encode");
  }
  return {{"w", with_nibbles<w4a8_encode>(inputs.at("w"))}};
}

/// The block that orders a tensor [E, N, columns] of any integer dtype.
layout::Layout reorder_of(const BlockTensor& tensor) {
  if (tensor.shape.size() != 3) {
    throw Error(ErrorCode::usage, std::to_string(tensor.shape.size()) + " axes where experts, rows and columns are three",
                "cutlass_w4a8.encode_and_reorder");
  }
  return block_layout("cutlass_w4a8.reorder", tensor.shape[0], tensor.shape[1], tensor.shape[2] * tensor.bits / 4, 4);
}

layout::Layout row_major_of(const layout::Layout& layout) { return layout::Layout(layout.logical(), layout.unit_bits()); }

BlockTensors encode_and_reorder(const BlockTensors& inputs, const BlockParams&) {
  const BlockTensor& input = inputs.at("w");
  const layout::Layout layout = reorder_of(input);
  BlockTensor output = with_nibbles<w4a8_encode>(input);
  output.bytes = layout::apply(row_major_of(layout), output.bytes, layout);
  const std::int64_t experts = input.shape[0];
  const std::array<std::int32_t, 3> words = w4a8_layout_words(input.shape[1], input.shape[2] * input.bits / 4);
  BlockTensor shapes{32, {experts, 3}, std::vector<std::uint8_t>(static_cast<std::size_t>(experts) * 12)};
  for (std::int64_t i = 0; i < experts * 3; ++i) layout::set_grain(shapes.bytes, i, 32, static_cast<std::uint64_t>(words[static_cast<std::size_t>(i % 3)]));
  return {{"w", std::move(output)}, {"layout", std::move(shapes)}};
}

BlockTensors restore_order(const BlockTensors& outputs, const BlockParams&) {
  const BlockTensor& packed = outputs.at("w");
  const layout::Layout layout = reorder_of(packed);
  BlockTensor input = packed;
  input.bytes = layout::apply(layout, packed.bytes, row_major_of(layout));
  return {{"w", with_nibbles<w4a8_encode>(input)}};
}

BlockTensors pack_scale(const BlockTensors& inputs, const BlockParams&) {
  const BlockTensor& scales = inputs.at("s");
  BlockTensor packed{8, scales.shape, std::vector<std::uint8_t>(scales.bytes.size() * 8)};
  packed.shape.push_back(8);
  for (std::size_t i = 0; i < scales.bytes.size(); ++i) layout::set_grain(packed.bytes, static_cast<std::int64_t>(i), 64, w4a8_expand(scales.bytes[i]));
  return {{"s", std::move(packed)}};
}

BlockTensors scales_to_fp8(const BlockTensors& inputs, const BlockParams&) {
  const BlockTensor& scales = inputs.at("s");
  if (scales.bits != 16 || scales.shape.empty() || scales.shape.back() < 1)
    throw Error(ErrorCode::usage, "scales are bf16 [.., groups]", "w4a8.scales_to_fp8");
  const std::int64_t groups = scales.shape.back();
  const std::int64_t rows = static_cast<std::int64_t>(scales.bytes.size()) / 2 / groups;
  BlockTensor codes{8, scales.shape, std::vector<std::uint8_t>(scales.bytes.size() / 2)};
  BlockTensor channels{32, scales.shape, std::vector<std::uint8_t>(static_cast<std::size_t>(rows) * 4)};
  channels.shape.back() = 1;
  std::vector<std::uint16_t> row(static_cast<std::size_t>(groups));
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t g = 0; g < groups; ++g)
      row[static_cast<std::size_t>(g)] = static_cast<std::uint16_t>(layout::get_grain(scales.bytes, r * groups + g, 16));
    const std::span<std::uint8_t> out = std::span(codes.bytes).subspan(static_cast<std::size_t>(r * groups), row.size());
    layout::set_grain(channels.bytes, r, 32, w4a8_quantize_scales(row, out));
  }
  return {{"fp8", std::move(codes)}, {"chan", std::move(channels)}};
}

constexpr std::array<Words, 1> kWeight{"w"};
constexpr std::array<Words, 1> kScale{"s"};
constexpr std::array<Words, 2> kReordered{"w", "layout"};
constexpr std::array<Words, 2> kQuantized{"fp8", "chan"};
constexpr std::array<Words, 1> kVersions{"vllm-2026-08"};

constexpr layout::Source source(Words path, Words symbol) { return {"vllm-project/vllm", path, symbol, "017e9f4448b700e85ee16023287b025693c72b9e"}; }

constexpr std::array<BuildingBlock, 1> kBuildingBlocks{{
    {"cutlass_w4a8.reorder",
     "weight",
     0,
     "int4 weights in blocks of 16 rows by 32 columns, all blocks of 32 columns together; what encode_and_reorder_int4b does after the encoding",
     "off(n,k) = (n/16)*512 + (k/32)*512*(N/16) + (n%8)*64 + ((n%16)/8)*4 + k%4 + ((k/4)%4)*16 + ((k%32)/16)*8 in nibbles",
     kVersions,
     {},
     broken_reorder,
     reorder,
     source("csrc/libtorch_stable/quantization/cutlass_w4a8/w4a8_grouped_mm_entry.cu", "encode_and_reorder_int4b")},
}};

constexpr std::array<ValueBlock, 5> kValueBlocks{{
    {"w4a8.uint4b8_to_int4",
     "codes of value + 8 to two's complement",
     "nibble v -> v ^ 8",
     kWeight,
     kWeight,
     kVersions,
     {},
     to_int4,
     source("vllm/model_executor/layers/quantization/utils/quant_utils.py", "convert_packed_uint4b8_to_signed_int4_inplace"),
     to_int4},
    {"cutlass_w4a8.encode",
     "two's complement to the kernel's int4 codes",
     "nibble 1..7 -> 8 - v, others kept",
     kWeight,
     kWeight,
     kVersions,
     {},
     encode,
     source("csrc/libtorch_stable/quantization/cutlass_w4a8/w4a8_utils.cu", "unified_encode_int4b"),
     encode},
    {"cutlass_w4a8.encode_and_reorder",
     "cutlass_w4a8.encode, then cutlass_w4a8.reorder; and what the kernel must know of the order",
     "layout[e] = N/16, K/32, 512*(N/16)",
     kWeight,
     kReordered,
     kVersions,
     {},
     encode_and_reorder,
     source("csrc/libtorch_stable/quantization/cutlass_w4a8/w4a8_grouped_mm_entry.cu", "encode_and_reorder_int4b"),
     restore_order},
    {"cutlass_w4a8.pack_scale_fp8",
     "each e4m3 scale becomes its products with -8 to -1",
     "byte j of 8 = e4m3_satfinite(s*(j-8))",
     kScale,
     kScale,
     kVersions,
     {},
     pack_scale,
     source("csrc/libtorch_stable/quantization/cutlass_w4a8/w4a8_mm_entry.cu", "pack_scale_fp8")},
    {"w4a8.scales_to_fp8",
     "bf16 group scales of each row to e4m3 codes and a channel scale",
     "c = max(max|s|/448, 1/(448*512)), q = e4m3(clamp(s*(1/c))), fp8 = e4m3(q/8), chan = 8c",
     kScale,
     kQuantized,
     kVersions,
     {},
     scales_to_fp8,
     source("vllm/model_executor/layers/quantization/utils/quant_utils.py", "convert_bf16_scales_to_fp8")},
}};

}  // namespace

constinit const std::span<const BuildingBlock> kCutlassW4a8Blocks{kBuildingBlocks};
constinit const std::span<const ValueBlock> kCutlassW4a8ValueBlocks{kValueBlocks};

}  // namespace mx::families
