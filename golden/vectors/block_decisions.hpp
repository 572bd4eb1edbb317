#pragma once
// Edition v1.1: codes at the decisions of a quantizer. They are searched for with the quantizer itself, so that every recipe has its own.

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "golden/vectors/op.hpp"
#include "model/numerics/block.hpp"

namespace mx::golden {

/// Largest magnitudes on both sides of where the scale changes, and such with every bit of the source as their last one on both sides of a change.
/// `scale_of` gives the scale's code of a block with that largest magnitude, and does not fall when it grows.
std::vector<std::uint32_t> deciding_amaxes(const Format& source, const std::function<std::uint32_t(std::uint32_t amax)>& scale_of);

/// Blocks whose largest magnitude lies at a decision of the scale or between two, and whose other elements lie on both sides of the decisions of the
/// elements; then such whose elements have every bit of the source as their last one. `quantize` gives a block's scale and codes.
void deciding_blocks(const BlockFormat& format, const Format& source, std::size_t size, const std::function<QuantizedBlock(Lanes block)>& quantize,
                     const std::function<void(Lanes block)>& sink);

}  // namespace mx::golden
