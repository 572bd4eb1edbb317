// What this family's converters take and refuse, from the documents.

#include <array>

#include "props/families/cpu/family.hpp"
#include "props/families/takes_rows.hpp"

namespace mx::props {
namespace {

using namespace takes;

constexpr std::array kRows{
    Takes{kMxfp4, "CPU", kBoth, kNo, kBoth, false, true, nothing},
    Takes{kTensor, "CPU", kBoth, kBoth, kNo, true, true, tiles_16x32},
    Takes{kBlock, "CPU", kBoth, kBoth, kNo, true, true, tiles_16x32},
};

}  // namespace

constinit const std::span<const Takes> kCpuTakes{kRows};

}  // namespace mx::props
