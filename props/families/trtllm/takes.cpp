// What this family's converters take and refuse, from the documents.

#include <array>

#include "props/families/takes_rows.hpp"
#include "props/families/trtllm/family.hpp"

namespace mx::props {
namespace {

using namespace takes;

// 11.
Answer trtllm_per_tensor(const Setting& s) { return s.has_input_scale ? first_broken({rows2(s, 32)}) : Refusal{Quantity::has_input_scale, 1}; }
Answer trtllm_blocks(const Setting& s) { return first_broken({rows13(s, 16), hidden(s, 128), rows2(s, 16), intermediate(s, 128)}); }
Answer trtllm_mxfp8(const Setting& s) { return first_broken({rows13(s, 128), rows2(s, 128), groups13(s, 4), groups2(s, 4)}); }

constexpr std::array kRows{
    Takes{kMxfp4, "FLASHINFER_TRTLLM_MXFP4_BF16", kBoth, kBoth, kBoth, false, true, shuffled_tiles},
    Takes{kMxfp4, "FLASHINFER_TRTLLM_MXFP4_MXFP8", kBoth, kBoth, kBoth, false, true, shuffled_tiles},
    Takes{kNvfp4, "FLASHINFER_TRTLLM", kMay, kMay, kNo, true, true, nvfp4_tiles},
    Takes{kNvfp4, "FLASHINFER_TRTLLM", kSinceAugust, kSinceAugust, kNo, true, true, nothing},
    Takes{kTensor, "FLASHINFER_TRTLLM", kBoth, kBoth, kNo, true, true, trtllm_per_tensor},
    Takes{kBlock, "FLASHINFER_TRTLLM", kBoth, kBoth, kNo, true, true, trtllm_blocks},
    Takes{kMxfp8, "FLASHINFER_TRTLLM", kBoth, kBoth, kNo, true, true, trtllm_mxfp8},
};

}  // namespace

constinit const std::span<const Takes> kTrtllmTakes{kRows};

}  // namespace mx::props
