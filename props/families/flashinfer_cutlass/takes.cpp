// What this family's converters take and refuse, from the documents.

#include <array>

#include "props/families/flashinfer_cutlass/family.hpp"
#include "props/families/takes_rows.hpp"

namespace mx::props {
namespace {

using namespace takes;

/// On sm90 scales are folded in blocks of 64 rows since FlashInfer 0.6.18; before, rows are interleaved in blocks of 16.
Answer cutlass_mixed(const Setting& s) {
  if (!is_standard(s) && !s.has_bias) return Refusal{Quantity::has_bias, 1};
  if (s.of<families::FlashinferParameters>().release != families::Flashinfer::v0_6_18)
    return first_broken({rows13(s, 16), rows2(s, 16), groups13(s, 4), groups2(s, 4)});
  return first_broken({rows13(s, 64), groups13(s, 4), rows2(s, 64), groups2(s, 4)});
}

constexpr std::array kRows{
    Takes{kMxfp4, "FLASHINFER_CUTLASS_MXFP4_BF16", kBoth, kSinceAugust, kBoth, false, true, cutlass_mixed},
    Takes{kMxfp4, "FLASHINFER_CUTLASS_MXFP4_MXFP8", kBoth, kSinceAugust, kBoth, false, true, shuffled_tiles},
    Takes{kNvfp4, "FLASHINFER_CUTLASS", kBoth, kBoth, kNo, true, true, nvfp4_tiles},
    Takes{kTensor, "FLASHINFER_CUTLASS", kBoth, kBoth, kNo, true, true, nothing},
    Takes{kBlock, "FLASHINFER_CUTLASS", kBoth, kBoth, kNo, true, true, nothing},
};

}  // namespace

constinit const std::span<const Takes> kFlashinferCutlassTakes{kRows};

}  // namespace mx::props
