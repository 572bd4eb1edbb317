#pragma once
// Building blocks that change values: converters of one or two tensors whose outputs are not a rearrangement of their inputs (scales that are folded,
// codes that are encoded, a factor taken over a whole tensor). By name, as recorded sets and `mxact layout list` name them.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/families/building_block.hpp"
#include "model/layout/source.hpp"

namespace mx::families {

/// A tensor by its bytes: elements row-major, little endian, 4-bit elements two a byte with the even one in the low nibble.
struct BlockTensor {
  int bits;  ///< of one element of `shape`
  std::vector<std::int64_t> shape;
  std::vector<std::uint8_t> bytes;
  friend bool operator==(const BlockTensor&, const BlockTensor&) = default;
};
using BlockTensors = std::map<std::string, BlockTensor, std::less<>>;

struct ValueBlock {
  std::string_view name;
  std::string_view summary;
  std::string_view formula;
  std::span<const std::string_view> inputs;   ///< names of the tensors taken
  std::span<const std::string_view> outputs;  ///< names of the tensors given
  std::span<const std::string_view> versions;
  std::span<const BlockParam> params;
  /// Throws Error(usage) naming the quantity, its value and the rule when the converter refuses.
  BlockTensors (*run)(const BlockTensors& inputs, const BlockParams& params);
  layout::Source source;
  /// The inputs again from the outputs, where those determine them; null: they do not.
  BlockTensors (*undo)(const BlockTensors& outputs, const BlockParams& params) = nullptr;
};

/// Every modelled value block.
std::span<const ValueBlock> all_value_blocks();
/// Throws Error(usage) with the nearest name.
const ValueBlock& value_block_named(std::string_view name);

/// Fills in the standard parameters, checks parameters and that the inputs are those of the row, and runs it.
BlockTensors run_block(const ValueBlock& block, const BlockTensors& inputs, BlockParams params);

}  // namespace mx::families
