// What this family's converters take and refuse, from the documents.

#include <array>

#include "props/families/humming/family.hpp"
#include "props/families/takes_rows.hpp"

namespace mx::props {
namespace {

using namespace takes;

// 8.3: formats beside MXFP4, and 4.2.
Answer humming_formats(const Setting& s) { return sixteen_bits(s, std::nullopt); }
/// hardware 14.7: release 0.1.19 also has kernels for e4m3 activations in groups of 128.
Answer humming_blocks(const Setting& s) {
  const bool groups = s.of<families::HummingParameters>().release == families::Humming::v0_1_19 && s.of<families::HummingParameters>().group_128 &&
                      s.input_dtype == InputDtype::float8_e4m3fn;
  const Answer sizes = first_broken({intermediate(s, 128)});
  return groups ? sizes : sixteen_bits(s, sizes);
}

constexpr std::array kRows{
    Takes{kMxfp4, "HUMMING", kBoth, kBoth, kBoth, false, true, nothing},
    Takes{kMxfp8, "HUMMING", kSinceAugust, kSinceAugust, kNo, false, true, humming_formats},
    Takes{kNvfp4, "HUMMING", kSinceAugust, kSinceAugust, kNo, false, true, humming_formats},
    Takes{kTensor, "HUMMING", kSinceAugust, kSinceAugust, kNo, false, true, humming_formats},
    Takes{WeightFormat::fp8_pair, "HUMMING", kSinceAugust, kSinceAugust, kNo, false, true, humming_formats},
    Takes{kChannel, "HUMMING", kSinceAugust, kSinceAugust, kNo, false, true, humming_formats},
    Takes{kBlock, "HUMMING", kSinceAugust, kSinceAugust, kNo, false, true, humming_blocks},
};

}  // namespace

constinit const std::span<const Takes> kHummingTakes{kRows};

}  // namespace mx::props
