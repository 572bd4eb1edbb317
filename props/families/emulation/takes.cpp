// What this family's converters take and refuse, from the documents.

#include <array>

#include "props/families/emulation/family.hpp"
#include "props/families/takes_rows.hpp"

namespace mx::props {
namespace {

using namespace takes;

constexpr std::array kRows{
    Takes{kMxfp4, "EMULATION", kBoth, kSinceAugust, kBoth, false, true, nothing},
    Takes{kNvfp4, "EMULATION", kBoth, kBoth, kNo, true, true, nothing},
    Takes{kMxfp8, "EMULATION", kSinceAugust, kSinceAugust, kNo, true, true, nothing},
};

}  // namespace

constinit const std::span<const Takes> kEmulationTakes{kRows};

}  // namespace mx::props
