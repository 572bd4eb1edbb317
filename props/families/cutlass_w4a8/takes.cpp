// What this family's converters take and refuse, from the documents.

#include <array>

#include "props/families/cutlass_w4a8/family.hpp"
#include "props/families/takes_rows.hpp"

namespace mx::props {
namespace {

using namespace takes;

// 12: the method asserts both, and nothing is rounded up.
Answer w4a8(const Setting& s) {
  if (const Answer broken = first_broken({hidden(s, 256), intermediate(s, 256)})) return broken;
  return s.padded == s.sizes ? std::nullopt : Answer(Refusal{Quantity::padding, 0});
}

constexpr std::array kRows{
    Takes{WeightFormat::int4, "CUTLASS", kBoth, kBoth, kNo, false, false, w4a8},
};

}  // namespace

constinit const std::span<const Takes> kCutlassW4a8Takes{kRows};

}  // namespace mx::props
