// What this family's converters take and refuse, from the documents.

#include <array>

#include "props/families/takes_rows.hpp"
#include "props/families/triton_kernels/family.hpp"

namespace mx::props {
namespace {

using namespace takes;

/// The helper that interleaves halves takes the groups for the rows.
Answer triton(const Setting& s) {
  if (is_standard(s) && groups(s.padded.hidden, s) % 2 != 0) return Refusal{Quantity::w13_groups, 2};
  return triton_swizzles(s);
}
Answer aiter_fp8(const Setting& s) { return s.has_input_scale ? triton_swizzles(s) : Refusal{Quantity::has_input_scale, 1}; }

constexpr std::array kRows{
    Takes{kMxfp4, "TRITON", kMay, kMay, kMay, false, true, triton},
    Takes{kMxfp4, "TRITON", kSinceAugust, kSinceAugust, kSinceAugust, false, true, triton},
    Takes{kMxfp4, "TRITON_UNFUSED", kMay, kMay, kMay, false, true, triton_swizzles},
    Takes{kMxfp4, "TRITON_UNFUSED", kSinceAugust, kSinceAugust, kSinceAugust, false, true, triton_swizzles},
    Takes{kMxfp4, "AITER_MXFP4_FP8", kMay, kNo, kMay, false, true, aiter_fp8},
    Takes{kMxfp4, "AITER_MXFP4_FP8", kSinceAugust, kSinceAugust, kSinceAugust, false, true, aiter_fp8},
    Takes{kTensor, "TRITON", kBoth, kBoth, kNo, true, true, nothing},
    Takes{kChannel, "TRITON", kBoth, kBoth, kNo, true, true, nothing},
    Takes{kBlock, "TRITON", kBoth, kBoth, kNo, true, true, nothing},
    Takes{kTensor, "BATCHED_TRITON", kBoth, kBoth, kNo, true, true, nothing},
    Takes{kChannel, "BATCHED_TRITON", kBoth, kBoth, kNo, true, true, nothing},
    Takes{kBlock, "BATCHED_TRITON", kBoth, kBoth, kNo, true, true, nothing},
    Takes{kMxfp8, "TRITON_MXFP8", kSinceAugust, kSinceAugust, kNo, true, true, nothing},
};

}  // namespace

constinit const std::span<const Takes> kTritonKernelsTakes{kRows};

}  // namespace mx::props
