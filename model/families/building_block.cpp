#include "model/families/building_block.hpp"

#include "model/error.hpp"
#include "model/families/family.hpp"
#include "model/names.hpp"
#include "model/numerics/rows.hpp"

namespace mx::families {
namespace {

[[noreturn]] void refuse(const BuildingBlock& block, const std::string& text) { throw Error(ErrorCode::usage, text, std::string(block.name)); }

/// Checks what can be checked without the matrix, and fills in what was not given.
void complete(const BuildingBlock& block, BlockRequest& request) {
  if (request.version.empty()) request.version = block.versions.front();
  const auto known = std::ranges::find(block.versions, request.version);
  if (known == block.versions.end()) refuse(block, unknown_name("converter version", request.version, block.versions));
  if (block.unit_bits != 0 && request.unit_bits != block.unit_bits) {
    refuse(block, "units of " + std::to_string(request.unit_bits) + " bits, it moves units of " + std::to_string(block.unit_bits));
  }
  complete_params(block.name, block.params, request.params);
}

std::string text_of(const BlockNeed& need) {
  std::string text = std::string(need.quantity) + " = " + std::to_string(need.value);
  if (need.multiple != 0) text += " is not a multiple of " + std::to_string(need.multiple);
  return text + ": " + std::string(need.why);
}

}  // namespace

std::span<const BuildingBlock> all_building_blocks() {
  static const std::vector<BuildingBlock> rows = joined(&Family::blocks);
  return rows;
}

const BuildingBlock& building_block_named(std::string_view name) { return rows::named(all_building_blocks(), "layout", name); }

void complete_params(std::string_view block, std::span<const BlockParam> declared, BlockParams& params) {
  const std::string where(block);
  std::vector<std::string_view> keys;
  for (const BlockParam& param : declared) {
    keys.push_back(param.key);
    const std::int64_t value = params.try_emplace(std::string(param.key), param.standard).first->second;
    if (value >= param.low && value <= param.high) continue;
    const std::string range = std::to_string(param.low) + ".." + std::to_string(param.high);
    throw Error(ErrorCode::usage, std::string(param.key) + " = " + std::to_string(value) + " is not in " + range, where);
  }
  for (const auto& [key, value] : params) {
    if (std::ranges::find(keys, key) == keys.end()) throw Error(ErrorCode::usage, unknown_name("parameter", key, keys), where);
  }
}

std::vector<BlockNeed> broken_needs(const BuildingBlock& block, BlockRequest request) {
  complete(block, request);
  return block.broken == nullptr ? std::vector<BlockNeed>{} : block.broken(request);
}

layout::Layout block_layout(const BuildingBlock& block, BlockRequest request) {
  complete(block, request);
  const std::vector<BlockNeed> broken = block.broken == nullptr ? std::vector<BlockNeed>{} : block.broken(request);
  if (!broken.empty()) refuse(block, text_of(broken.front()));
  return block.build(request);
}

layout::Layout block_layout(std::string_view name, std::int64_t batch, std::int64_t rows, std::int64_t cols, int unit_bits, BlockParams params) {
  return block_layout(building_block_named(name),
                      {.version = {}, .batch = batch, .rows = rows, .cols = cols, .unit_bits = unit_bits, .params = std::move(params)});
}

void need_multiple(std::vector<BlockNeed>& broken, std::string_view quantity, std::int64_t value, std::int64_t multiple, std::string_view why) {
  if (value % multiple != 0) broken.push_back({quantity, value, multiple, why});
}

}  // namespace mx::families
