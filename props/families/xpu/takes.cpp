// What this family's converters take and refuse, from the documents.

#include <array>

#include "props/families/takes_rows.hpp"
#include "props/families/xpu/family.hpp"

namespace mx::props {
namespace {

using namespace takes;

constexpr std::array kRows{
    Takes{kMxfp4, "XPU", kBoth, kNew, kBoth, false, true, nothing}, Takes{kTensor, "XPU", kBoth, kBoth, kNo, true, true, nothing},
    Takes{kChannel, "XPU", kOld, kOld, kNo, true, true, nothing},   Takes{kChannel, "XPU", kNew, kNew, kNo, true, true, nothing},
    Takes{kBlock, "XPU", kOld, kOld, kNo, true, true, nothing},     Takes{kBlock, "XPU", kNew, kNew, kNo, true, true, nothing},
    Takes{kMxfp8, "XPU", kOld, kOld, kNo, true, true, nothing},     Takes{kMxfp8, "XPU", kNew, kNew, kNo, true, true, nothing},
};

}  // namespace

constinit const std::span<const Takes> kXpuTakes{kRows};

}  // namespace mx::props
