// What this family's converters take and refuse, from the documents.

#include <array>

#include "props/families/cutedsl/family.hpp"
#include "props/families/takes_rows.hpp"

namespace mx::props {
namespace {

using namespace takes;

constexpr std::array kRows{
    Takes{kNvfp4, "FLASHINFER_CUTEDSL", kMay, kMay, kNo, false, true, nvfp4_tiles},
    Takes{kNvfp4, "FLASHINFER_CUTEDSL", kSinceAugust, kSinceAugust, kSinceAugust, true, true, nvfp4_tiles},
    Takes{kNvfp4, "FLASHINFER_CUTEDSL_BATCHED", kBoth, kBoth, kNo, true, true, nvfp4_tiles},
};

}  // namespace

constinit const std::span<const Takes> kCutedslTakes{kRows};

}  // namespace mx::props
