// Bits of 4-bit elements within 32-bit words.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "model/error.hpp"
#include "model/families/building_block.hpp"
#include "model/fault.hpp"

namespace mx::families::blocks {
namespace {

constexpr int kWordBits = 32;

/// Where the four bits of the low nibble of each byte of a word go, lowest bit first; the high nibble's go 16 bits higher.
/// Source: triton-lang/triton, hopper_value.py, the packing that ends HopperMXValueLayout.swizzle_data; FlashInfer's moe_gemm_mixed_utils.cu agrees.
constexpr std::array<std::array<std::int64_t, 4>, 4> kFp4Word{{{6, 7, 8, 15}, {3, 4, 5, 12}, {0, 1, 2, 9}, {13, 10, 11, 14}}};

}  // namespace

layout::Layout& explode_bytes(layout::Layout& layout, std::string_view cols) {
  const std::string name(cols);
  if (layout.grain_bits() == 8) return layout.explode(1, "bit").split("bit", 4, "nibble", "bit");
  if (layout.grain_bits() != 4) {
    throw Error(ErrorCode::usage, "units of " + std::to_string(layout.grain_bits()) + " bits, 4-bit elements come as units of 4 or 8", "layout");
  }
  return layout.split(name, 2, name, "nibble").explode(1, "bit");
}

layout::Layout& fp4word(layout::Layout& layout) {
  std::vector<std::string> names;
  std::int64_t bits = 1;
  for (std::size_t i = layout.view().size(); i-- > 0 && bits < kWordBits;) {
    bits *= layout.view()[i].extent;
    names.insert(names.begin(), layout.view()[i].name);
  }
  layout.merge(std::vector<std::string_view>(names.begin(), names.end()), "word_bit");
  std::vector<std::int64_t> source(kWordBits);
  for (std::size_t byte = 0; byte < kFp4Word.size(); ++byte) {
    for (std::size_t bit = 0; bit < kFp4Word[byte].size(); ++bit) {
      for (std::int64_t nibble = 0; nibble < 2; ++nibble) {
        source[static_cast<std::size_t>(16 * (fault::planted(fault::Fault::fp4word_nibbles_exchanged) ? 1 - nibble : nibble) + kFp4Word[byte][bit])] =
            static_cast<std::int64_t>(8 * byte + bit) + 4 * nibble;
      }
    }
  }
  return layout.table("word_bit", std::move(source));
}

}  // namespace mx::families::blocks
