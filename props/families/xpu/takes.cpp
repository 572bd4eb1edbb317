// What this family's converters take and refuse, from the documents.

#include <array>

#include "props/families/takes_rows.hpp"
#include "props/families/xpu/family.hpp"

namespace mx::props {
namespace {

using namespace takes;

constexpr std::array kRows{
    Takes{kMxfp4, "XPU", kBoth, kSinceAugust, kBoth, false, true, nothing},
    Takes{kTensor, "XPU", kBoth, kBoth, kNo, true, true, nothing},
    Takes{kChannel, "XPU", kMay, kMay, kNo, true, true, nothing},
    Takes{kChannel, "XPU", kSinceAugust, kSinceAugust, kNo, true, true, nothing},
    Takes{kBlock, "XPU", kMay, kMay, kNo, true, true, nothing},
    Takes{kBlock, "XPU", kSinceAugust, kSinceAugust, kNo, true, true, nothing},
    Takes{kMxfp8, "XPU", kMay, kMay, kNo, true, true, nothing},
    Takes{kMxfp8, "XPU", kSinceAugust, kSinceAugust, kNo, true, true, nothing},
};

}  // namespace

constinit const std::span<const Takes> kXpuTakes{kRows};

}  // namespace mx::props
