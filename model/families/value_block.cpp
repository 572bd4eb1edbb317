#include "model/families/value_block.hpp"

#include "model/error.hpp"
#include "model/families/family.hpp"
#include "model/numerics/rows.hpp"

namespace mx::families {

std::span<const ValueBlock> all_value_blocks() {
  static const std::vector<ValueBlock> rows = joined(&Family::value_blocks);
  return rows;
}

const ValueBlock& value_block_named(std::string_view name) { return rows::named(all_value_blocks(), "value block", name); }

BlockTensors run_block(const ValueBlock& block, const BlockTensors& inputs, BlockParams params) {
  complete_params(block.name, block.params, params);
  for (std::string_view name : block.inputs) {
    if (!inputs.contains(name)) throw Error(ErrorCode::usage, "no input '" + std::string(name) + "'", std::string(block.name));
  }
  for (const auto& [name, tensor] : inputs) {
    if (std::ranges::find(block.inputs, name) == block.inputs.end())
      throw Error(ErrorCode::usage, "takes no '" + name + "'", std::string(block.name));
  }
  return block.run(inputs, params);
}

}  // namespace mx::families
