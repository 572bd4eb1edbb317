// What this family's converters take and refuse, from the documents.

#include <array>

#include "props/families/takes_rows.hpp"
#include "props/families/vllm_cutlass/family.hpp"

namespace mx::props {
namespace {

using namespace takes;

constexpr std::array kRows{
    Takes{kNvfp4, "VLLM_CUTLASS", kBoth, kBoth, kNo, true, true, nvfp4_tiles},
    Takes{kTensor, "VLLM_CUTLASS", kBoth, kBoth, kNo, true, true, nothing},
    Takes{kChannel, "VLLM_CUTLASS", kBoth, kBoth, kNo, true, true, nothing},
    Takes{kTensor, "BATCHED_VLLM_CUTLASS", kBoth, kBoth, kNo, true, true, nothing},
    Takes{kChannel, "BATCHED_VLLM_CUTLASS", kBoth, kBoth, kNo, true, true, nothing},
    Takes{kTensor, "HPC", kSinceAugust, kSinceAugust, kNo, true, true, nothing},
    Takes{kBlock, "HPC", kSinceAugust, kSinceAugust, kNo, true, true, nothing},
};

}  // namespace

constinit const std::span<const Takes> kVllmCutlassTakes{kRows};

}  // namespace mx::props
