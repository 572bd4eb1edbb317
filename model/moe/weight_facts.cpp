#include "model/moe/weight_facts.hpp"

#include <algorithm>
#include <array>

namespace mx::moe {
namespace {

using layout::WeightFormat;

/// Source: model/layout/tensor.hpp WeightFormat; of int4 the e4m3 multiples of W4A8.
constexpr std::array kFacts{
    WeightFacts{WeightFormat::mxfp4, &kE2m1, &kE8m0, Coverage::group, false},
    WeightFacts{WeightFormat::nvfp4, &kE2m1, &kE4m3fn, Coverage::group, false},
    WeightFacts{WeightFormat::mxfp8, &kE4m3fn, &kE8m0, Coverage::group, false},
    WeightFacts{WeightFormat::fp8_tensor, &kE4m3fn, &kF32, Coverage::expert, false},
    WeightFacts{WeightFormat::fp8_channel, &kE4m3fn, &kF32, Coverage::row, false},
    WeightFacts{WeightFormat::fp8_block, &kE4m3fn, &kF32, Coverage::square, false},
    WeightFacts{WeightFormat::int4, &kE4m3fn, &kBf16, Coverage::group, true},
    WeightFacts{WeightFormat::fp8_block_e8m0, &kE4m3fn, &kE8m0, Coverage::square, false},
    WeightFacts{WeightFormat::fp8_pair, &kE4m3fn, &kF32, Coverage::half, false},
};
static_assert(kFacts.size() == layout::kWeightFormats.size());

std::int64_t squares_in(std::int64_t size, std::int64_t side) { return (size + side - 1) / side; }

}  // namespace

const WeightFacts& weight_facts(WeightFormat format) { return *std::ranges::find(kFacts, format, &WeightFacts::format); }

RowScales scales_of_row(const WeightFacts& facts, const RowPlace& place, std::int64_t group) {
  switch (facts.coverage) {
    case Coverage::group: return {place.index() * (place.length / group), place.length / group, group};
    case Coverage::square: {
      const std::int64_t side = layout::block_side(group);
      const std::int64_t above = (place.expert * place.halves + place.half) * squares_in(place.rows, side) + place.row / side;
      return {above * squares_in(place.length, side), squares_in(place.length, side), side};
    }
    case Coverage::half: return {place.expert * place.halves + place.half, 1, place.length};
    case Coverage::row: return {place.index(), 1, place.length};
    case Coverage::expert: break;
  }
  return {place.expert, 1, place.length};
}

}  // namespace mx::moe
