#include "model/families/block_input.hpp"

#include <algorithm>

#include "model/families/family.hpp"

namespace mx::families {

std::span<const BlockInput> all_block_inputs() {
  static const std::vector<BlockInput> rows = joined(&Family::inputs);
  return rows;
}

std::vector<BlockNeed> broken_inputs(std::string_view block, std::string_view version, std::int64_t rank, std::string_view dtype) {
  std::vector<BlockNeed> broken;
  for (const BlockInput& row : all_block_inputs()) {
    if (row.block != block || (!row.version.empty() && row.version != version)) continue;
    if (!row.ranks.empty() && std::ranges::find(row.ranks, rank) == row.ranks.end()) broken.push_back({"rank", rank, 0, row.why});
    if (!row.dtypes.empty() && std::ranges::find(row.dtypes, dtype) == row.dtypes.end()) broken.push_back({"dtype", 0, 0, row.why});
  }
  return broken;
}

}  // namespace mx::families
