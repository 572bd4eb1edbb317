// How codes of 6 and 4 bits lie in bytes. The matrix has one code of 6 bits in a byte, in its low bits, unless the row says otherwise.

#include <array>

#include "model/families/building_block.hpp"
#include "model/families/packing/family.hpp"
#include "model/fault.hpp"

namespace mx::families {
namespace {

using Broken = std::vector<BlockNeed>;
using Words = std::string_view;

constexpr std::int64_t kPairs = 3;  // of bits of a code
constexpr std::int64_t kBytePairs = 4;

layout::Layout matrix(const BlockRequest& request) {
  return layout::Layout({{"batch", request.batch}, {"rows", request.rows}, {"cols", request.cols}}, request.unit_bits);
}

Broken uneven_fours(const BlockRequest& request) {
  Broken broken;
  need_multiple(broken, "columns", request.cols, 4, "four codes have three bytes");
  return broken;
}

Broken uneven_sixteens(const BlockRequest& request) {
  Broken broken;
  need_multiple(broken, "columns", request.cols, 16, "16 codes have 12 bytes of 16");
  return broken;
}

/// The six bits of each byte, in pairs.
layout::Layout codes(const BlockRequest& request) {
  layout::Layout layout = matrix(request);
  return layout.explode(2, "pair").slice("pair", 0, kPairs);
}

layout::Layout first_code_high(const BlockRequest& request) {
  layout::Layout layout = matrix(request);
  layout.explode(1, "bit").slice("bit", 0, 2 * kPairs).split("cols", 4, "group", "code");
  return layout.flip("code").merge({"code", "bit"}, "bits").split("bits", 8, "byte", "bit").flip("byte");
}

layout::Layout padded_sixteens(const BlockRequest& request) {
  layout::Layout layout = codes(request);
  layout.split("cols", 16, "group", "code").merge({"code", "pair"}, "pairs");
  return layout.pad("pairs", 16 * kBytePairs, layout::PadContent::unwritten);
}

/// A code in each byte: in its low bits, or in its high ones.
layout::Layout a_byte_each(layout::Layout layout, bool high) {
  layout.pad("pair", kBytePairs, layout::PadContent::zero);
  if (!high || fault::planted(fault::Fault::packing_shifted_lies_low)) return layout;
  return layout.table("pair", {kPairs, 0, 1, 2});
}

layout::Layout one_in_a_byte(const BlockRequest& request) {
  layout::Layout layout = matrix(request);
  layout.explode(2, "pair");
  return a_byte_each(std::move(layout), false);
}

/// Codes of 4 bits, two a byte, each in bits 5 to 2 of a byte of its own.
layout::Layout middle_of_a_byte(const BlockRequest& request) {
  layout::Layout layout = matrix(request);
  layout.explode(2, "pair").merge({"cols", "pair"}, "pairs").split("pairs", 2, "code", "pair");
  return layout.pad("pair", kBytePairs, layout::PadContent::zero).table("pair", {2, 0, 1, 3});
}

constexpr std::array<Words, 1> kVersions{"ptx-9.2"};
constexpr layout::Source source(Words symbol) { return {"PTX ISA", "alternate floating-point data formats, tensor copies", symbol, "9.2"}; }

constexpr std::array<BuildingBlock, 6> kBuildingBlocks{{
    {"packing.fp6_four_in_three",
     "weight",
     8,
     "four codes in three bytes, the first in the lowest bits",
     "bit 6*k + i <- bit i of code k",
     kVersions,
     {},
     uneven_fours,
     codes,
     source("packed .b6x16")},
    {"packing.fp6_first_code_high",
     "weight",
     8,
     "four codes in three bytes, the first in the highest bits of the first byte",
     "of 24 bits that begin with the top of byte 0: 6*k + i <- bit 5 - i of code k",
     kVersions,
     {},
     uneven_fours,
     first_code_high,
     source("packed .b6x16, of devices that read from the top")},
    {"packing.fp6_sixteen_in_sixteen",
     "weight",
     8,
     "16 codes in 12 bytes as four in three, and four bytes that hold nothing",
     "byte 16*g + b, b < 12: as four in three of codes 16*g ..",
     kVersions,
     {},
     uneven_sixteens,
     padded_sixteens,
     source(".b6x16_p32")},
    {"packing.fp6_one_in_a_byte",
     "weight",
     6,
     "units of 6 bits, each in a byte's low bits",
     "byte k <- code k",
     kVersions,
     {},
     uneven_fours,
     one_in_a_byte,
     source(".e2m3x2, .e3m2x2: two bits padded with zeros")},
    {"packing.fp6_shifted",
     "weight",
     8,
     "a code in the high bits of each byte",
     "byte k <- 4 * code k",
     kVersions,
     {},
     nullptr,
     [](const BlockRequest& request) { return a_byte_each(codes(request), true); },
     source("of devices that read the top bits")},
    {"packing.fp4_in_a_byte",
     "weight",
     8,
     "codes of 4 bits, two a byte, each in bits 5 to 2 of a byte: operands of mma kind::f8f6f4",
     "byte 2*k + n <- 4 * nibble n of byte k",
     kVersions,
     {},
     nullptr,
     middle_of_a_byte,
     source("mma kind::f8f6f4, .e2m1")},
}};

}  // namespace

constinit const std::span<const BuildingBlock> kPackingBlocks{kBuildingBlocks};

}  // namespace mx::families
