#pragma once
// What converters ask of a tensor before its sizes: how many axes it has and of which dtype. Layouts know neither (they see a matrix of units), so
// these rules are a table of their own.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "model/families/building_block.hpp"
#include "model/layout/source.hpp"

namespace mx::families {

/// One converter's rule; an empty list allows everything.
struct BlockInput {
  std::string_view block;                    ///< name of a BuildingBlock or ValueBlock
  std::string_view version;                  ///< converter version; empty: all
  std::span<const std::int64_t> ranks;       ///< numbers of axes that it takes
  std::span<const std::string_view> dtypes;  ///< names of the tensor library: "uint8", "float8_e4m3fn"
  std::string_view why;
  layout::Source source;
};

/// Every rule.
std::span<const BlockInput> all_block_inputs();

/// The rules that a tensor breaks, in the converter's order of checking: quantities "rank" and "dtype".
std::vector<BlockNeed> broken_inputs(std::string_view block, std::string_view version, std::int64_t rank, std::string_view dtype);

}  // namespace mx::families
