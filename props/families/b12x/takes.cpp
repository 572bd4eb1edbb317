// What this family's converters take and refuse, from the documents.

#include <array>

#include "props/families/b12x/family.hpp"
#include "props/families/takes_rows.hpp"

namespace mx::props {
namespace {

using namespace takes;

constexpr std::array kRows{
    Takes{kNvfp4, "FLASHINFER_B12X", kBoth, kBoth, kNo, true, true, nvfp4_tiles},
    Takes{kNvfp4, "B12X", kSinceAugust, kSinceAugust, kNo, true, true, nothing},
    Takes{kMxfp4, "B12X_MXFP4_MXFP8", kSinceAugust, kSinceAugust, kNo, false, true, nothing},
    Takes{kMxfp4, "B12X_MXFP4_BF16", kSinceAugust, kSinceAugust, kNo, false, true, nothing},
};

}  // namespace

constinit const std::span<const Takes> kB12xTakes{kRows};

}  // namespace mx::props
