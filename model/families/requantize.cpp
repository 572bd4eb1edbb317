#include "model/families/requantize.hpp"

#include "model/families/deepgemm/values.hpp"

namespace mx::families {

std::uint32_t requantize_block(std::span<std::uint8_t> codes, std::uint32_t scale) { return deepgemm::requantize_block(codes, scale); }

}  // namespace mx::families
